# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Trajectories that start beside the reference: joined within all limits, or refused by name."""

from dataclasses import replace

from control.planned import ACCELERATION, ARM, HERE, LIMITS, NAMES, planned, samples, SPEED
import numpy as np
import pytest
from robodyn_ros.control.inputs.pose_tracking import sample_state
from robodyn_ros.control.references.reference_planning import AT_ONCE_DELAY, from_now_on
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.errors import TrajectoryError, TrajectoryOverError
from thorough import seeds

FAR = 0.05          # rad, of trajectory_start_tolerance


def check(points, state, most=ACCELERATION):
    """Check that a reference begins in a state, keeps the limits, and makes no step in q and q̇."""
    begin = points.header['start'][0]
    t = begin + np.arange(0.0, points.times[-1] + 0.05, 1e-3)
    x, xd, xdd = samples(points, t)
    assert x[0] == pytest.approx(state[0], abs=1e-12)
    assert xd[0] == pytest.approx(state[1], abs=1e-9)
    assert (x <= np.maximum(ARM.position_upper, state[0]) + 1e-8).all()
    assert (x >= np.minimum(ARM.position_lower, state[0]) - 1e-8).all()
    assert np.abs(xd).max() <= SPEED * (1.0 + 1e-6)
    assert np.abs(xdd).max() <= most * 1.02
    assert np.abs(np.diff(x, axis=0)).max() <= 1e-3 * SPEED * 1.01
    assert np.abs(np.diff(xd, axis=0)).max() <= 1e-3 * most * 1.02 + 1e-9
    assert not xd[-1].any()
    return x


def smooth(begin, end, duration, number=9):
    """Waypoints of a motion from rest to rest, with velocities and accelerations."""
    s = np.linspace(0.0, 1.0, number)[:, None]
    d = np.subtract(end, begin)
    return Waypoints(NAMES, duration * s[:, 0], begin + d * s**3 * (10 - 15 * s + 6 * s**2),
                     d * 30 * s**2 * (1 - s)**2 / duration,
                     d * 60 * s * (1 - s) * (1 - 2 * s) / duration**2)


@pytest.mark.parametrize('fields', ['x', 'xd', 'xdd'])
@pytest.mark.parametrize('distance', [[1e-6, 0.0], [1e-3, -1e-3], [-FAR, FAR], [0.03, 0.0]])
def test_a_plan_from_the_measured_pose_is_joined(distance, fields):
    """However far within the tolerance: no step, within the limits, and then on the plan."""
    asked = smooth(HERE + distance, [0.9, -0.4], 2.0)
    if fields != 'xdd':
        asked = replace(asked, accelerations=None)
    if fields == 'x':
        asked = replace(asked, velocities=None)
    points = planned(asked)
    check(points, (HERE, np.zeros(2)))
    late = np.linspace(10.5, 12.0, 40)
    exact = planned(asked, pose=asked.positions[0])
    assert samples(points, late) == pytest.approx(samples(exact, late), abs=1e-9)


def test_plans_are_followed_exactly_or_refused_by_name():
    # Only the joint that is elsewhere leaves the plan, for as long as it needs.
    asked = smooth(HERE + [0.02, 0.0], [0.9, -0.4], 2.0)
    points = planned(asked)
    exact = planned(asked, pose=asked.positions[0])
    t = np.linspace(10.0, 12.0, 100)
    assert samples(points, t)[:, :, 1] == pytest.approx(samples(exact, t)[:, :, 1], abs=1e-9)
    assert abs(samples(points, t)[0, :, 0] - samples(exact, t)[0, :, 0]).max() < 0.0201
    # Joint, distance, tolerance and remedy; the tolerance is a parameter, for each joint.
    asked = smooth(HERE + [0.02, -0.06], [0.9, -0.4], 2.0)
    with pytest.raises(TrajectoryError) as refusal:
        planned(asked)
    for part in ('0.06 rad from the reference of joint2', 'trajectory_start_tolerance of 0.05 rad',
                 'start at 0.2', 'raise trajectory_start_tolerance'):
        assert part in str(refusal.value)
    later = replace(asked, times=np.asarray(asked.times) + 0.01)
    with pytest.raises(TrajectoryError, match='way from its reference, 0.1, to waypoint 0'):
        planned(later)
    planned(asked, start_tolerance=np.array([0.03, 0.07]))
    with pytest.raises(TrajectoryError, match='of joint1'):
        planned(asked, start_tolerance=np.array([0.01, 0.07]))


