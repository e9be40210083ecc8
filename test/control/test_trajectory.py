# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Trajectories and motions of sines: what is asked for comes out, or is refused by name."""

from dataclasses import replace
import os
from subprocess import run
import sys

from control.planned import HERE, samples
from control.rig import TWO_LINK
import numpy as np
import pytest
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.control.inputs.pose_tracking import sample
from robodyn_ros.control.references import sine_motion as motion
from robodyn_ros.control.references.reference_planning import interpolate
from robodyn_ros.control.references.trajectory import joint_order, MAX_SEGMENTS, splice, Waypoints
from robodyn_ros.control.steps.cycle_data import CONTROLLER_STATE, Vectors
from robodyn_ros.control.steps.trajectory_tracking import follow
from robodyn_ros.dynamics import Dynamics
from robodyn_ros.errors import DemoError, TrajectoryError, UrdfError
from scipy.interpolate import BPoly, CubicHermiteSpline, CubicSpline, PPoly

REST = np.zeros(2)


def plan(times, positions, velocities=None, accelerations=None, names=None, model=TWO_LINK):
    """Return a trajectory from HERE at rest."""
    return interpolate(model, Waypoints(names or model.joint_names, np.array(times), positions,
                                        velocities, accelerations), HERE, REST, 10.0, 1)


@pytest.mark.parametrize('fields', [1, 2])
def test_passes_through_its_waypoints(fields):
    """Position, velocity and acceleration where given, at every waypoint; rest at both ends."""
    times, rng = np.array([0.7, 1.5, 2.0]), np.random.default_rng(fields)
    given = [0.3 * rng.uniform(-1, 1, (3, 2)) for _ in range(1 + fields)]
    for a in given[1:]:
        a[-1] = 0.0
    points = plan(times, *given)
    x, xd, xdd = samples(points, [9.0, 10.0, *(10.0 + times), 99.0])
    assert x[:2] == pytest.approx(np.array([HERE, HERE])) and xd[0] == pytest.approx(REST)
    for asked, got in zip(given, (x, xd, xdd), strict=False):
        assert got[2:5] == pytest.approx(asked, abs=1e-9)
    assert x[5] == pytest.approx(given[0][-1]) and xd[5].tolist() == xdd[5].tolist() == [0, 0]


def test_the_cycle_follows_it():
    """From its start to the pose at its end, one segment after the other."""
    points = plan([0.5, 1.0], [[0.4, 0.1], [0.2, 0.3]], np.array([[0.2, 0.1], REST]))
    m, v = np.zeros(1, CONTROLLER_STATE).view(np.recarray)[0], Vectors.zeros(2)
    for t in (9.0, 10.0, 10.2, 10.5, 10.6, 10.4, 11.0, 99.0):
        follow(points._replace(header=points.header.view(np.recarray)), m, v, t)
        x, xd, xdd = samples(points, [t])[:, 0]
        assert v.target == pytest.approx(x) and v.target_qd == pytest.approx(xd, abs=1e-12)
        assert v.target_qdd == pytest.approx(xdd, abs=1e-12)


def test_names_are_matched():
    # The order of the message does not matter.
    straight = plan([1.0], [[0.5, -0.4]])
    turned = plan([1.0], [[-0.4, 0.5]], names=['joint2', 'joint1'])
    assert (straight.coefficients == turned.coefficients).all()
    # An accent of its own, a letter of another script: another name, and told apart.
    joints = ['caf\u00e9', 'elbow']
    for name, why in (('cafe\u0301', r"\('cafe\\u0301'\): .*'caf\\xe9' looks the same"),
                      ('\u0435lbow', r"\('\\u0435lbow'\): the joints are")):
        with pytest.raises(TrajectoryError, match=why):
            joint_order(joints, ['elbow', name])
    assert joint_order(joints, ['elbow', 'caf\u00e9']) == [1, 0]


