# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Start a simulated robot of this package and its controller, to look around.

ros2 launch robodyn_ros demo.launch.py urdf:=panda mode:=joint_impedance namespace:=left
"""

from pathlib import Path

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import GroupAction, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from robodyn_ros.nodes.launch_rules import declared

ARGUMENTS = {
    'urdf': ('two_link', 'a robot that config/ has a file for: two_link, rp, arm6, panda, ur5'),
    'mode': ('gravity_compensation', 'control law'),
    'namespace': ('', 'namespace of both nodes and of their topics'),
    'use_sim_time': ('false', 'the simulator publishes /clock, and the controller takes its time '
                              'from it'),
}
CHOICES = {'use_sim_time': ('true', 'false')}
# Arguments of the simulation that are not inherited, since they may have another meaning here
NOT_INHERITED = {'config': '', 'autostart': 'true', 'controller': 'true'}


def simulation(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the simulation; a function, or --show-args would list what is fixed here."""
    return [GroupAction([IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(Path(__file__).with_name('simulation.launch.py'))),
        launch_arguments={**{name: LaunchConfiguration(name) for name in ARGUMENTS},
                          **NOT_INHERITED}.items())])]


def generate_launch_description() -> LaunchDescription:
    """Return the description for `ros2 launch`."""
    return LaunchDescription([
        *declared(__file__, ARGUMENTS, CHOICES),
        OpaqueFunction(function=simulation),
    ])
