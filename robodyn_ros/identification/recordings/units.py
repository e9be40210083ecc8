# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Units of joint data and their factors to SI_UNITS."""

from collections.abc import Mapping, Sequence
from math import pi

import numpy as np
from numpy import ndarray

from ...errors import RecordingError

# A unit's name, a factor to SI, or either of them joint by joint
Unit = str | float
Units = Mapping[str, Unit | Mapping[str, Unit]]

TIME_UNITS = {'s': 1.0, 'sec': 1.0, 'ms': 1e-3, 'msec': 1e-3, 'us': 1e-6, 'µs': 1e-6, 'usec': 1e-6,
              'ns': 1e-9, 'nsec': 1e-9}
CURRENT_UNITS = {'A': 1.0, 'mA': 1e-3}
ROTARY_UNITS = {
    'time': TIME_UNITS,
    'position': {'rad': 1.0, 'mrad': 1e-3, 'deg': pi / 180, '°': pi / 180, 'rev': 2 * pi},
    'velocity': {'rad/s': 1.0, 'mrad/s': 1e-3, 'deg/s': pi / 180, '°/s': pi / 180, 'rpm': pi / 30,
                 'rad': 1.0, 'deg': pi / 180},
    'effort': {'N·m': 1.0, 'Nm': 1.0, 'N.m': 1.0, 'N*m': 1.0,
               'mN·m': 1e-3, 'mNm': 1e-3, 'mN.m': 1e-3, 'mN*m': 1e-3, 'N·cm': 1e-2, 'Ncm': 1e-2,
               'kN·m': 1e3, 'kNm': 1e3, **CURRENT_UNITS},
}
SLIDING_UNITS = {
    'time': TIME_UNITS,
    'position': {'m': 1.0, 'cm': 1e-2, 'mm': 1e-3},
    'velocity': {'m/s': 1.0, 'cm/s': 1e-2, 'mm/s': 1e-3},
    'effort': {'N': 1.0, 'kN': 1e3, **CURRENT_UNITS},
}
# Long forms of headers, each replaced by the short one
SPELLED_UNITS = (
    ('degrees', 'deg'), ('degree', 'deg'), ('radians', 'rad'), ('radian', 'rad'),
    ('milliseconds', 'ms'), ('microseconds', 'us'), ('nanoseconds', 'ns'), ('seconds', 's'),
    ('second', 's'), ('/sec', '/s'), ('turns', 'rev'), ('amps', 'A'), ('n-m', 'Nm'),
    ('nm', 'Nm'))
SAME_SIGNS = str.maketrans('\u03bc\u00ba', '\u00b5\u00b0')    # that look like those of µs and °
SI_UNITS = {'time': 's', 'position': 'rad', 'velocity': 'rad/s', 'effort': 'N·m'}


def check(units: Units) -> None:
    """
    Check that units are given for recorded quantities only.

    :raises RecordingError: another quantity has a unit.
    """
    for quantity in units:
        if quantity not in SI_UNITS:
            raise RecordingError(f'{quantity!r} has no unit', name=str(quantity),
                                 value=units[quantity],
                                 remedy=f'use those of {", ".join(SI_UNITS)}')


def known(text: str) -> str:
    """Return the unit in a word of a header, or an empty string."""
    every = set[str]().union(*ROTARY_UNITS.values(), *SLIDING_UNITS.values())
    bare = text.replace(' ', '').translate(SAME_SIGNS)
    short = bare.lower()
    for long, unit in SPELLED_UNITS:
        short = short.replace(long, unit)
    return next((unit for unit in (bare, short) if unit in every), '')


def fits(quantity: str, unit: str) -> bool:
    """Return whether a unit belongs to this quantity, for either kind of joint."""
    return unit in ROTARY_UNITS[quantity] or unit in SLIDING_UNITS[quantity]


def factor(quantity: str, unit: Unit, kind: str) -> float:
    """
    Return the factor from a unit to SI_UNITS.

    Not Pint, which reads Nm as number · metre, knows no rev, refuses the minus of an inverted
    sign, and has no unit that depends on the kind of joint.

    :param unit: a number; or a name, with a minus to invert the sign. A unit of the other kind of
        joint leaves a joint in SI_UNITS: 'deg' has no effect on metres; 'deg mm' gives both.
    :param kind: 'revolute', 'continuous' or 'prismatic'.
    :raises RecordingError: there is no such unit.
    """
    if not isinstance(unit, str):
        return float(unit)
    known, others = ROTARY_UNITS[quantity], SLIDING_UNITS[quantity]
    if kind == 'prismatic':
        known, others = others, known
    found = None
    for word in unit.split():
        bare = word.removeprefix('-')
        sign = 1.0 if bare == word else -1.0
        if bare in known:
            found = sign * known[bare]
        elif bare not in others:
            raise RecordingError(
                f'no unit {word!r} of {quantity}', name=quantity, value=unit,
                remedy=f'choose one of {", ".join({**known, **others})}, or give a factor to SI')
        elif found is None:
            found = sign
    return 1.0 if found is None else found


def to_si(quantity: str, values: ndarray, unit: Unit | Mapping[str, Unit],
          names: Sequence[str], kinds: Sequence[str]) -> ndarray:
    """
    Return values (N, n) of these joints in SI_UNITS units.

    :param names: (n,) of the joints; ``kinds`` (n,) as in :func:`factor`.
    :raises RecordingError: a unit is unknown, or given for a joint that was not recorded.
    """
    if isinstance(unit, Mapping):
        if unknown := [name for name in unit if name not in names]:
            raise RecordingError(f'a unit is given for {unknown[0]!r}, which is not recorded',
                                 name=unknown[0], value=dict(unit),
                                 remedy=f'choose of {", ".join(names)}')
        each = [unit.get(name, 1.0) for name in names]
    else:
        each = [unit] * len(names)
    return values * np.array([factor(quantity, u, k) for u, k in zip(each, kinds)])


def unit_text(unit: Unit | Mapping[str, Unit]) -> str:
    """Return a unit as text, joint by joint where it is given so."""
    return ', '.join(f'{u} of {name}' for name, u in unit.items()) \
        if isinstance(unit, Mapping) else str(unit)


def is_current(unit: Unit | Mapping[str, Unit]) -> bool:
    """Return whether efforts are in ampere, at one joint or at all."""
    each = unit.values() if isinstance(unit, Mapping) else (unit,)
    return any(isinstance(u, str) and u.removeprefix('-') in CURRENT_UNITS for u in each)


def epoch_unit(first: float) -> str | None:
    """
    Return the unit of a stamp since 1970, None where it is no such stamp.

    Stamps of the years from 2001 to 2286 have ten digits in seconds, and three more each in ms, µs
    and ns.
    """
    for unit, size in (('s', 1e9), ('ms', 1e12), ('us', 1e15), ('ns', 1e18)):
        if size <= abs(first) < 10 * size:
            return unit
    return None
