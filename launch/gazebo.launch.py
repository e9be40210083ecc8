# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Start Gazebo with a robot whose joints take efforts, and its controller.

ros2 launch robodyn_ros gazebo.launch.py robot:=my_arm.urdf config:=my_arm.yaml \
    mode:=joint_impedance

Needs ros_gz_sim, ros_gz_bridge, gz_ros2_control, robot_state_publisher, controller_manager,
joint_state_broadcaster, forward_command_controller and ros2controlcli. Gazebo holds the joints
until efforts come. So the order is: spawn the robot, publish its states, load the forward
controller inactive, start the controller, and activate the forward controller when the log of
the controller says RUNNING.
"""

import tempfile
from pathlib import Path

import yaml
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
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.control.laws.registry import MODES
from robodyn_ros.model.gazebo import EFFORT_CONTROLLER, controller_parameters, gazebo_description
from robodyn_ros.model.resources import is_robot_name
from robodyn_ros.model.xacro_file import urdf_text

ARGUMENTS = {
    'robot': ('two_link', 'a robot that config/ has a file for, or the path of a URDF file'),
    'config': ('', "YAML file with the controller's parameters; empty: config/ROBOT.yaml"),
    'mode': ('joint_impedance', 'control law; gravity_compensation lets the arm drift'),
    'rate': ('1000', 'rate of the controller manager [Hz]'),
    'gz_args': ('-r empty.sdf', 'arguments of gz sim: a world with a physics step of 0.001 s'),
}
CHOICES = {'mode': MODES}
CONTROLLER = 'robodyn_controller'
# Arguments of the controller that are not inherited, since they may have another meaning here
FIXED = {'overrides': '', 'robot_compensates_gravity': 'false', 'namespace': '',
         'autostart': 'true', 'use_sim_time': 'true', 'joint_states': 'joint_states',
         'commands': f'{EFFORT_CONTROLLER}/commands', 'robot_description': 'robot_description',
         'prefix': '', 'respawn': 'false', 'required': 'true', 'log_level': 'info',
         'enclave': '/robodyn/controller'}


def included(package: str, file: str, **arguments: str) -> IncludeLaunchDescription:
    """Return a launch file of another package."""
    return IncludeLaunchDescription(PythonLaunchDescriptionSource(PathJoinSubstitution(
        [FindPackageShare(package), 'launch', file])), launch_arguments=arguments.items())


def when_running() -> RegisterEventHandler:
    """Return the handler that activates the forward controller, once, when efforts come."""
    done: list[ProcessIO] = []

    def activate(event: ProcessIO) -> list[LaunchDescriptionEntity] | None:
        if done or not event.process_name.startswith(CONTROLLER) or b'RUNNING' not in event.text:
            return None
        done.append(event)
        return [ExecuteProcess(cmd=['ros2', 'control', 'switch_controllers', '--activate',
                                    EFFORT_CONTROLLER], output='screen')]
    return RegisterEventHandler(OnProcessIO(on_stdout=activate, on_stderr=activate))


def spawner(*arguments: str) -> Node:
    """Return the process that loads a controller of ros2_control."""
    return Node(package='controller_manager', executable='spawner', arguments=[*arguments],
                output='screen')


def after(before: Node, following: LaunchDescriptionEntity) -> RegisterEventHandler:
    """Return the handler that starts the following when the one before has ended well."""
    def ended(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        return [following if event.returncode == 0 else Shutdown(
            reason=f'{event.process_name} has failed')]
    return RegisterEventHandler(OnProcessExit(target_action=before, on_exit=ended))


def nodes(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return Gazebo, the robot, and what starts when the one before it is there."""
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    robot = load_robot(given['robot'], {}, ())
    drive = robot.parameters['simulator']
    locked = dict(zip(drive.get('locked_joints', []), drive.get('locked_positions', [])))
    file = Path(tempfile.mkdtemp(prefix='robodyn_gazebo_')) / 'controllers.yaml'
    file.write_text(yaml.safe_dump(controller_parameters(robot.model.joint_names,
                                                         int(given['rate']))))
    urdf = gazebo_description(urdf_text(robot.path), str(file), robot.pose.tolist(),
                              locked=locked)
    config = given['config'] or (f'{robot.name}.yaml' if is_robot_name(given['robot']) else '')
    spawn = Node(package='ros_gz_sim', executable='create', output='screen',
                 arguments=['-topic', 'robot_description', '-name', robot.model.name])
    states, efforts = spawner('joint_state_broadcaster'), spawner(EFFORT_CONTROLLER, '--inactive')
    controller = GroupAction([included(
        'robodyn_ros', 'controller.launch.py', urdf=str(robot.path), config=config,
        mode=given['mode'], **FIXED)])
    return [
        included('ros_gz_sim', 'gz_sim.launch.py', gz_args=given['gz_args'],
                 on_exit_shutdown='true'),
        Node(package='ros_gz_bridge', executable='parameter_bridge', output='screen',
             arguments=['/clock@rosgraph_msgs/msg/Clock[gz.msgs.Clock']),
        Node(package='robot_state_publisher', executable='robot_state_publisher',
             parameters=[{'robot_description': urdf, 'use_sim_time': True}]),
        spawn,
        after(spawn, states),
        after(states, efforts),
        after(efforts, controller),
        when_running(),
    ]


def generate_launch_description() -> LaunchDescription:
    """Return the description for `ros2 launch`."""
    return LaunchDescription([
        *(DeclareLaunchArgument(name, default_value=default, description=text,
                                choices=CHOICES.get(name))
          for name, (default, text) in ARGUMENTS.items()),
        OpaqueFunction(function=nodes),
    ])