@pytest.mark.parametrize('start', [10.0, 10.3, 10.5, 10.99, 11.0, 12.0])
def test_a_new_trajectory_takes_over_without_a_step(start):
    """Until it starts the old one goes on; there, position and velocity are those of the old."""
    old = plan([0.5, 1.0], [[0.4, 0.1], [0.2, 0.3]])
    position, velocity = sample(old, start)
    new = interpolate(TWO_LINK, Waypoints(TWO_LINK.joint_names, [1.0], [[0.5, 0.5]]), position,
                      velocity, start, 2)
    now = max(10.0, start - 0.4)
    both = splice(old, new, now)
    before = np.linspace(now, start, 50)
    assert samples(both, before)[:2] == pytest.approx(samples(old, before)[:2], abs=1e-9)
    after = np.linspace(start, start + 1.5, 50)
    assert samples(both, after) == pytest.approx(samples(new, after), abs=1e-9)
    assert both.header['serial'][0] == 2
    assert splice(old, new, 11.5) is new


def test_splines_and_queues_are_bounded_and_exact():
    # Each waits for the one before it; no more segments wait than the limit, and it says so.
    most = MAX_SEGMENTS // 4
    times = np.linspace(1.0 / most, 1.0, most)
    waiting, positions = plan(times, np.tile(HERE, (most, 1))), np.tile(HERE, (most, 1))
    for k in range(1, 4):
        new = interpolate(TWO_LINK, Waypoints(TWO_LINK.joint_names, times, positions), HERE,
                          np.zeros(2), 10.0 + k, k + 1)
        waiting = splice(waiting, new, 10.0)
    assert len(waiting.coefficients) == MAX_SEGMENTS
    later = interpolate(TWO_LINK, Waypoints(TWO_LINK.joint_names, times[-2:], positions[-2:]),
                        HERE, np.zeros(2), 14.0, 5)
    with pytest.raises(TrajectoryError, match=f'at most {MAX_SEGMENTS} may'):
        splice(waiting, later, 10.0)
    # What is over does not count any more
    assert len(splice(waiting, later, 11.0).coefficients) <= MAX_SEGMENTS
    # Durations of segments differ by a factor of ten thousand, in twenty thousand segments.
    rng = np.random.default_rng(1)
    times = np.cumsum(10.0 ** rng.uniform(-4.0, 0.0, 20_000))
    times -= times[0]
    x = np.cumsum(np.append(0.0, np.diff(times)))[:, None] * [0.01, 0.0] + 1e-6 * rng.uniform(
        -1.0, 1.0, (len(times), 2))
    expected = CubicSpline(times, x, bc_type=((1, [0.5, 0.0]), (1, [0.0, 0.0])))
    got = interpolate(FREE, Waypoints(FREE.joint_names, times, x), x[0], np.array([0.5, 0.0]),
                      0.0, 1)
    scale = np.diff(times)[:, None, None] ** np.arange(4)[:, None]
    assert np.abs((got.coefficients[:, 3::-1] - expected.c.transpose(1, 0, 2))
                  * scale[:, ::-1]).max() < 1e-9


@pytest.mark.parametrize(('name', 'change', 'word'), [
    ('elbow', {'names': ['joint1', 'elbow']}, ''), ('positions', {'names': ['joint1']}, ''),
    ('joint1', {'names': ['joint1', 'joint1']}, ''), ('positions', {'positions': None}, ''),
    ('joint2', {'positions': [[0.0, np.nan]]}, ''), ('joint1', {'positions': [[99.0, 0.0]]}, ''),
    ('positions', {'positions': [[0.0, 0.0, 0.0]]}, ''),
    ('joint1', {'times': [0.01], 'positions': [[2.0, 0.2]]}, ''),
    *(('time_from_start', {'times': times, 'positions': [[0.1, 0.2]] * 2}, word)
      for times, word in (
          ([-1.0, 1.0], 'waypoint 0 is at -1 s: '), ([np.inf, 1.0], 'waypoint 0 is at inf s'),
          ([1.0, np.nan], 'waypoint 1 is at nan s, waypoint 0 at 1 s'),
          ([2.0, 2.0], 'waypoint 1 is at 2 s, waypoint 0 at 2 s'))),
    ('points', {'times': np.arange(1.0, 30_000.0), 'positions': np.zeros((29_999, 2))}, ''),
    ('joint2', {'velocities': [[0.0, 0.1]]}, ''),
    ('velocities', {'accelerations': [[0.0, 0.0]]}, ''),
    # Finite numbers between which nothing finite can be interpolated
    *((None, {'times': [1e-9, 2e-9], 'positions': x, 'velocities': xd, 'accelerations': xdd}, '')
      for x, xd, xdd in (
          ([[1e308, -1e308], [-1e308, 1e308]], None, None),
          ([HERE, HERE], [[1e308, -1e308], REST], None),
          ([HERE, HERE], [REST, REST], [[1e308, 0.0], [-1e308, 0.0]])))])
