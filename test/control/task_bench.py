# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A controller of the Panda in task space, in lockstep with MuJoCo, on a clock of its own."""

from math import inf

from control.risen import BENT as POSE
from control.risen import PANDA
import numpy as np
from robodyn_ros import Controller, Dynamics, Settings
from robodyn_ros.control.steps import guard
from robodyn_ros.simulation.drive import Drive
from robodyn_ros.simulation.plant import Plant
from scipy.spatial.transform import Rotation

FRAME, PERIOD = 'panda_link7', 1e-3
PANDA_URDF, DYNAMICS = PANDA.to_urdf(), Dynamics(PANDA)


class Bench:
    """The arm is RUNNING from the beginning; ``residual`` has the law's efforts on top of g(q)."""

    def __init__(self, q=POSE, *, recorded=0, **settings):
        self.controller = Controller(PANDA, Settings(**{
            'mode': 'cartesian_impedance', 'task_frame': FRAME, 'stiffness': [50.0],
            'damping': [1.0], 'acceleration_kp': [100.0], 'acceleration_kd': [20.0],
            **settings}), specialize=False, recorded=recorded)
        self.plant = Plant(PANDA_URDF, model=PANDA, timestep=PERIOD / 2, substeps=2)
        self.drive = Drive(self.plant, initial=q, timeout=inf)
        self.k, self.residual = 0, [np.zeros(PANDA.nv)]
        self.controller.arm()
        self.run(0.3)
        assert self.phase == 'RUNNING', self.controller.arming_refusal

    @property
    def now(self) -> float:
        return self.k * PERIOD

    @property
    def phase(self) -> str:
        return guard.PHASES[self.controller.phase]

    @property
    def q(self) -> np.ndarray:
        return self.drive.state().position

    @property
    def pose(self) -> np.ndarray:
        """Pose of the frame (4, 4)."""
        return DYNAMICS.pose(self.q, FRAME)

    def tick(self) -> None:
        seen, c = self.drive.state(), self.controller
        c.state['position'], c.state['velocity'] = seen.position, seen.velocity
        c.state['effort'], c.state['received'] = seen.effort, self.now
        if c.step(self.now):
            self.drive.command(c.tau.copy(), self.now)
        self.residual.append(c._v.tau_residual.copy())
        self.drive.advance()
        self.k += 1

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / PERIOD)):
            self.tick()

    def go(self, position, rotation=None) -> None:
        """Send a target; without a rotation, it stays."""
        turned = Rotation.from_matrix(self.pose[:3, :3]) if rotation is None else rotation
        self.controller.follow_pose(position, turned.as_quat(), self.now + 0.01)

    def largest_step(self) -> float:
        """Largest change of the law's effort in a cycle so far, in rate limits."""
        steps = abs(np.diff(self.residual, axis=0)) / (10.0 * PERIOD * PANDA.effort_limit)
        return float(steps.max())
