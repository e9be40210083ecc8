# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Record what is needed to understand, or to identify, one arm: an MCAP bag of rosbag2.

ros2 launch robodyn_ros record.launch.py namespace:=left output:=first_torque

It subscribes to the commands, which the controller cannot distinguish from a drive: start it when
the arm is RUNNING, or activate the forward controller first.
"""

import re

from launch import LaunchContext, LaunchDescription
from launch.actions import ExecuteProcess, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from robodyn_ros.nodes.launch_rules import declared

ARGUMENTS = {
    'output': ('', 'folder of the bag, which must not exist; empty: rosbag2_ and the date'),
    'namespace': ('', 'namespace of the controller'),
    'joint_states': ('joint_states', 'topic of the joint states'),
    'commands': ('commands', 'topic of the efforts'),
    'use_sim_time': ('false', 'stamp messages with the time of /clock'),
}
CHOICES = {'use_sim_time': ('true', 'false')}
SHARED = '/diagnostics', '/rosout', '/parameter_events', '/clock', '/tf_static'


def topics(namespace: str, joint_states: str, commands: str) -> str:
    """Return the regular expression of the topics, which all distributions of rosbag2 take."""
    space = f'/{namespace.strip("/")}' if namespace.strip('/') else ''
    names = [name if name.startswith('/') else f'{space}/{name}'
             for name in ('robot_description', joint_states, commands)]
    return f'({"|".join(map(re.escape, [*SHARED, *names]))}|{re.escape(space)}/controller/.*)$'


def recorder(context: LaunchContext) -> list[ExecuteProcess]:
    """Return the process of `ros2 bag record`."""
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    pattern = topics(given['namespace'], given['joint_states'], given['commands'])
    return [ExecuteProcess(cmd=[
        'ros2', 'bag', 'record', '--storage', 'mcap', '--regex', f'^{pattern}',
        *(['--output', given['output']] if given['output'] else []),
        *(['--use-sim-time'] if given['use_sim_time'] == 'true' else []),
    ], output='screen', sigterm_timeout='30')]      # it writes the index of the bag at its end


def generate_launch_description() -> LaunchDescription:
    """Return the description for `ros2 launch`."""
    return LaunchDescription([
        *declared(__file__, ARGUMENTS, CHOICES),
        OpaqueFunction(function=recorder),
    ])
