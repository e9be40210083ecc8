# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Efforts of waypoints: they reach every law, within bounds, and end with their trajectory."""

from dataclasses import replace
from math import inf, nan

from control.rig import Rig, risen, Told
from flight_recorder.flights import MODEL, POSE, recording_rig, replayed
import numpy as np
import pytest
from robodyn_ros.control.laws.registry import FOLLOWING
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.steps.effort_feedforward import FADE_TIME
from robodyn_ros.errors import TrajectoryError

LIMIT = MODEL.effort_limit


def held(rig, efforts, seconds=0.5, names=MODEL.joint_names):
    """Stay where the reference is, with efforts (2, n) that change linearly."""
    order = [MODEL.joint_names.index(name) for name in names]
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
    rig, plain = (Rig(MODEL, POSE, mode=mode) for _ in range(2))
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
    rig.run(0.1 + FADE_TIME)            # "never survives the trajectory"
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
        c.follow(Waypoints(MODEL.joint_names, [], np.zeros((0, 2))), rig.time)
    elif interruption == 'law':
        c.use(replace(c.settings, mode='computed_torque'))
    elif interruption == 'target':
        c.follow(Waypoints(MODEL.joint_names, [0.0], [POSE]), rig.time)
    elif interruption == 'partial':
        held(rig, [[0.0], [0.0]], 0.3, MODEL.joint_names[1:])
    later = steps(rig, 0.6)
    assert (np.maximum(first, later) <= c.records.joints['effort_rate_limit'] * rig.period
            * (1.0 + 1e-9)).all()
    assert c._v.feedforward == pytest.approx(top * [1, 0] if interruption == 'partial' else 0.0)
    assert rig.phase == 'RUNNING'


def test_the_efforts_of_two_trajectories_follow_each_other():
    """Those of the old one until the new one starts."""
    rig = risen(mode='joint_impedance')
    c = rig.controller
    held(rig, [[1.0, 1.0]] * 2, 1.0)
    rig.run(0.1)
    here = c._v.target.copy()
    c.follow(Waypoints(MODEL.joint_names, [0.0, 1.0], [here, here], None, None, [[3.0, 3.0]] * 2),
             rig.time + 0.2)
    rig.run(0.19)
    assert c._v.feedforward == pytest.approx(1.0)
    rig.run(0.2)
    assert c._v.feedforward == pytest.approx(3.0)


def test_a_velocity_that_is_missing_ends_them():
    """The detour over gravity alone adds nothing, and nothing comes back after it."""
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
    (0.5, [[nan, 0.0], [0.0, 0.0]], 'effort of joint1 at waypoint 0 is nan'),
    (0.5, [[0.0, 0.0], [0.0, -inf]], 'effort of joint2 at waypoint 1 is -inf'),
    (0.5, [[0.0, 0.0], [1e300, 0.0]], r'joint1 at waypoint 1 is 1e\+300, and .* may add'),
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
    rig = recording_rig(2000, mode='joint_impedance')
    rig.rise()
    held(rig, [[1.0, -0.5], [-2.0, 0.5]], 0.2)
    rig.run(0.1)
    held(rig, [[1.0]] * 2, 0.2, MODEL.joint_names[:1])
    rig.run(0.5)
    taken, flown = replayed(rig.controller, 700)
    for serial, points in taken.points.items():
        assert (flown.snapshot.points[serial].efforts == points.efforts).all()
    assert max(np.abs(p.efforts).max() for p in taken.points.values()) > 1.0
