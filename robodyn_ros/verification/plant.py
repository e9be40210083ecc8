# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Exact dynamics of an arm without joint stops, driven by delayed efforts and by hands."""

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy import ndarray

from .arm import Arm
from .plant_step import COMMAND, compiled_step, DEAD_ZONE, EXTERNAL, GAIN, MOTOR, SATURATION, STUCK
from ..control.settings.friction import with_friction
from ..dynamics import Dynamics
from ..dynamics.model_data import parameters, workspace
from ..model.robot import RobotModel

TICK = 1e-3             # s of one tick of the world
SUBSTEPS, MOST_SUBSTEPS = 4, 64
STIFFNESS = 0.5         # of a step: friction changes the velocity by this share of it at most
# Friction of a real arm's gears, of the effort limit: per rad/s, and at any speed above SLIP rad/s
VISCOUS, COULOMB, SLIP = 0.01, 0.005, 0.05
WRECKED = 100.0         # velocity limits at which the arm is broken, and the run over
SILENCE = 0.1           # s without commands after which the plant's own brakes engage


@dataclass(frozen=True)
class Drives:
    """
    Drives of an arm; efforts are in N·m | N.

    :param gain: (nv,) effort per commanded effort, negative for a reversed motor.
    :param saturation: (nv,) largest effort; ``dead_zone``: (nv,) smaller commands do nothing.
    :param lag: [s] time constant of the effort.
    :param compensate_gravity: whether they add g(q), as those of Franka and UR do.
    """

    gain: ndarray | float = 1.0
    saturation: ndarray | float = np.inf
    dead_zone: ndarray | float = 0.0
    lag: float = 0.0
    compensate_gravity: bool = False


IDEAL = Drives()


def with_gear_friction(model: RobotModel) -> RobotModel:
    """Return the model with the friction of gears."""
    return with_friction(model, {
        'viscous_friction': VISCOUS * model.effort_limit,
        'coulomb_friction': COULOMB * model.effort_limit,
        'friction_velocity': np.full(model.nv, SLIP)})


class Plant:
    """
    Simulated arm; its brakes hold it before the first command, and when commands have stopped.

    :param arm: with the true model, which need not be the controller's.
    :param q: (nv,) initial pose.
    :param delay: [s] from a command to the effect of its efforts.
    :param silence: [s] of the command timeout.
    """

    def __init__(self, arm: Arm, q: ndarray, delay: float = 0.0, silence: float = SILENCE,
                 drives: Drives = IDEAL):
        n = arm.model.nv
        self.arm, self.drives = arm, drives
        self.q, self.qd = np.array(q, float), np.zeros(n)
        self._qdd, self._efforts, self._rows = np.zeros(n), np.zeros((5, n)), np.zeros((6, n))
        self.dynamics = arm.dynamics
        self.effort = self.dynamics.gravity(self.q) * (not drives.compensate_gravity)   # acts
        self._efforts[:2] = self.effort
        self.external = self._rows[EXTERNAL]                # of hands (nv,)
        self.motor = self._rows[MOTOR]                      # sign and health of the motors
        self.motor[:], self._rows[GAIN] = 1.0, drives.gain
        self.wired = np.arange(n)                           # joint whose effort each one gets
        self.stuck = self._rows[STUCK]                      # efforts that motors keep
        self.stuck[:] = np.nan
        self._rows[SATURATION], self._rows[DEAD_ZONE] = drives.saturation, drives.dead_zone
        self.blocked = -1                                   # joint
        self.wrecked = False
        self.speed = 0.0                                    # of the joints, in velocity limits
        self._velocity_limit, self._step = arm.model.velocity_limit, compiled_step()
        self.delay, self.silence = delay, silence
        self._commands: deque[tuple[float, ndarray]] = deque()
        self._heard = -np.inf

    @property
    def dynamics(self) -> Dynamics:
        """Dynamics of the arm as it is now; faults may change them."""
        return self._dynamics

    @dynamics.setter
    def dynamics(self, dynamics: Dynamics) -> None:
        model = dynamics.model
        self._dynamics = dynamics
        self._robot, self._work = parameters(model), workspace(model)
        # Friction is explicit in the integration: light joints with much of it need short steps
        slope = dynamics.friction(np.full(model.nv, 1e-9)) / 1e-9
        rate = float((slope * np.diag(np.linalg.inv(dynamics.mass_matrix(self.q)))).max())
        self._steps = int(np.clip(np.ceil(TICK * rate / STIFFNESS), SUBSTEPS, MOST_SUBSTEPS))

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
            self.qd[:], self.speed = 0.0, 0.0
            return
        self._efforts[COMMAND] = self.effort
        self.speed = self._step(
            self._robot, self._work, self.q, self.qd, self._qdd, self._efforts, self._rows,
            self.wired, self.blocked, self.drives.lag, self.drives.compensate_gravity,
            TICK / self._steps, self._steps, self._velocity_limit)
        self.wrecked |= self.speed >= WRECKED

    def friction_at(self, qd: ndarray) -> ndarray:
        """Friction of its gears at velocities (nv,) [N·m | N]."""
        return self.dynamics.friction(qd)

    def measured_effort(self, time: float) -> ndarray:
        """Efforts that the joints' sensors measure (nv,)."""
        if self.braked(time):
            return self.dynamics.gravity(self.q)
        if self.drives.compensate_gravity:
            return self.effort + self.dynamics.gravity(self.q)
        return self.effort
