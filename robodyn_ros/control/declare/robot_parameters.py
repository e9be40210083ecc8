# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of limits, friction, payload and references."""

from collections.abc import Sequence
from dataclasses import dataclass

from .setting_fields import by_joint_type, flag, number, numbers, PerJoint, text
from .setting_fields import JOINT_RECORD as JOINT
from .setting_fields import SETTINGS_RECORD as SETTINGS
from ...model.friction_file import RANGES


@dataclass(frozen=True)
class RobotParameters:
    """Limits, friction, payload and references of the robot, beyond its URDF."""

    effort_limit: PerJoint = numbers(
        'N·m or N', 0.0, 1e6, 'Effort limit, at most that of the URDF. Empty: from the URDF.',
        live=False, record=JOINT, implied=lambda model, settings: model.effort_limit)
    effort_rate_limit: PerJoint = numbers(
        'N·m/s or N/s', 0.0, 1e8, 'Maximum rate of the effort, without gravity compensation. '
        'Empty: ten effort limits per second.', record=JOINT,
        implied=lambda model, settings: 10.0 * settings.per_joint(model, 'effort_limit'))
    velocity_limit: PerJoint = numbers(
        'rad/s or m/s', 0.0, 1e3, 'Velocity limit, at most that of the URDF. Empty: from the '
        'URDF.', live=False, record=JOINT, implied=lambda model, settings: model.velocity_limit)
    loop_delay: float = number(
        0.002, 's', 0.0, 0.1, 'Longest time from the measurement of a state to the effect of its '
        'efforts.', live=False, record=SETTINGS)
    armature: PerJoint = numbers(
        'kg·m² or kg', *RANGES['armature'],
        'Rotor inertia reflected to the joints. Empty: from the URDF.',
        live=False)
    viscous_friction: PerJoint = numbers(
        'N·m·s/rad or N·s/m', *RANGES['viscous_friction'],
        'Viscous friction, forwards. Empty: from the URDF.')
    coulomb_friction: PerJoint = numbers(
        'N·m or N', *RANGES['coulomb_friction'],
        'Coulomb friction, forwards. Empty: from the URDF.')
    static_friction: PerJoint = numbers(
        'N·m or N', *RANGES['static_friction'],
        'Friction near rest. Empty: `coulomb_friction`, else from the URDF.')
    backward_viscous_friction: PerJoint = numbers(
        'N·m·s/rad or N·s/m', *RANGES['backward_viscous_friction'],
        'Viscous friction, backwards. Empty: as forwards.')
    backward_coulomb_friction: PerJoint = numbers(
        'N·m or N', *RANGES['backward_coulomb_friction'],
        'Coulomb friction, backwards. Empty: as forwards.')
    backward_static_friction: PerJoint = numbers(
        'N·m or N', *RANGES['backward_static_friction'],
        'Friction near rest, backwards. Empty: `backward_coulomb_friction`, '
        'else as forwards.')
    friction_velocity: PerJoint = numbers(
        'rad/s or m/s', *RANGES['friction_velocity'],
        'Velocity scale of the sign change; in gravity_compensation '
        'above the velocity noise.')
    stribeck_velocity: PerJoint = numbers(
        'rad/s or m/s', *RANGES['stribeck_velocity'],
        'Velocity scale of the decay from static to Coulomb friction.')
    presliding_distance: PerJoint = numbers(
        'rad or m', *RANGES['presliding_distance'],
        'Distance after a reversal over which friction changes sign; 0: '
        'none. Empty: from the URDF.')
    load_friction: PerJoint = numbers(
        '', *RANGES['load_friction'],
        'Increase of Coulomb and static friction as a share of |g(q)|. Empty: from '
        'the URDF.')
    coupling_ratio: PerJoint = numbers(
        '', *RANGES['coupling_ratio'],
        'Ratio of a motor that also turns the next joint; 0: none. Empty: from '
        'the URDF.')
    coupled_viscous_friction: PerJoint = numbers(
        'N·m·s/rad or N·s/m', *RANGES['coupled_viscous_friction'],
        'Viscous friction of such a motor. Empty: from the URDF.')
    coupled_coulomb_friction: PerJoint = numbers(
        'N·m or N', *RANGES['coupled_coulomb_friction'],
        'Coulomb friction of such a motor. Empty: from the URDF.')
    friction_offset: PerJoint = numbers(
        'N·m or N', *RANGES['friction_offset'],
        'Constant effort in addition to gravity and friction.',
        record=JOINT)
    friction_compensation: PerJoint = numbers(
        '', 0.0, 1.0, 'Compensated share of friction and offset; in gravity_compensation up to '
        '0.8. Empty: none.', record=JOINT)
    robot_compensates_gravity: bool = flag(
        'Whether the robot adds g(q) itself (Franka, UR). Required for robots not in this '
        'package.', live=False, record=SETTINGS)
    payload_frame: str = text(
        'Link of the payload, in adaptive of the learned one (empty: that of the last joint).')
    payload_mass: float = number(
        0.0, 'kg', 0.0, 1000.0, 'Mass of the payload; 0: no payload.')
    payload_com: Sequence[float] = numbers(
        'm', -10.0, 10.0, 'Center of mass of the payload in `payload_frame`.', (0.0, 0.0, 0.0))
    payload_inertia: Sequence[float] = numbers(
        'kg·m²', -1e3, 1e3, 'Inertia about the center of mass in the axes of `payload_frame`: '
        'ixx, ixy, ixz, iyy, iyz, izz.', (0.0,) * 6)
    acceleration_limit: PerJoint = numbers(
        'rad/s² or m/s²', 1e-3, 1e5, 'Acceleration limit of stops and targets. Empty: velocity '
        'limit within 0.25 s.')
    jerk_limit: PerJoint = numbers(
        'rad/s³ or m/s³', 1e-3, 1e7, 'Jerk limit of the same motions. Empty: acceleration limit '
        'within 0.1 s.')
    feedforward_limit: float = number(
        0.5, '', 0.0, 1.0, 'Largest effort of waypoints, as a share of the effort limit.')
    trajectory_start_tolerance: PerJoint = numbers(
        'rad or m', 1e-6, 1e3, 'Largest distance from the reference to the start of a trajectory.',
        (0.05,))
    allow_nonzero_velocity_at_trajectory_end: bool = flag(
        'Decelerate past a trajectory that ends with a velocity (MoveIt Servo).')
    goal_tolerance: PerJoint = numbers(
        'rad or m', 0.0, 1e3, 'Default `goal_tolerance` of `~/follow_joint_trajectory`. Empty: '
        '0.05 rad or 0.01 m; 0: unlimited.', implied=by_joint_type(0.05, 0.01))
    goal_time_tolerance: float = number(
        2.0, 's', 0.0, 3600.0, 'Default `goal_time_tolerance` of `~/follow_joint_trajectory`. 0: '
        'unlimited.')
