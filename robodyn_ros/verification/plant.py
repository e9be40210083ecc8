# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Exact dynamics of an arm without joint stops, driven by late efforts and by hands."""

from collections import deque

import numpy as np
from numpy import ndarray

from .arm import Arm

TICK = 1e-3             # s of one tick of the world
SUBSTEPS = 4
# Friction of a real arm's gears, of the effort limit: per rad/s, and at any speed above SLIP rad/s
VISCOUS, COULOMB, SLIP = 0.01, 0.005, 0.05
WRECKED = 100.0         # velocity limits at which the arm is broken, and the run over
SILENCE = 0.1           # s without commands after which the plant's own brakes engage


class Plant:
    """
    The arm itself; its brakes hold it until a first command comes, and when none comes any more.

    :param q: (nv,) initial pose.
    :param delay: [s] from a command to the effect of its efforts.
    :param silence: [s] of the command timeout.
    :param rubbed: with the friction of gears, which the controller does not know of.
    """

    def __init__(self, arm: Arm, q: ndarray, delay: float = 0.0, silence: float = SILENCE,
                 rubbed: bool = False):
        n = arm.model.nv
        self.arm, self.dynamics = arm, arm.dynamics
        self.q, self.qd = np.array(q, float), np.zeros(n)
        self.effort = self.dynamics.gravity(self.q)         # that acts, (nv,)
        self.external = np.zeros(n)                         # of hands
        self.motor = np.ones(n)                             # sign and health of the motors
        self.wired = np.arange(n)                           # joint whose effort each one gets
        self.stuck = np.full(n, np.nan)                     # efforts that motors keep
        self.blocked = -1                                   # joint
        self.wrecked = False
        self.delay, self.silence = delay, silence
        limit = arm.model.effort_limit if rubbed else np.zeros(n)
        self._viscous, self._coulomb, self._rubbed = VISCOUS * limit, COULOMB * limit, rubbed
        self._commands: deque[tuple[float, ndarray]] = deque()
        self._heard = -np.inf
        self._qdd, self._unit = np.zeros(n), np.zeros(n)

    def command(self, time: float, tau: ndarray) -> None:
        """Take a command that was published at a time."""
        self._commands.append((time + self.delay, tau))

    def braked(self, time: float) -> bool:
        """Whether the brakes are engaged."""
        return time - self._heard > self.silence

    def advance(self, time: float) -> None:
        """Move on by one tick."""
        while self._commands and self._commands[0][0] <= time + 1e-9:
            self._heard, self.effort = self._commands.popleft()
        if self.braked(time):
            self.qd[:] = 0.0
            return
        h, forward = TICK / SUBSTEPS, self.dynamics.kernels.forward_dynamics
        tau = self.motor * self.effort[self.wired]
        tau = np.where(np.isnan(self.stuck), tau, self.stuck) + self.external
        for _ in range(SUBSTEPS):
            applied = tau
            if self._rubbed:
                applied = tau - self.friction_at(self.qd)
            forward(self.q, self.qd, applied, self._qdd)
            if self.blocked >= 0:
                self._block(applied, h)
            self.qd += h * self._qdd
            self.q += h * self.qd
        if not (abs(self.qd) < WRECKED * self.arm.model.velocity_limit).all():
            self.wrecked = True

    def friction_at(self, qd: ndarray) -> ndarray:
        """Friction of its gears at velocities (nv,) [N·m | N]."""
        return self._viscous * qd + self._coulomb * np.tanh(qd / SLIP)

    def _block(self, tau: ndarray, h: float) -> None:
        """Change the accelerations so that the blocked joint is at rest after the step."""
        i = self.blocked
        pushed = tau.copy()
        pushed[i] += 1.0
        self.dynamics.kernels.forward_dynamics(self.q, self.qd, pushed, self._unit)
        self._unit -= self._qdd
        self._qdd += (-self.qd[i] / h - self._qdd[i]) / self._unit[i] * self._unit

    def measured_effort(self, time: float) -> ndarray:
        """Efforts that the joints' sensors measure (nv,)."""
        return self.dynamics.gravity(self.q) if self.braked(time) else self.effort
