# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The planner of references, compiled and plain; reference poses and twists."""

from control.planned import FARTHEST, LIMITS, NAMES, planned, samples
import numpy as np
import pytest
from robodyn_ros import Settings
from robodyn_ros.control.references.compile_planner import compile_planner, plan
from robodyn_ros.control.references.joint_requests import plan_joints
from robodyn_ros.control.references.pose_planning import (
    at_rest, at_twist, checked_pose, checked_stiffness, checked_wrench, pose_limits, PoseState,
    sample_pose, splice_poses, to_pose)
from robodyn_ros.control.references.request import (
    ACCELERATIONS, DERIVATIVES, KIND, MAY_END_MOVING, OK, PATH, request, segments_of, STOP, TARGET,
    WAYPOINT, WAYPOINTS)
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.settings.motion_limits import limit_rows
from robodyn_ros.errors import TrajectoryError
from scipy.spatial.transform import Rotation
from thorough import seeds


def asked(kind, rng):
    """Return a random request of a kind, of which many are refused."""
    count = rng.integers(2, 9) if kind == PATH else 1
    r = request(2, 0, 1, segments_of(2, count), count)
    r.limits[0] = limit_rows(LIMITS)
    r.limits[0, -1] = rng.choice([0.0, 1.0])            # continuous joints
    r.state[:3] = rng.uniform(-1.0, 1.0, (3, 2)) * [[1.0], [1.5], [6.0]] * rng.choice([0.0, 1.0])
    r.counts[[KIND, WAYPOINTS, DERIVATIVES, MAY_END_MOVING]] = (
        kind, count, rng.integers(ACCELERATIONS + 1), rng.integers(2))
    r.times[:] = np.cumsum(rng.uniform(0.05, 1.0, count)) - rng.choice([0.0, 0.05])
    r.times[0] *= rng.integers(2)
    steps = rng.uniform(-0.02, 0.02, (count, 2)) * (np.arange(count) == 0)[:, None]
    r.waypoints[:, 0] = r.state[0] + steps + np.cumsum(rng.uniform(-0.1, 0.1, (count, 2)), 0)
    r.waypoints[0, 0] = r.state[0] + steps[0]
    r.waypoints[:, 1:] = rng.uniform(-0.2, 0.2, (count, 3, 2))
    r.waypoints[-1, 1] *= r.counts[MAY_END_MOVING]
    r.asked[:2] = rng.uniform(-1.6, 1.6, (2, 2))
    r.span[0] = rng.uniform(0.0, 0.2) * (kind == WAYPOINT or rng.random() < 0.3)
    return r


@pytest.mark.parametrize('kind', [STOP, TARGET, WAYPOINT, PATH])
def test_plain_python_plans_the_same_bits(kind):
    compile_planner()
    planned = 0
    for seed in range(seeds(60, 1000)):
        one, other = (asked(kind, np.random.default_rng(seed)) for _ in range(2))
        wrong = plan(plan_joints, one)
        assert plan_joints(other) == wrong, seed
        assert one.result.tolist() == other.result.tolist(), seed
        planned += wrong == OK
        n = one.result[2] if wrong == OK else 0
        for name in ('times', 'coefficients', 'efforts'):
            first, second = (getattr(r.points, name)[:n] for r in (one, other))
            assert first.tobytes() == second.tobytes(), (seed, name)
    assert planned > 15


@pytest.mark.parametrize('kind', ['target', 'path'])
@pytest.mark.parametrize('moves', [False, True])
def test_a_joint_that_is_not_named_may_be_outside_its_limits(kind, moves):
    """It stays where it is, to the bit, while the others move; named, it is refused."""
    pose = np.array([0.1, FARTHEST + 0.2])
    times, rows = (np.array([0.0]), [[0.5]]) if kind == 'target' else (
        np.array([1.0, 2.0]), [[0.4], [0.5]])
    old = planned(Waypoints(('joint1',), np.array([3.0]), np.array([[0.3]])), None, pose) \
        if moves else None
    found = planned(Waypoints(('joint1',), times, np.array(rows)), old, pose)
    end = samples(found, [10.0, 11.0, 99.0])
    assert (end[0, :, 1] == pose[1]).all() and not end[1:, :, 1].any()
    assert end[0, -1, 0] == pytest.approx(0.5)
    with pytest.raises(TrajectoryError, match='joint2'):
        planned(Waypoints(NAMES, times, np.array([[*row, pose[1]] for row in rows])), old, pose)


near = pytest.approx
SPEED, TURN, STEP = 0.25, 1.0, 5e-3     # m/s, rad/s, s
POSE_LIMITS = pose_limits(Settings(task_velocity_limit=[2.0 * SPEED, 2.0 * TURN],
                                   velocity_scale=0.5))
BEGIN = Rotation.from_euler('xyz', [0.3, -0.5, 1.0])
HOME = PoseState(np.array([0.4, 0.1, 0.5]), BEGIN.as_matrix(), np.zeros(6), np.zeros(6))
GOAL, TURNED = HOME.position + [0.1, -0.05, 0.02], Rotation.from_rotvec([0.0, 0.4, -0.8])
TWIST = np.array([0.1, 0.0, -0.05, 0.0, 0.0, 0.3])
MOST = np.diag([500.0] * 3 + [30.0] * 3)


def goes_there(start=1.0):
    """Return the motion from HOME to the goal."""
    return to_pose(POSE_LIMITS, HOME, GOAL, (TURNED * BEGIN).as_quat(), start, 3)


