# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""An arm in closed loop that follows goals, with its reference recorded."""

from control.closed_loop import Rig
import numpy as np
from robodyn_ros import load_urdf
from robodyn_ros.control.controller.trajectory_goal import TrajectoryGoal
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.settings.goal_tolerances import default_tolerances, goal_tolerances

MODEL = load_urdf('two_link')
NAMES, POSE = MODEL.joint_names, np.array([0.3, 0.5])
LEAD, POLL = 0.01, 20       # s; ticks


class Cell:
    """An arm with at most one goal, whose reference is recorded in every tick."""

    def __init__(self, **settings):
        self.rig = Rig(MODEL, POSE, mode='computed_torque', **settings)
        self.rig.rise()
        self.controller, self.v = self.rig.controller, self.rig.controller._v
        self.reference: list[np.ndarray] = []

    def waypoints(self, pose, seconds=0.3, names=NAMES):
        return Waypoints(names, np.array([seconds]), np.atleast_2d(pose),
                         np.zeros((1, len(names))))

    def goal(self, pose, seconds=0.3, names=NAMES, later=0.0, **tolerances):
        """Have the controller follow a goal from now on."""
        c = self.controller
        given = goal_tolerances(MODEL, default_tolerances(MODEL, c.settings), named=names,
                                **tolerances)
        planned = c.prepare(self.waypoints(pose, seconds, names), self.rig.time + LEAD + later)
        return TrajectoryGoal(c, planned, given)

    def run(self, goal, ticks):
        """Go on until the goal has a result, which is returned, or so many ticks are over."""
        for k in range(ticks):
            self.rig.tick()
            self.reference.append(np.array([self.v.target, self.v.target_qd, self.v.target_qdd]))
            if k % POLL == 0 and (result := goal.step()) is not None:
                return result
        return None

    def end(self, goal, ticks=4000):
        result = self.run(goal, ticks)
        assert result is not None
        return result
