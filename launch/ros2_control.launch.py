# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Hand an arm of ros2_control over to the controller: states, forward controller, controller, switch.

ros2 launch robodyn_ros ros2_control.launch.py urdf:=my_arm.urdf config:=my_arm.yaml \
    mode:=joint_impedance deactivate:=joint_trajectory_controller

The controller manager runs already, and its parameters have both controllers of ros2_control. The
order is: publish the states, load the forward controller inactive, start the controller, and
activate the forward controller when the log of the controller says RUNNING. Needs
controller_manager, joint_state_broadcaster, forward_command_controller and ros2controlcli.
"""

from pathlib import Path

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
    Shutdown,
)
from launch.event_handlers import OnProcessExit, OnProcessIO
from launch.events.process import ProcessExited, ProcessIO
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from robodyn_ros.model.gazebo import EFFORT_CONTROLLER
from robodyn_ros.nodes.launch_rules import warn_of_unknown

ARGUMENTS = {
    'urdf': ('', 'path of a URDF or xacro file, or the name of a robot this package knows; empty: '
                 'the controller listens to the topic robot_description'),
    'config': ('', "YAML file with the controller's parameters"),
    'mode': ('joint_impedance', 'control law; gravity_compensation lets the arm drift'),
    'robot_compensates_gravity': ('', 'true for a robot that zero effort holds, false for one '
                                      'that sinks; empty: as the configuration says'),
    'use_sim_time': ('false', 'take the time from /clock'),
    'controller_manager': ('/controller_manager', 'name of the controller manager'),
    'states': ('joint_state_broadcaster', 'controller that publishes the joint states; empty: '
                                          'they are published already'),
    'deactivate': ('', 'controller that holds the arm, to be deactivated in the same switch'),
}
CHOICES = {'robot_compensates_gravity': ('', 'true', 'false'),
           'use_sim_time': ('true', 'false')}
CONTROLLER = 'robodyn_controller'
# Arguments of the controller that are not inherited, since they may have another meaning here
FIXED = {'overrides': '', 'namespace': '', 'autostart': 'true', 'joint_states': 'joint_states',
         'commands': f'{EFFORT_CONTROLLER}/commands', 'robot_description': 'robot_description',
         'prefix': '', 'respawn': 'false', 'required': 'true', 'log_level': 'info',
         'enclave': '/robodyn/controller'}
PASSED_ON = 'urdf', 'config', 'mode', 'robot_compensates_gravity', 'use_sim_time'


def when_running(manager: str, deactivate: str) -> RegisterEventHandler:
    """Return the handler that activates the forward controller, once, when efforts come."""
    done: list[ProcessIO] = []

    def activate(event: ProcessIO) -> list[LaunchDescriptionEntity] | None:
        if done or not event.process_name.startswith(CONTROLLER) or b'RUNNING' not in event.text:
            return None
        done.append(event)
        return [ExecuteProcess(cmd=[
            'ros2', 'control', 'switch_controllers', '--controller-manager', manager, '--strict',
            *(['--deactivate', deactivate] if deactivate else []),
            '--activate', EFFORT_CONTROLLER], output='screen')]
    return RegisterEventHandler(OnProcessIO(on_stdout=activate, on_stderr=activate))


def spawner(manager: str, *arguments: str) -> Node:
    """Return the process that loads a controller of ros2_control."""
    return Node(package='controller_manager', executable='spawner', output='screen',
                arguments=[*arguments, '--controller-manager', manager])


def after(before: Node, following: LaunchDescriptionEntity) -> RegisterEventHandler:
    """Return the handler that starts the following when the one before has ended well."""
    def ended(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        return [following if event.returncode == 0 else Shutdown(
            reason=f'{event.process_name} has failed')]
    return RegisterEventHandler(OnProcessExit(target_action=before, on_exit=ended))


def handed_over(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the first spawner, and what starts when the one before it is done."""
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    manager = given['controller_manager']
    efforts = spawner(manager, EFFORT_CONTROLLER, '--inactive')
    controller = GroupAction([IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(Path(__file__).with_name('controller.launch.py'))),
        launch_arguments={**FIXED, **{name: given[name] for name in PASSED_ON}}.items())])
    first = spawner(manager, given['states']) if given['states'] else efforts
    return [
        *([after(first, efforts)] if given['states'] else []),
        after(efforts, controller),
        when_running(manager, given['deactivate']),
        first,
    ]


def generate_launch_description() -> LaunchDescription:
    """Return the description for `ros2 launch`."""
    warn_of_unknown(__file__, ARGUMENTS)
    return LaunchDescription([
        *(DeclareLaunchArgument(name, default_value=default, description=text,
                                choices=CHOICES.get(name))
          for name, (default, text) in ARGUMENTS.items()),
        OpaqueFunction(function=handed_over),
    ])
