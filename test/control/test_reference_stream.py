# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""References to targets without a time, to rest and of some joints: none demands a jump."""

from dataclasses import replace

from control.planned import ACCELERATION, ARM, HERE, JERK, LIMITS, NAMES, planned, samples, SPEED
from control.rig import risen
import numpy as np
import pytest
from robodyn_ros.control.inputs.pose_tracking import HEADER, Points, sample_state
from robodyn_ros.control.references.motions import covered, ramp
from robodyn_ros.control.references.trajectory import splice, Waypoints
from robodyn_ros.control.settings.motion_limits import motion_limits
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.errors import TrajectoryError
from thorough import seeds

STOP = Waypoints((), np.zeros(0), np.zeros((0, 0)))
ROUNDING = 1e-4             # of limits: segments of 1e-5 s are merged


def target(*positions, velocities=None, names=NAMES):
    """One waypoint at time 0."""
    return Waypoints(names, np.zeros(1), np.array([positions]),
                     None if velocities is None else np.array([velocities]))


def moving(position, velocity, acceleration):
    """Return a reference that is in a state at 10 s."""
    c, header = np.zeros((1, 6, 2)), np.zeros(1, HEADER)
    c[0, :3] = position, velocity, np.multiply(0.5, acceleration)
    header[0] = 10.0, 1
    return Points(header, np.array([0.0, 1.0]), c, np.zeros((1, 2, 2)))


def check(points, jerk=JERK):
    """Check that a reference keeps all limits, is continuous in q, q̇ and q̈, and ends at rest."""
    t = points.header['start'][0] + np.arange(points.times[0] + 1e-9, points.times[-1] + 0.1, 1e-3)
    x, xd, xdd = samples(points, t)
    assert (x <= ARM.position_upper + 1e-9).all()
    assert (x >= ARM.position_lower - 1e-9).all()
    assert np.abs(xd).max() <= SPEED * (1 + ROUNDING)
    assert np.abs(xdd).max() <= ACCELERATION * (1 + ROUNDING)
    assert np.abs(np.diff(xdd, axis=0)).max() <= 1e-3 * jerk * (1 + ROUNDING)
    assert np.diff(x, axis=0) == pytest.approx(1e-3 * (xd[1:] + xd[:-1]) / 2, abs=1e-7)
    assert not xd[-1].any() and not xdd[-1].any()
    return x


def test_targets_are_reached_within_all_limits():
    # From rest, with every limit reached on the way.
    points = planned(target(1.2, -1.0))
    x = check(points)
    assert x[0] == pytest.approx(HERE) and x[-1] == pytest.approx([1.2, -1.0])
    _, xd, xdd = samples(points, 10.0 + np.linspace(0.0, points.times[-1], 5000))
    assert np.abs(xdd).max() == pytest.approx(ACCELERATION, rel=0.01)
    # It passes the target with that velocity; a stream that ends there leaves an arm at rest.
    points = planned(target(0.5, 0.5, velocities=[1.0, -1.0]))
    check(points)
    k = int(np.argmin(np.abs(samples(points, 10.0 + points.times)[0] - 0.5).max(1)))
    x, xd, _ = samples(points, 10.0 + points.times[k:k + 1])
    assert x[0] == pytest.approx([0.5, 0.5]) and xd[0] == pytest.approx([1.0, -1.0])


def test_a_stream_continues_q_qd_and_qdd():
    """Each new reference begins with the state that the one before it has at its start."""
    old = planned(target(1.2, -1.0))
    for serial, start in enumerate(np.arange(10.01, 10.6, 0.01), 2):
        new = planned(target(np.sin(9 * start), np.cos(7 * start)), old, start=start,
                      serial=serial)
        for before, after in zip(sample_state(old, start), sample_state(new, start + 1e-12),
                                 strict=True):
            assert after == pytest.approx(before, abs=1e-8)
        old = new


