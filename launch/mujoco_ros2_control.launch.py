# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Start mujoco_ros2_control with a scene whose joints take efforts, and the controller of the arm.

ros2 launch robodyn_ros mujoco_ros2_control.launch.py urdf:=my_arm.urdf mjcf:=scene.xml \
    keyframe:=hanging config:=my_arm.yaml mode:=joint_impedance

Needs mujoco_ros2_control, robot_state_publisher, what ros2_control.launch.py needs, and the Python
package mujoco, which reads the scene to check its actuators. Nothing holds the arm before the
controller does, and an arm that moves is not armed: begin with a keyframe in which it hangs or
lies. `robodyn_simulator` of this package has brakes instead.
"""

from pathlib import Path
import tempfile

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import GroupAction, IncludeLaunchDescription, LogInfo, OpaqueFunction, Shutdown
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.model.resources import is_robot_name
from robodyn_ros.model.ros2_control import controller_parameters, mujoco_description
from robodyn_ros.nodes.launch_rules import declared, manager_rate
from robodyn_ros.simulation.loading import check_scene
import yaml

ARGUMENTS = {
    'urdf': ('two_link', 'a robot that config/ has a file for, or the path of a URDF file'),
    'mjcf': ('', 'path of the MJCF of the scene, with a motor for each joint; required'),
    'keyframe': ('', 'keyframe of the scene at which the arm begins'),
    'config': ('', "YAML file with the controller's parameters; empty: config/ROBOT.yaml"),
    'mode': ('joint_impedance', 'control law; gravity_compensation lets the arm drift'),
    'robot_compensates_gravity': ('false', 'true where the scene has gravcomp="1" on all bodies'),
    'rate': ('', 'rate of the controller manager [Hz]; empty: that of the controller in config, '
                 'from which it must not differ'),
    'headless': ('false', 'do not open the window of MuJoCo'),
}
CHOICES = {'robot_compensates_gravity': ('true', 'false'), 'headless': ('true', 'false')}
# Arguments of the hand-over that are not inherited, since they may have another meaning here
FIXED = {'use_sim_time': 'true', 'overrides': '', 'replaced_controllers': '',
         'stop_with': 'gravity', 'controller_manager': '/controller_manager',
         'states': 'joint_state_broadcaster'}


def nodes(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """
    Return MuJoCo with the controller manager, and the hand-over, which waits for it.

    :raises SimulationError: the scene does not take efforts.
    :raises ParameterError: `rate` is not that of the configuration.
    """
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    robot, scene = load_robot(given['urdf'], {}, ()), Path(given['mjcf']).expanduser().resolve()
    warnings = check_scene(scene, robot.model)
    file = Path(tempfile.mkdtemp(prefix='robodyn_mujoco_')) / 'controllers.yaml'
    config = given['config'] or (f'{robot.name}.yaml' if is_robot_name(given['urdf']) else '')
    file.write_text(yaml.safe_dump(controller_parameters(
        robot.model.joint_names, manager_rate(given['rate'], config))))
    drive = robot.parameters['simulator']
    urdf = mujoco_description(
        robot.path, str(scene), given['keyframe'], headless=given['headless'] == 'true',
        locked=dict(zip(drive.get('locked_joints', []), drive.get('locked_positions', []))))
    hand_over = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(Path(__file__).with_name('ros2_control.launch.py'))),
        launch_arguments={'urdf': str(robot.path), 'config': config, 'mode': given['mode'],
                          'robot_compensates_gravity': given['robot_compensates_gravity'],
                          **FIXED}.items())
    return [
        *(LogInfo(msg=f'WARNING: {text}') for text in warnings),
        Node(package='robot_state_publisher', executable='robot_state_publisher', parameters=[
            {'robot_description': ParameterValue(urdf, value_type=str), 'use_sim_time': True}]),
        Node(package='mujoco_ros2_control', executable='ros2_control_node', output='screen',
             parameters=[{'use_sim_time': True}, str(file)],
             on_exit=[Shutdown(reason='MuJoCo has ended')]),
        GroupAction([hand_over]),           # limits the scope of its arguments
    ]


def generate_launch_description() -> LaunchDescription:
    """Return the description for `ros2 launch`."""
    return LaunchDescription([
        *declared(__file__, ARGUMENTS, CHOICES),
        OpaqueFunction(function=nodes),
    ])
