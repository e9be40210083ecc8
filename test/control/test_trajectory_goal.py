# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Goals of trajectories in closed loop: results, tolerances, cancellation and preemption."""

from dataclasses import replace
from math import inf

from control.rig import POSE, risen, TWO_LINK
import numpy as np
import pytest
from robodyn_ros.control.controller.trajectory_goal import (
    CODES, GOAL_TOLERANCE_VIOLATED, INVALID_GOAL, INVALID_JOINTS, OLD_HEADER_TIMESTAMP,
    PATH_TOLERANCE_VIOLATED, refusal_code, Status, SUCCESSFUL, TrajectoryGoal)
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.settings.motion_limits import (
    default_tolerances, goal_tolerances, GoalTolerances, JointTolerance, motion_limits)
from robodyn_ros.errors import (
    ParameterError, TrajectoryError, TrajectoryJointsError, TrajectoryOverError)
from thorough import seeds

NAMES = TWO_LINK.joint_names
LEAD, POLL = 0.01, 20       # s; ticks


class Cell:
    """An arm with at most one goal, whose reference is recorded in every tick."""

    def __init__(self, **settings):
        self.rig = risen(mode='computed_torque', **settings)
        self.controller, self.v = self.rig.controller, self.rig.controller._v
        self.reference: list[np.ndarray] = []

    def waypoints(self, pose, seconds=0.3, names=NAMES):
        return Waypoints(names, np.array([seconds]), np.atleast_2d(pose),
                         np.zeros((1, len(names))))

    def goal(self, pose, seconds=0.3, names=NAMES, later=0.0, **tolerances):
        """Have the controller follow a goal from now on."""
        c = self.controller
        given = goal_tolerances(TWO_LINK, default_tolerances(TWO_LINK, c.settings), named=names,
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


@pytest.fixture
def cell():
    return Cell()


def assert_smooth(reference):
    """Position and velocity change by no more than velocity and acceleration account for."""
    x, xd, xdd = np.array(reference).transpose(1, 0, 2)
    for change, rate in ((np.diff(x, axis=0), xd), (np.diff(xd, axis=0), xdd)):
        most = np.maximum(abs(rate[:-1]), abs(rate[1:]))
        assert (abs(change) <= 1e-3 * (1.5 * most + 0.2)).all(), abs(change).max()


@pytest.mark.slow
def test_goals_end_as_they_should():
    """Goals, cancels, preemptions and trajectories of others at random, without a jump."""
    number = seeds(40, 1000)
    cell, rng = Cell(), np.random.default_rng(7)
    limits = motion_limits(TWO_LINK, cell.controller.settings, TWO_LINK.velocity_limit)
    counted = dict.fromkeys(('reach', 'cancel', 'preempt', 'other', 'part'), 0)
    goal = None
    for _ in range(number):
        what = rng.choice(list(counted))
        counted[what] += 1
        names = NAMES[:1] if what == 'part' else NAMES
        pose = POSE[:len(names)] + rng.uniform(-0.25, 0.25, len(names))
        new = cell.goal(pose, rng.uniform(0.25, 0.4), names)
        if goal is not None:
            result = goal.preempted()
            assert (result.status, result.code) == (Status.ABORTED, INVALID_GOAL)
            assert goal.step().text == 'another trajectory has replaced it'
        goal = new
        if what in ('reach', 'part'):
            result = cell.end(goal)
            assert (result.status, result.code) == (Status.SUCCEEDED, SUCCESSFUL), result
            assert cell.v.target[:len(names)] == pytest.approx(pose, abs=1e-9)
            goal = None
            continue
        if (result := cell.run(goal, int(rng.integers(10, 240)))) is not None:
            assert result.status == Status.SUCCEEDED
            goal = None
        elif what == 'cancel':
            begin = len(cell.reference)
            assert goal.cancel() == '' and goal.canceling and goal.cancel() == ''
            result = cell.end(goal)
            assert (result.status, result.code) == (Status.CANCELED, SUCCESSFUL), result
            xdd = np.array(cell.reference[begin:])[:, 2]
            assert (abs(xdd[10:]) <= np.maximum(limits.acceleration, abs(xdd[:12]).max(0))
                    + 1e-6).all()
            jerk = abs(np.diff(xdd[12:], axis=0)) / cell.rig.period
            assert (jerk <= 1.001 * limits.jerk).all(), jerk.max(0) / limits.jerk
            assert not cell.v.target_qd.any()
            goal = None
        elif what == 'other':
            cell.controller.follow(cell.waypoints(POSE), cell.rig.time + LEAD)
            result = cell.end(goal)
            assert (result.status, result.code) == (Status.ABORTED, INVALID_GOAL)
            assert 'another trajectory' in result.text
            goal = None
    assert min(counted.values()) > number // 10 and cell.rig.phase == 'RUNNING'
    assert_smooth(cell.reference)


def test_path_tolerance(cell):
    """A push takes the arm off the path: the reference comes to rest within the limits."""
    goal = cell.goal(POSE + 0.3, 1.0, path=[JointTolerance(NAMES[1], 0.01, 0.0)])
    assert cell.run(goal, 300) is None
    cell.rig.qd[1] += 0.5
    result = cell.end(goal, 100)
    assert (result.status, result.code) == (Status.ABORTED, PATH_TOLERANCE_VIOLATED)
    assert f'position of {NAMES[1]} is 0.0' in result.text and 'more than 0.01' in result.text
    for _ in range(600):
        cell.rig.tick()
        cell.reference.append(np.array([cell.v.target, cell.v.target_qd, cell.v.target_qdd]))
    assert not cell.v.target_qd.any() and (cell.v.target < POSE + 0.25).all()
    assert_smooth(cell.reference)


@pytest.mark.parametrize(('seconds', 'ended'), [(0.1, True), (-1.0, False), (0.0, False)])
def test_goal_time_tolerance(seconds, ended):
    """A joint that stays away from its goal ends it after the time, or never."""
    cell = Cell()
    goal = cell.goal(POSE + 0.1, 0.2, goal=[JointTolerance(NAMES[0], 1e-9, 1e-9)],
                     goal_time=seconds)
    result = cell.run(goal, 800)
    assert (result is not None) == ended
    if ended:
        assert (result.status, result.code) == (Status.ABORTED, GOAL_TOLERANCE_VIOLATED)
        assert 'after the end' in result.text and NAMES[0] in result.text


def test_goals_that_are_not_reached_or_dropped(cell):
    # Before its start nothing moves, and nothing does afterwards.
    goal = cell.goal(POSE + 0.2, 0.5, later=1.0)
    assert cell.run(goal, 100) is None and goal.cancel() == ''
    assert cell.end(goal).status == Status.CANCELED
    cell.rig.run(2.0)
    assert cell.rig.q == pytest.approx(POSE, abs=1e-4)
    # Something holds it away: with the default tolerances the goal fails, and says how far.
    cell.rig.external[1] = 1.0
    result = cell.end(cell.goal(POSE + 0.1))
    assert (result.status, result.code) == (Status.ABORTED, GOAL_TOLERANCE_VIOLATED)
    assert f'position of {NAMES[1]} is 0.' in result.text and 'more than 0.05' in result.text
    # Other gains take the present pose as the reference: the goal is not reached any more.
    goal = cell.goal(POSE + 0.2, 1.0)
    assert cell.run(goal, 100) is None
    cell.controller.use(replace(cell.controller.settings, mode='joint_impedance'))
    result = cell.end(goal, 200)
    assert result.status == Status.ABORTED and 'the present pose' in result.text


def test_progress_faults_and_stops(cell):
    # Reference, state and waypoint of the last cycle.
    goal = cell.goal(POSE + 0.2, 0.4)
    assert cell.run(goal, 200) is None
    progress = goal.progress()
    assert progress.time == pytest.approx(0.2 - LEAD, abs=3e-3) and progress.waypoint == 0
    assert progress.desired[0] == pytest.approx(POSE + 0.1, abs=0.02)
    assert progress.actual[0] == pytest.approx(progress.desired[0], abs=5e-3)
    assert (progress.desired[1] > 0.3).all() and (progress.actual[1] > 0.3).all()
    # With the reason of the guard; a fault that has been reset meanwhile counts too.
    goal = cell.goal(POSE + 0.2, 1.0)
    assert cell.run(goal, 100) is None
    cell.rig.run(0.1, sense=False)
    result = goal.step()
    assert (result.status, result.code) == (Status.ABORTED, INVALID_GOAL)
    assert result.text == f'FAULT: {cell.controller.reason}' and goal.cancel() == result.text
    other = Cell()
    goal = other.goal(POSE + 0.2, 1.0)
    assert other.run(goal, 100) is None
    other.controller.stop()
    assert 'the controller is' in other.end(goal).text
    with pytest.raises(TrajectoryError, match='the controller is'):
        other.goal(POSE)


def test_tolerances():
    """0 is the default, -1 none; defaults of the end apply to joints that are named."""
    default = GoalTolerances(np.full((2, 2), 0.5), np.full((2, 2), 0.1), 3.0)
    given = goal_tolerances(TWO_LINK, default, [JointTolerance(NAMES[1], 0.2, -1.0)],
                            [JointTolerance(NAMES[1], 0.0, 0.4)], named=NAMES[:1])
    assert given.path.tolist() == [[0.5, 0.2], [0.5, inf]]
    assert given.goal.tolist() == [[0.1, inf], [0.1, 0.4]] and given.goal_time == 3.0
    assert goal_tolerances(TWO_LINK, default, goal_time=-1e-9).goal_time == inf
    assert goal_tolerances(TWO_LINK, default, goal_time=2.0).goal_time == 2.0
    for bad in ([JointTolerance(NAMES[0], -2.0, 0.0)], [JointTolerance(NAMES[0], inf, 0.0)],
                [JointTolerance(NAMES[0], np.nan, 0.0)], 2 * [JointTolerance(NAMES[0], 0.1, 0.0)],
                [JointTolerance(NAMES[0], 0.0, 0.0, 1.0)]):
        with pytest.raises(TrajectoryError):
            goal_tolerances(TWO_LINK, default, bad)
    with pytest.raises(TrajectoryJointsError, match='elbow'):
        goal_tolerances(TWO_LINK, default, goal=[JointTolerance('elbow', 0.1, 0.0)])
    settings = Cell().controller.settings
    ends = default_tolerances(TWO_LINK, settings).goal
    assert ends[:, 0].tolist() == [0.05, settings.rest_velocity]
    ends = default_tolerances(TWO_LINK, replace(settings, goal_tolerance=[0.0, 0.1])).goal
    assert ends[0].tolist() == [inf, 0.1]
    with pytest.raises(ParameterError, match='goal_tolerance'):
        default_tolerances(TWO_LINK, replace(settings, goal_tolerance=[0.1, 0.1, 0.1]))


def test_codes():
    told = {'name': 'x', 'remedy': 'x'}
    assert refusal_code(TrajectoryOverError('x', **told)) == OLD_HEADER_TIMESTAMP
    assert refusal_code(TrajectoryJointsError('x', **told)) == INVALID_JOINTS
    assert refusal_code(TrajectoryError('x', **told)) == INVALID_GOAL
    assert sorted(CODES) == [-5, -4, -3, -2, -1, 0]


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
