# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Efforts of others: those of waypoints, and feedback policies of a slower planner."""

from dataclasses import replace
from math import inf, nan, pi, remainder, tau

from control.rig import POSE, Rig, risen, Told, TURNING, TWO_LINK
from flight_recorder.flights import replayed
import numpy as np
import pytest
from robodyn_ros.control.laws.feedback_policy import FADE_TIME
from robodyn_ros.control.laws.registry import FOLLOWING
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.steps import trajectory_tracking
from robodyn_ros.errors import ArgumentError, TrajectoryError

GOAL = np.array([0.5, 0.2])


def running(**settings):
    """Return an arm under the law, which holds it: no policy has come."""
    return risen(mode='feedback_policy', **settings)


def regulation(dynamics, pose):
    """Return effort and gain of a regulator, about that of examples/feedback_policy.py."""
    return dynamics.gravity(pose), np.array([[200.0, 27.0, 38.0, 5.6], [-45.0, 100.0, -5.6, 14.8]])


def planned(rig, seconds, rate, policy):
    """Run with a planner; efforts (N, 2)."""
    efforts = []
    for k in range(round(seconds / rig.period)):
        if k % round(1.0 / (rate * rig.period)) == 0:
            rig.controller.follow_policy(rig.time, *policy(rig))
        efforts.append(rig.tick().copy())
    return np.array(efforts)


def regulator(goal):
    """Return a planner that sends the same regulator again and again."""
    def policy(rig):
        u, K = regulation(rig.dynamics, goal)
        return u, goal, np.zeros(2), K
    return policy


def test_without_a_policy_the_arm_is_held():
    rig = running()
    rig.run(1.0)
    assert abs(rig.q - POSE).max() < 1e-6 and rig.controller.reason_code == 'NO_REASON'
    rig = risen(mode='joint_impedance')
    with pytest.raises(ArgumentError, match='joint_impedance uses no policy'):
        rig.controller.follow_policy(rig.time, np.zeros(2), POSE, np.zeros(2), np.zeros((2, 4)))


@pytest.mark.slow
def test_a_regulator_of_50_hz_takes_the_arm_to_its_goal():
    """Evaluated at the rate of the loop: the effort is u + K (x̂ - x) of this very state."""
    rig = running()
    planned(rig, 2.0, 50.0, regulator(GOAL))
    assert abs(rig.q - GOAL).max() < 1e-3
    u, K = regulation(rig.dynamics, GOAL)
    rig.qd += 0.01
    state = np.concatenate([GOAL - rig.q, -rig.qd])
    rig.controller.follow_policy(rig.time, u, GOAL, np.zeros(2), K)
    assert rig.tick() == pytest.approx(u + K @ state, abs=1e-6)


def test_positions_of_a_policy_are_of_any_turn():
    """Its planner reads an encoder that begins anew at π; the controller counts the turns."""
    class Wrapped(Told):
        def lie(self, q, qd):
            return np.array([remainder(q[0], tau), q[1]]), qd

    rig, goal = risen(Wrapped, [3.0, 0.5], TURNING, mode='feedback_policy'), np.array([3.4, 0.4])
    _, K = regulation(rig.dynamics, goal)
    seen = goal - [tau, 0.0]
    planned(rig, 2.0, 50.0, lambda rig: (
        rig.dynamics.gravity(goal), goal if rig.q[0] < pi else seen, np.zeros(2), K))
    assert rig.q == pytest.approx(goal, abs=1e-3) and rig.controller.reason_code == 'NO_REASON'


def test_policies_stop_and_come_back_without_a_bump():
    # The arm is held where it was then; efforts change by the fade, not at once.
    rig = running(policy_timeout=[0.05])
    moving = planned(rig, 0.2, 50.0, regulator(GOAL))
    efforts, poses, before = [moving[-1]], [], rig.controller.tau.copy()
    for _ in range(2000):
        efforts.append(rig.tick().copy())
        poses.append(rig.q.copy())
    steps = abs(np.diff(efforts, axis=0)).max(0)
    usual = abs(np.diff(moving, axis=0))[60:].max(0)
    assert (steps < usual + 3.0 * rig.period / FADE_TIME * (abs(before) + 5.0)).all()
    assert rig.controller.reason_code == 'NO_REASON'
    assert abs(rig.qd).max() < 1e-3
    stale = poses[50]
    assert abs(rig.q - stale).max() < 0.1       # not back to where it began, nor on to the goal
    rig = running(policy_timeout=[0.05])
    planned(rig, 0.5, 50.0, regulator(GOAL))
    rig.run(0.5)
    efforts = planned(rig, 0.5, 50.0, regulator(POSE))
    u, K = regulation(rig.dynamics, POSE)
    jump = abs(K @ np.concatenate([POSE - GOAL, np.zeros(2)])) + abs(u)
    assert (abs(np.diff(efforts, axis=0)).max(0) < 3.0 * rig.period / FADE_TIME * jump).all()
    assert rig.controller.reason_code == 'NO_REASON'


