# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The arms that faults are injected into, and settings under which they are healthy."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy import ndarray
from robodyn_ros import Dynamics, load_urdf, RobotModel
from robodyn_ros.control.laws.registry import BUILT_IN
from robodyn_ros.control.settings.gain_stability import Loop
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.model.payload import with_payload
from robodyn_ros.model.resources import robot_path

# Without those that follow a pose: test/control/test_limits.py has them
MODES = tuple(law.name for law in BUILT_IN if law.reference != 'pose')
LOCKED = {'panda': {'panda_finger_joint1': 0.02, 'panda_finger_joint2': 0.02}}
CONTINUOUS = 'two_link_continuous'
ROBOTS = ('two_link', 'panda', 'ur5')
POSES = 32


@dataclass(frozen=True, eq=False)
class Arm:
    """A robot: ``gravity_rate`` (nv,) [N·m/s] bounds ġ(q) at the velocity limits."""

    name: str
    model: RobotModel
    dynamics: Dynamics
    gravity_rate: ndarray

    @property
    def lower(self) -> ndarray:
        """Positions between which motions are chosen (nv,)."""
        return np.maximum(self.model.position_lower, -np.pi)

    @property
    def upper(self) -> ndarray:
        return np.minimum(self.model.position_upper, np.pi)

    def pose(self, random: np.random.Generator, share: float = 0.7) -> ndarray:
        """Pose away from the limits at which gravity takes at most this share of the efforts."""
        range_ = self.upper - self.lower
        while True:
            q = self.lower + range_ * random.uniform(0.2, 0.8, self.model.nv)
            if (abs(self.dynamics.gravity(q)) <= share * self.model.effort_limit).all():
                return q


def urdf(name: str) -> str:
    """URDF text of a robot."""
    if name == CONTINUOUS:
        text = robot_path('two_link').read_text()
        return text.replace('type="revolute"', 'type="continuous"')
    return robot_path(name).read_text()


@cache
def arm(name: str) -> Arm:
    """Return an arm by its name."""
    model = load_urdf(urdf(name) if name == CONTINUOUS else robot_path(name),
                      locked=LOCKED.get(name, {}))
    return _arm(name, model)


def _arm(name: str, model: RobotModel) -> Arm:
    dynamics, h = Dynamics(model), 1e-6
    rate, random = np.zeros(model.nv), np.random.default_rng(0)
    lower = np.maximum(model.position_lower, -np.pi)
    upper = np.minimum(model.position_upper, np.pi)
    for q in random.uniform(lower, upper, (POSES, model.nv)):
        slope = np.array([dynamics.gravity(q + h * e) - dynamics.gravity(q - h * e)
                          for e in np.eye(model.nv)]) / (2.0 * h)
        rate = np.maximum(rate, abs(slope).T @ model.velocity_limit)
    return Arm(name, model, dynamics, rate)


@cache
def changed(name: str, kind: str) -> Dynamics:
    """Return the dynamics of a plant that the controller does not know of."""
    model = arm(name).model
    if kind == 'payload':
        return Dynamics(with_payload(model, model.link_names[-1], 3.0, (0.0, 0.0, 0.0)))
    factor = {'heavier': 1.2, 'lighter': 0.8}[kind]
    return Dynamics(replace(model, mass=factor * model.mass, inertia=factor * model.inertia))


@cache
def highest_gains(name: str, loop_delay: float, rate: float) -> dict[str, ndarray]:
    """Return the highest gains that are accepted for an arm."""
    model = arm(name).model
    asked = Settings(loop_delay=loop_delay, rate=rate, damping_rate=damping_rate(loop_delay, rate))
    stiffness, damping = asked.stable(model, np.full(model.nv, 1e6), np.full(model.nv, 1e5))
    kp, kd = asked.stable_accelerations(model, np.full(model.nv, 1e5), np.full(model.nv, 1e4))
    bandwidth = 0.05 * Loop(np.eye(1), 1.0 / rate, loop_delay, 0.0).bearable
    return {'stiffness': stiffness, 'damping': damping, 'acceleration_kp': kp,
            'acceleration_kd': kd, 'observer_bandwidth': bandwidth,
            'adaptive_bandwidth': 0.2 * bandwidth, 'adaptation_mass': np.array([5.0])}


def damping_rate(loop_delay: float, rate: float) -> float:
    """Safe damping [1/s] that is stable with states so late and cycles so rare [s, Hz]."""
    return min(10.0, 0.2 / (loop_delay + 1.0 / rate))


def gains(name: str, share: float, loop_delay: float, rate: float) -> dict[str, list[float]]:
    """Gains at a share of the highest ones, about as damped as these."""
    top = highest_gains(name, loop_delay, rate)
    factor = {'stiffness': share, 'damping': share**0.5, 'acceleration_kp': share,
              'acceleration_kd': share**0.5, 'observer_bandwidth': 1.0 - share**0.5,
              'adaptive_bandwidth': 1.0 - share**0.5, 'adaptation_mass': 1.0}
    return {key: [float(x) for x in factor[key] * value] for key, value in top.items()}


def settings(name: str, mode: str, *, share: float = 0.25, loop_delay: float = 0.008,
             rate: float = 1000.0, **more: Any) -> Settings:
    """Return settings under which an arm is healthy."""
    return Settings(**{'mode': mode, 'rate': rate, 'loop_delay': loop_delay,
                       'damping_rate': damping_rate(loop_delay, rate), 'fault_hold_time': 0.5,
                       'fault_ramp_time': 0.1, **gains(name, share, loop_delay, rate), **more})
