# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
# flake8: noqa: E402, I100
"""
Ends of processes: of the simulator, which ends the launch; of a controller that is respawned.

Needs launch and launch_ros, which only a ROS installation has.
"""

import os
import signal

from launch_case import DEADLINE, need
import pytest

need('launch_ros.actions')

from launch import LaunchDescription, LaunchService
from launch.actions import EmitEvent, IncludeLaunchDescription, RegisterEventHandler, TimerAction
from launch.event_handlers import OnProcessExit, OnProcessIO, OnProcessStart
from launch.events import Shutdown
from launch.launch_description_sources import PythonLaunchDescriptionSource
from robodyn_ros.model.resources import share_path

pytestmark = pytest.mark.alone

# Lockstep: a busy machine makes the test slow, not wrong
PARAMETERS = """
/**/controller:
  ros__parameters: {mode: joint_impedance, stiffness: [123.0], damping: [9.0], trigger: state,
                    state_timeout: 1.0, late_limit: 1.0}
/**/simulator:
  ros__parameters: {initial_position: [0.3, 0.5], lockstep: true, lockstep_settle: 0.05,
                    command_timeout: 5.0}
"""


class Watched:
    """A launch file that runs: text of the processes, exit codes, and an action upon a text."""

    def __init__(self, file, upon, **arguments):
        self.text, self.codes, self.pids, self._upon = '', [], {}, upon
        service = LaunchService()
        service.include_launch_description(LaunchDescription([
            RegisterEventHandler(OnProcessStart(on_start=self.started)),
            RegisterEventHandler(OnProcessIO(on_stdout=self.said, on_stderr=self.said)),
            RegisterEventHandler(OnProcessExit(on_exit=self.ended)),
            TimerAction(period=DEADLINE, actions=[
                EmitEvent(event=Shutdown(reason='nothing happened'))]),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(share_path('launch', file))),
                launch_arguments=arguments.items())]))
        service.run()

    def started(self, event, context):
        self.pids[event.process_name.partition('-')[0]] = event.pid

    def said(self, event):
        self.text += event.text.decode(errors='replace')
        return self._upon(self, event)

    def ended(self, event, context):
        self.codes.append((event.process_name.partition('-')[0], event.returncode))


def test_the_launch_ends_with_the_simulator(tmp_path):
    """The controller ends in order; takes longer than 5 s, for it starts two nodes."""
    (config := tmp_path / 'arm.yaml').write_text(PARAMETERS)

    def upon(watched, event):
        if b'RUNNING' in event.text and ('robodyn_simulator', -9) not in watched.codes:
            os.kill(watched.pids['robodyn_simulator'], signal.SIGKILL)

    watched = Watched('simulation.launch.py', upon, urdf='two_link', config=str(config),
                      namespace='ending', use_sim_time='true')
    assert sorted(watched.codes) == [('robodyn_controller', 0), ('robodyn_simulator', -9)]
    assert 'joint_impedance' in watched.text        # as the file says


def test_a_controller_that_comes_back_waits_for_a_person(tmp_path):
    """Takes longer than 5 s, for the controller starts twice, and warns of a parameter."""
    (overrides := tmp_path / 'overrides.yaml').write_text(
        '/**/controller: {ros__parameters: {no_such: 1}}')
    starts = []

    def upon(watched, event):
        pid = watched.pids['robodyn_controller']
        if pid in starts:
            return None
        starts.append(pid)
        if len(starts) == 1:
            os.kill(pid, signal.SIGKILL)
            return None
        return [EmitEvent(event=Shutdown(reason='seen'))]

    watched = Watched('controller.launch.py', upon, urdf='two_link', config='two_link.yaml',
                      namespace='respawned', respawn='true', autostart='false',
                      overrides=str(overrides))
    assert watched.codes == [('robodyn_controller', -9), ('robodyn_controller', 0)]
    assert 'RISING' not in watched.text and 'configured' not in watched.text