@pytest.mark.filterwarnings('error')
def test_refused(name, change, word):
    """The error names what is wrong and says what would be right."""
    with pytest.raises(TrajectoryError, match=word) as refusal:
        plan(**{'times': [1.0], 'positions': [[0.4, 0.4]], **change})
    assert name in (None, refusal.value.name) and refusal.value.remedy in str(refusal.value)


def test_every_segment_is_within_reason():
    # The limits hold in its last segment too, not only in the first ones.
    times, positions = np.arange(1.0, 1001.0), np.zeros((1000, 2))
    plan(times, positions)
    positions[-2, 1] = 9.0
    with pytest.raises(TrajectoryError, match='joint2 would be 9 at waypoint 998'):
        plan(times, positions)
    # A joint without limits is not sent to where numbers end.
    plan([1.0], [[1e6, 0.0]], model=FREE)
    with pytest.raises(TrajectoryError, match='beyond 1e.09'):
        plan([1.0], [[1e12, 0.0]], model=FREE)


FREE = replace(TWO_LINK, position_lower=np.full(2, -np.inf), position_upper=np.full(2, np.inf),
               velocity_limit=np.full(2, np.inf))


@pytest.mark.parametrize('count', [2, 3, 4, 50])
def test_polynomials_are_those_of_scipy(count):
    rng = np.random.default_rng(count)
    times = np.append(0.0, np.cumsum(rng.uniform(0.01, 3.0, count - 1)))
    x, xd, xdd = (rng.uniform(-2.0, 2.0, (count, 2)) for _ in range(3))
    xd[-1] = 0.0
    for given, expected in (
            ((x,), CubicSpline(times, x, bc_type=((1, xd[0]), (1, xd[-1])))),
            ((x, xd), CubicHermiteSpline(times, x, xd)),
            ((x, xd, xdd), PPoly.from_bernstein_basis(BPoly.from_derivatives(
                times, np.stack([x, xd, xdd], axis=1))))):
        points = interpolate(FREE, Waypoints(FREE.joint_names, times, *given), x[0], xd[0], 0.0, 1)
        assert points.times == pytest.approx(times)
        assert points.coefficients[:, :len(expected.c)][:, ::-1] == pytest.approx(
            expected.c.transpose(1, 0, 2), rel=1e-9, abs=1e-9)


FIRST_MOTION = """
import sys
import numpy as np
from robodyn_ros import Controller, load_urdf, Settings, Waypoints
from robodyn_ros.control.references.pose_planning import (
    at_twist, checked_pose, pose_limits, PoseState)
from robodyn_ros.control.references.reference_planning import interpolate
from robodyn_ros.model.resources import robot_path

model, settings, rest = load_urdf('two_link'), Settings(), np.zeros(2)
Controller(model, settings).arm()
before = set(sys.modules)
first, end = [[0.01, 0.01]], [[0.0, 0.0]]
for waypoints in ([2.0], end), ([2.0, 4.0], first + end, first + end), (
        [2.0, 4.0], first + end, first + end, first + end):
    interpolate(model, Waypoints(model.joint_names, *waypoints), rest, rest, 0.0, 1)
checked_pose(np.zeros(3), [0.0, 0.0, 0.0, 1.0], np.zeros(3), 1.0)
here = PoseState(np.zeros(3), np.eye(3), np.zeros(6), np.zeros(6))
at_twist(pose_limits(settings), here, [0.01] * 6, 0.1, 0.0, 1)
assert set(sys.modules) == before, set(sys.modules) - before
assert not {'scipy.interpolate', 'scipy.spatial'} & before, 'they take half a second'
"""


