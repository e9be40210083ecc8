# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
# flake8: noqa: E402, I100
"""
Simulation time: parameters from YAML, a paused clock, a simulator that is started again.

Needs launch_testing, which only a ROS installation has. `python3 -m launch_testing.launch_test`
runs this file, too.
"""

import os
from pathlib import Path
import signal
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
from launch_ros.actions import Node
import launch_testing.asserts
from rcl_interfaces.srv import GetParameters
from rclpy.qos import qos_profile_sensor_data
from robodyn_ros.model.resources import share_path
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

pytestmark = pytest.mark.alone

# Lockstep: a busy machine makes the test slow, not wrong
PARAMETERS = """
/**/controller:
  ros__parameters: {mode: joint_impedance, stiffness: [123.0], damping: [9.0], trigger: state,
                    state_timeout: 1.0, late_limit: 1.0}
/**/simulator:
  ros__parameters: {urdf: two_link, initial_position: [0.3, 0.5], lockstep: true,
                    lockstep_settle: 0.05, publish_clock: true, command_timeout: 5.0}
"""


@pytest.mark.launch_test
def generate_test_description():
    compile_ahead()
    config = Path(tempfile.mkdtemp()) / 'arm.yaml'
    config.write_text(PARAMETERS)
    controller = PythonLaunchDescriptionSource(str(share_path('launch', 'controller.launch.py')))
    simulator = Node(package='robodyn_ros', executable='robodyn_simulator', name='simulator',
                     namespace='timed', parameters=[str(config)], respawn=True)
    return LaunchDescription([
        simulator,
        IncludeLaunchDescription(controller, launch_arguments={
            'urdf': 'two_link', 'config': str(config), 'namespace': 'timed',
            'use_sim_time': 'true'}.items()),
        launch_testing.actions.ReadyToTest(),
    ]), {'simulator': simulator}


class TestSimulationTime(LaunchCase):

    def setUp(self):
        super().setUp()
        self.states = 0
        self.node.create_subscription(JointState, 'timed/joint_states', self.on_state,
                                      qos_profile_sensor_data)

    def on_state(self, message):
        self.states += 1

    def running(self, what):
        self.until(lambda: self.phase('timed') == 'RUNNING', what)

    def test_time(self, simulator, proc_output):
        self.running('it holds the arm')
        values = self.call(GetParameters, 'timed/controller/get_parameters',
                           GetParameters.Request(names=['stiffness'])).values
        self.assertEqual(list(values[0].double_array_value), [123.0])

        pid = simulator.process_details['pid']
        os.kill(pid, signal.SIGSTOP)
        self.reports.clear()
        self.running('a pause is no fault')         # of a later second
        os.kill(pid, signal.SIGCONT)
        self.states = 0
        self.reports.clear()
        self.until(lambda: self.states > 100, 'it goes on')
        self.running('it goes on')

        os.kill(pid, signal.SIGKILL)
        self.until(lambda: simulator.process_details
                   and simulator.process_details['pid'] != pid, 'it is started again')
        self.states = 0
        self.until(lambda: self.states > 0, 'states of the new one')
        # Time has jumped back, and brakes hold the arm; the controller has faulted or goes on
        self.reports.clear()
        self.until(lambda: self.phase('timed') in ('FAULT', 'RUNNING'), 'a phase')
        if self.phase('timed') == 'FAULT':
            self.until(lambda: self.call(Trigger, 'timed/controller/reset',
                                         Trigger.Request()).success, 'the reset')
        self.running('it holds the arm of the new simulator')


@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):

    def test_exit_codes(self, proc_info):
        ended = {name: proc_info[name].returncode for name in proc_info.process_names()}
        controller = [code for name, code in ended.items() if 'controller' in name]
        self.assertEqual(controller, [0])