def check(points, begin, end):
    """Check that velocities are those of the poses, and within the limits; return the poses."""
    times = np.arange(begin, end, STEP)
    poses = [sample_pose(points, t) for t in times]
    velocity = np.array([pose.velocity for pose in poses])
    moved = np.diff([pose.position for pose in poses], axis=0)
    turned = np.array([Rotation.from_matrix(b.rotation @ a.rotation.T).as_rotvec()
                       for a, b in zip(poses, poses[1:], strict=False)])
    mean = 0.5 * STEP * (velocity[1:] + velocity[:-1])
    np.testing.assert_allclose(np.hstack([moved, turned]), mean, atol=1e-5)
    assert (abs(velocity) <= [SPEED] * 3 + [3**0.5 * TURN] * 3).all()
    return poses


def test_a_motion_to_a_pose_ends_there_at_rest():
    poses = check(goes_there(), 0.9, 4.0)
    assert poses[0].position == near(HOME.position) and not poses[0].velocity.any()
    assert poses[-1].position == near(GOAL) and not poses[-1].velocity.any()
    assert poses[-1].rotation == near(TURNED.as_matrix() @ HOME.rotation)
    # Under 1 m/s² and 10 m/s³, Ruckig itself finds no motion of exactly 2 cm.
    points = to_pose(pose_limits(Settings()), HOME, HOME.position + [0.02, 0.0, 0.0],
                     BEGIN.as_quat(), 1.0, 3)
    assert sample_pose(points, 9.0).position == near(HOME.position + [0.02, 0.0, 0.0])


@pytest.mark.parametrize('duration', [0.0, 0.5])
def test_a_twist_is_kept_for_a_while(duration):
    """One that ends before it is reached leads to rest as well."""
    points = at_twist(POSE_LIMITS, HOME, TWIST, duration, 1.0, 3)
    poses = check(points, 0.9, 3.0)
    assert not poses[-1].velocity.any()
    if duration:
        assert sample_pose(points, 1.5 - 1e-9).velocity == near(TWIST, abs=1e-6)


@pytest.mark.parametrize('start', [0.5, 1.4, 9.0])
def test_a_motion_takes_over_from_another(start):
    """Before the first one begins, during it, and after it has come to rest."""
    old = goes_there()
    now = sample_pose(old, start)
    new = at_twist(POSE_LIMITS, now, TWIST, 0.2, start, 4)
    both = splice_poses(old, new, 0.9)
    check(both, start - 0.5, start + 1.5)
    for t in (0.6, 1.2, 1.5, 5.0, 9.1, 10.5):
        expected = sample_pose(new if t >= start else old, t)
        for given, wanted in zip(sample_pose(both, t), expected, strict=True):
            assert given == near(wanted, abs=1e-9)
    assert both.header['serial'][0] == 4
    assert splice_poses(old, new, 8.0) is new or start == 9.0


def test_what_is_asked_for_is_taken_as_it_is():
    assert all((a == b).all() for a, b in zip(sample_pose(at_rest(HOME, 1.0, 3), 2.0), HOME,
                                              strict=True))
    p, o = checked_pose([0.1, 0.2, 0.3], TURNED.as_quat(), np.zeros(3), 1.0)
    assert p.tolist() == [0.1, 0.2, 0.3] and (o == TURNED.as_quat()).all()
    # A stiffness is a diagonal or a matrix.
    wrench, K = [30.0, 0.0, 40.0, 0.0, 3.0, 4.0], changed({(0, 1): 40.0, (1, 0): 40.0})
    assert checked_wrench(wrench, (50.0, 5.0)).tolist() == wrench
    assert (checked_stiffness(MOST.diagonal(), MOST) == MOST).all()
    assert (checked_stiffness(K.ravel(), MOST) == checked_stiffness(K, MOST)).all()


def changed(places):
    """Return a stiffness with some changed elements."""
    K = 0.9 * MOST
    for place, value in places.items():
        K[place] = value
    return K


@pytest.mark.parametrize(('check', 'given', 'word'), [
    *((checked_pose, (position, quaternion, np.zeros(3), 1.0), word)
      for position, quaternion, word in (
        ([0.3, 0.0], [0, 0, 0, 1], 'use 3 finite'), ([0.3, 0.0, 0.5], [0, 0, 0, 0], 'length 0'),
        ([3.0, 0.0, 0.5], [0, 0, 0, 1], 'within reach, 1 m at most'))),
    *((at_twist, (POSE_LIMITS, HOME, twist, 0.2, 1.0, 3), word) for twist, word in (
        ([0.0] * 4 + [-1.1, 0.0], 'velocity of rotation about y is -1.1: use at most 1'),
        ([0.0, np.nan] + [0.0] * 4, 'twist is .*nan'), ([0.0] * 5, 'use 6 finite'),
        ([0.0] * 20, 'twist is of 20 numbers'))),
    *((checked_wrench, ([30.0, 0.0, 40.0, 0.0, 3.0, 4.0], most), word) for most, word in (
        ((49.0, 5.0), 'force of the wrench is 50 N: use at most 49'),
        ((50.0, 4.0), 'torque of the wrench is 5 N·m: use at most 4'))),
    *((checked_stiffness, (changed(places), MOST), word) for places, word in (
        ({(4, 4): -1.0}, 'about y is -1'),
        ({(0, 1): 399.0, (1, 0): 400.0}, 'is not symmetric: 399 in row 1, column 2, and 400'),
        ({(0, 0): 500.0, (0, 1): 9.0, (1, 0): 9.0}, 'above task_stiffness along'))),
    (checked_stiffness, (np.ones(5), MOST), '6 or 36 finite')])
def test_refused(check, given, word):
    with pytest.raises(TrajectoryError, match=word):
        check(*given)
