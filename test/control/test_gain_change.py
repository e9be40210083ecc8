# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Changes of gains, friction and mode while a reference is under way."""

from dataclasses import replace

from control.rig import follow, risen, TWO_LINK
import numpy as np
import pytest
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.errors import TrajectoryError
from thorough import seeds

POSE, END, REST = np.array([0.3, 0.5]), np.array([0.9, -0.1]), np.zeros((1, 2))
CHANGES = {
    'joint_impedance': [{'stiffness': [200.0, 50.0], 'damping': [20.0, 5.0]},
                        {'viscous_friction': [0.3], 'friction_compensation': [0.5]}],
    'computed_torque': [{'acceleration_kp': [225.0], 'acceleration_kd': [30.0]},
                        {'coulomb_friction': [0.5], 'friction_compensation': [0.5]}],
    'pd': [{'stiffness': [300.0, 80.0]}], 'disturbance_observer': [{'observer_bandwidth': [15.0]}],
    'adaptive': [{'adaptive_bandwidth': [5.0]}]}


def moving(mode, **settings):
    """Return an arm in the middle of a motion of one second."""
    rig = risen(mode=mode, **settings)
    follow(rig, END, 1.0, at_rest=True)
    rig.run(0.5)
    return rig


@pytest.mark.parametrize(('mode', 'change'), [
    (mode, change) for mode, changes in CHANGES.items() for change in changes])
def test_the_reference_goes_on(mode, change):
    """Exactly as without the change; efforts change at their rate, and nothing is a fault."""
    rig, same = moving(mode), moving(mode)
    c = rig.controller
    new = replace(c.settings, **change)
    assert c.reference_ended_by(new) == ''
    c.use(new)
    most = c.settings.joint_records(TWO_LINK)['effort_rate_limit'] * rig.period
    for _ in range(550):
        before = rig.published[-1] - rig.dynamics.gravity(rig.q)
        q = rig.q.copy()
        rig.tick()
        same.tick()
        step = rig.published[-1] - rig.dynamics.gravity(q) - before
        assert (abs(step) <= most + 0.02).all()         # and what g(q) changes by
        assert (c._v.target == same.controller._v.target).all()
    assert rig.phase == 'RUNNING', c.reason
    assert c._v.target == pytest.approx(END, abs=1e-12)
    assert c.memory['saturation_time'][0] < 0.05


def test_a_reference_at_rest_becomes_the_present_pose():
    """An arm that was moved while its gains were 0 is not thrown back by stiffer ones."""
    rig = moving('joint_impedance')
    rig.run(1.0)
    c = rig.controller
    c.use(replace(c.settings, stiffness=[0.0], damping=[0.0]))
    rig.run(0.1)
    rig.q, rig.qd = rig.q + [0.01, -0.01], 0.0 * rig.qd
    rig.run(0.1)
    here = rig.q.copy()
    c.use(replace(c.settings, stiffness=[400.0, 100.0], damping=[40.0, 10.0]))
    rig.tick()
    assert c._v.target == pytest.approx(here, abs=1e-9)
    rig.run(0.3)
    assert rig.q == pytest.approx(here, abs=1e-3) and rig.phase == 'RUNNING'


@pytest.mark.parametrize(('change', 'what'), [
    ({'mode': 'computed_torque'}, 'mode'), ({'velocity_scale': 0.5}, 'velocity_scale'),
    ({'tool_speed_limit': 0.3, 'task_frame': 'tool0'}, 'bounds of the motion')])
def test_what_a_reference_depends_on_ends_it(change, what):
    """The present pose is held, and that is said."""
    rig = moving('joint_impedance')
    c = rig.controller
    new = replace(c.settings, **change)
    assert c.reference_ended_by(new) == (
        f'the reference under way ends: {what} changed; the present pose is held')
    c.use(new)
    here = rig.q.copy()
    rig.tick()
    assert c._v.target == pytest.approx(here, abs=1e-12)
    assert c.reference_ended_by(replace(new, mode='pd')) == ''


def test_a_twist_goes_on():
    """The reference of a law that follows a pose is likewise kept, and another frame ends it."""
    rig = risen(mode='cartesian_impedance', twist_timeout=0.5)
    c = rig.controller
    c.follow_twist([0.05, 0.0, 0.0, 0.0, 0.0, 0.0], rig.time)
    rig.run(0.1)
    before = c.memory['pose_position'][0].copy()
    softer = replace(c.settings, task_stiffness=tuple(
        0.5 * np.array(c.settings.task_stiffness)))
    assert c.reference_ended_by(softer) == ''
    c.use(softer)
    rig.run(0.1)
    assert c.memory['pose_following'][0] == 1
    assert c.memory['pose_position'][0][0] - before[0] > 3e-3
    assert 'task_frame' in c.reference_ended_by(replace(softer, task_frame='link2'))


