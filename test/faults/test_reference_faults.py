# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of the reference: one test a row of the table in docs/safety.md."""

from math import inf, nan

from builtin_interfaces.msg import Duration
from faults.rows import row
import numpy as np
import pytest
from robodyn_ros.control.controller.controller import Controller
from robodyn_ros.control.controller.controller_status import ControllerStatus
from robodyn_ros.control.references import (
    reference_joining,
    reference_planning,
    reference_stream,
    trajectory,
)
from robodyn_ros.control.settings import motion_limits
from robodyn_ros.nodes.topics import command_publishers
from robodyn_ros.nodes.topics.trajectory_subscriber import TrajectorySubscriber
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

near = pytest.approx


def motion(arm, position=(0.6, 0.2), seconds=1, **fields):
    """Return a trajectory to a position, from now on."""
    point = JointTrajectoryPoint(positions=list(position), velocities=[0.0, 0.0],
                                 time_from_start=Duration(sec=seconds))
    return JointTrajectory(**{'joint_names': arm.names, 'points': [point], **fields})


def refusal(arm, sender, message, why):
    """Send a trajectory that must be refused for this reason; nothing changes in the efforts."""
    said = len(arm.controller.text)
    sender.publish(message)
    arm.remote.until(lambda: 'trajectory' in arm.controller.text[said:], why)
    assert why in arm.controller.text[said:]
    assert arm.ticks(5) == near(np.tile(arm.gravity, (5, 1)))


@row('two publishers of the reference', where=command_publishers.several,
     find='_.count_publishers(_) < 2', instead='True')
def test_two_publishers_of_the_reference(running):
    """Refused and warned about, whoever sends; one is enough again when the other has gone."""
    arm = running(mode='computed_torque')
    first = arm.remote.trajectories()
    second = arm.remote.trajectories()
    for sender in (second, first):
        refusal(arm, sender, motion(arm), '2 publishers of joint_trajectory')
    arm.remote.until(lambda: '2 publishers' in arm.remote.diagnostics['message'], 'diagnostics')
    assert arm.remote.diagnostics['level'] == '1' and arm.phase == 'RUNNING'
    arm.remote.node.destroy_publisher(second)
    arm.controller.wait_for_line('accepted again')
    first.publish(motion(arm))
    arm.controller.wait_for_line('following a trajectory')
    assert abs(arm.ticks(500)[-1] - arm.gravity).max() > 0.1


@row('bad reference', where=TrajectorySubscriber._start, find='_ < _', instead='False')
def test_bad_reference(running):
    """Each is refused with its reason, and the pose is held by gravity as before."""
    arm = running(mode='computed_torque')
    sender = arm.remote.trajectories()
    late = motion(arm)
    arm.time += 1.0
    arm.tick(0.0)
    late.header.stamp.sec = int(arm.time) - 1
    for message, why in (
            (late, 'should have started'),
            (motion(arm, (nan, 0.2)), 'finite'), (motion(arm, (inf, 0.2)), 'finite'),
            (motion(arm, joint_names=['joint1', 'elbow']), "no joint 'elbow'"),
            (motion(arm, joint_names=['joint1']), 'positions'),
            (motion(arm, (0.1, 0.2, 0.3)), 'positions'),
            (motion(arm, (9.0, 0.2), 60), 'outside'), (motion(arm, (-2.0, 2.0), 0), 'waypoint')):
        refusal(arm, sender, message, why)
    assert arm.phase == 'RUNNING' and arm.remote.diagnostics['reason code'] == 'NO_REASON'


@row('trajectory that starts beside the reference', where=reference_joining._check_distance,
     find='_ > _', instead='False')
def test_trajectory_that_starts_beside_the_reference(running):
    """A plan from a sagging arm: joined without a step; too far away: refused by name."""
    arm = running(mode='joint_impedance', state_timeout=0.5)
    sender = arm.remote.trajectories()

    def starting(distance):
        message = motion(arm, arm.position)
        message.points.insert(0, JointTrajectoryPoint(
            positions=(arm.position + [0.0, distance]).tolist(), velocities=[0.0, 0.0]))
        return message
    for distance in (0.051, -1.0):
        refusal(arm, sender, starting(distance), f'{abs(distance):.4g} rad from the reference of '
                                                 'joint2, more than the trajectory_start_tol')
    sender.publish(starting(-0.04))
    arm.controller.wait_for_line('following a trajectory')
    added = arm.ticks(1200)[:, 1] - arm.gravity[1]
    assert -8.0 < added.min() < -1.0 and added[-1] == near(0.0, abs=1e-6)   # 100 N·m/rad
    assert abs(np.diff(np.append(0.0, added))).max() < 0.1
    assert arm.phase == 'RUNNING'


@row('trajectory that ends with a velocity', where=trajectory._ordered, find='_ > REST_VELOCITY',
     instead='False')
