# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""References to targets without a time, to rest and of some joints: none demands a jump."""

from dataclasses import replace
import sys

from control.closed_loop import Rig
from control.sampled_reference import samples
import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.control.inputs.points import sample_state
from robodyn_ros.control.references import reference_stream
from robodyn_ros.control.references.reference_planning import plan
from robodyn_ros.control.references.reference_stream import reach
from robodyn_ros.control.references.trajectory import splice, Waypoints
from robodyn_ros.control.settings.motion_limits import motion_limits, MotionLimits
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.errors import TrajectoryError
from robodyn_ros.model.resources import robot_path
from thorough import seeds

HERE = np.array([0.1, 0.2])
NAMES = ('joint1', 'joint2')
SPEED, ACCELERATION, JERK = 2.0, 8.0, 80.0
STOP = Waypoints((), np.zeros(0), np.zeros((0, 0)))
ROUNDING = 1e-4             # of limits: segments of 1e-5 s are merged


@pytest.fixture(scope='module')
def limits():
    """Return the textbook 2R arm, with limits of its references."""
    model = replace(load_urdf(robot_path('two_link')), velocity_limit=np.full(2, SPEED),
                    position_lower=np.full(2, -1.5), position_upper=np.full(2, 1.5))
    return MotionLimits(model, np.full(2, ACCELERATION), np.full(2, JERK),
                        0.5 * model.effort_limit)


def target(*positions, velocities=None, names=NAMES):
    """One waypoint at time 0."""
    return Waypoints(names, np.zeros(1), np.array([positions]),
                     None if velocities is None else np.array([velocities]))


def check(points, limits, jerk=JERK):
    """Check that a reference keeps all limits, is continuous in q, q̇ and q̈, and ends at rest."""
    t = points.header['start'][0] + np.arange(points.times[0], points.times[-1] + 0.1, 1e-3)
    x, xd, xdd = samples(points, t)
    assert (x <= limits.model.position_upper + 1e-9).all()
    assert (x >= limits.model.position_lower - 1e-9).all()
    assert np.abs(xd).max() <= SPEED * (1 + ROUNDING)
    assert np.abs(xdd).max() <= ACCELERATION * (1 + ROUNDING)
    assert np.abs(np.diff(xdd, axis=0)).max() <= 1e-3 * jerk * (1 + ROUNDING)
    assert np.diff(x, axis=0) == pytest.approx(1e-3 * (xd[1:] + xd[:-1]) / 2, abs=1e-7)
    assert not xd[-1].any() and not xdd[-1].any()
    return x


