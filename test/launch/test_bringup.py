# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
# flake8: noqa: E402, I100
"""
Bring-up by the launch files: a simulated arm floats on the controller's torque; clean exits.

Needs launch_testing, which only a ROS installation has. `python3 -m launch_testing.launch_test`
runs this file, too.
"""

from pathlib import Path
import sys
import unittest

import pytest

sys.path.append(str(Path(__file__).parent))
from launch_case import compile_ahead, LaunchCase, need

need('launch_testing.actions')

from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription, SetLaunchConfiguration
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import SetParameter
import launch_testing.asserts
import numpy as np
from rclpy.qos import qos_profile_sensor_data
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.model.resources import robot_path, share_path
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

pytestmark = pytest.mark.alone

ROBOT = 'two_link'
SAMPLES = 500
NAMESPACE = 'left'
# Lockstep: a busy machine makes the test slow, not wrong
LOCKSTEP = {'lockstep': True, 'lockstep_settle': 0.05, 'trigger': 'state', 'state_timeout': 1.0,
            'late_limit': 1.0}


@pytest.mark.launch_test
def generate_test_description():
    compile_ahead()
    demo = PythonLaunchDescriptionSource(str(share_path('launch', 'demo.launch.py')))
    return LaunchDescription([
        # Of a launch file that includes the demo, and means something else
        SetLaunchConfiguration('config', '/nosuch/ur.yaml'),
        SetLaunchConfiguration('commands', 'commands_of_others'),
        *(SetParameter(name, value) for name, value in LOCKSTEP.items()),
        IncludeLaunchDescription(demo, launch_arguments={
            'urdf': ROBOT, 'namespace': NAMESPACE, 'use_sim_time': 'true'}.items()),
        launch_testing.actions.ReadyToTest(),
    ])


class TestWhileItRuns(LaunchCase):

    def setUp(self):
        super().setUp()
        self.poses, self.efforts = [], []
        self.node.create_subscription(JointState, f'{NAMESPACE}/joint_states', self.on_state,
                                      qos_profile_sensor_data)
        self.node.create_subscription(Float64MultiArray, f'{NAMESPACE}/commands',
                                      self.on_command, 1)

    def on_state(self, message):
        if self.efforts:            # before the first command the brakes hold the arm
            self.poses.append(message.position)

    def on_command(self, message):
        self.efforts.append(message.data)

    def test_arm_floats(self):
        self.until(lambda: len(self.poses) >= SAMPLES, 'the arm floats')
        poses = np.array(self.poses)
        gravity = Dynamics(load_urdf(robot_path(ROBOT))).gravity(poses[-1])
        self.assertGreater(np.abs(gravity).max(), 1.0, 'nothing to hold in this pose')
        np.testing.assert_allclose(self.efforts[-1], gravity, atol=0.01 * np.abs(gravity).max())
        self.assertLess(np.ptp(poses, axis=0).max(), 2e-3)


@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):

    def test_exit_codes(self, proc_info):
        self.assertEqual(len(proc_info.process_names()), 2)
        launch_testing.asserts.assertExitCodes(proc_info, allowable_exit_codes=[0])
