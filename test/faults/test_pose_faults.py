# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of target poses, twists, wrenches and stiffness: one test a row of docs/safety.md."""

from math import nan

from faults.arm import LEAD, running
from faults.rows import row
import numpy as np
import pytest
from robodyn_ros.control.inputs import pose_tracking
from robodyn_ros.control.laws import spring
from robodyn_ros.control.references import pose_planning, pose_requests
from robodyn_ros.errors import TrajectoryError
from scipy.spatial.transform import Rotation

near = pytest.approx
TASK = {'mode': 'cartesian_impedance', 'task_frame': 'tool0', 'nullspace_kp': [0.0]}
SIDE = np.array([0.02, 0.0, 0.0])       # m


def target(arm, by=SIDE, turn=(0.0, 0.0, 0.0, 0.0)):
    """Send the present pose of the tool, moved by (3,) [m] and with another quaternion (4,)."""
    T = arm.dynamics.pose(arm.position, 'tool0')
    arm.controller.follow_pose(T[:3, 3] + by, Rotation.from_matrix(T[:3, :3]).as_quat() + turn,
                               arm.time + LEAD)


def jacobian(arm):
    """Return the rows of J, (6, 2), in the axes of the base."""
    return arm.dynamics.jacobian(arm.position, 'tool0', reference='aligned')


def stiff(first, one=0.0, other=0.0):
    """Return the 36 elements of a stiffness that has two beside the diagonal."""
    K = np.diag([first, *5 * [30.0]])
    K[0, 1], K[1, 0] = one, other
    return K.ravel()


def refuses(arm, why, send, *given):
    """Check that a command is refused for this reason; nothing changes in the efforts."""
    with pytest.raises(TrajectoryError, match=why):
        send(*given)
    assert arm.ticks(60)[-1] == near(arm.gravity, abs=1e-9)


@row('invalid target pose', where=pose_planning.checked_pose, find='np.isfinite(a).all()',
     instead='True')
def test_bad_target_pose():
    """Refused with the reason; the reference is held."""
    arm = running(**TASK)
    for by, turn, why in (([nan, 0.0, 0.0], 0.0, 'position of the target pose'),
                          (SIDE, [0.0, 0.0, 0.0, nan], 'orientation of the target pose'),
                          (SIDE, [0.0, 0.0, 0.0, 3.0], 'normalize it'),
                          ([5.0, 0.0, 0.0], 0.0, 'within reach')):
        refuses(arm, why, target, arm, by, turn)
    refuses(arm, 'give at most', arm.controller.follow_twist, [9.0, *5 * [0.0]], arm.time)
    assert arm.phase == 'RUNNING'


@row('target poses jump or stop', where=pose_requests.plan_pose,
     find='r.pose_limits[r.settings[0]]', instead='1e4 * r.pose_limits[r.settings[0]]')
def test_target_poses_jump_or_stop():
    """The spring is loaded within the limits of the reference, and stays as it is in silence."""
    arm = running(**TASK)
    target(arm)
    efforts = arm.ticks(800) - arm.gravity
    assert abs(np.diff(efforts, axis=0)).max() < 0.1      # 2 cm at once would be 10 N
    assert efforts[-1] == near(efforts[-100], abs=1e-9) and abs(efforts[-1]).max() > 1.0
    assert arm.phase == 'RUNNING'


@row('invalid target wrench or stiffness', where=pose_planning._finite,
     find='np.isfinite(_).all()', instead='True')
def test_bad_target_wrench_or_stiffness():
    """Refused with the reason; nothing changes in the efforts."""
    arm = running(**TASK)
    for x, why in ((nan, 'the wrench is'), (60.0, 'give at most 50')):
        refuses(arm, why, arm.controller.follow_wrench, [x, *5 * [0.0]], arm.time)
    for given, why in (([500.0] * 5 + [nan], 'the stiffness is'),
                       ([500.0] * 5, 'the stiffness is'),
                       ([600.0] + [30.0] * 5, 'the stiffness of x is 600'),
                       ([-1.0] + [30.0] * 5, 'the stiffness of x is -1'),
                       (stiff(30.0, 1.0, 2.0), 'is not symmetric'),
                       (stiff(30.0, 40.0, 40.0), 'is not positive semi-definite'),
                       (stiff(30.0, 1.0, nan), 'the stiffness is of 36 numbers')):
        refuses(arm, why, arm.controller.follow_stiffness, given, arm.time)
    assert arm.phase == 'RUNNING'


@row('target wrenches stop', where=pose_tracking.take_command, find='min(1.0, max(0.0, _))',
     instead='1.0')
def test_target_wrenches_stop():
    """Jᵀ F for as long as it may last, then nothing of it."""
    arm = running(**TASK)
    arm.controller.follow_wrench([5.0, *5 * [0.0]], arm.time)
    added = arm.ticks(600) - arm.gravity
    assert abs(added - 5.0 * jacobian(arm)[0]).max(axis=1).min() < 1e-6
    assert added[-1] == near(np.zeros(2), abs=1e-9)
    assert arm.phase == 'RUNNING'


@row('stiffness rises under load', where=spring.vary_block,
     find='min(1.0, max(0.0, _) / _)', instead='1.0')
def test_stiffness_that_rises_under_load():
    """From 50 N/m to 500 N/m at 2 cm: 0.09 J, of which the tank has 0.02."""
    arm = running(**TASK, tank_energy=0.02)
    arm.controller.follow_stiffness([50.0] * 3 + [30.0] * 3, arm.time)
    arm.ticks(500)
    target(arm)                                         # 2 cm in x
    J = jacobian(arm)
    assert arm.ticks(900)[-1] - arm.gravity == near(J[0] * 50.0 * 0.02, rel=1e-3)
    arm.controller.follow_stiffness([500.0] * 3 + [30.0] * 3, arm.time)
    most = arm.ticks(1200) - arm.gravity
    paid = 2 * 0.02 / 0.02**2           # N/m
    assert most[-1] == near(J[0] * (50.0 + paid) * 0.02, rel=0.02)
    assert abs(np.diff(most[100:], axis=0)).max() < 0.05
    assert arm.phase == 'RUNNING'
