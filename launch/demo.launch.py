# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Start a simulated robot of this package and its controller, to look around.

ros2 launch robodyn_ros demo.launch.py robot:=panda mode:=joint_impedance namespace:=left
"""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

from robodyn_ros.control.laws.registry import MODES

ARGUMENTS = {
    'robot': ('two_link', 'a robot that config/ has a file for: two_link, rp, arm6, panda, ur5'),
    'mode': ('gravity_compensation', 'control law'),
    'namespace': ('', 'namespace of both nodes and of their topics'),
}
CHOICES = {'mode': MODES}
# Arguments of the simulation that are not inherited, since they may have another meaning here
NOT_INHERITED = {'config': '', 'autostart': 'true', 'use_sim_time': 'false'}


def generate_launch_description() -> LaunchDescription:
    """Return the description for `ros2 launch`."""
    simulation = str(Path(__file__).with_name('simulation.launch.py'))
    return LaunchDescription([
        *(DeclareLaunchArgument(name, default_value=default, description=text,
                                choices=CHOICES.get(name))
          for name, (default, text) in ARGUMENTS.items()),
        GroupAction([IncludeLaunchDescription(
            PythonLaunchDescriptionSource(simulation),
            launch_arguments={**{name: LaunchConfiguration(name) for name in ARGUMENTS},
                              **NOT_INHERITED}.items())]),
    ])
