# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of contacts: one test a row of the table in docs/safety.md."""

from faults.arm import running
from faults.played_arm import PERIOD
from faults.rows import row
import numpy as np
import pytest
from robodyn_ros.control.steps import collisions, motor_faults, phase_efforts

near = pytest.approx
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
