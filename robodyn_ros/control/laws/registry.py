# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Control laws by name and number: those of this package, and those that a user names.

A law of this package is added to :data:`BUILT_IN`, one of another package is loaded on demand by
its place, ``package.module:NAME``. Numbers are those of this process: recordings have the names.
"""

from collections import namedtuple
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from math import prod
from operator import index
import sys
from typing import Any, get_type_hints

from numpy import ndarray

from . import (
    adaptive, cartesian_impedance, computed_torque, disturbance_observer, feedback_policy,
    hand_guiding, leader_follower, operational_space, pd)
from .law import Law
from .task_space import PostureGains
from ..declare import choice
from ...errors import load_object, ParameterError, refused

BUILT_IN = (pd.GRAVITY_COMPENSATION, pd.LAW, pd.JOINT_IMPEDANCE, computed_torque.LAW,
            disturbance_observer.LAW, adaptive.LAW, feedback_policy.LAW, cartesian_impedance.LAW,
            operational_space.LAW, hand_guiding.LAW, leader_follower.LAW)
#: Names of the laws of this package, in the order of their numbers.
MODES = tuple(law.name for law in BUILT_IN)
#: Those of them that follow a reference.
FOLLOWING = tuple(law.name for law in BUILT_IN if law.follows)


@dataclass(frozen=True)
class Mode:
    """Choice of the control law."""

    mode: str = choice(MODES, 'Control law; package.module:NAME is a custom law.',
                       places=True)


# A dataclass has the fields of its last base first
@dataclass(frozen=True)
class LawGains(leader_follower.Gains, hand_guiding.Gains, PostureGains, feedback_policy.Gains,
               adaptive.Gains, disturbance_observer.Gains, computed_torque.AccelerationGains,
               pd.ImpedanceGains, Mode):
    """The gains of all laws of this package."""


_laws: dict[str, Law] = {law.name: law for law in BUILT_IN}


class _None:
    """Gains of a law that has none."""


def find(mode: str, *, load: bool = True) -> Law:
    """
    Return the law of a mode.

    :param mode: name of a law of this package, or ``package.module:NAME``.
    :param load: whether the module may be imported.
    :raises ParameterError: there is no such law, or its module may not be imported.
    """
    if mode in _laws:
        return _laws[mode]
    if not load and ':' in str(mode):
        raise not_loaded(mode)
    if ':' not in str(mode):
        close = get_close_matches(str(mode), _laws, n=1)
        raise ParameterError(
            f'parameter mode = {mode!r} is refused', name='mode', value=mode,
            remedy=(f'did you mean {close[0]}? ' if close else '')
            + f'choose one of {", ".join(_laws)}, or a law of your own, as package.module:NAME')
    _laws[mode] = law = _imported(mode)
    return law


def not_loaded(mode: str) -> ParameterError:
    """Return the error that a configured controller does not know the law of a mode."""
    return ParameterError(
        f'law {mode} was not loaded when the controller was configured', name='mode', value=mode,
        remedy='deactivate and clean up the controller, set the mode, and configure it again; in '
        'Python make a new Controller')


def mode_of(law: Law) -> str:
    """
    Return the mode that stands for a law, which later calls of :func:`find` accept.

    That is its name for a law of this package, ``package.module:NAME`` for one that is found in
    the module of its function, else its name with a colon in front: no other process will find it.
    """
    for mode, known in _laws.items():
        if known is law:
            return mode
    module = sys.modules.get(law.efforts.__module__)
    names = [name for name, value in vars(module).items() if value is law] if module else []
    mode = f'{law.efforts.__module__}:{names[0]}' if names else f':{law.name}'
    _laws[mode] = law
    return mode


def number(mode: str) -> int:
    """Return the number of a law in this process."""
    find(mode)
    return list(_laws).index(mode)


def by_number(index: int) -> Law:
    """Return the law of a number."""
    return list(_laws.values())[index]


def mode_name(index: int) -> str:
    """Return the mode of a number, '' for a number that no law has."""
    modes = list(_laws)
    return modes[index] if 0 <= index < len(modes) else ''


@cache
def gains_class(law: Law) -> Any:
    """Return the NamedTuple class of the gains, with the fields of their declaration."""
    return namedtuple((law.gains or _None).__name__, [f.name for f in law.declared])


def memory_class(law: Law) -> Any:
    """Return the NamedTuple class of the memory of a law."""
    return law.memory or _NoMemory


_NoMemory: Any = namedtuple('_NoMemory', [])


@cache
def memory_shapes(kind: Any) -> tuple[tuple[int, ...], ...]:
    """
    Return the shapes that a memory class states for its fields, () for those of (nv,).

    :raises ParameterError: a field states neither a length nor two of them.
    """
    hints = get_type_hints(kind, include_extras=True)
    return tuple(_shape(kind, name, hints.get(name)) for name in kind._fields)


def _shape(kind: Any, name: str, hint: Any) -> tuple[int, ...]:
    stated = getattr(hint, '__metadata__', ((),))[0]
    try:
        shape = tuple(map(index, stated if isinstance(stated, tuple) else (stated,)))
    except TypeError:
        shape = (0,)
    if len(shape) > 2 or min(shape, default=1) < 1:
        raise ParameterError(f'{kind.__name__}.{name} states the shape {stated!r}', name=name,
                             value=stated, remedy='state a length, Annotated[ndarray, 16], or '
                             'two, Annotated[ndarray, (6, 6)]')
    return shape


def memory_rows(law: Law, nv: int) -> int:
    """Return the number of rows of ``nv`` floats that a law keeps; each field begins a row."""
    return sum(_rows(shape, nv) for shape in memory_shapes(memory_class(law)))


def _rows(shape: tuple[int, ...], nv: int) -> int:
    return -(-prod(shape or (nv,)) // nv)


def most_rows(nv: int, *laws: Law) -> int:
    """Return the most rows that a law of this package, or one of ``laws``, keeps."""
    return max(memory_rows(law, nv) for law in (*BUILT_IN, *laws))


def memory_fields(law: Law, rows: ndarray) -> Any:
    """Return the memory of a law: views of the first rows of an array (L, nv)."""
    kind, nv, first, views = memory_class(law), rows.shape[1], 0, []
    for stated in memory_shapes(kind):
        shape, count = stated or (nv,), _rows(stated, nv)
        views.append(rows[first:first + count].reshape(-1)[:prod(shape)].reshape(shape))
        first += count
    return kind(*views)


def _imported(mode: str) -> Law:
    """Return the law at ``package.module:NAME``."""
    module, law = load_object('mode', mode, 'law')
    if not isinstance(law, Law):
        laws = [key for key, value in vars(module).items() if isinstance(value, Law)]
        raise refused('mode', mode, f'{module.__name__} has no Law of the name '
                      f'{mode.partition(":")[2]}',
                      f'it has {", ".join(laws)}' if laws else 'define it: see `robodyn new law`')
    return law
