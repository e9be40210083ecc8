# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""An arm that the test moves: each state that it sends is answered by one command."""

from functools import cache

import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf, RobotModel
from robodyn_ros.model.resources import robot_path

near = pytest.approx
START, PERIOD = 100.0, 0.001        # s
# For tests of other rows: an arm that is put elsewhere without the velocity that brings it there,
# or that stays although its velocity is not zero
TELEPORTED = {'consistency_tolerance': [0.0]}
ZERO = [0.0, 0.0]
# Shares of the fault efforts with FAULT_TIMES: until the ramp, in the ramp, and from the cycle of
# the fault to the last message, which is zero
FAULT_TIMES = {'fault_hold_time': 0.02, 'fault_ramp_time': 0.0495}      # s
RAMP = np.maximum(0.0, 1.0 - np.arange(51) / 49.5)
SHARES = np.concatenate([np.ones(20), RAMP])


@cache
def dynamics() -> Dynamics:
    return Dynamics(load_urdf(robot_path('two_link')))


class PlayedArm:
    """The textbook 2R arm, at rest at a pose, moved by nobody but the test."""

    def __init__(self) -> None:
        self.dynamics = dynamics()
        self.model: RobotModel = self.dynamics.model
        self.names = list(self.model.joint_names)
        self.position, self.velocity = np.array([0.3, 0.5]), np.zeros(2)
        self.effort = self.gravity
        self.time = START
        self._measured, self._jitters = -np.inf, False

    @property
    def gravity(self) -> np.ndarray:
        """g(q), (2,) [N·m]."""
        return self.dynamics.gravity(self.position)

    @property
    def damping(self) -> np.ndarray:
        """Safe damping of the motion, -λ M(q) q̇ with λ = 10 1/s, (2,) [N·m]."""
        return -10.0 * self.dynamics.mass_matrix(self.position) @ self.velocity

    def state(self, **fields) -> dict[str, list]:
        """Return the fields of the joint state of now; ``fields`` replace some of them."""
        if self.time != self._measured:
            self._measured, self._jitters = self.time, not self._jitters
        # Readings that are equal bit for bit while the arm is driven are those of a dead driver
        position = np.nextafter(self.position, np.inf) if self._jitters else self.position
        return {'name': self.names, 'position': list(position), 'velocity': list(self.velocity),
                'effort': list(self.effort), **fields}

    def send(self, seconds: float = PERIOD, **fields) -> None:
        """Let time pass and send a state, whatever comes of it."""
        raise NotImplementedError

    def pass_time(self, seconds: float = PERIOD) -> None:
        raise NotImplementedError

    def answer(self) -> np.ndarray:
        """Return the next efforts that the controller publishes (2,)."""
        raise NotImplementedError

    def tick(self, seconds: float = PERIOD, **fields) -> np.ndarray:
        """Let time pass, send a state, and return the efforts that answer it (2,)."""
        self.send(seconds, **fields)
        return self.answer()

    def ticks(self, count: int, **fields) -> np.ndarray:
        """Return efforts (count, 2), one for each tick."""
        return np.array([self.tick(**fields) for _ in range(count)])

    def moving(self, count: int, **fields) -> np.ndarray:
        """Return efforts (count, 2) of ticks of an arm that moves as its velocity says."""
        efforts = []
        for _ in range(count):
            self.position = self.position + PERIOD * self.velocity
            efforts.append(self.tick(**fields))
        return np.array(efforts)

    def steady(self, count: int = 20) -> None:
        """Check that so many ticks are answered by gravity compensation."""
        assert self.ticks(count) == near(np.tile(self.gravity, (count, 1)), abs=1e-9)
