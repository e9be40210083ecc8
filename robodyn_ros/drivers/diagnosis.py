# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Diagnosis of an arm that its drives hold: which mistake explains the measured efforts."""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from scipy.optimize import minimize_scalar

from ..dynamics import Dynamics
from ..errors import ArgumentError

#: What :func:`diagnose` tells apart.
KINDS = AGREES, RANGE, SIGN, ZERO, SWAPPED, PAYLOAD, MASS, UNKNOWN = (
    'agrees', 'range', 'sign', 'zero', 'swapped', 'payload', 'mass', 'unknown')
MODEL_ERROR = 0.05    # share of a joint's largest g(q) by which a sound URDF may be off
PARAMETER_COST = 4.0    # of a mistake, and of each of its numbers, in squared deviations
AS_LIKELY = 6.0    # more squared deviations than those of the best: named with it
SEEN = 2.0    # deviations that g(q) of a joint has to have in one pose at least
RATIOS = 0.02, 50.0    # of efforts that are still taken for a range or a gear
ZEROS = np.arange(-1.6, 1.61, 0.05)    # [rad | m] from which the search for a zero begins
MIN_PAYLOAD, MAX_LEVER = 0.02, 0.5    # [kg], and [m] of its center from the frame of the last link
DIGITS = 3


class Finding(NamedTuple):
    """
    Mistake that would explain the efforts.

    :param kind: one of KINDS; ``names``: its joints or links.
    :param value: ratio of a range or a mass [1], error of a zero [rad | m], payload [kg].
    :param text: a sentence with the remedy.
    :param deviation: sum of squares of what it leaves, in deviations, and of its cost.
    :param largest: of what it leaves, in what is tolerated: up to 1.
    """

    kind: str
    names: tuple[str, ...]
    value: float
    text: str
    deviation: float
    largest: float


class Diagnosis(NamedTuple):
    """
    Measured efforts against the model.

    :param gravity: (N, nv) g(q) of the positions as they were read [N·m | N].
    :param ratio: (nv,) of the efforts to g(q), least squares over the poses; NaN: the joint
        carries too little in these poses.
    :param unseen: joints that would agree as well if they turned the other way.
    :param findings: the likeliest first, and those that explain the efforts as well.
    """

    gravity: ndarray
    ratio: ndarray
    unseen: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def agrees(self) -> bool:
        """Whether the arm is as its model says, as far as it was seen."""
        return self.findings[0].kind == AGREES


def diagnose(dynamics: Dynamics, position: ndarray, effort: ndarray, deviation: ndarray,
             sign: ndarray | None = None, offset: ndarray | None = None) -> Diagnosis:
    """
    Compare efforts at rest with g(q), and name the single mistake that explains them best.

    :param position: (N, nv) poses at rest [rad | m], as the driver reads them.
    :param effort: (N, nv) that the drives measured there [N·m | N].
    :param deviation: (nv,) standard deviation of an effort: friction and quantization [N·m | N].
    :param sign, offset: (nv,) by which the driver turns angles of motors into positions
        ``sign * (angle - offset)``; None: 1 and 0.
    :raises ArgumentError: there are too few poses, or numbers are not finite.
    """
    model = dynamics.model
    sign = np.ones(model.nv) if sign is None else sign
    offset = np.zeros(model.nv) if offset is None else offset
    if not (position.shape == effort.shape and position.shape[1:] == (model.nv,)
            and np.isfinite(position).all() and np.isfinite(effort).all()):
        raise ArgumentError('positions or efforts are incomplete', name='effort',
                            value=effort.tolist(),
                            remedy=f'use finite numbers for {model.nv} joints in each pose')
    if len(position) < 2:
        raise ArgumentError(f'{len(position)} pose tells no zero from a mass', name='position',
                            value=len(position), remedy='hold the arm in three poses')
    gravity = _gravity(dynamics, position)
    load = np.abs(gravity).max(axis=0)
    tolerated = 2.0 * deviation + MODEL_ERROR * load
    with np.errstate(divide='ignore', invalid='ignore'):
        ratio = np.where(load > SEEN * deviation,
                         (gravity * effort).sum(0) / (gravity**2).sum(0), np.nan)
    left = effort - gravity
    agrees = Finding(AGREES, (), 1.0, 'the efforts agree with g(q)', _squares(left, deviation),
                     _largest(left, tolerated))
    mistakes = sorted((Finding(kind, names, value, text,
                               _squares(left, deviation) + PARAMETER_COST * numbers,
                               _largest(left, tolerated))
                       for kind, names, value, text, left, numbers in
                       _mistakes(dynamics, position, effort, gravity, deviation, sign, offset)),
                      key=lambda finding: finding.deviation)
    if agrees.largest <= 1.0:
        found = [agrees]
    else:
        found = [one for one in mistakes if one.deviation <= mistakes[0].deviation + AS_LIKELY]
        if found[0].largest > 1.0:
            found.insert(0, Finding(UNKNOWN, (), np.nan, 'no single mistake explains the '
                                    'efforts: correct the likeliest, and hold the arm again',
                                    agrees.deviation, agrees.largest))
    either = {one.names[0] for one in mistakes if one.kind == SIGN and one.largest <= 1.0}
    return Diagnosis(gravity, ratio, tuple(
        name for name in model.joint_names if agrees.largest <= 1.0 and name in either),
        tuple(found))


