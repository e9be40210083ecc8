# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Simulation time: parameters from YAML, a paused clock, a simulator that is started again.

Needs launch_testing, which only a ROS installation has: skipped where it is missing, unless
REQUIRE_LAUNCH=1 says that it has to be there.
"""

import os
import signal
import tempfile
import time
import unittest
from pathlib import Path

import pytest

try:
    # Not `launch`: seen from the root of the repository that may be our own folder
    import launch_testing.actions
except ImportError as error:
    if os.environ.get('REQUIRE_LAUNCH') == '1':
        raise
    pytest.skip(f'launch tests need a ROS installation: {error}', allow_module_level=True)

import launch_testing.asserts
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import Node
from rcl_interfaces.srv import GetParameters
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from robodyn_ros.model.resources import share_path

DEADLINE = 120.0            # s; this file runs by `python3 -m launch_testing.launch_test` as well
# Lockstep: a busy machine makes the test slow, not wrong
PARAMETERS = '''
/**/controller:
  ros__parameters: {mode: joint_impedance, stiffness: [123.0], damping: [9.0], trigger: state,
                    state_timeout: 1.0, late_limit: 1.0}
/**/simulator:
  ros__parameters: {urdf: two_link, initial_position: [0.3, 0.5], lockstep: true,
                    lockstep_settle: 0.05, publish_clock: true, command_timeout: 5.0}
'''


@pytest.mark.launch_test
def generate_test_description():
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


class TestSimulationTime(unittest.TestCase):

    def setUp(self):
        rclpy.init()
        self.node = rclpy.create_node('test_simulation_time')
        self.report, self.states = {}, 0
        self.node.create_subscription(DiagnosticArray, '/diagnostics', self.on_report, 10)
        self.node.create_subscription(JointState, 'timed/joint_states', self.on_state,
                                      qos_profile_sensor_data)

    def tearDown(self):
        self.node.destroy_node()
        rclpy.shutdown()

    def on_report(self, message):
        for status in message.status:
            if status.name == 'timed/controller: control loop':
                self.report = {pair.key: pair.value for pair in status.values}

    def on_state(self, message):
        self.states += 1

    def until(self, condition, what):
        end = time.monotonic() + DEADLINE
        while not condition():
            self.assertLess(time.monotonic(), end, f'{what}; the report: {self.report}')
            rclpy.spin_once(self.node, timeout_sec=0.1)

    def call(self, kind, name, request):
        client = self.node.create_client(kind, name)
        self.until(client.service_is_ready, name)
        answer = client.call_async(request)
        self.until(answer.done, name)
        return answer.result()

    def running(self, what):
        self.until(lambda: self.report.get('phase') == 'RUNNING', what)

    def test_time(self, simulator, proc_output):
        self.running('it holds the arm')
        values = self.call(GetParameters, 'timed/controller/get_parameters',
                           GetParameters.Request(names=['stiffness'])).values
        self.assertEqual(list(values[0].double_array_value), [123.0])

        pid = simulator.process_details['pid']
        os.kill(pid, signal.SIGSTOP)
        self.report = {}
        self.running('a pause is no fault')         # of a later second
        os.kill(pid, signal.SIGCONT)
        self.report, self.states = {}, 0
        self.until(lambda: self.states > 100, 'it goes on')
        self.running('it goes on')

        os.kill(pid, signal.SIGKILL)
        self.until(lambda: simulator.process_details
                   and simulator.process_details['pid'] != pid, 'it is started again')
        self.states = 0
        self.until(lambda: self.states > 0, 'states of the new one')
        # Time has jumped back, and brakes hold the arm; the controller has faulted or goes on
        self.report = {}
        self.until(lambda: self.report.get('phase') in ('FAULT', 'RUNNING'), 'a phase')
        if self.report['phase'] == 'FAULT':
            self.until(lambda: self.call(Trigger, 'timed/controller/reset',
                                         Trigger.Request()).success, 'the reset')
        self.running('it holds the arm of the new simulator')


@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):

    def test_exit_codes(self, proc_info):
        ended = {name: proc_info[name].returncode for name in proc_info.process_names()}
        controller = [code for name, code in ended.items() if 'controller' in name]
        self.assertEqual(controller, [0])
