# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
# flake8: noqa: E402, I100
"""
A namespaced pair by dual_arm.launch.py: holding, a trajectory, fault, reset, deactivation, exits.

Once with two controller processes, and once with one for both.

Needs launch_testing, which only a ROS installation has. `python3 -m launch_testing.launch_test`
runs this file, too.
"""

from pathlib import Path
import sys
import tempfile
import unittest

import pytest

sys.path.append(str(Path(__file__).parent))
from launch_case import compile_ahead, LaunchCase, need

need('launch_testing.actions')

from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
import launch_testing.asserts
from lifecycle_msgs.msg import State, Transition, TransitionEvent
from lifecycle_msgs.srv import ChangeState
import numpy as np
from rclpy.qos import qos_profile_sensor_data
from robodyn_ros.model.resources import share_path
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

pytestmark = pytest.mark.alone

SIDES = 'left', 'right'
NEAR = 0.05                 # rad, of the simulated arm with friction-free joints from its target

# Lockstep, each arm on a clock of its own: a busy machine makes the test slow, not wrong
PARAMETERS = """
/**/controller: {ros__parameters: {robot_compensates_gravity: false, stiffness: [400.0, 100.0],
                 damping: [40.0, 10.0], acceleration_limit: [20.0], trigger: state,
                 state_timeout: 1.0, late_limit: 1.0}}
/**/simulator: {ros__parameters: {initial_position: [0.3, 0.5], lockstep: true,
                lockstep_settle: 0.05, command_timeout: 5.0}}
"""


@pytest.mark.launch_test
@launch_testing.parametrize('one_process', ['false', 'true'])
def generate_test_description(one_process):
    compile_ahead()
    config = Path(tempfile.mkdtemp()) / 'arm.yaml'
    config.write_text(PARAMETERS)
    pair = PythonLaunchDescriptionSource(str(share_path('launch', 'dual_arm.launch.py')))
    return LaunchDescription([
        IncludeLaunchDescription(pair, launch_arguments={
            'simulated': 'true', 'use_sim_time': 'true', 'mode': 'joint_impedance',
            'one_process': one_process, 'left_config': str(config),
            'right_config': str(config)}.items()),
        launch_testing.actions.ReadyToTest(),
    ])


class TestPair(LaunchCase):

    def setUp(self):
        super().setUp()
        self.pose, self.transitions = {}, []
        for side in SIDES:
            self.node.create_subscription(
                JointState, f'{side}/joint_states',
                lambda message, side=side: self.pose.update({side: np.array(message.position)}),
                qos_profile_sensor_data)
        self.node.create_subscription(
            TransitionEvent, 'right/controller/transition_event',
            lambda message: self.transitions.append(message.goal_state.id), 10)

    def test_each_arm_is_on_its_own(self):
        """One moves while the other holds; a fault, a reset and an end leave the other alone."""
        self.until(lambda: [*map(self.phase, SIDES)] == ['RUNNING'] * 2, 'both hold')
        clocks = [self.node.count_publishers(name) for name in (
            '/left/clock', '/right/clock', '/clock')]
        self.assertEqual(clocks, [1, 1, 0])
        held, target = self.pose['right'], self.pose['left'] + [0.3, -0.2]
        sender = self.node.create_publisher(JointTrajectory, 'left/controller/joint_trajectory', 1)
        self.until(sender.get_subscription_count, 'trajectory')
        point = JointTrajectoryPoint(positions=list(target), velocities=[0.0, 0.0])
        point.time_from_start.sec = 1
        sender.publish(JointTrajectory(joint_names=['joint1', 'joint2'], points=[point]))
        self.until(lambda: abs(self.pose['left'] - target).max() < NEAR, 'the left arm moves')
        self.assertLess(abs(self.pose['right'] - held).max(), 2e-3)

        second = self.node.create_publisher(JointState, 'left/joint_states',
                                            qos_profile_sensor_data)
        self.until(lambda: second.get_subscription_count() >= 2, 'a second publisher')
        message = JointState(name=['joint1', 'joint2'], position=[0.0, 0.0], velocity=[0.0, 0.0])

        def fault():
            second.publish(message)     # again: the controller may not have discovered it
            return self.phase('left') == 'FAULT'
        self.until(fault, 'a fault')
        self.assertEqual(self.reports['left']['reason code'], 'TWO_STATE_PUBLISHERS')
        self.node.destroy_publisher(second)
        self.assertEqual(self.phase('right'), 'RUNNING')

        ended = self.call(ChangeState, 'right/controller/change_state', ChangeState.Request(
            transition=Transition(id=Transition.TRANSITION_DEACTIVATE)))
        self.assertTrue(ended.success)
        self.until(lambda: State.PRIMARY_STATE_INACTIVE in self.transitions, 'its event')
        self.until(lambda: self.call(Trigger, 'left/controller/reset', Trigger.Request()).success,
                   'the reset')
        self.until(lambda: self.phase('left') == 'RUNNING', 'the left arm holds again')


@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):

    def test_exit_codes(self, proc_info, one_process):
        self.assertEqual(len(proc_info.process_names()), 3 if one_process == 'true' else 4)
        launch_testing.asserts.assertExitCodes(proc_info, allowable_exit_codes=[0])
