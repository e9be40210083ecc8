# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of wrenches and stiffness in task space: a test for each row in docs/safety.md."""

from math import nan

from faults.rows import row
from faults.test_pose_faults import refusal, sender, target, TASK
from geometry_msgs.msg import WrenchStamped
import numpy as np
import pytest
from robodyn_ros.control.inputs import pose_tracking
from robodyn_ros.control.laws import energy_tank
from robodyn_ros.control.references import pose_planning
from std_msgs.msg import Float64MultiArray

near = pytest.approx


def wrench(arm, frame='', **force):
    """Return a force that the tool is to exert."""
    message = WrenchStamped()
    message.header.stamp, message.header.frame_id = arm.stamp(), frame
    for name, value in force.items():
        setattr(message.wrench.force, name, value)
    return message


def coupled(one, other):
    """Return the 36 elements of a stiffness that has two beside the diagonal."""
    K = 30.0 * np.eye(6)
    K[0, 1], K[1, 0] = one, other
    return K.ravel().tolist()


@row('bad target wrench or stiffness', where=pose_planning._finite, find='np.isfinite(_).all()',
     instead='True')
def test_bad_target_wrench_or_stiffness(running):
    """Refused with the reason; nothing changes in the efforts."""
    arm = running(**TASK)
    wrenches = sender(arm, WrenchStamped, 'target_wrench')
    late = wrench(arm, x=5.0)
    late.header.stamp.sec -= 10
    for message, why in ((wrench(arm, x=nan), 'the wrench is'),
                         (wrench(arm, x=60.0), 'give at most 50'),
                         (wrench(arm, frame='camera', x=5.0), "frame_id is 'camera'"),
                         (late, 'from now')):
        refusal(arm, wrenches, message, why)
    stiffness = sender(arm, Float64MultiArray, 'target_stiffness')
    for data, why in (([500.0] * 5 + [nan], 'the stiffness is'), ([500.0] * 5, 'the stiffness is'),
                      ([600.0] + [30.0] * 5, 'the stiffness of x is 600'),
                      ([-1.0] + [30.0] * 5, 'the stiffness of x is -1'),
                      (coupled(1.0, 2.0), 'is not symmetric'),
                      (coupled(40.0, 40.0), 'is not positive semi-definite'),
                      (coupled(1.0, nan), 'the stiffness is of 36 numbers')):
        refusal(arm, stiffness, Float64MultiArray(data=data), why)
    other = sender(arm, WrenchStamped, 'target_wrench')
    refusal(arm, other, wrench(arm, x=5.0), '2 publishers of target_wrench')  # known by now
    arm.remote.node.destroy_publisher(other)
    assert arm.phase == 'RUNNING' and arm.remote.diagnostics['reason code'] == 'NO_REASON'


@row('target wrenches stop', where=pose_tracking.take_command, find='min(1.0, max(0.0, _))',
     instead='1.0')
def test_target_wrenches_stop(running):
    """Jᵀ F for as long as it may last, then nothing of it."""
    arm = running(**TASK)
    wrenches = sender(arm, WrenchStamped, 'target_wrench')
    wrenches.publish(wrench(arm, x=5.0))
    efforts = arm.dynamics.jacobian(arm.position, 'tool0', reference='aligned')[0] * 5.0
    arm.remote.until(lambda: abs(arm.tick() - arm.gravity - efforts).max() < 1e-6, 'the wrench')
    assert arm.ticks(400)[-1] == near(arm.gravity, abs=1e-9)
    assert arm.phase == 'RUNNING'


@row('stiffness rises under load', where=energy_tank.vary_block,
     find='min(1.0, max(0.0, _) / _)', instead='1.0')
def test_stiffness_that_rises_under_load(running):
    """From 50 N/m to 500 N/m at 2 cm: 0.09 J, of which the tank has 0.02."""
    arm = running(**TASK, tank_energy=0.02)
    soft, K = sender(arm, Float64MultiArray, 'target_stiffness'), [30.0] * 3
    for _ in range(2):                  # the first one may come before all have met
        arm.remote.listen(0.5)
        soft.publish(Float64MultiArray(data=[50.0, 50.0, 50.0, *K]))
    arm.remote.listen(0.5)
    said = len(arm.controller.text)
    sender(arm).publish(target(arm))                    # 2 cm in x
    arm.remote.until(lambda: abs(arm.tick() - arm.gravity).max() > 0.02, 'the motion')
    arm.ticks(900)
    J = arm.dynamics.jacobian(arm.position, 'tool0', reference='aligned')
    assert arm.tick() - arm.gravity == near(J[0] * 50.0 * 0.02, rel=1e-3)
    soft.publish(Float64MultiArray(data=[500.0, 500.0, 500.0, *K]))
    arm.remote.until(lambda: abs(arm.tick() - arm.gravity).max() > 1.2 * abs(J[0]).max(),
                     'the stiffness')
    most = arm.ticks(800) - arm.gravity
    paid = 2 * 0.02 / 0.02**2           # N/m
    assert most[-1] == near(J[0] * (50.0 + paid) * 0.02, rel=0.02)
    assert abs(np.diff(most[100:], axis=0)).max() < 0.05
    assert 'refused' not in arm.controller.text[said:] and arm.phase == 'RUNNING'
