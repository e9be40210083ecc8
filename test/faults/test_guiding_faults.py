# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of contacts, of hand guiding, and of bounded motions."""

from math import nan

from faults.arm import Arm, PERIOD, running, TELEPORTED
from faults.rows import row
import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.control.settings import task_and_bounds
from robodyn_ros.control.steps import (
    collisions, guard, motor_faults, phase_efforts, self_collision, time_scaling)
from robodyn_ros.model.resources import robot_path

near = pytest.approx
K, D = np.array([40.0, 10.0]), np.array([4.0, 1.0])
HAND = {'mode': 'hand_guiding', 'stiffness': K.tolist(), 'damping': D.tolist(),
        'task_frame': 'tool0', 'guiding_timeout': 0.3, 'effort_rate_limit': [1e7, 1e7]}
SOFT = {'mode': 'joint_impedance', 'stiffness': [1.0, 1.0], 'damping': [1.0, 0.5],
        'task_frame': 'tool0', 'effort_rate_limit': [1e7, 1e7]}


@row('invalid virtual walls', where=task_and_bounds.workspace_planes,
     find='corner.size not in (0, 3)', instead='False')
def test_bad_walls():
    """Not finite, of the wrong number, without room: refused, and the walls in force stay."""
    arm = running(**HAND)
    for given, why in (({'workspace_lower': [0.0, 0.0]}, '2 values'),
                       ({'workspace_lower': [nan, 0.0, 0.0]}, 'workspace_lower'),
                       ({'workspace_planes': [0.0, 0.0, nan, 1.0]}, 'workspace_planes'),
                       ({'wall_lower': [nan, 0.0]}, 'wall_lower')):
        assert why in arm.set(**given)
    assert arm.tick() == near(arm.gravity, abs=1e-6)


def slowed(arm, name, code):
    """Go on until a bound acts on the reference; then return where the reference is."""
    for _ in range(1200):
        arm.tick()
        if arm.counted(name) == guard.CODES.index(code):
            return arm.position + (arm.tick() - arm.gravity)
    raise AssertionError(f'not {name} {code}')


@row('the tool reaches the boundary of its workspace', 'TOOL_OUTSIDE',
     where=time_scaling.tool_share, find='outward > MIN_REFERENCE_SPEED and _', instead='False')
def test_the_tool_reaches_the_boundary():
    """The reference rests inside, and the diagnostics say why."""
    arm = running(**SOFT)
    top = arm.dynamics.pose(arm.position, 'tool0')[2, 3] + 0.05
    assert arm.set(workspace_upper=[9.0, 9.0, top]) == ''
    arm.tick()      # with these bounds; until then trajectories are refused
    arm.follow([0.6, 0.8])
    reference = slowed(arm, 'held_by', 'TOOL_OUTSIDE')
    assert top - 0.02 < arm.dynamics.pose(reference, 'tool0')[2, 3] < top
    assert arm.ticks(50)[-1] == near(arm.gravity + reference - arm.position, abs=1e-6)
    assert arm.phase == 'RUNNING'


@row('the tool would be too fast', 'TOOL_SPEED', where=time_scaling.tool_share,
     find='SPEED_SHARE * bounds.speed[0] < speed', instead='False')
def test_the_tool_would_be_too_fast():
    """The reference is slowed down to the limit, and goes on."""
    arm = running(**{**SOFT, 'tool_speed_limit': 0.02})
    arm.follow([0.5, 0.7])
    begin = slowed(arm, 'slowed_by', 'TOOL_SPEED')
    end = arm.position + (arm.ticks(100)[-1] - arm.gravity)
    way = [arm.dynamics.pose(q, 'tool0')[:3, 3] for q in (begin, end)]
    assert 0.015 < np.linalg.norm(way[1] - way[0]) / 0.1 <= 0.02


@row('a contact would exceed its force limit', 'CONTACT_SPEED', where=time_scaling.joint_share,
     find='not contact >= share', instead='False')
def test_a_contact_would_be_too_hard():
    """A heavy payload, and a region that bears little: the reference is slowed down."""
    arm = running(**{**SOFT, 'contact_region': 'lower_legs', 'payload_mass': 2.0,
                     'payload_frame': 'tool0', 'arming_effort': 10.0})
    arm.follow([1.9, 0.5])
    slowed(arm, 'slowed_by', 'CONTACT_SPEED')
    assert arm.phase == 'RUNNING'


