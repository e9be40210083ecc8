# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""References as C posts them, planned in the cycle that begins: what is refused, and motions."""

from copy import deepcopy
from math import inf, nan, pi

from control.rig import risen, TWO_LINK
import numpy as np
import pytest
from robodyn_ros.control.cycle.plain_cycle import fields_readable, Records
from robodyn_ros.control.inputs.pose_tracking import Points, PosePoints
from robodyn_ros.control.references import joint_requests, pose_requests
from robodyn_ros.control.references.pose_planning import pose_limits
from robodyn_ros.control.references.request import ERRORS, PERIODIC, request, segments_of
from robodyn_ros.control.settings.motion_limits import limit_rows, motion_limits
from robodyn_ros.control.settings.task_and_bounds import reach
from robodyn_ros.control.steps import guard
from scipy.spatial.transform import Rotation

STREAM = joint_requests.stream_joints, pose_requests.stream_pose
SPEED = 2.0     # rad/s, of the joints


class Host:
    """An arm in RUNNING, and the request that its host posts."""

    def __init__(self, mode):
        self.rig = risen(mode=mode)
        settings, c = self.rig.controller.settings, self.rig.controller
        r = request(2, TWO_LINK.nb, 1, segments_of(2, 9), 9)
        self.r = r._replace(memory=Records(r.memory), points=r.points._replace(
            header=Records(r.points.header)), poses=r.poses._replace(
                header=Records(r.poses.header)))
        r.limits[0] = limit_rows(motion_limits(TWO_LINK, settings, np.full(2, SPEED)))
        r.pose_limits[0] = limit_rows(pose_limits(settings))[:5]
        center, longest = reach(TWO_LINK, 'tool0')
        r.reach[0] = *center, longest
        self.v, self.memory = c._v, c.memory

    def post(self, function, **asked):
        """Post a request with these values; return the name of its error."""
        for name, value in asked.items():
            getattr(self.r, name)[...] = value
        c = self.rig.controller
        wrong = function(fields_readable(c.inputs), self.r, self.rig.time)
        n = self.r.result[2]
        if wrong == 0 and function.__module__ == joint_requests.__name__:
            p = self.r.points
            c.trajectory.points = Points(p.header[:].copy(), p.times[:n + 1].copy(),
                                         p.coefficients[:n].copy(), p.efforts[:n].copy())
        elif wrong == 0:
            p = self.r.poses
            c.pose.points = PosePoints(p.header[:].copy(), p.times[:n + 1].copy(),
                                       p.coefficients[:n].copy(), p.bases[:n].copy(),
                                       p.command.copy())
        return ERRORS[wrong]

    def refusal(self, function, given, **asked):
        """Return the error of a request that changes nothing, with given values of the arm."""
        c = fields_readable(deepcopy(self.rig.controller.inputs))
        r = deepcopy(self.r)
        for name, value in given.items():
            setattr({'m': c.controller, 's': c.settings}[name[0]], name[2:], value)
        for name, value in asked.items():
            getattr(r, name)[...] = value
        return ERRORS[function(c, r, self.rig.time)], r

    def references(self, seconds):
        """Go on; return the references of the joints (N, 3, nv), which are continuous."""
        found = []
        for _ in range(round(seconds / self.rig.period)):
            self.rig.tick()
            found.append((self.v.target.copy(), self.v.target_qd.copy(), self.v.target_qdd.copy()))
        found = np.array(found)
        steps = np.diff(found[:, 0], axis=0) / self.rig.period
        assert abs(steps - 0.5 * (found[1:, 1] + found[:-1, 1])).max() < 0.02
        assert abs(found[:, 1]).max() <= 1.0001 * SPEED and self.rig.phase == 'RUNNING'
        return found


@pytest.fixture(scope='module')
def running():
    """Return an arm of which nothing is changed."""
    return Host('joint_impedance')


@pytest.fixture(scope='module')
def spatial():
    """Return an arm that follows poses, of which nothing is changed."""
    return Host('cartesian_impedance')


def pose_of(host, moved=(0.0, 0.0, 0.0), turned=(0.0, 0.0, 0.0), twist=(0.0,) * 6):
    """Return the pose of the reference as it is posted (13,), moved, turned, with a twist."""
    R = Rotation.from_matrix(host.memory['pose_rotation'][0].reshape(3, 3))
    return [*(host.memory['pose_position'][0] + moved),
            *(Rotation.from_rotvec(turned) * R).as_quat(), *twist]