def test_trajectory_that_ends_with_a_velocity(running, remote):
    """Refused; where it is allowed, the reference stops behind the last waypoint."""
    arm = running(mode='joint_impedance', state_timeout=0.5)
    sender = arm.remote.trajectories()
    message = motion(arm, arm.position + [0.02, 0.0])
    message.points[0].velocities = [0.1, 0.0]
    refusal(arm, sender, message, 'set allow_nonzero_velocity_at_trajectory_end')
    assert remote.set('controller', allow_nonzero_velocity_at_trajectory_end=True) == ''
    sender.publish(message)
    arm.controller.wait_for_line('following a trajectory')
    added = arm.ticks(1600)[:, 0] - arm.gravity[0]
    assert 8.1 < added[-1] < 16.0 and added[-200:] == near(added[-1])      # 400 N·m/rad
    assert arm.phase == 'RUNNING'


@row('efforts of a trajectory', where=reference_planning.check_efforts,
     find='np.abs(_) <= most', instead='np.ones_like(efforts, bool)')
def test_efforts_of_a_trajectory(running):
    """Beyond feedforward_limit or not finite: refused. Below it they fade in and out."""
    arm = running(mode='joint_impedance', feedforward_limit=0.1, state_timeout=0.5)
    sender = arm.remote.trajectories()
    allowed = 0.1 * arm.model.effort_limit[0]
    for effort, why in ((1.01 * allowed, 'trajectories may add'), (nan, 'trajectories may add')):
        message = motion(arm, arm.position)
        message.points[0].effort = [effort, 0.0]
        refusal(arm, sender, message, why)
    message = motion(arm, arm.position)
    message.points[0].time_from_start = Duration(nanosec=300_000_000)
    message.points[0].effort = [allowed, 0.0]
    sender.publish(message)
    arm.controller.wait_for_line('following a trajectory')
    added = np.concatenate([[0.0], arm.ticks(600)[:, 0] - arm.gravity[0], [0.0]])
    assert 0.5 * allowed < added.max() < 1.01 * allowed
    assert abs(np.diff(added)).max() < 0.011 * arm.model.effort_limit[0]
    assert arm.phase == 'RUNNING'


@row('bad target of a stream', where=motion_limits.check_positions, find='_.any()',
     instead='False')
def test_bad_target_of_a_stream(running):
    """Not finite, outside the limits, or too fast to stop within them: refused, nothing moves."""
    arm = running(mode='computed_torque')
    sender = arm.remote.trajectories()
    for pose, velocity, why in (
            ((nan, 0.2), 0.0, 'nan'), ((9.0, 0.2), 0.0, 'outside'),
            ((0.6, 0.2), 99.0, 'target velocity')):
        message = motion(arm, pose, 0)
        message.points[0].velocities = [velocity, 0.0]
        refusal(arm, sender, message, why)
    assert arm.phase == 'RUNNING' and arm.remote.diagnostics['reason code'] == 'NO_REASON'


@row('a stream of targets ends', where=reference_stream._then_rest, find='_.any()',
     instead='False')
def test_a_stream_of_targets_ends(running):
    """The last target had a velocity: the reference comes to rest behind it, and is held."""
    arm = running(mode='computed_torque', acceleration_kp=[156.0], acceleration_kd=[25.0],
                  acceleration_limit=[31.0])
    sender = arm.remote.trajectories()
    passed = motion(arm, (0.32, 0.5), 0)
    passed.points[0].velocities = [0.5, 0.0]
    ends = []
    for message in (passed, motion(arm, (0.32, 0.5), 0)):
        said = arm.controller.text.count('following a trajectory')
        sender.publish(message)
        arm.remote.until(lambda before=said: arm.controller.text.count(
            'following a trajectory') > before, 'it is followed')
        efforts = arm.ticks(900)
        assert abs(np.diff(efforts[-100:], axis=0)).max() < 1e-6
        ends.append(efforts[-1])
    assert ends[0][0] > ends[1][0] + 0.1 and arm.phase == 'RUNNING'


@row('trajectory during a fault', where=Controller.prepare, find='_ != guard.RUNNING',
     instead='False')
def test_trajectory_during_a_fault(running):
    """Refused; the efforts of the fault go on."""
    arm = running(mode='computed_torque', fault_action='hold')
    sender = arm.remote.trajectories()
    arm.silence(0.2)
    arm.controller.wait_for_line('FAULT ')
    refusal(arm, sender, motion(arm), 'the controller is FAULT')


@row('a trajectory beside a change of mode', where=ControllerStatus.check_basis,
     find='_._basis_changes()', instead='False')
def test_a_trajectory_beside_a_change_of_mode(running):
    """Refused until a cycle knows the mode: it would begin at the old reference."""
    arm = running(mode='joint_impedance')
    sender = arm.remote.trajectories()
    assert arm.remote.set('controller', mode='computed_torque') == ''
    refusal(arm, sender, motion(arm), 'have just been changed')
    sender.publish(motion(arm))         # a cycle has run meanwhile
    arm.controller.wait_for_line('following a trajectory')