Mistake = tuple[str, tuple[str, ...], float, str, ndarray, int]


def _mistakes(dynamics: Dynamics, position: ndarray, effort: ndarray, gravity: ndarray,
              deviation: ndarray, sign: ndarray, offset: ndarray) -> Iterator[Mistake]:
    """Yield kind, names, value, text, what is left of the efforts (N, nv), and its numbers."""
    model = dynamics.model
    names = model.joint_names
    for j, name in enumerate(names):
        yield from _ratio(name, effort, gravity, deviation, slice(j, j + 1))
        q, tau = position.copy(), effort.copy()
        q[:, j], tau[:, j] = -q[:, j], -tau[:, j]
        yield (SIGN, (name,), -1.0, f'{name} turns the other way: change its sign', tau
               - _gravity(dynamics, q), 1)
        zero = _zero(dynamics, position, effort, deviation, j)
        yield (ZERO, (name,), zero, f'the zero of {name} is off by {_number(zero)} '
               f'{"m" if model.slides[j] else "rad"}: correct its offset, or set its zero',
               effort - _gravity(dynamics, _moved(position, j, -zero)), 1)
    yield from _ratio('all joints', effort, gravity, deviation, slice(None))
    angle = sign * position + offset
    for a, b in combinations(range(model.nv), 2):
        q, tau, pair = angle.copy(), effort * sign, [a, b]
        q[:, pair], tau[:, pair] = q[:, pair[::-1]], tau[:, pair[::-1]]
        yield (SWAPPED, (names[a], names[b]), np.nan, f'{names[a]} and {names[b]} are swapped: '
               'exchange their ids', sign * tau - _gravity(dynamics, sign * (q - offset)), 1)
    yield from _masses(dynamics, position, effort - gravity, deviation)


def _ratio(name: str, effort: ndarray, gravity: ndarray, deviation: ndarray, of: slice
           ) -> Iterator[Mistake]:
    """Yield the mistake of a range: measured efforts are a multiple of the real ones."""
    measured, expected = effort[:, of] / deviation[of], gravity[:, of] / deviation[of]
    if not (square := (expected**2).sum()):
        return
    ratio = float((measured * expected).sum() / square)
    if RATIOS[0] < ratio < RATIOS[1]:
        left = effort - gravity
        left[:, of] = effort[:, of] / ratio - gravity[:, of]
        yield (RANGE, (name,), ratio, f'efforts of {name} are measured {_number(ratio)} times as '
               'large as they are: compare TMAX (register 23), type and gear', left, 1)


def _zero(dynamics: Dynamics, position: ndarray, effort: ndarray, deviation: ndarray, j: int
          ) -> float:
    """Return the error of the zero of a joint [rad | m] with the smallest squares."""
    def squares(zero: float) -> float:
        return _squares(effort - _gravity(dynamics, _moved(position, j, -zero)), deviation)
    start = min(ZEROS, key=squares)
    step = ZEROS[1] - ZEROS[0]
    return float(minimize_scalar(squares, bounds=(start - step, start + step),
                                 method='bounded').x)


def _masses(dynamics: Dynamics, position: ndarray, left: ndarray, deviation: ndarray
            ) -> Iterator[Mistake]:
    """Yield masses: one of a link that is a multiple, and a payload of any center."""
    model = dynamics.model
    rest = np.zeros(model.nv)
    regressors = np.array([dynamics.regressor(q, rest, rest) for q in position])
    parameters = model.inertial_parameters
    last = model.nb - 1
    for i, name in enumerate(model.link_names):
        columns = slice(10 * i, 10 * i + 4)
        Y = regressors[:, :, columns]
        of_link = Y @ parameters[columns]
        weighted = of_link / deviation
        if square := (weighted**2).sum():
            more = float((weighted * left / deviation).sum() / square)
            mass = model.mass[i]
            kind, value = (PAYLOAD, more * mass) if i == last else (MASS, 1.0 + more)
            if more > -1.0:
                yield (kind, (name,), value, f'{name} is {_number(mass * (1.0 + more))} kg, not '
                       f'{_number(mass)} kg: ' + ('state the payload' if i == last else
                                                  'correct the URDF'),
                       left - more * of_link, 1)
        if i == last:
            A = (Y / deviation[:, None]).reshape(-1, 4)
            (mass, *moment), *_ = np.linalg.lstsq(A, (left / deviation).ravel(), rcond=1e-6)
            if mass > MIN_PAYLOAD and np.linalg.norm(moment) < MAX_LEVER * mass:
                center = ', '.join(_number(c / mass) for c in moment)
                yield (PAYLOAD, (name,), mass, f'{name} carries {_number(mass)} kg more, at '
                       f'({center}) m in its frame: state the payload',
                       left - Y @ np.array([mass, *moment]), 4)


def _gravity(dynamics: Dynamics, position: ndarray) -> ndarray:
    return np.array([dynamics.gravity(q) for q in position])


def _moved(position: ndarray, j: int, by: float) -> ndarray:
    moved = position.copy()
    moved[:, j] += by
    return moved


def _squares(left: ndarray, deviation: ndarray) -> float:
    return float(((left / deviation)**2).sum())


def _largest(left: ndarray, tolerated: ndarray) -> float:
    return float((np.abs(left) / tolerated).max())


def _number(value: float) -> str:
    return f'{value:.{DIGITS}g}'
