# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""An arm under test: its model, its dynamics, and the gains that are accepted for it."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy import ndarray

from ..control.laws.registry import BUILT_IN
from ..control.settings.gain_stability import Loop
from ..control.settings.settings import Settings
from ..control.settings.suggested_gains import RULES
from ..dynamics import Dynamics
from ..errors import ParameterError
from ..model.robot import RobotModel, with_payload

# Without laws that follow a pose: test/control/test_limits.py covers those
MODES = tuple(law.name for law in BUILT_IN if law.reference != 'pose')
POSES = 32              # at which the slope of gravity is evaluated
TRIES = 10_000          # random poses


@dataclass(frozen=True, eq=False)
class Arm:
    """A robot: ``gravity_rate`` (nv,) [N·m/s | N/s] bounds ġ(q) at the velocity limits."""

    name: str
    model: RobotModel
    dynamics: Dynamics
    gravity_rate: ndarray

    @property
    def lower(self) -> ndarray:
        """Positions between which motions are chosen (nv,)."""
        return motion_range(self.model)[0]

    @property
    def upper(self) -> ndarray:
        """Upper ends of the same (nv,)."""
        return motion_range(self.model)[1]

    def pose(self, random: np.random.Generator, share: float = 0.7) -> ndarray:
        """
        Return a pose away from the limits where gravity takes at most this share of the efforts.

        :raises UnheldError: there is none among TRIES random poses.
        """
        range_ = self.upper - self.lower
        for _ in range(TRIES):
            q = self.lower + range_ * random.uniform(0.2, 0.8, self.model.nv)
            if (abs(self.dynamics.gravity(q)) <= share * self.model.effort_limit).all():
                return q
        raise UnheldError(
            f'gravity takes more than {share:.0%} of the effort limits of {self.name} at each of '
            f'{TRIES} random poses', name='effort_limit', value=self.model.effort_limit.tolist(),
            remedy='correct the masses and the effort limits of the URDF')


class UnheldError(ParameterError):
    """Gravity takes too much of the effort limits at each pose."""


def motion_range(model: RobotModel) -> tuple[ndarray, ndarray]:
    """Return the part of the position limits (nv,) within ±π, or the turn nearest to it."""
    lower = np.clip(-np.pi, model.position_lower,
                    np.maximum(model.position_upper - 2.0 * np.pi, model.position_lower))
    return lower, np.minimum(model.position_upper, lower + 2.0 * np.pi)


def arm_of(name: str, model: RobotModel) -> Arm:
    """Return the arm of a model."""
    dynamics, h = Dynamics(model), 1e-6
    rate, random = np.zeros(model.nv), np.random.default_rng(0)
    for q in random.uniform(*motion_range(model), (POSES, model.nv)):
        slope = np.array([dynamics.gravity(q + h * e) - dynamics.gravity(q - h * e)
                          for e in np.eye(model.nv)]) / (2.0 * h)
        rate = np.maximum(rate, abs(slope).T @ model.velocity_limit)
    return Arm(name, model, dynamics, rate)


@lru_cache(16)
def changed(arm: Arm, kind: str) -> Dynamics:
    """Return the dynamics of a plant that the controller does not know of."""
    model = arm.model
    if kind == 'payload':
        return Dynamics(with_payload(model, model.link_names[-1], 3.0, (0.0, 0.0, 0.0)))
    factor = {'heavier': 1.2, 'lighter': 0.8}[kind]
    return Dynamics(replace(model, mass=factor * model.mass, inertia=factor * model.inertia))


@lru_cache(16)
def highest_gains(arm: Arm, loop_delay: float, rate: float) -> tuple[ndarray, ...]:
    """Return the highest K, D, k_p and k_d (nv,) that are accepted for an arm, and a bandwidth."""
    model = arm.model
    asked = Settings(loop_delay=loop_delay, rate=rate, damping_rate=damping_rate(loop_delay, rate))
    return (*asked.stable(model, np.full(model.nv, 1e6), np.full(model.nv, 1e5)),
            *asked.stable_accelerations(model, np.full(model.nv, 1e5), np.full(model.nv, 1e4)),
            0.05 * Loop(np.eye(1), 1.0 / rate, loop_delay, 0.0).max_damping)


def damping_rate(loop_delay: float, rate: float) -> float:
    """Safe damping [1/s] that is stable with states so late and cycles so rare [s, Hz]."""
    return min(10.0, 0.2 / (loop_delay + 1.0 / rate))


def gains(arm: Arm, share: float, loop_delay: float, rate: float) -> dict[str, list[float]]:
    """Gains of all laws at a share of the highest ones, about as damped as these."""
    K, D, kp, kd, bandwidth = highest_gains(arm, loop_delay, rate)
    less, found = 1.0 - share**0.5, {'adaptation_mass': np.array([5.0])}
    for rule in RULES:
        found |= {**rule.named((share * K, share**0.5 * D), (share * kp, share**0.5 * kd)),
                  rule.observer: less * bandwidth, rule.reference: less * (0.2 * bandwidth)}
    return {name: [float(x) for x in value] for name, value in found.items() if name}
