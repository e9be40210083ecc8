# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Hand an arm of ros2_control over to the controller, and back.

ros2 launch robodyn_ros ros2_control.launch.py urdf:=my_arm.urdf config:=my_arm.yaml \
    replaced_controllers:=joint_trajectory_controller

The controller manager must be running, with all controllers in its parameters, and joint states
must be published (or give `states`). The forward controller is loaded inactive. Once RUNNING, the
controller activates it and deactivates `replaced_controllers`, in one switch, and switches back
when it is shut down: by Ctrl-C, by SIGTERM to its process, or by the end of the launch. Needs
controller_manager with its messages, and forward_command_controller.
"""

from itertools import pairwise
from pathlib import Path

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import (
    GroupAction, IncludeLaunchDescription, OpaqueFunction, RegisterEventHandler)
from launch.event_handlers import OnProcessExit
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from robodyn_ros.errors import ParameterError
from robodyn_ros.model.ros2_control import EFFORT_CONTROLLER
from robodyn_ros.nodes.launch_rules import declared

ARGUMENTS = {
    'urdf': ('', 'path of a URDF or xacro file, or the name of a robot this package knows; empty: '
                 'the controller listens to the topic robot_description'),
    'config': ('', "YAML file with the controller's parameters"),
    'overrides': ('', 'second YAML file, whose values override those of config'),
    'mode': ('joint_impedance', 'control law; gravity_compensation lets the arm drift'),
    'robot_compensates_gravity': ('', 'true for a robot that zero effort holds, false for one '
                                      'that sinks; empty: from the configuration'),
    'use_sim_time': ('false', 'take the time from /clock'),
    'controller_manager': ('/controller_manager', 'name of the controller manager'),
    'replaced_controllers': ('', 'controllers that hold the arm before and after, separated by '
                                 'commas'),
    'stop_with': ('gravity', 'last message: gravity holds the arm until the replaced controllers '
                             'do; zero for an arm that holds itself'),
    'states': ('', 'controller of ros2_control to load that publishes the joint states, for '
                   'instance joint_state_broadcaster; empty: they are published already'),
}
CHOICES = {'robot_compensates_gravity': ('', 'true', 'false'), 'use_sim_time': ('true', 'false'),
           'stop_with': ('zero', 'gravity')}
# Arguments of the controller that are not inherited, since they may have another meaning here
FIXED = {'namespace': '', 'autostart': 'true', 'joint_states': 'joint_states',
         'commands': f'{EFFORT_CONTROLLER}/commands', 'robot_description': 'robot_description',
         'prefix': '', 'respawn': 'false', 'required': 'true', 'log_level': 'info',
         'enclave': '/robodyn/controller'}
RENAMED = 'deactivate'      # in releases before replaced_controllers


def spawner(manager: str, *arguments: str) -> Node:
    """Return the process that loads a controller of ros2_control."""
    return Node(package='controller_manager', executable='spawner', output='screen',
                arguments=[*arguments, '--controller-manager', manager])


def handed_over(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """
    Return the first process, and the handlers that start each of the others after it.

    Not at once: a controller that runs already would compete with spawners for the processors. A
    spawner that finds its controller active, since an earlier launch has loaded it, fails without
    harm: what is really missing, the controller waits for and names.

    :raises ParameterError: the argument `deactivate` of earlier releases is given.
    """
    if old := context.launch_configurations.get(RENAMED):
        raise ParameterError(f'{RENAMED}:={old} is an argument of earlier releases', name=RENAMED,
                             value=old, remedy=f'give replaced_controllers:={old}')
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    manager = given['controller_manager']
    steps = [
        *([spawner(manager, given['states'])] if given['states'] else []),
        spawner(manager, EFFORT_CONTROLLER, '--inactive'),
        GroupAction([IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(Path(__file__).with_name('controller.launch.py'))),
            launch_arguments={**FIXED, **{
                name: given[name] for name in given if name != 'states'}}.items())]),
    ]
    return [*(RegisterEventHandler(OnProcessExit(target_action=before, on_exit=[following]))
              for before, following in pairwise(steps)), steps[0]]


def generate_launch_description() -> LaunchDescription:
    """Return the description for `ros2 launch`."""
    return LaunchDescription([
        *declared(__file__, ARGUMENTS, CHOICES),
        OpaqueFunction(function=handed_over),
    ])