@row('the arm exceeds the speed for contacts', where=time_scaling.brake, find='share < 1.0',
     instead='False')
def test_the_arm_is_faster_than_a_contact_may_be():
    """Whatever made it so: the more the faster, and as damping of all joints together."""
    arm = running(**{**SOFT, 'contact_region': 'lower_legs',
                     'following_error': [0.0], 'consistency_tolerance': [0.0]})
    arm.velocity[:] = 0.2, 0.1
    slow = arm.moving(20)[-1] - arm.gravity
    arm.velocity[:] = 1.2, 0.6
    fast = arm.moving(5)[-1] - arm.gravity
    momentum = arm.dynamics.mass_matrix(arm.position) @ arm.velocity
    assert fast[0] < slow[0] - 5.0 and fast[1] < slow[1]
    law = [0.3, 0.5] - arm.position - [1.0, 0.5] * arm.velocity         # its spring and damper
    assert (fast - law) / momentum == near(np.full(2, (fast - law)[0] / momentum[0]), rel=0.05)
    assert arm.phase == 'RUNNING'


def solid():
    """Return the model of an arm whose links have collision shapes."""
    return load_urdf(robot_path('two_link').read_text().replace('visual>', 'collision>'))


@row('two links come too close', 'SELF_COLLISION', where=self_collision.self_collision_share,
     find='closing > MIN_CLOSING_SPEED and _', instead='False')
def test_two_links_come_too_close():
    """The arm folds: the reference rests before the second link touches the base."""
    arm = Arm(solid(), **SOFT, self_collision_distance=0.05)
    arm.position[1] = 2.5
    arm.effort = arm.gravity
    arm.activate()
    arm.follow([0.3, 3.0])
    reference = slowed(arm, 'held_by', 'SELF_COLLISION')
    gap = np.linalg.norm(arm.dynamics.pose(reference, 'tool0')[:3, 3]) - 0.0927 - 0.04
    assert 0.045 < gap < 0.08           # of the ball at the tool from the capsule of the base
    assert arm.ticks(50)[-1] == near(arm.gravity + reference - arm.position, abs=1e-6)
    assert 'base_link and link2' in arm.controller.held_by
    assert arm.phase == 'RUNNING'


@row('a motion without reference brings two links together', 'SELF_COLLISION',
     where=self_collision.keep_apart, find='excess > 0.0 and _', instead='False')
def test_a_motion_without_a_reference_brings_two_links_together():
    """A task leaves the arm free, and a hand folds it: braked together, and free apart."""
    arm = Arm(solid(), mode='cartesian_impedance', task_frame='tool0',
              task_selection=[0.0, 1.0] * 3, nullspace_kp=[0.0], nullspace_kd=[0.01],
              self_collision_distance=0.05, effort_rate_limit=[1e7, 1e7], **TELEPORTED)
    arm.position[1] = 2.6
    arm.effort = arm.gravity
    arm.activate()
    together, apart = [], []
    for speed, efforts in (0.5, together), (-0.5, apart):
        arm.velocity[1] = speed
        for _ in range(3):              # where it is: the hand is quicker than the samples
            efforts.append(arm.tick() - arm.gravity)
    assert together[-1][1] < -1.0 and abs(apart[-1][1]) < 0.1
    arm.position[1], arm.velocity[1] = 2.8, 0.5         # so near that it brakes in every cycle
    slowed(arm, 'slowed_by', 'SELF_COLLISION')
    assert arm.phase == 'RUNNING'


@row('links without collision shapes', where=task_and_bounds._require, find='len(pairs) == 0',
     instead='False')
def test_no_shapes_to_keep_apart():
    """Nobody believes in a distance that is not watched: refused, and nothing changes."""
    arm = running(**SOFT)
    why = arm.set(self_collision_distance=0.05)
    assert 'no two links with collision shapes' in why
    assert "no link 'link9'" in arm.set(self_collision_distance=0.05,
                                        self_collision_allowed='link1 link9')
    assert arm.tick() == near(arm.gravity, abs=1e-6)