def test_a_gain_of_the_wrong_sign_is_ended_by_the_guard():
    """Positive feedback: the velocity limit holds within 10 % until a fault ends it."""
    rig = running()
    u, K = regulation(rig.dynamics, POSE)
    speed = 0.0
    rig.q += 0.01
    for k in range(2000):
        if k % 20 == 0:
            rig.controller.follow_policy(rig.time, u, POSE, np.zeros(2), -K)
        rig.tick()
        if rig.phase == 'RUNNING':
            speed = max(speed, abs(rig.qd / TWO_LINK.velocity_limit).max())
    assert speed < 1.1 and rig.phase == 'FAULT'


@pytest.mark.parametrize(('changed', 'why'), [
    ({'gain': np.full((2, 4), 1e9)}, 'gain of the policy of joint1 is above'),
    ({'gain': np.zeros((2, 2))}, r'shape \(2, 2\)'), ({'position': [0.0]}, 'shape'),
    ({'time': -5.0}, 'older')])
def test_policies_that_are_refused(changed, why):
    """The one before them stays in force until it is stale."""
    rig = running()
    good = {'time': rig.time, 'effort': rig.tau, 'position': POSE, 'velocity': np.zeros(2),
            'gain': np.zeros((2, 4))}
    rig.controller.follow_policy(**good)
    before = rig.controller.inputs.policy
    with pytest.raises(ArgumentError, match=why):
        rig.controller.follow_policy(**{**good, **changed})
    assert rig.controller.inputs.policy is before


@pytest.mark.slow
def test_policies_are_recorded_and_replayed():
    rig = running(recorded=1000)
    planned(rig, 0.3, 50.0, regulator(GOAL))
    _, flown = replayed(rig.controller, 400)
    assert len(flown.snapshot.policies) > 10


def test_gains_in_any_order_and_time_that_jumps():
    # As a transposed solution has it.
    rig = running()
    u, K = regulation(rig.dynamics, POSE)
    efforts = []
    for gain in (K, np.asfortranarray(K)):
        rig.controller.follow_policy(rig.time, u, POSE, np.zeros(2), gain)
        efforts.append(rig.tick().copy())
    assert efforts[0] == pytest.approx(efforts[1], abs=1e-6)
    rig = running()
    rig.controller.cycle_input['simulated_time'] = 1
    rig.time += 100.0
    u, K = regulation(rig.dynamics, POSE)
    rig.controller.follow_policy(rig.time, u, POSE, np.zeros(2), K)
    rig.tick()
    rig.time -= 90.0
    rig.tick()
    rig.controller.follow_policy(rig.time, u, POSE, np.zeros(2), K)
    with pytest.raises(ArgumentError, match='older'):
        rig.controller.follow_policy(rig.time - 0.1, u, POSE, np.zeros(2), K)


LIMIT = TWO_LINK.effort_limit


def held(rig, efforts, seconds=0.5, names=TWO_LINK.joint_names):
    """Stay where the reference is, with efforts (2, n) that change linearly."""
    order = [TWO_LINK.joint_names.index(name) for name in names]
    here = rig.controller._v.target.copy()[order]
    rig.controller.follow(Waypoints(names, [0.0, seconds], [here, here], None, None, efforts),
                          rig.time + rig.period)


def steps(rig, seconds):
    """Return the largest step of the published effort, less gravity, in a while."""
    given = []
    for _ in range(round(seconds / rig.period)):
        rig.tick()
        given.append(rig.controller._v.published.copy())
    return np.abs(np.diff(given, axis=0)).max(0)


@pytest.mark.parametrize('mode', FOLLOWING)
def test_every_law_gets_them_and_loses_them_at_the_end(mode):
    rig, plain = (Rig(TWO_LINK, POSE, mode=mode) for _ in range(2))
    for each in rig, plain:
        each.rise()
    v = rig.controller._v
    held(rig, [[0.0, 0.0], [2.0, -1.0]])
    held(plain, None)
    # The first cycles, in which both arms are where they were
    for k in (0, 0, 1):
        rig.tick()
        plain.tick()
        assert rig.tau - plain.tau == pytest.approx(k * 2e-3 * np.array([2.0, -1.0]), abs=1e-4)
    rig.run(0.4)
    assert v.feedforward == pytest.approx(np.array([2.0, -1.0]) * 0.8024, rel=1e-3)
    plain.run(0.4)
    assert np.abs(rig.q - plain.q).max() > 1e-3
    rig.run(0.1 + trajectory_tracking.FADE_TIME)            # "never survives the trajectory"
    assert not v.feedforward.any() and not v.target_effort.any() and rig.phase == 'RUNNING'


