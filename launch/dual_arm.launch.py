# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Start a controller for each of two arms, in the namespaces `left` and `right`.

ros2 launch robodyn_ros dual_arm.launch.py left_urdf:=panda left_config:=panda.yaml \
    right_urdf:=panda right_config:=panda.yaml simulated:=true

Each controller has its own guard: a fault of one arm does not stop the other. To stop both,
publish `~/emergency_stop` or `~/heartbeat` of both. With one_process:=true they share a process,
which takes less memory and less time to start; what kills it ends both.
"""

from pathlib import Path
import tempfile

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import GroupAction, IncludeLaunchDescription, OpaqueFunction, Shutdown
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node, SetRemap
from robodyn_ros.model.resources import robot_path
from robodyn_ros.model.urdf_source import urdf_text
from robodyn_ros.nodes.launch_rules import declared
from robodyn_ros.nodes.middleware.parameter_files import config_path, one_file

SIDES = 'left', 'right'
ARGUMENTS = {
    'left_urdf': ('two_link', 'robot of the left arm: a name, or the path of a URDF file'),
    'left_config': ('two_link.yaml', 'YAML file of the left arm, with sections for controller and '
                    'simulator'),
    'right_urdf': ('two_link', 'robot of the right arm'),
    'right_config': ('two_link.yaml', 'YAML file of the right arm'),
    'mode': ('', 'control law of both; empty: as the configurations say'),
    'autostart': ('true', 'configure and activate both controllers when they start: true or '
                          'false'),
    'joint_states': ('joint_states', 'topic of the joint states, in each namespace'),
    'commands': ('commands', 'topic of the efforts, in each namespace'),
    'simulated': ('false', 'start a simulator for each arm'),
    'use_sim_time': ('false', 'take the time from /clock; of simulated arms, from the topic clock '
                              'in the namespace of each, which its simulator publishes'),
    'one_process': ('false', 'run both controllers in one process (robodyn_controllers)'),
}
BOOLEANS = ('true', 'false')
CHOICES = {'autostart': BOOLEANS, 'simulated': BOOLEANS,
           'use_sim_time': BOOLEANS, 'one_process': BOOLEANS}
# Arguments of the controller that are not inherited, since they may have another meaning here
NOT_INHERITED = {'overrides': '', 'robot_compensates_gravity': '', 'controller_manager': '',
                 'replaced_controllers': '', 'stop_with': '', 'prefix': '',
                 'robot_description': 'robot_description', 'respawn': 'false', 'required': 'true',
                 'log_level': 'info', 'enclave': '/robodyn/controller'}


def arm(side: str, given: dict[str, str]) -> GroupAction:
    """Return what one side has for itself: its simulator, its controller, or both."""
    common = {'namespace': side, 'config': given[f'{side}_config'], 'mode': given['mode'],
              'autostart': given['autostart'], 'use_sim_time': given['use_sim_time']}
    remaps = []
    if given['simulated'] == 'true':
        file, arguments = 'simulation.launch.py', {
            'urdf': given[f'{side}_urdf'],
            'controller': 'false' if given['one_process'] == 'true' else 'true'}
        remaps = [SetRemap('/clock', 'clock')]      # two simulators have two times
    else:
        file, arguments = 'controller.launch.py', {
            'urdf': given[f'{side}_urdf'], **NOT_INHERITED,
            'joint_states': given['joint_states'], 'commands': given['commands']}
    return GroupAction([*remaps, IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(Path(__file__).with_name(file))),
        launch_arguments=(common | arguments).items())])


def controllers(given: dict[str, str]) -> Node:
    """
    Return the process of both controllers, with one parameter file for them.

    :raises ParameterError: a configuration does not exist, or has no section for a controller.
    """
    values = {name: given[name] == 'true' for name in ('autostart', 'use_sim_time')}
    mode = {'mode': given['mode']} if given['mode'] else {}
    files = {side: [config_path(given[f'{side}_config'])] if given[f'{side}_config'] else []
             for side in SIDES}
    text = one_file({
        f'/{side}/controller': (files[side], {
            **values, **mode, 'robot_description': urdf_text(robot_path(given[f'{side}_urdf']))})
        for side in SIDES})
    with tempfile.NamedTemporaryFile('w', prefix='robodyn_', suffix='.yaml', delete=False,
                                     encoding='utf-8') as file:
        file.write(text)
    remaps = [('joint_states', given['joint_states']), ('commands', given['commands'])]
    if given['simulated'] == 'true':
        remaps = [('/clock', 'clock')]
    return Node(package='robodyn_ros', executable='robodyn_controllers', arguments=SIDES,
                output='screen', parameters=[file.name], remappings=remaps,
                ros_arguments=['--enclave', NOT_INHERITED['enclave']],
                on_exit=[Shutdown(reason='the controllers have ended')], sigterm_timeout='150')


def arms(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return both arms."""
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    if given['one_process'] == 'false':
        return [arm(side, given) for side in SIDES]
    simulators = [arm(side, given) for side in SIDES] if given['simulated'] == 'true' else []
    return [*simulators, controllers(given)]


def generate_launch_description() -> LaunchDescription:
    """Return the description for `ros2 launch`."""
    return LaunchDescription([
        *declared(__file__, ARGUMENTS, CHOICES),
        OpaqueFunction(function=arms),
    ])
