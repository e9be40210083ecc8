# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Start Gazebo with a robot whose joints take efforts, and its controller.

ros2 launch robodyn_ros gazebo.launch.py urdf:=my_arm.urdf config:=my_arm.yaml \
    mode:=joint_impedance

Needs ros_gz_sim, ros_gz_bridge, gz_ros2_control, robot_state_publisher, controller_manager,
joint_state_broadcaster, forward_command_controller and ros2controlcli. Gazebo holds the joints
until efforts come. So the order is: spawn the robot, then as in ros2_control.launch.py.
"""

from pathlib import Path
import tempfile

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import (
    GroupAction, IncludeLaunchDescription, OpaqueFunction, RegisterEventHandler, Shutdown)
from launch.event_handlers import OnProcessExit
from launch.events.process import ProcessExited
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.model.resources import is_robot_name
from robodyn_ros.model.ros2_control import controller_parameters, gazebo_description
from robodyn_ros.nodes.launch_rules import declared, manager_rate
import yaml

ARGUMENTS = {
    'urdf': ('two_link', 'a robot that config/ has a file for, or the path of a URDF file'),
    'config': ('', "YAML file with the controller's parameters; empty: config/ROBOT.yaml"),
    'mode': ('joint_impedance', 'control law; gravity_compensation lets the arm drift'),
    'rate': ('', 'rate of the controller manager [Hz]; empty: that of the controller in config, '
                 'from which it must not differ'),
    'gz_args': ('-r empty.sdf', 'arguments of gz sim: a world with a physics step of 0.001 s'),
}
# Arguments of the hand-over that are not inherited, since they may have another meaning here
FIXED = {'robot_compensates_gravity': 'false', 'use_sim_time': 'true', 'overrides': '',
         'replaced_controllers': '', 'stop_with': 'gravity',
         'controller_manager': '/controller_manager', 'states': 'joint_state_broadcaster'}


def included(package: str, file: str, **arguments: str) -> IncludeLaunchDescription:
    """Return a launch file of another package."""
    return IncludeLaunchDescription(PythonLaunchDescriptionSource(PathJoinSubstitution(
        [FindPackageShare(package), 'launch', file])), launch_arguments=arguments.items())


def nodes(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """
    Return Gazebo, the robot, and the processes that each start after the one before.

    :raises ParameterError: `rate` is not that of the configuration.
    """
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    robot = load_robot(given['urdf'], {}, ())
    drive = robot.parameters['simulator']
    locked = dict(zip(drive.get('locked_joints', []), drive.get('locked_positions', [])))
    file = Path(tempfile.mkdtemp(prefix='robodyn_gazebo_')) / 'controllers.yaml'
    config = given['config'] or (f'{robot.name}.yaml' if is_robot_name(given['urdf']) else '')
    file.write_text(yaml.safe_dump(controller_parameters(
        robot.model.joint_names, manager_rate(given['rate'], config))))
    urdf = gazebo_description(robot.path, str(file), robot.pose.tolist(), locked=locked)
    spawn = Node(package='ros_gz_sim', executable='create', output='screen',
                 arguments=['-topic', 'robot_description', '-name', robot.model.name])
    hand_over = GroupAction([included(
        'robodyn_ros', 'ros2_control.launch.py', urdf=str(robot.path), config=config,
        mode=given['mode'], **FIXED)])

    def spawned(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        return [hand_over if event.returncode == 0 else Shutdown(reason='the robot is not there')]
    return [
        included('ros_gz_sim', 'gz_sim.launch.py', gz_args=given['gz_args'],
                 on_exit_shutdown='true'),
        Node(package='ros_gz_bridge', executable='parameter_bridge', output='screen',
             arguments=['/clock@rosgraph_msgs/msg/Clock[gz.msgs.Clock']),
        Node(package='robot_state_publisher', executable='robot_state_publisher',
             parameters=[{'robot_description': ParameterValue(urdf, value_type=str),
                          'use_sim_time': True}]),
        RegisterEventHandler(OnProcessExit(target_action=spawn, on_exit=spawned)),
        spawn,
    ]


def generate_launch_description() -> LaunchDescription:
    """Return the description for `ros2 launch`."""
    return LaunchDescription([
        *declared(__file__, ARGUMENTS),
        OpaqueFunction(function=nodes),
    ])
