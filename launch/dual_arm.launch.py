# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Start a controller for each of two arms, in the namespaces `left` and `right`.

ros2 launch robodyn_ros dual_arm.launch.py left_robot:=panda left_config:=panda.yaml \
    right_robot:=panda right_config:=panda.yaml simulated:=true

Each controller has its own guard: a fault of one arm does not stop the other. Whoever needs that
publishes `~/emergency_stop` or `~/heartbeat` of both.
"""

from pathlib import Path

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
)
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import SetRemap
from robodyn_ros.control.laws.registry import MODES

SIDES = 'left', 'right'
ARGUMENTS = {
    'left_robot': ('two_link', 'robot of the left arm: a name, or the path of a URDF file'),
    'left_config': ('two_link.yaml', 'YAML file of the left arm, with sections for controller and '
                    'simulator'),
    'right_robot': ('two_link', 'robot of the right arm, likewise'),
    'right_config': ('two_link.yaml', 'YAML file of the right arm, likewise'),
    'mode': ('', 'control law of both; empty: as the configurations say'),
    'autostart': ('true', 'configure and activate both controllers when they start: true or '
                          'false'),
    'joint_states': ('joint_states', 'topic of the joint states, in each namespace'),
    'commands': ('commands', 'topic of the efforts, in each namespace'),
    'simulated': ('false', 'start a simulator for each arm'),
    'use_sim_time': ('false', 'take the time from /clock; of simulated arms, from the topic clock '
                              'in the namespace of each, which its simulator publishes'),
}
CHOICES = {'mode': ('', *MODES), 'simulated': ('true', 'false'),
           'use_sim_time': ('true', 'false')}
# Arguments of the controller that are not inherited, since they may have another meaning here
NOT_INHERITED = {'overrides': '', 'robot_compensates_gravity': '', 'prefix': '',
                 'robot_description': 'robot_description', 'respawn': 'false', 'required': 'true',
                 'log_level': 'info', 'enclave': '/robodyn/controller'}


def arm(side: str, given: dict[str, str]) -> GroupAction:
    """Return the controller of one side, or its simulation."""
    common = {'namespace': side, 'config': given[f'{side}_config'], 'mode': given['mode'],
              'autostart': given['autostart'], 'use_sim_time': given['use_sim_time']}
    remaps = []
    if given['simulated'] == 'true':
        file, arguments = 'simulation.launch.py', {'robot': given[f'{side}_robot']}
        remaps = [SetRemap('/clock', 'clock')]      # two simulators have two times
    else:
        file, arguments = 'controller.launch.py', {
            'urdf': given[f'{side}_robot'], **NOT_INHERITED,
            'joint_states': given['joint_states'], 'commands': given['commands']}
    return GroupAction([*remaps, IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(Path(__file__).with_name(file))),
        launch_arguments=(common | arguments).items())])


def arms(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return both arms."""
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    return [arm(side, given) for side in SIDES]


def generate_launch_description() -> LaunchDescription:
    """Return the description for `ros2 launch`."""
    return LaunchDescription([
        *(DeclareLaunchArgument(name, default_value=default, description=text,
                                choices=CHOICES.get(name))
          for name, (default, text) in ARGUMENTS.items()),
        OpaqueFunction(function=arms),
    ])