def streamed(positions=None, velocities=None, period=0.02, names=NAMES):
    return Waypoints(names, np.array([period]), *(
        None if a is None else np.array([a], float) for a in (positions, velocities)))


@pytest.mark.parametrize('fields', ['target', 'p', 'pv', 'v'])
@pytest.mark.parametrize('seed', range(seeds(3, 20)))
def test_a_stream_from_any_state(fields, seed):
    """Wild targets or waypoints, at any time, some at limits: within the limits, and to rest."""
    rng, now, old, joined, refused = np.random.default_rng(seed), 10.0, None, [], 0
    intervals = [0.001, 0.02, 0.3] if fields == 'target' else [0.01, 0.1]
    for serial in range(1, 60):
        x = rng.choice([-1.5, 1.5, *rng.uniform(-1.5, 1.5, 3)], 2)
        xd = rng.uniform(-SPEED, SPEED, 2) * rng.choice([0.0, 0.2, 1.0])
        asked = target(*x, velocities=xd) if fields == 'target' else streamed(
            x if 'p' in fields else None, xd if 'v' in fields else None, rng.uniform(0.005, 0.2))
        try:
            new = planned(asked, old, start=now + 0.01, serial=serial)
        except TrajectoryError:         # the arm could not stop behind a target
            assert fields == 'target'
            refused += 1
            now += 1e-3
            continue
        both = new if old is None else splice(old, new, now)
        until = now + rng.exponential(rng.choice(intervals))
        joined.append(samples(both, np.arange(now, until, 1e-3)))
        old, now = both, until
    x, xd, xdd = np.concatenate(joined, axis=1)
    assert refused < 40 and np.abs(x).max() <= 1.5 + 1e-9
    assert np.abs(xd).max() <= SPEED * (1 + ROUNDING)
    assert np.abs(xdd).max() <= ACCELERATION * (1 + (ROUNDING if fields == 'target' else 0.01))
    assert not samples(old, [now + 30.0])[1].any()
    if fields == 'target':
        check(old)


@pytest.mark.parametrize('seed', range(4))
def test_a_stream_keeps_the_limits_while_the_reference_accelerates_toward_them(seed):
    """As in the middle of a trajectory: without the check up to 1.36 times the velocity limit."""
    rng, velocity = np.random.default_rng(seed), SPEED * np.array([0.95, -0.9])
    acceleration = ACCELERATION * np.array([1.5, -1.0])
    for fields in ('p', 'pv', 'v'):
        asked = streamed(rng.uniform(-1.4, 1.4, 2) if 'p' in fields else HERE,
                         rng.uniform(-SPEED, SPEED, 2) if 'v' in fields else None, 0.1)
        points = planned(asked, moving(HERE, velocity, acceleration))
        x, xd, _ = samples(points, np.linspace(10.0, 10.0 + points.times[-1], 500))
        assert np.abs(x).max() <= 1.5 + 1e-6 and np.abs(xd).max() <= 1.005 * SPEED


def test_a_waypoint_of_a_stream_is_reached_at_rest():
    """Not before its time, and later where the limits demand it; joints by name."""
    for period, pose in ((0.2, HERE + 1e-3), (0.02, [1.2, -1.0])):
        points = planned(streamed(pose[::-1], period=period, names=NAMES[::-1]))
        x = check(points)
        assert x[-1] == pytest.approx(pose) and points.times[-1] >= period - 1e-9
    one = planned(streamed([0.4], period=0.02, names=NAMES[1:]))
    assert check(one)[-1] == pytest.approx([HERE[0], 0.4])


