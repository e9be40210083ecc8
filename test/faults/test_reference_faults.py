# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of trajectories, streams, policies, poses, twists, wrenches and stiffness."""

from math import nan

from faults.arm import LEAD, running
from faults.rows import row
import numpy as np
import pytest
from robodyn_ros.control.controller import partner_and_policy
from robodyn_ros.control.controller.followed_references import following_mode
from robodyn_ros.control.inputs import partner, pose_tracking
from robodyn_ros.control.laws import feedback_policy, spring
from robodyn_ros.control.references import (
    joint_requests, motions, paths, pose_planning, pose_requests, reference_planning)
from robodyn_ros.errors import ArgumentError, TrajectoryError
from scipy.spatial.transform import Rotation

near = pytest.approx


def refuses(arm, why, *trajectory, **fields):
    """Check that a trajectory is refused for this reason; nothing changes in the efforts."""
    with pytest.raises(TrajectoryError, match=why):
        arm.follow(*trajectory, **fields)
    arm.steady(5)


@row('trajectory that starts beside the reference', where=paths.join,
     find='_ > worst', instead='False')
def test_trajectory_that_starts_beside_the_reference():
    """A plan from a sagging arm: joined without a step; too far away: refused by name."""
    arm = running(mode='joint_impedance')

    def starting(distance):
        return {'position': arm.position + [[0.0, distance], [0.0, 0.0]],
                'velocity': np.zeros((2, 2)), 'times': np.array([0.0, 1.0])}
    for distance in (0.051, -1.0):
        refuses(arm, f'{abs(distance):.4g} rad from the reference of joint2, more than the '
                     'trajectory_start_tol', **starting(distance))
    arm.follow(**starting(-0.04))
    added = arm.ticks(1200)[:, 1] - arm.gravity[1]
    assert -8.0 < added.min() < -1.0 and added[-1] == near(0.0, abs=1e-6)   # 100 N·m/rad
    assert abs(np.diff(np.append(0.0, added))).max() < 0.1
    assert arm.phase == 'RUNNING'


@row('trajectory that ends with a velocity', where=paths.prepare,
     find='_ > MAX_REST_VELOCITY', instead='False')
def test_trajectory_that_ends_with_a_velocity():
    """Refused; where it is allowed, the reference stops behind the last waypoint."""
    arm = running(mode='joint_impedance')
    passing = {'position': arm.position + [0.02, 0.0], 'velocity': [0.1, 0.0]}
    refuses(arm, 'set allow_nonzero_velocity_at_trajectory_end', **passing)
    assert arm.set(allow_nonzero_velocity_at_trajectory_end=True) == ''
    arm.follow(**passing)
    added = arm.ticks(1600)[:, 0] - arm.gravity[0]
    assert 8.1 < added[-1] < 16.0 and added[-200:] == near(added[-1])      # 400 N·m/rad
    assert arm.phase == 'RUNNING'


@row('efforts of a trajectory', where=reference_planning.check_efforts,
     find='np.abs(_) <= most', instead='np.ones_like(efforts, bool)')
def test_efforts_of_a_trajectory():
    """Beyond feedforward_limit or not finite: refused. Below it they fade in and out."""
    arm = running(mode='joint_impedance', feedforward_limit=0.1)
    allowed = 0.1 * arm.model.effort_limit[0]
    for effort in (1.01 * allowed, nan):
        refuses(arm, 'trajectories may add', arm.position, efforts=[effort, 0.0])
    arm.follow(arm.position, 0.3, efforts=[allowed, 0.0])
    added = np.concatenate([[0.0], arm.ticks(600)[:, 0] - arm.gravity[0], [0.0]])
    assert 0.5 * allowed < added.max() < 1.01 * allowed
    assert abs(np.diff(added)).max() < 0.011 * arm.model.effort_limit[0]
    assert arm.phase == 'RUNNING'


@row('invalid target of a stream', where=joint_requests.asked_goal,
     find='_ <= fastest * limits[VELOCITY, i]', instead='True')
def test_bad_target_of_a_stream():
    """Not finite, outside the limits, or too fast to stop within them: refused, nothing moves."""
    arm = running(mode='computed_torque')
    for pose, velocity, why in (
            ((nan, 0.2), 0.0, 'nan'), ((9.0, 0.2), 0.0, 'outside'),
            ((0.6, 0.2), 99.0, 'target velocity')):
        refuses(arm, why, pose, 0.0, [velocity, 0.0])
    assert arm.phase == 'RUNNING'


@row('a stream of targets ends', where=motions.plan_goal, find='_ != 0.0', instead='False')
def test_a_stream_of_targets_ends():
    """The last target had a velocity: the reference comes to rest behind it, and is held."""
    arm = running(mode='computed_torque', acceleration_kp=[156.0], acceleration_kd=[25.0],
                  acceleration_limit=[31.0])
    ends = []
    for velocity in (0.5, 0.0):
        arm.follow((0.32, 0.5), 0.0, [velocity, 0.0])
        efforts = arm.ticks(900)
        assert abs(np.diff(efforts[-100:], axis=0)).max() < 1e-6
        ends.append(efforts[-1])
    assert ends[0][0] > ends[1][0] + 0.1 and arm.phase == 'RUNNING'


@row('trajectory during a fault', where=following_mode, find='_ != guard.RUNNING',
     instead='False')
