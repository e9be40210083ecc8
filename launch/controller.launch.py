# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Start the controller for one robot; the launch file for hardware, and meant to be included.

ros2 launch robodyn_ros controller.launch.py urdf:=panda config:=panda.yaml \
    mode:=gravity_compensation commands:=/effort_controller/commands

`ros2 launch` passes the arguments of a launch file on to those that it includes. A launch file
that includes this one and has an argument `mode`, `config` or `controller_manager` with another
meaning has to set it, empty for the default, and to limit its scope by a GroupAction:

    GroupAction([IncludeLaunchDescription(..., launch_arguments={
        'urdf': 'my_arm.urdf', 'config': 'my_arm.yaml', 'mode': ''}.items())])
"""

from typing import Any

from launch import LaunchContext, LaunchDescription
from launch.actions import (
    OpaqueFunction, PopLaunchConfigurations, PushLaunchConfigurations, Shutdown)
from launch.substitutions import LaunchConfiguration, TextSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from robodyn_ros.control.laws import registry
from robodyn_ros.model.resources import robot_path
from robodyn_ros.model.urdf_source import urdf_text
from robodyn_ros.nodes.launch_rules import check_respawn, declared
from robodyn_ros.nodes.middleware.parameter_files import config_path

ARGUMENTS = {
    'urdf': ('', 'path of a URDF or xacro file, or the name of a robot this package knows; empty: '
                 'the controller listens to the topic robot_description'),
    'config': ('', "YAML file with the controller's parameters: a path, or the name of one of "
                   "this package's config folder"),
    'overrides': ('', 'second YAML file, for instance of friction, whose values override those of '
                      'config'),
    'mode': ('', 'control law, or one of your own as module:NAME; empty: as the configuration '
                 'says'),
    'robot_compensates_gravity': ('', 'true for a robot that zero effort holds, false for one '
                                      'that sinks; empty: from the configuration'),
    'controller_manager': ('', 'controller manager of ros2_control that switches to the forward '
                               'controller of commands and back; empty: as the configuration '
                               'says'),
    'replaced_controllers': ('', 'controllers that hold the arm before and after, separated by '
                                 'commas; empty: from the configuration'),
    'stop_with': ('', 'last message: zero or gravity; empty: from the configuration'),
    'namespace': ('', 'namespace of the node and of its topics'),
    'autostart': ('true', 'configure and activate the controller when it starts: true or '
                          'false'),
    'use_sim_time': ('false', 'take the time from /clock: true or false'),
    'joint_states': ('joint_states', 'topic of the joint states'),
    'commands': ('commands', 'topic of the efforts'),
    'robot_description': ('robot_description', 'topic of the URDF, read where urdf is empty'),
    'prefix': ('', 'command prefix of the node, for instance "taskset -c 3"'),
    'respawn': ('false', 'start the process again when it has ended; needs autostart:=false, '
                         'because a person decides whether the arm may be driven again'),
    'required': ('false', 'shut the whole launch down when the controller ends'),
    'log_level': ('info', 'lowest severity that is logged: debug, info, warn, error or fatal'),
    'enclave': ('/robodyn/controller', 'security enclave, used where ROS_SECURITY_ENABLE=true'),
}
BOOLEANS = ('true', 'false')
CHOICES = {'robot_compensates_gravity': ('', *BOOLEANS), 'stop_with': ('', 'zero', 'gravity'),
           'respawn': BOOLEANS, 'required': BOOLEANS}
REMAPPED = 'joint_states', 'commands', 'robot_description'
RESPAWN_DELAY = 2.0         # s


def parameters(given: dict[str, str]) -> list[Any]:
    """
    Return the parameters of the node; later entries override earlier ones.

    :raises ParameterError: a file does not exist; defaults could be dangerous.
    """
    switches: dict[str, Any] = {
        name: ParameterValue(TextSubstitution(text=given[name]), value_type=bool)
        for name in ('autostart', 'use_sim_time', 'robot_compensates_gravity') if given[name]}
    # As ParameterValue: launch parses plain strings as YAML
    texts = {'robot_description': urdf_text(robot_path(given['urdf'])) if given['urdf'] else '',
             **{name: given[name] for name in ('mode', 'controller_manager', 'stop_with')}}
    switches |= {name: ParameterValue(text, value_type=str)
                 for name, text in texts.items() if text}
    if replaced := given['replaced_controllers']:
        switches['replaced_controllers'] = ParameterValue(
            TextSubstitution(text=f'[{replaced}]'), value_type=list[str])
    files = [str(config_path(given[name])) for name in ('config', 'overrides') if given[name]]
    return [*files, switches]


def controller(context: LaunchContext) -> list[Node]:
    """
    Return the node, with parameters from the arguments.

    :raises ParameterError: a file does not exist, there is no such mode, or `respawn` goes with
        `autostart`.
    """
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    respawn = given['respawn'] == 'true'
    check_respawn(respawn, given['autostart'])
    if given['mode'] and ':' not in given['mode']:      # the node imports laws of others
        registry.find(given['mode'])
    return [Node(
        package='robodyn_ros', executable='robodyn_controller', name='controller',
        namespace=given['namespace'], output='screen', prefix=given['prefix'] or None,
        parameters=parameters(given),
        remappings=[(name, given[name]) for name in REMAPPED],
        ros_arguments=['--enclave', given['enclave'], '--log-level', given['log_level']],
        respawn=respawn, respawn_delay=RESPAWN_DELAY,
        on_exit=[Shutdown(reason='the controller has ended')]
        if given['required'] == 'true' else None,
        # The controller stops the arm first: LONGEST_DESCENT, where it has no brakes
        sigterm_timeout='150',
    )]


def generate_launch_description() -> LaunchDescription:
    """Return the description for `ros2 launch`."""
    return LaunchDescription([
        PushLaunchConfigurations(),         # limits the scope of the arguments
        *declared(__file__, ARGUMENTS, CHOICES),
        OpaqueFunction(function=controller),
        PopLaunchConfigurations(),
    ])