def test_a_stream_of_velocities_moves_at_them():
    """Whatever the rate; overdue, the reference stops, and zero stops it at once."""
    old, period = None, 0.02
    for k in range(60):
        new = planned(streamed(velocities=[0.5, -0.2]), old, start=10.0 + period * k, serial=k + 1)
        old = new if old is None else splice(old, new, 10.0 + period * k - 0.01)
    t = 10.0 + period * 59
    assert samples(old, [t + 0.9 * period])[1][0] == pytest.approx([0.5, -0.2], abs=1e-6)
    rest = samples(old, [99.0])[0][0] - samples(old, [t])[0][0]
    assert 0.0 < rest[0] < 0.1
    halt = planned(streamed(velocities=[0.0, 0.0]), old, start=t, serial=99)
    assert check(halt, 2 * JERK)[-1][0] < samples(old, [99.0])[0][0][0]


@pytest.mark.parametrize(('asked', 'word'), [
    *((streamed(x, xd), word) for x, xd, word in (
        ([1.6, 0.0], None, 'outside'), ([np.nan, 0.0], None, 'is nan'),
        ([0.0, np.inf], None, 'is inf'), (None, [np.nan, 0.0], 'nan'), (None, None, 'no pos'),
        ([0.0, 0.0], [2.2, 0.0], 'velocity of joint1 is 2.2'), ([0.0], None, 'shape'),
        (None, [0.1], 'positions|shape'))),
    *((target(x, 0.0, velocities=[xd, 0.0]), 'joint1') for x, xd in (
        (1.6, 0.0), (np.nan, 0.0), (np.inf, 0.0), (1e300, 0.0), (1.3, 1.9), (0.0, 9.0),
        (0.0, np.nan))),    # outside, or so fast that the arm could not stop within the limits
    *((replace(target(0.4, 0.4), **{kind: np.array([[1.0, 0.0]])}),
       f'the target has {kind}: leave them empty') for kind in ('accelerations', 'efforts'))])
@pytest.mark.filterwarnings('error')
def test_refused(asked, word):
    with pytest.raises(TrajectoryError, match=word):
        planned(asked)


@pytest.mark.parametrize(('state', 'change', 'why'), [
    ({'velocity': [1.9, 0.0], 'acceleration': [ACCELERATION, 0.0]}, {}, 'accelerates too much'),
    ({'position': [1.4, 0.0], 'velocity': [1.5, 0.0]}, {}, 'position of joint1 .* outside'),
    ({'acceleration': [1e9, 0.0]}, {}, 'no motion leads to the target'),
    ({}, {'velocity_limit': np.full(2, 1e-4)}, 'no motion leads to the target: use')])
def test_motions_that_cannot_be_planned_are_refused(state, change, why):
    """From a state that leads out of the limits, or within limits that let it last for hours."""
    limits = LIMITS._replace(model=replace(ARM, **change))
    state = {name: np.array(state.get(name, [0.0, 0.0]))
             for name in ('position', 'velocity', 'acceleration')}
    with pytest.raises(TrajectoryError, match=f'(?s){why}'):
        planned(target(1.4, 0.0), moving(**state), **limits._asdict())


def test_stops_are_within_the_limits():
    # No waypoints: from the state at that time to rest, and a held pose.
    old = planned(target(1.2, -1.2))
    for start in np.arange(10.0, 10.0 + old.times[-1] + 0.1, 0.1):
        stop = planned(STOP, old, start=start, serial=2)
        for before, after in zip(sample_state(old, start), sample_state(stop, start + 1e-12),
                                 strict=True):
            assert after == pytest.approx(before, abs=1e-8)
        check(stop, 2 * JERK)       # else it would exceed the velocity at first
        assert stop.times[-1] < 1.0
    held = planned(STOP)
    assert samples(held, [10.0, 10.01, 99.0])[0] == pytest.approx(np.tile(HERE, (3, 1)), abs=1e-12)
    # Next to it, deceleration is harder than its limit, and the position stays inside.
    times, x = np.array([0.8, 0.9]), np.array([[1.4, 0.2], [1.49, 0.2]])
    old = planned(Waypoints(NAMES, times, x, np.array([[1.5, 0.0], [0.0, 0.0]])),
                  pose=np.array([0.3, 0.2]))
    stop = planned(STOP, old, start=10.81, serial=2)
    assert samples(stop, np.linspace(10.81, 13.0, 2000))[0].max() <= 1.5 + 1e-9