@pytest.mark.parametrize('limit', [1.5, -1.5])
@pytest.mark.parametrize('duration', [0.2, 0.6, 2.0])
def test_a_plan_that_starts_at_a_position_limit_stays_inside(limit, duration):
    """The arm sags away from the limit, or below it; the motion may go to the limit and along."""
    held, inward = np.array([limit, 0.0]), -np.sign(limit)
    for sag in (FAR * inward, 1e-3 * inward, -1e-3 * inward, -FAR * inward):
        for end in (limit, limit + 0.05 * inward):
            begin = held + [sag, 0.0]
            asked = smooth(begin, [end, 0.0], duration)
            asked = replace(asked, velocities=None, accelerations=None)
            if abs(begin[0]) > 1.5:         # the first waypoint alone is the measured pose
                asked.positions[1:] = smooth(held, [end, 0.0], duration).positions[1:]
            points = planned(asked, pose=held)
            x = check(points, (held, np.zeros(2)), np.inf)
            assert x[-1] == pytest.approx([end, 0.0], abs=1e-9)


@pytest.mark.parametrize('seed', range(seeds(20, 200)))
def test_any_state_joins_within_its_limits(seed):
    """From any motion: the acceleration stays within the limit, or that of the plan."""
    rng = np.random.default_rng(seed)
    old = planned(Waypoints(NAMES, np.zeros(1), rng.uniform(-1.4, 1.4, (1, 2))),
                  pose=rng.uniform(-1.0, 1.0, 2))
    start = 10.0 + rng.uniform(0.0, old.times[-1])
    state = sample_state(old, start)
    begin = np.clip(state[0] + rng.uniform(-FAR, FAR, 2), -1.5, 1.5)
    asked = smooth(begin, np.clip(begin + rng.uniform(-0.5, 0.5, 2), -1.5, 1.5),
                   rng.uniform(0.6, 2.0))
    exact = planned(asked, pose=begin, start=start, serial=2)
    own = abs(samples(exact, np.linspace(start, start + 2.0, 500))[2]).max()
    try:
        points = planned(asked, old, pose=state[0], start=start, serial=2)
    except TrajectoryError as error:        # it cannot stop before its limit
        assert 'cannot join' in str(error) and abs(state[1]).max() > 0.5
        return
    check(points, state, max(ACCELERATION, own))


@pytest.mark.parametrize(('names', 'positions', 'why'), [
    (NAMES, [[np.nan, 0.0]], 'positions of joint1 at waypoint 0 is nan'),
    (NAMES, [[0.1]], r'shape \(1, 1\): pass one value per joint and waypoint: \(1, 2\)'),
    (NAMES[1:], [[0.1, 0.2]], r'shape \(1, 2\): pass one value per joint and waypoint: \(1, 1\)')])
def test_waypoints_that_are_no_start_are_refused(names, positions, why):
    with pytest.raises(TrajectoryError, match=why):
        planned(Waypoints(names, np.ones(1), np.array(positions)))


@pytest.mark.parametrize(('distance', 'speed', 'acceleration'), [
    (0.04, SPEED, ACCELERATION), (3.0, 0.0, 1e-3)])
def test_what_cannot_be_joined_in_time_is_refused(distance, speed, acceleration):
    """A path ahead that is as fast as the joint may be; one far away, at little acceleration."""
    free = replace(ARM, position_lower=np.full(2, -1e3), position_upper=np.full(2, 1e3))
    times = np.array([0.0, 110.0, 300.0])
    x = np.stack([HERE[0] + distance + speed * times, np.full(3, HERE[1])], 1)
    asked = Waypoints(NAMES, times, x, np.tile([speed, 0.0], (3, 1)))
    with pytest.raises(TrajectoryError, match=f'joint1 cannot join the trajectory, {distance:g}'):
        planned(asked, model=free, acceleration=np.full(2, acceleration), moving_end=True,
                start_tolerance=np.array([10.0]))