CONTACT = {'mode': 'joint_impedance', 'stiffness': [40.0, 10.0], 'damping': [4.0, 1.0],
           'collision_threshold': [1.0, 1.0], 'fault_hold_time': 0.5,
           'effort_rate_limit': [1e5, 1e5]}
HIT = 0.5           # rad/s that the second joint gains at once


@row('the arm runs into something', 'COLLISION', where=collisions.collision,
     find='last_above(_, _)', instead='-1')
def test_the_arm_runs_into_something():
    """The second sample of a hit latches the fault, which names joint and direction."""
    arm = running(**CONTACT)
    arm.moving(20)
    arm.velocity[1] = -HIT
    before, braked = arm.moving(2)
    assert braked == near(arm.gravity + arm.damping, abs=1e-6)
    assert abs(before - braked).max() > 0.1
    arm.velocity[1] = 0.0
    arm.faulted('COLLISION', '(joint2, in the negative direction)')
    arm.until()
    arm.nothing()
    arm.activate()


@row('the arm is pushed too hard', 'PUSHED', where=collisions.push,
     find='abs(_) > _.push_threshold', instead='False')
def test_the_arm_is_pushed_too_hard():
    """A joint that is pushed off its spring: no collision, and a fault when the push is large."""
    arm = running(**{**CONTACT, 'stiffness': [400.0, 100.0], 'damping': [4.0, 1.0],
                     'collision_threshold': [30.0, 30.0], 'push_bandwidth': 10.0,
                     'push_threshold': [0.0, 3.0]})
    arm.position = arm.position + [0.0, 1e-3]
    for _ in range(100):                # 5 N·m within 0.1 s hold what the spring pulls back with
        arm.position = arm.position + [0.0, 5e-4]
        arm.velocity[1] = 0.5
        arm.tick()
    arm.velocity[1] = 0.0
    arm.ticks(200)
    arm.faulted('PUSHED', 'joint2, in the positive direction')
    arm.until()


@row('one false velocity looks like a contact', where=collisions.collision,
     find='m.above < COLLISION_SAMPLES', instead='False')
def test_one_false_velocity_is_no_contact():
    """A velocity that is false for one sample changes nothing but its own effort."""
    arm = running(**{**CONTACT, 'fault_hold_time': 0.01})
    arm.moving(20)
    arm.tick(velocity=[0.0, HIT])
    assert arm.moving(50)[-1] == near(arm.gravity, abs=1e-6)
    assert arm.phase == 'RUNNING'


@row('an impact spins a joint', 'COLLISION', where=phase_efforts.recoils,
     find='m.unbraked >= RECOIL_TIME', instead='True')
def test_an_impact_spins_a_joint():
    """Gravity compensation alone while the joint spins, and braking once it has slowed down."""
    arm = running(**CONTACT)
    arm.moving(20)
    arm.velocity[1] = HIT
    arm.moving(2)
    arm.velocity[1] = 1.3 * arm.model.velocity_limit[1]
    efforts, gravity = [], []
    for _ in range(40):
        efforts.append(arm.moving(1)[0])
        gravity.append(arm.gravity)
    efforts, gravity = np.array(efforts), np.array(gravity)
    arm.velocity[1] = 0.5 * arm.model.velocity_limit[1]
    later = arm.moving(30)
    assert abs(efforts - gravity).max() < 1e-6
    assert later[-1] == near(arm.gravity + arm.damping, abs=1e-6)
    arm.velocity[1] = 0.0
    arm.moving(20)
    arm.faulted('COLLISION')
    assert np.isfinite(efforts).all()


@row('a motor fault looks like a contact', 'COLLISION', where=motor_faults.motor_fault,
     find='m.disobeyed >= _', instead='False')
def test_a_motor_fault_looks_like_a_contact():
    """The second motor turns around; the efforts that drive the arm end within 20 ms."""
    arm = running(**CONTACT)
    efforts = arm.moving(20)[-1]
    for _ in range(40):
        arm.velocity = arm.velocity + PERIOD * arm.dynamics.forward_dynamics(
            arm.position, arm.velocity, efforts * [1.0, -1.0])
        efforts = arm.moving(1)[0]
        if not efforts.any():
            break
    assert efforts.tolist() == [0.0, 0.0]
    assert (abs(arm.velocity) < arm.model.velocity_limit).all()
    arm.nothing()
    arm.faulted('COLLISION')