@pytest.mark.parametrize('late', [0.0, 0.23, 1.9, 2.5])
@pytest.mark.parametrize('asked', [
    target(0.4, names=('joint2',)),
    Waypoints(('joint2',), np.array([0.5, 1.0]), np.array([[0.3], [0.4]]))])
def test_joints_that_are_not_named_go_on(asked, late):
    """They follow the reference that they had, to its end and beyond."""
    old = planned(Waypoints(NAMES, np.array([1.0, 2.0]), np.array([[0.5, 0.5], [1.0, 0.2]])))
    both = planned(asked, old, start=10.0 + late, serial=2)
    t = np.linspace(10.0 + late, 14.0, 800)
    expected, got = samples(old, t), samples(both, t)
    assert got[:2, :, 0] == pytest.approx(expected[:2, :, 0], abs=1e-9)
    assert got[0, -1, 1] == 0.4 or got[0, -1, 1] == pytest.approx(0.4)
    assert np.abs(np.diff(got[0, :, 1])).max() < 2.1 * (t[1] - t[0])
    assert both.header['serial'][0] == 2


def test_joints_at_rest_that_are_not_named_stay():
    """Nothing moves but the joint that is named; names are checked as ever."""
    points = planned(target(0.7, names=('joint1',)))
    assert np.ptp(check(points)[:, 1]) < 1e-12
    for names in ((), ('elbow',), ('joint1', 'joint1')):
        with pytest.raises(TrajectoryError):
            planned(target(*[0.1] * len(names), names=names))


def reached_as_soon_as_by_ruckig(state, goal, end, speed, most, jerk):
    """Check that a target is reached when Ruckig reaches it; all are (2,), state (3, 2)."""
    ruckig = pytest.importorskip('ruckig')
    asked, planner = ruckig.InputParameter(2), ruckig.Trajectory(2)
    model = replace(ARM, position_lower=np.full(2, -99.0), position_upper=np.full(2, 99.0),
                    velocity_limit=speed)
    points = planned(target(*goal, velocities=end), moving(*state), model=model,
                     acceleration=most, jerk=jerk)
    asked.current_position, asked.current_velocity, asked.current_acceleration = state
    asked.target_position, asked.target_velocity = goal, end
    asked.max_velocity, asked.max_acceleration, asked.max_jerk = speed, most, jerk
    assert ruckig.Ruckig(2).calculate(asked, planner) == ruckig.Result.Working
    there = samples(points, [10.0 + planner.duration - 1e-9])
    assert there[0, 0] == pytest.approx(goal, abs=1e-6)
    assert there[1, 0] == pytest.approx(end, abs=1e-6)
    if not end.any():
        assert points.times[-1] == pytest.approx(planner.duration, abs=1e-6)


@pytest.mark.parametrize('seed', range(seeds(40, 400)))
def test_a_target_is_reached_as_soon_as_ruckig_would_be_there(seed):
    """From rest and from motion; far and near; to rest, and to a velocity at the target."""
    rng = np.random.default_rng(seed)
    speed, most, jerk = rng.uniform(0.5, 3.0, 2), rng.uniform(2.0, 9.0, 2), rng.uniform(20, 99, 2)
    x, xd, xdd = rng.uniform(-1.0, 1.0, (3, 2)) * (seed % 4 > 0)
    xdd = xdd * np.minimum(most, np.sqrt(2.0 * jerk * speed * (1.0 - abs(xd))))
    goal, end = rng.uniform(-2.0, 2.0, 2) * rng.choice([0.01, 1.0]), np.zeros(2)
    if seed % 4 == 3:
        end = rng.uniform(-0.8, 0.8, 2) * speed
    reached_as_soon_as_by_ruckig((x, xd * speed, xdd), goal, end, speed, most, jerk)