TARGET, HERE = np.array([0.6, 0.2]), np.array([0.3, 0.5])
AT_REST = [HERE, [0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize(('function', 'given', 'asked', 'error', 'joint'), [
    *((function, {'m_phase': guard.RISING}, {}, 'NOT_RUNNING', -1) for function in (
        *STREAM, joint_requests.begin_target, joint_requests.begin_stop, joint_requests.begin_path,
        pose_requests.begin_pose)),
    *((joint_requests.begin_target, given, {}, 'NOT_FOLLOWED', -1) for given in (
        {'m_mode': 99}, {'m_basis': 99}, {'m_guided': 1}, {'s_follows': 0})),
    *((function, {}, {}, 'NOT_FOLLOWED', -1) for function in (
        pose_requests.begin_pose, pose_requests.stream_pose)),
    (joint_requests.begin_target, {}, {'asked': [[0.3, nan], [0, 0], [0, 0]]}, 'NOT_FINITE', 1),
    (joint_requests.begin_target, {}, {'asked': [[0.3, 9.0], [0, 0], [0, 0]]}, 'OUTSIDE', 1),
    (joint_requests.stream_joints, {'s_bounded': 1}, {'asked': AT_REST}, 'BOUNDED', -1),
    (joint_requests.stream_joints, {}, {'asked': [HERE, [0, 0], [0, inf]]}, 'NOT_FINITE', 1),
    (joint_requests.stream_joints, {}, {'asked': [[0.3, -9.0], [0, 0], [0, 0]]}, 'OUTSIDE', 1),
    (joint_requests.stream_joints, {}, {'asked': [HERE, [2.1, 0], [0, 0]]}, 'TOO_FAST', 0),
    (joint_requests.stream_joints, {}, {'asked': [HERE, [0, 0], [0, -1e3]]}, 'TOO_FAST', 1),
    (joint_requests.stream_joints, {}, {'asked': [HERE + [0.0, 1.0], [0, 0], [0, 0]]}, 'JUMP', 1),
    (joint_requests.prepare_path, {}, {'counts': [0, 0, 0, 3]}, 'WRONG_TIMES', -1)])
def test_refused_requests(running, function, given, asked, error, joint):
    found, r = running.refusal(function, given, **asked)
    assert found == error and r.result[0] == joint


@pytest.mark.parametrize(('moved', 'turned', 'twist', 'error', 'axis'), [
    ((nan, 0.0, 0.0), (0.0,) * 3, (0.0,) * 6, 'NOT_FINITE', -1),
    ((9.0, 0.0, 0.0), (0.0,) * 3, (0.0,) * 6, 'OUTSIDE', -1),
    ((0.0, 0.2, 0.0), (0.0,) * 3, (0.0,) * 6, 'JUMP', 1),
    ((0.0,) * 3, (0.0, 0.0, 1.0), (0.0,) * 6, 'JUMP', 5),
    ((0.0,) * 3, (0.0,) * 3, (0.0,) * 4 + (9.0, 0.0), 'TOO_FAST', 4)])
def test_poses_of_a_stream_that_are_refused(spatial, moved, turned, twist, error, axis):
    pose = pose_of(spatial, moved, turned, twist)
    found, r = spatial.refusal(pose_requests.stream_pose, {}, pose=pose)
    assert found == error and r.result[0] == axis
    single = spatial.refusal(pose_requests.begin_pose, {}, pose=pose)[0]
    assert single == (error if axis < 0 else 'OK')
    bounded = spatial.refusal(pose_requests.stream_pose, {'s_bounded': 1}, pose=pose)[0]
    assert bounded == 'BOUNDED'


@pytest.mark.parametrize('quaternion', [[0.0, 0.0, 0.0, 1.01], [0.0, 0.0, 0.0, 0.0]])
def test_quaternions_that_are_none(spatial, quaternion):
    pose = pose_of(spatial)
    pose[3:7] = quaternion
    assert spatial.refusal(pose_requests.begin_pose, {}, pose=pose)[0] == 'NOT_FINITE'


def test_turns_of_continuous_joints_do_not_count(running):
    limits, away = running.r.limits.copy(), HERE + [2.0 * pi, -4.0 * pi]
    limits[0, PERIODIC] = 1.0
    for function in joint_requests.begin_target, joint_requests.stream_joints:
        error, r = running.refusal(function, {}, limits=limits, asked=[away, [0, 0], [0, 0]])
        assert error == 'OK'
        assert r.points.coefficients[0, 0] == pytest.approx(HERE, abs=1e-3)


@pytest.mark.parametrize('slowing, start', [(0.0, -1.0), (0.5, -1.0005 - 1e-9)])
def test_references_begin_on_their_own_clock(running, slowing, start):
    """Which is behind by 1 s, and runs at half of its speed in the cycle that begins."""
    error, r = running.refusal(joint_requests.begin_target, {'m_slowing': slowing, 'm_lag': 1.0},
                               asked=AT_REST)
    assert error == 'OK'
    assert r.points.header[0].start - running.rig.time == pytest.approx(start, abs=1e-11)


def test_a_pose_from_where_the_arm_is(spatial):
    """Before any reference of a pose."""
    error, r = spatial.refusal(pose_requests.begin_pose, {'m_pose_held': 0}, pose=pose_of(spatial))
    assert error == 'OK'
    assert r.poses.coefficients[0, 0] == pytest.approx(pose_of(spatial)[:3] + [0.0] * 3, abs=1e-3)


def test_a_target_and_a_stop_on_the_way_to_another():
    host = Host('joint_impedance')
    assert host.post(joint_requests.begin_target, asked=[TARGET, [1, 1], [1, 1]]) == 'OK'
    found = host.references(0.8)
    assert found[-1] == pytest.approx(np.array([TARGET, [0.0, 0.0], [0.0, 0.0]]))
    assert host.post(joint_requests.begin_target, asked=[HERE, [0, 0], [0, 0]]) == 'OK'
    moving = host.references(0.15)[-1]
    assert abs(moving[1]).min() > 0.1
    assert host.post(joint_requests.begin_stop) == 'OK'
    stopped = host.references(0.5)
    assert not stopped[-1, 1].any() and abs(stopped[0] - moving)[0].max() < 0.01
    assert np.all((stopped[-1, 0] - HERE) * (TARGET - HERE) > 0.0)


@pytest.mark.parametrize('first', [0.0, 0.5])       # s
def test_a_path(first):
    """With positions alone, it is a spline through its waypoints."""
    host, times = Host('joint_impedance'), first + np.array([0.0, 0.5, 1.0])
    rows = HERE + np.array([[0.0, 0.0], [0.1, -0.05], [0.2, -0.2]])
    for waypoint, time, row in zip(range(3), times, rows):
        host.r.times[waypoint], host.r.waypoints[waypoint, 0] = time, row
    host.r.counts[:] = 3, 0, 0, 3
    assert host.post(joint_requests.prepare_path) == 'OK'
    assert host.post(joint_requests.begin_path) == 'OK'
    found = host.references(1.2 + first)
    for time, row in zip(times, rows):
        assert found[round(time / host.rig.period), 0] == pytest.approx(row, abs=1e-3)
    assert found[-1, 0] == pytest.approx(rows[-1]) and not found[-1, 1].any()


@pytest.mark.parametrize('given', ['all', 'positions', 'velocities'])
def test_a_stream_of_joints(given):
    """It is joined, followed, and comes to rest soon after its last one."""
    host, offset = Host('joint_impedance'), 0.005
    for k in range(120):
        t = k * host.rig.period
        both = np.array([2.0 * t] * 2)
        asked = np.array([HERE + offset + 0.1 * (1.0 - np.cos(both)), 0.2 * np.sin(both),
                          0.4 * np.cos(both)])
        if given == 'positions':
            asked[1:] = nan
        elif given == 'velocities':
            asked[[0, 2]] = nan
        assert host.post(joint_requests.stream_joints, asked=asked) == 'OK', (k, host.r.result)
        host.rig.tick()
    expected = HERE + 0.1 * (1.0 - np.cos(0.24)) + offset * (given != 'velocities')
    assert host.v.target == pytest.approx(expected, abs=1e-3)
    after = host.references(0.5)
    assert not after[-1, 1].any() and abs(after[-1, 0] - expected).max() < 0.05


def test_a_pose_and_another_one_on_the_way():
    host = Host('cartesian_impedance')
    begin = np.array(pose_of(host))
    goal = pose_of(host, (-0.02, 0.0, -0.02), (0.0, 0.1, 0.0))
    assert host.post(pose_requests.begin_pose, pose=goal) == 'OK'
    host.rig.run(0.1)
    assert host.post(pose_requests.begin_pose, pose=begin) == 'OK'
    assert host.post(pose_requests.begin_pose, pose=goal) == 'OK'
    host.rig.run(1.0)
    assert host.rig.phase == 'RUNNING'
    assert pose_of(host) == pytest.approx(goal, abs=1e-6)


def test_a_stream_of_poses():
    host = Host('cartesian_impedance')
    begin, rate = np.array(pose_of(host)), np.array([-0.05, 0.0, 0.02])
    R = Rotation.from_quat(begin[3:7])
    for k in range(100):
        t = k * host.rig.period
        pose = [*(begin[:3] + 1e-3 + rate * t), *(Rotation.from_rotvec([0.0, 0.2 * t, 0.0])
                                                 * R).as_quat(), *rate, 0.0, 0.2, 0.0]
        assert host.post(pose_requests.stream_pose, pose=pose) == 'OK', (k, host.r.result)
        host.rig.tick()
    assert pose_of(host) == pytest.approx(np.array(pose[:7] + [0.0] * 6), abs=2e-4)
    host.rig.run(0.5)
    assert host.rig.phase == 'RUNNING'
    assert pose_of(host)[:3] == pytest.approx(pose[:3], abs=0.02)