def test_a_target_is_reached_within_all_limits(limits):
    """From rest, with every limit reached on the way."""
    points = plan(limits, target(1.2, -1.0), None, HERE, 10.0, 1)
    x = check(points, limits)
    assert x[0] == pytest.approx(HERE) and x[-1] == pytest.approx([1.2, -1.0])
    _, xd, xdd = samples(points, 10.0 + np.linspace(0.0, points.times[-1], 5000))
    assert np.abs(xdd).max() == pytest.approx(ACCELERATION, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize('seed', range(seeds(6, 20)))
def test_targets_at_any_time_from_any_state(limits, seed):
    """A stream with random targets and intervals, some at the limits, never makes a step."""
    rng, now, old = np.random.default_rng(seed), 10.0, None
    joined, refused = [], 0
    for serial in range(1, 60):
        pose = rng.choice([-1.5, 1.5, *rng.uniform(-1.5, 1.5, 4)], 2)
        speed = rng.uniform(-SPEED, SPEED, 2) if rng.random() < 0.3 else np.zeros(2)
        start = now + 0.01
        try:
            new = plan(limits, target(*pose, velocities=speed), old, HERE, start, serial)
        except TrajectoryError:
            refused += 1
            continue
        both = new if old is None else splice(old, new, now)
        until = now + rng.exponential(rng.choice([0.001, 0.02, 0.3]))
        joined.append(samples(both, np.arange(now, until, 1e-3)))
        old, now = both, until
    x, xd, xdd = np.concatenate(joined, axis=1)
    assert refused < 30 and np.abs(x).max() <= 1.5 + 1e-9
    assert np.abs(xd).max() <= SPEED * (1 + ROUNDING)
    assert np.abs(xdd).max() <= ACCELERATION * (1 + ROUNDING)
    check(old, limits)


def test_a_stream_continues_q_qd_and_qdd(limits):
    """Each new reference begins with the state that the one before it has at its start."""
    old = plan(limits, target(1.2, -1.0), None, HERE, 10.0, 1)
    for serial, start in enumerate(np.arange(10.01, 10.6, 0.01), 2):
        new = plan(limits, target(np.sin(9 * start), np.cos(7 * start)), old, HERE, start, serial)
        for before, after in zip(sample_state(old, start), sample_state(new, start + 1e-12),
                                 strict=True):
            assert after == pytest.approx(before, abs=1e-8)
        old = new


def test_a_target_with_velocity_comes_to_rest(limits):
    """It passes the target with that velocity; a stream that ends there leaves an arm at rest."""
    points = plan(limits, target(0.5, 0.5, velocities=[1.0, -1.0]), None, HERE, 10.0, 1)
    check(points, limits)
    k = int(np.argmin(np.abs(samples(points, 10.0 + points.times)[0] - 0.5).max(1)))
    x, xd, _ = samples(points, 10.0 + points.times[k:k + 1])
    assert x[0] == pytest.approx([0.5, 0.5]) and xd[0] == pytest.approx([1.0, -1.0])


def streamed(positions=None, velocities=None, period=0.02, names=NAMES):
    """One waypoint of a stream."""
    return Waypoints(names, np.array([period]), *(
        None if a is None else np.array([a], float) for a in (positions, velocities)))


@pytest.mark.parametrize('fields', ['p', 'pv', 'v'])
@pytest.mark.parametrize('seed', range(seeds(3, 20)))
def test_waypoints_of_a_stream_from_any_state(limits, fields, seed):
    """Wild ones, at any time, toward the position limits too: within all limits, and to rest."""
    rng, now, old = np.random.default_rng(seed), 10.0, None
    joined = []
    for serial in range(1, 80):
        x = rng.choice([-1.5, 1.5, *rng.uniform(-1.5, 1.5, 2)], 2)
        xd = rng.uniform(-SPEED, SPEED, 2) * rng.choice([0.0, 0.2, 1.0])
        start = now + 0.01
        new = plan(limits, streamed(x if 'p' in fields else None, xd if 'v' in fields else None,
                                    rng.uniform(0.005, 0.2)), old, HERE, start, serial)
        both = new if old is None else splice(old, new, now)
        until = now + rng.exponential(rng.choice([0.01, 0.1]))
        joined.append(samples(both, np.arange(now, until, 1e-3)))
        old, now = both, until
    x, xd, xdd = np.concatenate(joined, axis=1)
    assert np.abs(x).max() <= 1.5 + 1e-9
    assert np.abs(xd).max() <= SPEED * (1 + ROUNDING)
    assert np.abs(xdd).max() <= ACCELERATION * 1.01
    _, xd, _ = samples(old, [now + 30.0])
    assert not xd.any()


@pytest.mark.parametrize('seed', range(4))
def test_a_stream_keeps_the_limits_while_the_reference_accelerates_toward_them(limits, seed):
    """As in the middle of a trajectory: without the check up to 1.36 times the velocity limit."""
    rng, velocity = np.random.default_rng(seed), SPEED * np.array([0.95, -0.9])
    acceleration = ACCELERATION * np.array([1.5, -1.0])
    for fields in ('p', 'pv', 'v'):
        asked = streamed(rng.uniform(-1.4, 1.4, 2) if 'p' in fields else HERE,
                         rng.uniform(-SPEED, SPEED, 2) if 'v' in fields else None, 0.1)
        points = reference_stream.stream(limits, asked, HERE, velocity, acceleration, 10.0, 1)
        x, xd, _ = samples(points, np.linspace(10.0, 10.0 + points.times[-1], 500))
        assert np.abs(x).max() <= 1.5 + 1e-6 and np.abs(xd).max() <= 1.005 * SPEED


def test_a_waypoint_of_a_stream_is_reached_at_rest(limits):
    """Not before its time, and later where the limits demand it; joints by name."""
    for period, pose in ((0.2, HERE + 1e-3), (0.02, [1.2, -1.0])):
        points = plan(limits, streamed(pose[::-1], period=period, names=NAMES[::-1]), None, HERE,
                      10.0, 1)
        x = check(points, limits)
        assert x[-1] == pytest.approx(pose) and points.times[-1] >= period - 1e-9
    one = plan(limits, streamed([0.4], period=0.02, names=NAMES[1:]), None, HERE, 10.0, 1)
    assert check(one, limits)[-1] == pytest.approx([HERE[0], 0.4])


def test_a_stream_of_velocities_moves_at_them(limits):
    """Whatever the rate; overdue, the reference stops, and zero stops it at once."""
    old, period = None, 0.02
    for k in range(60):
        new = plan(limits, streamed(velocities=[0.5, -0.2]), old, HERE, 10.0 + period * k, k + 1)
        old = new if old is None else splice(old, new, 10.0 + period * k - 0.01)
    t = 10.0 + period * 59
    assert samples(old, [t + 0.9 * period])[1][0] == pytest.approx([0.5, -0.2], abs=1e-6)
    rest = samples(old, [99.0])[0][0] - samples(old, [t])[0][0]
    assert 0.0 < rest[0] < 0.1
    halt = plan(limits, streamed(velocities=[0.0, 0.0]), old, HERE, t, 99)
    assert check(halt, limits, 2 * JERK)[-1][0] < samples(old, [99.0])[0][0][0]


@pytest.mark.parametrize(('change', 'why'), [
    ({'positions': [1.6, 0.0]}, 'outside'), ({'positions': [np.nan, 0.0]}, 'is nan'),
    ({'positions': [0.0, np.inf]}, 'is inf'), ({'velocities': [np.nan, 0.0]}, 'nan'),
    ({'positions': [0.0, 0.0], 'velocities': [2.2, 0.0]}, 'velocity of joint1 is 2.2'),
    ({'positions': [0.0]}, 'shape'), ({'velocities': [0.1]}, 'positions|shape'), ({}, 'no pos')])
@pytest.mark.filterwarnings('error')
def test_bad_waypoints_of_a_stream_are_refused(limits, change, why):
    """Whatever is not finite, of another shape, or outside the limits."""
    with pytest.raises(TrajectoryError, match=why):
        plan(limits, streamed(**change), None, HERE, 10.0, 1)


@pytest.mark.parametrize('change', [
    {'positions': (1.6, 0.0)}, {'positions': (np.nan, 0.0)}, {'positions': (np.inf, 0.0)},
    {'positions': (1e300, 0.0)}, {'positions': (1.5, 0.0), 'velocities': [1.9, 0.0]},
    {'positions': (0.0, 0.0), 'velocities': [9.0, 0.0]},
    {'positions': (0.0, 0.0), 'velocities': [np.nan, 0.0]}])
@pytest.mark.filterwarnings('error')
def test_targets_that_cannot_be_kept_are_refused(limits, change):
    """Outside the limits, or so fast that the arm could not stop within them."""
    with pytest.raises(TrajectoryError, match='joint1'):
        plan(limits, target(*change.pop('positions'), **change), None, HERE, 10.0, 1)


@pytest.mark.parametrize(('state', 'change', 'why'), [
    ({'velocity': [1.9, 0.0], 'acceleration': [ACCELERATION, 0.0]}, {}, 'accelerates too much'),
    ({'position': [1.4, 0.0], 'velocity': [1.5, 0.0]}, {}, 'position of joint1 .* outside'),
    ({'acceleration': [1e9, 0.0]}, {}, 'no motion leads to the target: .*error in step 1'),
    ({}, {'velocity_limit': np.full(2, 1e-4)}, 'no motion leads to the target: it would take')])
def test_motions_that_cannot_be_planned_are_refused(limits, state, change, why):
    """From a state that leads out of the limits, or within limits that let it last for hours."""
    limits = limits._replace(model=replace(limits.model, **change))
    state = {name: np.array(state.get(name, [0.0, 0.0]))
             for name in ('position', 'velocity', 'acceleration')}
    with pytest.raises(TrajectoryError, match=f'(?s){why}'):
        reach(limits, target(1.4, 0.0), **state, start=10.0, serial=1)


@pytest.mark.parametrize('kind', ['accelerations', 'efforts'])
def test_a_target_has_neither_acceleration_nor_effort(limits, kind):
    asked = replace(target(0.4, 0.4), **{kind: np.array([[1.0, 0.0]])})
    with pytest.raises(TrajectoryError, match=f'the target has {kind}: leave them empty'):
        plan(limits, asked, None, HERE, 10.0, 1)


def test_a_stop_is_within_the_limits(limits):
    """No waypoints: from the state at that time to rest, and a held pose."""
    old = plan(limits, target(1.2, -1.2), None, HERE, 10.0, 1)
    for start in np.arange(10.0, 10.0 + old.times[-1] + 0.1, 0.1):
        stop = plan(limits, STOP, old, HERE, start, 2)
        for before, after in zip(sample_state(old, start), sample_state(stop, start + 1e-12),
                                 strict=True):
            assert after == pytest.approx(before, abs=1e-8)
        check(stop, limits, 2 * JERK)       # else it would exceed the velocity at first
        assert stop.times[-1] < 1.0
    held = plan(limits, STOP, None, HERE, 10.0, 1)
    assert samples(held, [10.0, 10.01, 99.0])[0] == pytest.approx(np.tile(HERE, (3, 1)), abs=1e-12)


def test_a_stop_keeps_the_position_limit(limits):
    """Next to it, deceleration is harder than its limit, and the position stays inside."""
    times, x = np.array([0.8, 0.9]), np.array([[1.4, 0.2], [1.49, 0.2]])
    old = plan(limits, Waypoints(NAMES, times, x, np.array([[1.5, 0.0], [0.0, 0.0]])), None,
               np.array([0.3, 0.2]), 10.0, 1)
    stop = plan(limits, STOP, old, HERE, 10.81, 2)
    assert samples(stop, np.linspace(10.81, 13.0, 2000))[0].max() <= 1.5 + 1e-9


@pytest.mark.parametrize('late', [0.0, 0.23, 1.9, 2.5])
@pytest.mark.parametrize('asked', [
    target(0.4, names=('joint2',)),
    Waypoints(('joint2',), np.array([0.5, 1.0]), np.array([[0.3], [0.4]]))])
def test_joints_that_are_not_named_go_on(limits, asked, late):
    """They follow the reference that they had, to its end and beyond."""
    old = plan(limits, Waypoints(NAMES, np.array([1.0, 2.0]), np.array([[0.5, 0.5], [1.0, 0.2]])),
               None, HERE, 10.0, 1)
    both = plan(limits, asked, old, HERE, 10.0 + late, 2)
    t = np.linspace(10.0 + late, 14.0, 800)
    expected, got = samples(old, t), samples(both, t)
    assert got[:2, :, 0] == pytest.approx(expected[:2, :, 0], abs=1e-9)
    assert got[0, -1, 1] == 0.4 or got[0, -1, 1] == pytest.approx(0.4)
    assert np.abs(np.diff(got[0, :, 1])).max() < 2.1 * (t[1] - t[0])
    assert both.header['serial'][0] == 2


def test_joints_at_rest_that_are_not_named_stay(limits):
    """Nothing moves but the joint that is named; names are checked as ever."""
    points = plan(limits, target(0.7, names=('joint1',)), None, HERE, 10.0, 1)
    assert np.ptp(check(points, limits)[:, 1]) < 1e-12
    for names in ((), ('elbow',), ('joint1', 'joint1')):
        with pytest.raises(TrajectoryError):
            plan(limits, target(*[0.1] * len(names), names=names), None, HERE, 10.0, 1)


def test_without_ruckig_the_remedy_is_named(limits, monkeypatch):
    """A target needs it; trajectories and stops do not."""
    monkeypatch.setitem(sys.modules, 'ruckig', None)
    with pytest.raises(TrajectoryError, match='pip install .*ruckig'):
        plan(limits, target(0.4, 0.4), None, HERE, 10.0, 1)
    plan(limits, Waypoints(NAMES, np.ones(1), np.full((1, 2), 0.4)), None, HERE, 10.0, 1)
    plan(limits, STOP, None, HERE, 10.0, 1)


def test_limits_follow_from_the_velocity_limit(limits):
    """Unless they are set; without any, a target is refused and says so."""
    speed = np.array([2.0, np.inf])
    found = motion_limits(limits.model, Settings(), speed)
    assert found.acceleration.tolist() == [8.0, np.inf] and found.jerk.tolist() == [80.0, np.inf]
    found = motion_limits(limits.model, Settings(acceleration_limit=3.0, jerk_limit=[9.0, 7.0]),
                          speed)
    assert found.acceleration.tolist() == [3.0, 3.0] and found.jerk.tolist() == [9.0, 7.0]
    with pytest.raises(TrajectoryError, match='joint2 has no limits'):
        plan(motion_limits(limits.model, Settings(), speed), target(0.4, 0.4), None, HERE, 10.0, 1)


@pytest.mark.slow
@pytest.mark.parametrize('change', [{}, {'payload_frame': 'link2', 'payload_mass': 0.05},
                                    {'mode': 'joint_impedance', 'damping': [25.0, 9.0]}])
def test_a_stream_at_the_rate_of_the_loop(limits, change):
    """A target in each cycle, while law or payload change: no fault, and no step of q_r."""
    rig = Rig(limits.model, HERE, mode='computed_torque', acceleration_limit=[])
    rig.rise()
    rng, controller = np.random.default_rng(2), rig.controller
    for k in range(300):
        if k % 50 == 0:
            pose = rng.uniform(-0.2, 0.4, 2)
        if k == 150 and change:
            controller.use(replace(controller.settings, **change))
            rig.tick()                  # the present pose becomes the reference
        controller.follow(target(*pose), rig.time + 0.01)
        before = controller._v.target.copy()
        rig.tick()
        assert np.abs(controller._v.target - before).max() <= 1e-3 * SPEED + 1e-9
    rig.run(1.2)
    assert rig.phase == 'RUNNING', controller.reason
    assert rig.q == pytest.approx(pose, abs=0.02)