@pytest.mark.parametrize('seed', range(seeds(40, 400)))
def test_a_target_near_the_end_of_a_motion_is_not_passed_by(seed):
    """Where the shortest change of velocity, or of a brake already applied, nearly leads to it."""
    rng, one = np.random.default_rng(seed), np.ones(2)
    speed, most, jerk = rng.uniform(0.5, 3.0), rng.uniform(2.0, 9.0), rng.uniform(20.0, 99.0)
    xd, end = rng.uniform(-1.0, 1.0) * speed, rng.uniform(-0.8, 0.8) * speed * (seed % 2)
    xdd = rng.uniform(-1.0, 1.0) * min(most, np.sqrt(2.0 * jerk * (speed - abs(xd))))
    phases = np.zeros((2, 3, 1))
    ramp(xd, xdd, end, most, jerk, phases, 0, 0)
    goal = covered(np.array([[0.0], [xd], [xdd]]), 0, phases, 3) + rng.normal(0.0, 0.1)
    reached_as_soon_as_by_ruckig(np.array([[0.0], [xd], [xdd]]) * one, goal * one, end * one,
                                 speed * one, most * one, jerk * one)


def test_a_joint_that_cannot_wait_turns_back():
    """It would pass its target, too near to stop before it, while the other is on its way."""
    points = planned(target(*(HERE + [0.15, -1.2]), velocities=[1.0, 0.0]),
                     moving(HERE, [1.0, 0.0], [0.0, 0.0]))
    assert np.diff(check(points)[:, 0]).min() < 0.0
    x, xd, _ = samples(points, 10.0 + points.times)
    k = int(np.argmin(np.abs(x - HERE - [0.15, -1.2]).max(axis=1)))
    assert x[k] == pytest.approx(HERE + [0.15, -1.2], abs=1e-6)
    assert xd[k] == pytest.approx([1.0, 0.0], abs=1e-6)


def test_limits_follow_from_the_velocity_limit():
    """Unless they are set; without any, a target is refused and says so."""
    speed = np.array([2.0, np.inf])
    found = motion_limits(ARM, Settings(), speed)
    assert found.acceleration.tolist() == [8.0, np.inf] and found.jerk.tolist() == [80.0, np.inf]
    found = motion_limits(ARM, Settings(acceleration_limit=3.0, jerk_limit=[9.0, 7.0]), speed)
    assert found.acceleration.tolist() == [3.0, 3.0] and found.jerk.tolist() == [9.0, 7.0]
    with pytest.raises(TrajectoryError, match='joint2 has no limits'):
        planned(target(0.4, 0.4), **motion_limits(ARM, Settings(), speed)._asdict())


@pytest.mark.slow
@pytest.mark.parametrize('change', [{'payload_frame': 'link2', 'payload_mass': 0.05},
                                    {'mode': 'joint_impedance', 'damping': [25.0, 9.0]}])
def test_a_stream_at_the_rate_of_the_loop(change):
    """A target in each cycle, while law or payload change: no fault, and no step of q_r."""
    rig = risen(q=HERE, model=ARM, mode='computed_torque', acceleration_limit=[])
    rng, controller = np.random.default_rng(2), rig.controller
    for k in range(300):
        if k % 50 == 0:
            pose = rng.uniform(-0.2, 0.4, 2)
        if k == 150:
            controller.use(replace(controller.settings, **change))
            rig.tick()                  # the present pose becomes the reference
        controller.follow(target(*pose), rig.time + 0.01)
        before = controller._v.target.copy()
        rig.tick()
        assert np.abs(controller._v.target - before).max() <= 1e-3 * SPEED + 1e-9
    rig.run(1.2)
    assert rig.phase == 'RUNNING', controller.reason
    assert rig.q == pytest.approx(pose, abs=0.02)