def test_first_waypoints_are_no_step():
    # A trajectory that begins with a motion is joined by a reference at rest.
    asked = Waypoints(NAMES, np.array([0.0, 1.0, 2.0]), np.stack([HERE, HERE + 0.5, HERE + 0.6]),
                      np.array([[0.5, 0.5], [0.4, 0.4], [0.0, 0.0]]))
    check(planned(asked), (HERE, np.zeros(2)), 20.0)
    # The measured pose within milliseconds: not a jump to it.
    asked = smooth(HERE + [-2e-3, 1e-3], [0.9, -0.4], 2.0)
    asked = replace(asked, times=asked.times + 2e-3)
    check(planned(asked), (HERE, np.zeros(2)))


@pytest.mark.parametrize('last', [1e-300, -1e-7, 1.2e-16])
def test_rounding_of_the_last_velocity_is_rest(last):
    """As a cosine of NumPy has it; the reference ends at rest exactly."""
    velocities = np.array([[0.0, 0.0], [last, 0.0]])
    asked = Waypoints(NAMES, np.array([0.0, 1.0]), np.stack([HERE, HERE + 0.2]), velocities)
    x, xd, _ = samples(planned(asked), [10.9999999, 99.0])
    assert xd[1].tolist() == [0.0, 0.0] and x[1] == pytest.approx(HERE + 0.2)


def test_a_trajectory_that_ends_moving_stops_within_the_limits():
    """Refused, and the parameter named; with it, the reference stops behind the last waypoint."""
    asked = Waypoints(NAMES, np.array([0.0, 0.5, 1.0]), np.stack([HERE, HERE + 0.1, HERE + 0.4]),
                      np.array([[0.0, 0.0], [0.5, 0.5], [0.8, 0.8]]))
    with pytest.raises(TrajectoryError, match='allow_nonzero_velocity_at_trajectory_end'):
        planned(asked)
    points = planned(asked, moving_end=True)
    x = check(points, (HERE, np.zeros(2)))
    assert samples(points, [11.0])[1][0] == pytest.approx([0.8, 0.8], abs=1e-9)
    assert (x[-1] > HERE + 0.42).all() and (x[-1] < HERE + 0.6).all()
    fast = replace(asked, positions=asked.positions + 0.9)      # no room to stop
    with pytest.raises(TrajectoryError, match='joint2'):
        planned(fast, pose=HERE + 0.9, moving_end=True)


def test_a_window_of_a_stream_is_joined_under_way():
    """A trajectory whose stamp is past is followed from where it should be by now."""
    slow = smooth(HERE, HERE + 0.3, 2.0)
    reference = planned(slow)
    late = replace(slow, elapsed=0.4)
    x = sample_state(reference, 10.4)
    assert from_now_on(LIMITS, late, x[0]).elapsed == 0.4
    joined = planned(late, reference, start=10.4, serial=2)
    t = np.linspace(10.4, 12.0, 50)
    assert samples(joined, t) == pytest.approx(samples(reference, t), abs=1e-9)
    # The reference waits at its start: at once, up to half a second; nearer later: joined
    assert from_now_on(LIMITS, late, HERE).elapsed == 0.0
    after = from_now_on(LIMITS, replace(slow, elapsed=AT_ONCE_DELAY + 0.05), HERE)
    assert after.elapsed == AT_ONCE_DELAY + 0.05
    far = from_now_on(LIMITS, replace(slow, elapsed=1.1), HERE)
    assert far.elapsed == 0.0 and far.times[0] == pytest.approx(0.15) and len(far.times) == 4
    with pytest.raises(TrajectoryOverError):
        from_now_on(LIMITS, replace(slow, elapsed=2.1), HERE)
    # Its last waypoint alone would be taken for one of a stream, and the way to it forgotten
    with pytest.raises(TrajectoryOverError, match='only its last waypoint is left'):
        from_now_on(LIMITS, replace(slow, elapsed=1.9), HERE)