def test_what_motions_need_is_there_before_an_arm_is_driven():
    """What the first motion imported would be late. Takes 2 s: a process of its own."""
    run([sys.executable, '-c', FIRST_MOTION], env={**os.environ, 'ROBODYN_PLAIN': '1'}, check=True)


@pytest.fixture(scope='module', params=['two_link', 'rp', 'panda', 'kinova'])
def planned(request):
    robot = load_robot(request.param, {}, [])
    dynamics = Dynamics(robot.model)
    return robot, dynamics, motion.plan(dynamics, robot.pose, 4.0)


def test_it_stays_within_all_limits(planned):
    robot, dynamics, asked = planned
    model, q = robot.model, motion.reference(robot.model, asked)
    for t in np.linspace(0.0, asked.times[-1], 500):
        assert (model.position_lower < q(t)).all() and (q(t) < model.position_upper).all()
        # Between waypoints it may be a little faster than at them
        assert (np.abs(q(t, 1)) <= 0.65 * model.velocity_limit).all()
        assert (np.abs(dynamics.inverse_dynamics(q(t), q(t, 1), q(t, 2)))
                <= 0.75 * model.effort_limit).all()


def test_it_begins_and_ends_at_rest_and_is_seen(planned):
    robot, _, asked = planned
    q = motion.reference(robot.model, asked)
    for t in (0.0, asked.times[-1]):
        assert q(t) == pytest.approx(robot.pose, abs=1e-12)
        assert q(t, 1) == pytest.approx(0.0, abs=1e-12)
        assert q(t, 2) == pytest.approx(0.0, abs=1e-9)
    robot, _, asked = planned
    assert (np.ptp(asked.positions, axis=0) > 0.05).all()


def test_velocity_and_acceleration_are_the_derivatives_of_position():
    robot = load_robot('two_link', {}, [])
    asked = motion.waypoints(robot.model, robot.pose, np.full(2, 0.3), 4.0)
    dense = motion.reference(robot.model, asked)
    t, h = asked.times[1:-1], 1e-5
    assert (dense(t + h) - dense(t - h)) / (2 * h) == pytest.approx(asked.velocities[1:-1],
                                                                    abs=1e-6)
    # The polynomials take the accelerations as given: look at the formula across waypoints
    curve = motion.waypoints(robot.model, robot.pose, np.full(2, 0.3), 4.0)
    fine = np.gradient(curve.velocities, curve.times, axis=0)
    assert np.abs(fine - curve.accelerations)[2:-2].max() < 0.1 * np.abs(fine).max()


def test_robots_without_limits_or_power_are_refused(tmp_path):
    from robodyn_ros.model.resources import robot_path
    weak = tmp_path / 'weak.urdf'
    weak.write_text(robot_path('two_link').read_text().replace('effort="80"', 'effort="8"'))
    robot = load_robot(str(weak), {}, [])
    with pytest.raises(DemoError, match='joint1'):
        motion.plan(Dynamics(robot.model), robot.pose, 4.0)
    robot = load_robot('double_pendulum', {}, [])
    with pytest.raises(DemoError, match='joint1 .*range is 0.*velocity limit is 0.*effort limit '
                                        'is 0.*joint2 .*<limit') as refused:
        motion.check_limits(robot.model)
    assert len(refused.value.value) == 2
    fast = replace(load_robot('two_link', {}, []).model, velocity_limit=np.array([np.inf, 1e4]))
    with pytest.raises(DemoError, match='joint1 .*no velocity limit of a drive.*joint2'):
        motion.check_limits(fast)
    with pytest.raises(UrdfError) as refused:
        load_robot('no such robot', {}, [])
    offered = refused.value.remedy.partition('one of ')[2].partition(' (')[0].split(', ')
    assert {'two_link', 'panda'} <= {*offered}
    for name in offered:
        motion.check_limits(load_robot(name, {}, []).model)
