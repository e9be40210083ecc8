# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of goals of trajectories, without the action: one test a row of docs/safety.md."""

import numpy as np
import pytest
from control.goal_cell import LEAD, POSE, Cell
from faults.rows import row

from robodyn_ros.control.controller import Controller
from robodyn_ros.control.goal_tolerances import GoalTolerances
from robodyn_ros.control.trajectory_goal import Status, TrajectoryGoal
from robodyn_ros.errors import TrajectoryError


@row('goal that nobody follows any more', where=TrajectoryGoal._lost,
     find='_.reference_serial != self._serial', instead='False')
def test_goal_that_nobody_follows_any_more():
    """Another trajectory goes elsewhere; the end of the goal is not reported as its success."""
    cell = Cell()
    goal = cell.goal(POSE + 0.2, 0.3)
    assert cell.run(goal, 50) is None
    cell.controller.follow(cell.waypoints(POSE, 0.1), cell.rig.time + LEAD)
    result = cell.end(goal)
    assert result.status == Status.ABORTED and 'another trajectory' in result.text
    other = Cell()
    goal = other.goal(POSE + 0.2, 0.3)
    assert other.run(goal, 50) is None
    other.rig.run(0.5, sense=False)
    assert other.rig.phase == 'FAULT'
    result = other.end(goal)
    assert result.status == Status.ABORTED and other.controller.reason in result.text


@row('goal that is planned while the reference changes', where=Controller.commit,
     find='self._points is not old', instead='False')
def test_goal_planned_while_the_reference_changes():
    """It would step back to where the reference was: refused, and the reference has no jump."""
    cell = Cell()
    planned = cell.controller.prepare(cell.waypoints(POSE + 0.2), cell.rig.time + LEAD)
    cell.controller.follow(cell.waypoints(POSE - 0.2, 1.0), cell.rig.time)
    cell.rig.run(0.005)
    with pytest.raises(TrajectoryError, match='has changed'):
        TrajectoryGoal(cell.controller, planned, GoalTolerances.unchecked(2))
    cell.rig.run(1.2)
    assert cell.v.target == pytest.approx(POSE - 0.2, abs=1e-9)


@row('cancel of a goal', where=TrajectoryGoal.cancel, find='self.decelerate()', instead="''")
def test_cancel_of_a_goal():
    """The reference comes to rest on the way, and the pose is held."""
    cell = Cell()
    goal = cell.goal(POSE + 0.4, 1.0)
    assert cell.run(goal, 300) is None and goal.cancel() == ''
    before = cell.v.target_qd.copy()
    assert cell.end(goal).status == Status.CANCELED and not cell.v.target_qd.any()
    assert abs(np.diff([r[1] for r in cell.reference], axis=0)).max() < 0.1 < before.max()
    rest = cell.v.target.copy()
    assert (rest < POSE + 0.35).all()
    cell.rig.run(1.0)
    assert cell.v.target == pytest.approx(rest) and cell.rig.q == pytest.approx(rest, abs=1e-4)