def test_trajectory_during_a_fault():
    """Refused; the efforts of the fault go on."""
    arm = running(mode='computed_torque', fault_action='hold')
    arm.silence(0.2)
    arm.faulted('STALE_STATE')
    refuses(arm, 'the controller is FAULT', (0.6, 0.2))


@row('a trajectory beside a change of mode', where=following_mode, find='_.basis_changes',
     instead='False')
def test_a_trajectory_beside_a_change_of_mode():
    """Refused until a cycle knows the mode: it would begin at the old reference."""
    arm = running(mode='joint_impedance')
    assert arm.set(mode='computed_torque') == ''
    refuses(arm, 'have just been changed', (0.6, 0.2))
    arm.follow((0.6, 0.2))              # a cycle has run meanwhile


GAIN = np.hstack([np.diag([40.0, 10.0]), np.diag([4.0, 1.0])])


def plans(arm, **changed):
    """Put a policy in force that holds the arm with another effort than g(q)."""
    arm.controller.follow_policy(**{
        'time': arm.time, 'effort': arm.gravity + [1.0, 0.5], 'position': arm.position,
        'velocity': np.zeros(2), 'gain': GAIN, **changed})


@row('invalid feedback policy', where=partner.checked_policy, find='np.isfinite(arrays[name])',
     instead='np.ones_like(arrays[name], bool)')
def test_bad_policy():
    """Refused with the reason; the arm is held."""
    arm = running(mode='feedback_policy')
    for changed, why in (
            ({'effort': np.array([nan, 0.0])}, 'effort of the policy is not finite for joint1'),
            ({'gain': nan * GAIN}, 'gain of the policy is not finite'),
            ({'effort': np.array([1e4, 0.0])}, 'effort limit'),
            ({'time': nan}, 'time of the policy')):
        with pytest.raises(ArgumentError, match=why):
            plans(arm, **changed)
        assert arm.ticks(60)[-1] == near(arm.gravity)
    assert arm.phase == 'RUNNING'


@row('velocities of a policy contradict its positions',
     where=partner_and_policy.VelocityCheck.check, find='self._excess[i] > _', instead='False')
def test_velocities_of_a_policy_contradict_its_positions():
    """Noise shakes nothing: joint impedance holds the arm once the last good one is too old."""
    arm = running(mode='feedback_policy', policy_timeout=[0.1])
    for k in range(400):
        try:
            plans(arm, velocity=(-1.0)**k * np.ones(2), gain=10.0 * GAIN)
        except ArgumentError as error:
            assert 'contradicts the positions' in str(error)
        arm.tick()
    assert arm.ticks(150) == near(np.tile(arm.gravity, (150, 1)))
    plans(arm, position=arm.position + 1.0)      # a plan may jump
    plans(arm, position=arm.position + 1.0)


@row('feedback policies stop', where=feedback_policy.feedback_policy,
     find='-gains.policy_timeout[i] <= age <= gains.policy_timeout[i]', instead='age > -1e9')
def test_policies_stop():
    """After the timeout the arm is held by joint impedance; the effort fades, and stays."""
    arm = running(mode='feedback_policy', policy_timeout=[0.1])
    plans(arm)
    efforts = arm.ticks(61)[:, 0] - arm.gravity[0]
    assert efforts[-1] == near(1.0)
    efforts = np.concatenate([efforts, arm.ticks(200)[:, 0] - arm.gravity[0]])
    assert efforts[-1] == near(0.0)
    assert abs(np.diff(efforts)).max() < 0.05
    assert arm.phase == 'RUNNING'


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


def refuses_pose(arm, why, send, *given):
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
        refuses_pose(arm, why, target, arm, by, turn)
    refuses_pose(arm, 'use at most', arm.controller.follow_twist, [9.0, *5 * [0.0]], arm.time)
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
    for x, why in ((nan, 'the wrench is'), (60.0, 'use at most 50')):
        refuses_pose(arm, why, arm.controller.follow_wrench, [x, *5 * [0.0]], arm.time)
    for given, why in (([500.0] * 5 + [nan], 'the stiffness is'),
                       ([500.0] * 5, 'the stiffness is'),
                       ([600.0] + [30.0] * 5, 'the stiffness of x is 600'),
                       ([-1.0] + [30.0] * 5, 'the stiffness of x is -1'),
                       (stiff(30.0, 1.0, 2.0), 'is not symmetric'),
                       (stiff(30.0, 40.0, 40.0), 'is not positive semi-definite'),
                       (stiff(30.0, 1.0, nan), 'the stiffness is of 36 numbers')):
        refuses_pose(arm, why, arm.controller.follow_stiffness, given, arm.time)
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
    arm.ticks(100)
    target(arm)                                         # 2 cm in x
    J = jacobian(arm)
    assert arm.ticks(500)[-1] - arm.gravity == near(J[0] * 50.0 * 0.02, rel=1e-3)
    arm.controller.follow_stiffness([500.0] * 3 + [30.0] * 3, arm.time)
    most = arm.ticks(400) - arm.gravity
    paid = 2 * 0.02 / 0.02**2           # N/m
    assert most[-1] == near(J[0] * (50.0 + paid) * 0.02, rel=0.02)
    assert abs(np.diff(most[100:], axis=0)).max() < 0.05
    assert arm.phase == 'RUNNING'