@pytest.mark.parametrize('seed', range(seeds(1, 10)))
def test_gains_that_change_all_the_time(seed):
    """As from a page with sliders: the motion goes on, without a fault of the guard."""
    rig, rng = moving('computed_torque'), np.random.default_rng(seed)
    c = rig.controller
    for k in range(60):
        if k % 20 == 0:
            c.follow(Waypoints(TWO_LINK.joint_names, [0.4], [rng.uniform(-0.5, 0.5, 2)], REST),
                     rig.time + 0.01)
        bandwidth = rng.uniform(5.0, 15.0)
        c.use(replace(c.settings, acceleration_kp=[bandwidth**2], acceleration_kd=[2 * bandwidth],
                      coulomb_friction=rng.uniform(0.0, 0.3, 2).tolist(),
                      friction_compensation=[0.5]))
        rig.run(0.02)
    assert rig.phase == 'RUNNING', c.reason
    assert abs(c._v.target - rig.q).max() < 0.05


def soft(distance):
    """Return a soft arm that a hand has brought away from its reference, which is under way."""
    rig = risen(mode='joint_impedance', stiffness=[1.0], damping=[1.0])
    follow(rig, POSE + 1e-3, 9.0, at_rest=True)
    rig.external = np.array([0.0, 2.0])
    while abs(rig.q - POSE).max() < distance:
        rig.tick()
    assert rig.phase == 'RUNNING', rig.controller.reason
    return rig


def test_a_reference_that_ends_with_its_law_is_no_following_error():
    """Of a law that takes over from one without a following error, far from its reference."""
    rig = soft(0.7)
    rig.controller.use(replace(rig.controller.settings, mode='computed_torque'))
    rig.run(0.1)
    assert rig.phase == 'RUNNING', rig.controller.reason


def test_a_trajectory_before_a_change_of_mode_does_not_begin_at_the_old_reference():
    """It is dropped."""
    rig = soft(0.4)
    c, asked = rig.controller, Waypoints(TWO_LINK.joint_names, [1.0], [END], REST)
    c.follow(asked, rig.time)
    c.use(replace(c.settings, mode='computed_torque'))
    here = rig.q.copy()
    rig.tick()
    assert c._v.target == pytest.approx(here, abs=1e-12)
    c.follow(asked, rig.time)
    rig.external[:] = 0.0
    rig.run(1.5)
    assert rig.q == pytest.approx(END, abs=1e-3) and rig.phase == 'RUNNING'


def test_a_plan_from_a_pose_that_is_held_no_more_is_made_again():
    """New gains make the present pose the reference while a trajectory is being planned."""
    rig = moving('joint_impedance')
    rig.run(0.6)
    c = rig.controller
    planned = c.prepare(Waypoints(TWO_LINK.joint_names, [1.0], [POSE], REST), rig.time + 0.01)
    rig.q = rig.q + [0.01, -0.01]
    c.use(replace(c.settings, stiffness=[300.0, 80.0]))
    rig.tick()
    with pytest.raises(TrajectoryError, match='has changed while it was planned'):
        c.commit(planned)


@pytest.mark.parametrize('stiffness', [4.0, 20.0])
def test_stiffer_gains_do_not_throw_an_arm_that_a_hand_holds_aside(stiffness):
    """Where the effort would step by a fifth of its limit, the present pose is the reference."""
    rig = risen(mode='joint_impedance', stiffness=[10.0], damping=[3.0])
    c = rig.controller
    c.follow(Waypoints(TWO_LINK.joint_names, [9.0], [POSE + 0.1], REST), rig.time)
    rig.external = np.array([2.8, 0.0])
    rig.run(1.5)
    here = rig.q.copy()
    assert abs(here - c._v.target).max() > 0.25
    c.use(replace(c.settings, stiffness=[stiffness * 10.0], damping=[9.0]))
    fastest = 0.0
    for _ in range(500):
        rig.tick()
        fastest = max(fastest, (abs(rig.qd) / TWO_LINK.velocity_limit).max())
    assert fastest < 0.1 and rig.phase == 'RUNNING'
    assert ('does not follow' in c.held_by) == (stiffness == 20.0)