@pytest.mark.parametrize('interruption', ['end', 'trajectory', 'stop', 'law', 'target', 'partial'])
def test_whatever_ends_them_no_effort_jumps(interruption):
    """From the largest effort that is allowed, to none or to its opposite."""
    rig = risen(mode='joint_impedance')
    c, top = rig.controller, 0.4 * LIMIT
    held(rig, [top, top], 0.3 if interruption == 'end' else 2.0)
    first = steps(rig, 0.2)
    assert c._v.feedforward == pytest.approx(top)
    if interruption == 'trajectory':
        held(rig, [-top, -top], 0.3)
    elif interruption == 'stop':
        c.follow(Waypoints(TWO_LINK.joint_names, [], np.zeros((0, 2))), rig.time)
    elif interruption == 'law':
        c.use(replace(c.settings, mode='computed_torque'))
    elif interruption == 'target':
        c.follow(Waypoints(TWO_LINK.joint_names, [0.0], [POSE]), rig.time)
    elif interruption == 'partial':
        held(rig, [[0.0], [0.0]], 0.3, TWO_LINK.joint_names[1:])
    later = steps(rig, 0.6)
    assert (np.maximum(first, later) <= c.records.joints['effort_rate_limit'] * rig.period
            * (1.0 + 1e-9)).all()
    assert c._v.feedforward == pytest.approx(top * [1, 0] if interruption == 'partial' else 0.0)
    assert rig.phase == 'RUNNING'


def test_efforts_of_trajectories_follow_each_other_and_end():
    # Those of the old one until the new one starts.
    rig = risen(mode='joint_impedance')
    c = rig.controller
    held(rig, [[1.0, 1.0]] * 2, 1.0)
    rig.run(0.1)
    here = c._v.target.copy()
    c.follow(Waypoints(TWO_LINK.joint_names, [0.0, 1.0], [here, here], None, None,
                       [[3.0, 3.0]] * 2), rig.time + 0.2)
    rig.run(0.19)
    assert c._v.feedforward == pytest.approx(1.0)
    rig.run(0.2)
    assert c._v.feedforward == pytest.approx(3.0)
    # The detour over gravity alone adds nothing, and nothing comes back after it.
    rig = risen(Told, mode='joint_impedance', missing_velocity='gravity_only')
    held(rig, [0.1 * LIMIT] * 2, 5.0)
    rig.run(0.2)
    rig.lie = lambda q, qd: (q, nan * qd)
    rig.run(0.3)
    assert rig.tau == pytest.approx(rig.controller._v.gravity, abs=1e-6)
    rig.lie = Told.lie
    rig.run(0.1)
    assert not rig.controller._v.feedforward.any()


@pytest.mark.parametrize('limit, efforts, word', [
    (0.5, [[0.0, 0.0], [0.0, -inf]], 'effort of joint2 at waypoint 1 is -inf'),
    (0.5, [0.51 * LIMIT] * 2, 'feedforward_limit bounds it'),
    (0.5, [[0.0, 0.0]], r'efforts have shape \(1, 2\)'),
    (0.5, [[0.0], [0.0]], r'efforts have shape \(2, 1\)'),
    (0.0, [[0.0, 1e-3]] * 2, 'trajectories may add 0: .*feedforward_limit')])
def test_efforts_that_are_refused(limit, efforts, word):
    rig = risen(mode='joint_impedance', feedforward_limit=limit)
    held(rig, [[0.0, 0.0]] * 2)
    before = rig.controller.trajectory.points
    with pytest.raises(TrajectoryError, match=word):
        held(rig, efforts)
    assert rig.controller.trajectory.points is before


@pytest.mark.slow
def test_they_are_recorded_and_replayed():
    rig = risen(recorded=2000, mode='joint_impedance')
    held(rig, [[1.0, -0.5], [-2.0, 0.5]], 0.2)
    rig.run(0.1)
    held(rig, [[1.0]] * 2, 0.2, TWO_LINK.joint_names[:1])
    rig.run(0.5)
    taken, flown = replayed(rig.controller, 700)
    for serial, points in taken.points.items():
        assert (flown.snapshot.points[serial].efforts == points.efforts).all()
    assert max(np.abs(p.efforts).max() for p in taken.points.values()) > 1.0
