# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Start a simulated robot and its controller; when one of them exits, the other is shut down.

ros2 launch robodyn_ros demo.launch.py robot:=panda mode:=joint_impedance namespace:=left
"""

from pathlib import Path

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
)
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from robodyn_ros.control.dtypes import MODES
from robodyn_ros.nodes.parameter_files import config_path

ARGUMENTS = {
    'robot': ('two_link', 'a robot that config/ has a file for: two_link, rp, arm6, panda, ur5'),
    'mode': ('gravity_compensation', 'control law'),
    'namespace': ('', 'namespace of both nodes and of their topics'),
}
CHOICES = {'mode': MODES}
# Arguments of the controller that are not inherited, since they may have another meaning here
NOT_INHERITED = {'robot_compensates_gravity': '', 'autostart': 'true', 'use_sim_time': 'false',
            'joint_states': 'joint_states', 'commands': 'commands',
            'enclave': '/robodyn/controller'}


def nodes(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the simulator and the controller of the robot."""
    robot, mode, namespace = (LaunchConfiguration(name).perform(context) for name in ARGUMENTS)
    config = str(config_path(f'{robot}.yaml'))
    controller = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(Path(__file__).with_name('controller.launch.py'))),
        launch_arguments={'urdf': robot, 'config': config, 'mode': mode, 'namespace': namespace,
                          **NOT_INHERITED}.items())
    return [
        Node(package='robodyn_ros', executable='robodyn_simulator', name='simulator',
             namespace=namespace, output='screen', parameters=[config],
             ros_arguments=['--enclave', '/robodyn/simulator']),
        GroupAction([controller]),          # limits the scope of its arguments
        RegisterEventHandler(OnProcessExit(on_exit=EmitEvent(
            event=Shutdown(reason='one of the two nodes has ended')))),
    ]


def generate_launch_description() -> LaunchDescription:
    """Return the description for `ros2 launch`."""
    return LaunchDescription([
        *(DeclareLaunchArgument(name, default_value=default, description=text,
                                choices=CHOICES.get(name))
          for name, (default, text) in ARGUMENTS.items()),
        OpaqueFunction(function=nodes),
    ])
