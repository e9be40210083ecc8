# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Limits of an exciting motion: those of the model, with margins."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NoReturn

import numpy as np
from numpy import ndarray

from ...errors import Argument, IdentificationError, Remedy
from ...model.robot import RobotModel

NO_CHANGES: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True)
class Shares:
    """
    Shares of the limits that a motion may use.

    :param position: of the range between the position limits, about its middle.
    :param velocity: of the velocity limits.
    :param effort: of the effort limits; the rest is for model errors and feedback.
    """

    position: float = 0.95
    velocity: float = 0.8
    effort: float = 0.7

    def __post_init__(self):
        for name in ('position', 'velocity', 'effort'):
            if not 0.0 < (share := getattr(self, name)) <= 1.0:
                raise IdentificationError(f'the share {share:g} of the {name} limits', name=name,
                                          value=share, remedy='give one above 0, up to 1')


@dataclass(frozen=True)
class Limits:
    """
    Limits of a motion with margins taken off, (nv,) each.

    :param lower, upper: [rad | m].
    :param velocity: [rad/s | m/s].
    :param acceleration: [rad/s² | m/s²]; inf where only the effort limit bounds it.
    :param effort: [N·m | N]; inf where there is no limit.
    """

    lower: ndarray
    upper: ndarray
    velocity: ndarray
    acceleration: ndarray
    effort: ndarray


def motion_limits(model: RobotModel, shares: Shares = Shares(), *,
                  ranges: Mapping[str, tuple[float, float]] = MappingProxyType({}),
                  velocity: Mapping[str, float] = NO_CHANGES,
                  acceleration: Mapping[str, float] = NO_CHANGES) -> Limits:
    """
    Return the limits of a motion: those of a model, or given here, with margins.

    A URDF has no acceleration limits. Where none is given, the effort limit bounds the
    acceleration by inverse dynamics; a joint without both is refused.

    :param ranges: lower and upper end [rad | m] by joint, within the limits of the model.
    :param velocity: limit [rad/s | m/s] by joint, at most that of the model.
    :param acceleration: limit [rad/s² | m/s²] by joint; margins do not apply to it.
    :raises IdentificationError: a joint lacks a required limit, or a given limit is invalid.
    :raises UnknownNameError: there is no such joint.
    """
    lower, upper = model.position_lower.copy(), model.position_upper.copy()
    fastest, hardest = model.velocity_limit.copy(), np.full(model.nv, np.inf)
    for name, (low, high) in ranges.items():
        i = model.joint_index(name)
        if not lower[i] <= low < high <= upper[i]:
            _refuse(name, f'the range {low:g} to {high:g}', (low, high),
                    f'give one in the limits {lower[i]:g} to {upper[i]:g}, the lower end first')
        lower[i], upper[i] = low, high
    for given, limits, what in ((velocity, fastest, 'velocity'),
                                (acceleration, hardest, 'acceleration')):
        for name, value in given.items():
            i = model.joint_index(name)
            if not 0.0 < value <= limits[i]:
                _refuse(name, f'the {what} limit {value:g}', value,
                        f'give one above 0, up to the limit {limits[i]:g} of the model')
            limits[i] = value
    for i, name in enumerate(model.joint_names):
        if not np.isfinite([lower[i], upper[i]]).all():
            _refuse(name, 'no position limits', (lower[i], upper[i]),
                    ('give the range that it may use: ',
                     Argument('ranges', {name: (-3.1, 3.1)})))
        if not upper[i] > lower[i]:
            _refuse(name, 'no room between its position limits', (lower[i], upper[i]),
                    'lock it')
        if not 0.0 < fastest[i] < np.inf:
            _refuse(name, f'the velocity limit {fastest[i]:g}', float(fastest[i]),
                    ('give its velocity limit: ', Argument('velocity', {name: 1.0})))
        if np.isinf(model.effort_limit[i]) and np.isinf(hardest[i]):
            _refuse(name, 'neither an effort nor an acceleration limit', np.inf,
                    ('give an acceleration limit: ', Argument('acceleration', {name: 5.0})))
    middle, half = (lower + upper) / 2, shares.position * (upper - lower) / 2
    return Limits(middle - half, middle + half, shares.velocity * fastest, hardest,
                  shares.effort * model.effort_limit)


def _refuse(name: str, problem: str, value: object, remedy: Remedy) -> NoReturn:
    raise IdentificationError(f'joint {name}: {problem}', name=name, value=value, remedy=remedy)
