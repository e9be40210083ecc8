# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Bring-up by the launch files: a simulated arm floats on the controller's torque; clean exits.

Needs launch_testing, which only a ROS installation has: skipped where it is missing, unless
REQUIRE_LAUNCH=1 says that it has to be there. `python3 -m launch_testing.launch_test` runs this
file too: it imports no helpers.
"""

import os
import time
import unittest

import pytest

try:
    # Not `launch`: seen from the root of the repository that may be our own folder
    import launch_testing.actions
except ImportError as error:
    if os.environ.get('REQUIRE_LAUNCH') == '1':
        raise
    pytest.skip(f'launch tests need a ROS installation: {error}', allow_module_level=True)

import launch_testing.asserts
import numpy as np
import rclpy
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription, SetLaunchConfiguration
from launch.launch_description_sources import PythonLaunchDescriptionSource
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.model.resources import robot_path, share_path

ROBOT = 'two_link'
SAMPLES = 500
NAMESPACE = 'left'
DEADLINE = 120.0            # s; this file runs by `python3 -m launch_testing.launch_test` as well


@pytest.mark.launch_test
def generate_test_description():
    demo = PythonLaunchDescriptionSource(str(share_path('launch', 'demo.launch.py')))
    return LaunchDescription([
        # Of a launch file that includes the demo, and means something else
        SetLaunchConfiguration('config', '/nosuch/ur.yaml'),
        SetLaunchConfiguration('commands', 'commands_of_others'),
        IncludeLaunchDescription(demo, launch_arguments={
            'robot': ROBOT, 'namespace': NAMESPACE}.items()),
        launch_testing.actions.ReadyToTest(),
    ])


class TestWhileItRuns(unittest.TestCase):

    def setUp(self):
        rclpy.init()
        self.node = rclpy.create_node('test_bringup', namespace=NAMESPACE)
        self.poses, self.efforts = [], []
        self.node.create_subscription(JointState, 'joint_states', self.on_state,
                                      qos_profile_sensor_data)
        self.node.create_subscription(Float64MultiArray, 'commands', self.on_command, 1)

    def tearDown(self):
        self.node.destroy_node()
        rclpy.shutdown()

    def on_state(self, message):
        if self.efforts:            # before the first command the brakes hold the arm
            self.poses.append(message.position)

    def on_command(self, message):
        self.efforts.append(message.data)

    def test_arm_floats(self):
        end = time.monotonic() + DEADLINE
        while len(self.poses) < SAMPLES and time.monotonic() < end:
            rclpy.spin_once(self.node, timeout_sec=0.1)
        self.assertGreaterEqual(len(self.poses), SAMPLES, f'{len(self.efforts)} commands')
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
