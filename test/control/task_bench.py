# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A controller of the Panda in task space, in lockstep with MuJoCo, on a clock of its own."""

from control.rig import BENT as POSE, PANDA
import numpy as np
from robodyn_ros import Dynamics, Settings
from robodyn_ros.closed_loop import ClosedLoop
from robodyn_ros.control.steps import guard
from scipy.spatial.transform import Rotation

FRAME, PERIOD, DYNAMICS = 'panda_link7', 1e-3, Dynamics(PANDA)


class Bench(ClosedLoop):
    """The arm is RUNNING from the beginning; ``residual`` has the law's efforts on top of g(q)."""

    def __init__(self, q=POSE, *, recorded=0, **settings):
        super().__init__(PANDA, Settings(**{
            'mode': 'cartesian_impedance', 'task_frame': FRAME, 'stiffness': [50.0],
            'damping': [1.0], 'acceleration_kp': [100.0], 'acceleration_kd': [20.0],
            **settings}), q, plant=PANDA, recorded=recorded)
        self.residual = [np.zeros(PANDA.nv)]
        self.start()
        self.run(0.2)

    @property
    def phase(self) -> str:
        return guard.PHASES[self.controller.phase]

    @property
    def q(self) -> np.ndarray:
        return self.plant.state().position

    @property
    def pose(self) -> np.ndarray:
        """Pose of the frame (4, 4)."""
        return DYNAMICS.pose(self.q, FRAME)

    def tick(self) -> None:
        super().tick()
        self.residual.append(self.controller._v.tau_residual.copy())

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
