# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the simulator node; docs/parameters.md is generated from this table."""

from ..controller import robot
from ..middleware.parameters import Parameter

START = (
    Parameter('initial_position', list[float], [], 'Pose at the start and after `~/reset`. Empty: '
              'zero, or mid-range.', 'rad or m'),
)

TIME = (
    Parameter('rate', float, 1000.0, 'Rate of the joint states.', 'Hz', 1.0, 10000.0),
    Parameter('substeps', int, 4, 'Number of physics steps per period.', '',
              1, 1000),
    Parameter('lockstep', bool, False, 'Wait for one command after each joint state (`trigger: '
              'state`).', live=True),
    Parameter('lockstep_timeout', float, 2.0, 'Wall time without a command after which lockstep '
              'pauses.', 's', 0.01, 3600.0),
    Parameter('lockstep_settle', float, 0.02, 'Wall time without a command before lockstep '
              'starts; below `state_timeout`.', 's', 0.001, 10.0),
    Parameter('real_time_factor', float, 0.0, 'Maximum simulation time per wall time in lockstep; '
              '0: unlimited.', '', 0.0, 1000.0),
    Parameter('pause_at', float, 0.0, 'Simulation time at which the simulation pauses; 0: never.',
              's', 0.0, 1e9, live=True),
    Parameter('publish_clock', bool, False, 'Publish `/clock`, and stamp joint states with it.'),
    Parameter('publish_description', bool, False, 'Publish the URDF on `robot_description`.'),
)

DRIVES = (
    Parameter('command_timeout', float, 0.1, 'Wall time without a command after which the brakes '
              'engage.', 's', 0.001, 60.0),
    Parameter('brakes', bool, True, 'Whether the arm has brakes, which hold it without commands.',
              live=True),
    Parameter('compensates_gravity', bool, False, 'Whether the drives add g(q) to each command '
              '(Franka, UR).'),
    Parameter('friction_file', str, '', 'Path of a friction.yaml of `robodyn identify`. Empty: '
              'friction from the URDF.'),
    Parameter('armature', list[float], [], 'Rotor inertia reflected to the joints. Empty: from '
              '`friction_file` or the URDF.', 'kg·m² or kg', 0.0, 1e3),
    Parameter('joint_damping', float, 0.0, 'Viscous damping added to every joint.',
              'N·m·s/rad or N·s/m', 0.0, 1e4, live=True),
    Parameter('push_duration', float, 0.5, 'Duration of a force on `~/push`, in simulation time.',
              's', 0.0, 60.0, live=True),
    Parameter('command_delay', float, 0.0, 'Time from a command to its effect, in whole periods.',
              's', 0.0, 1.0),
    Parameter('position_noise', float, 0.0, 'Standard deviation of position noise.', 'rad or m',
              0.0, 1.0),
    Parameter('position_resolution', float, 0.0, 'Encoder step to which positions are rounded; 0: '
              'none.', 'rad or m', 0.0, 1.0),
    Parameter('velocity_noise', float, 0.0, 'Standard deviation of velocity noise.',
              'rad/s or m/s', 0.0, 10.0),
    Parameter('effort_noise', float, 0.0, 'Standard deviation of effort noise.', 'N·m or N', 0.0,
              1000.0),
    Parameter('seed', int, 0, 'Seed of the noise.', '', 0),
)

OBSTACLE = (
    Parameter('obstacle_link', str, '', 'Link that may run into an elastic half-space. Empty: '
              'none.', live=True),
    Parameter('obstacle_point', list[float], [0.0, 0.0, 0.0], 'Point of the link that touches it.',
              'm', -10.0, 10.0, live=True),
    Parameter('obstacle_surface', list[float], [0.0, 0.0, 0.0], 'Point on its surface, in world '
              'axes.', 'm', -100.0, 100.0, live=True),
    Parameter('obstacle_normal', list[float], [0.0, 0.0, 1.0], 'Outward normal of the surface, in '
              'world axes.', '', -1.0, 1.0, live=True),
    Parameter('obstacle_stiffness', float, 75e3, 'Stiffness of the obstacle.', 'N/m', 0.0, 1e6,
              live=True),
)

TABLE = robot.PARAMETERS + START + TIME + DRIVES + OBSTACLE
