# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of limits, friction, payload and references."""

from collections.abc import Sequence
from dataclasses import dataclass

from .setting_fields import flag, number, numbers, PerJoint, text
from .setting_fields import JOINT_RECORD as JOINT
from .setting_fields import SETTINGS_RECORD as SETTINGS


@dataclass(frozen=True)
class RobotParameters:
    """Limits, friction, payload and references of the robot, beyond its URDF."""

    effort_limit: PerJoint = numbers(
        'N·m or N', 0.0, 1e6, 'Effort limit, at most that of the URDF; empty: that of the URDF.',
        live=False, record=JOINT)
    effort_rate_limit: PerJoint = numbers(
        'N·m/s or N/s', 0.0, 1e8, 'Maximum rate of change of the effort, gravity compensation '
        'excepted; empty: ten times the effort limit per second.', record=JOINT)
    velocity_limit: PerJoint = numbers(
        'rad/s or m/s', 0.0, 1e3, 'Velocity limit, at most that of the URDF; empty: that of the '
        'URDF.', live=False, record=JOINT)
    loop_delay: float = number(
        0.002, 's', 0.0, 0.1, 'Maximum time from the measurement of a state to the effect of its '
        'efforts; gains must be stable with it.', live=False, record=SETTINGS)
    armature: PerJoint = numbers(
        'kg·m² or kg', 0.0, 1e3, 'Rotor inertia reflected to the joints, which standard URDF '
        'cannot express; with it, higher gains are stable. Empty: that of the URDF.', live=False)
    viscous_friction: PerJoint = numbers(
        'N·m·s/rad or N·s/m', 0.0, 1e5, 'Viscous friction of motion in the positive direction; '
        'taken into account when gains are checked. Empty: that of the URDF.')
    coulomb_friction: PerJoint = numbers(
        'N·m or N', 0.0, 1e6, 'Coulomb friction of motion in the positive direction. Empty: that '
        'of the URDF.')
    static_friction: PerJoint = numbers(
        'N·m or N', 0.0, 1e6, 'Friction near rest; empty: equal to `coulomb_friction` if that is '
        'set, else that of the URDF.')
    backward_viscous_friction: PerJoint = numbers(
        'N·m·s/rad or N·s/m', 0.0, 1e5, 'Viscous friction of motion in the negative direction; '
        'empty: equal to `viscous_friction` if that is set, else that of the URDF.')
    backward_coulomb_friction: PerJoint = numbers(
        'N·m or N', 0.0, 1e6, 'Coulomb friction of motion in the negative direction; empty: equal '
        'to `coulomb_friction` if that is set, else that of the URDF.')
    backward_static_friction: PerJoint = numbers(
        'N·m or N', 0.0, 1e6, 'Friction near rest of motion in the negative direction; empty: '
        'equal to `backward_coulomb_friction` if that is set, else as in the positive direction '
        'or in the URDF.')
    friction_velocity: PerJoint = numbers(
        'rad/s or m/s', 1e-6, 1e3, 'Velocity scale on which friction changes sign. In '
        'gravity_compensation, choose several times the noise of the velocity.')
    stribeck_velocity: PerJoint = numbers(
        'rad/s or m/s', 1e-6, 1e3, 'Velocity scale on which static friction decays to Coulomb '
        'friction.')
    presliding_distance: PerJoint = numbers(
        'rad or m', 0.0, 1.0, 'Distance after a reversal over which friction changes its sign: '
        'the contact is elastic first. Compensated along the reference, or along the measured '
        'motion where the arm floats: choose at least 40 times the noise of the position then. 0: '
        'the sign depends on the velocity. Empty: that of the URDF.')
    load_friction: PerJoint = numbers(
        '', 0.0, 0.5, 'Increase of Coulomb and static friction with the load, as a share of '
        '|g(q)|. Empty: that of the URDF.')
    coupling_ratio: PerJoint = numbers(
        '', -10.0, 10.0, 'Of a motor that turns with a joint and, by this ratio, with the next '
        'one, as in wrists: its friction acts on both. 0: none. Empty: that of the URDF.')
    coupled_viscous_friction: PerJoint = numbers(
        'N·m·s/rad or N·s/m', 0.0, 1e5, 'Viscous friction of such a motor. Empty: that of the '
        'URDF.')
    coupled_coulomb_friction: PerJoint = numbers(
        'N·m or N', 0.0, 1e6, 'Coulomb friction of such a motor. Empty: that of the URDF.')
    friction_offset: PerJoint = numbers(
        'N·m or N', -1e6, 1e6, 'Effort needed at any velocity in addition to gravity and '
        'friction; compensated with the friction.', record=JOINT)
    friction_compensation: PerJoint = numbers(
        '', 0.0, 1.0, 'Share of friction and offset that is compensated; empty: none. Uses the '
        'velocity of the reference; in gravity_compensation the measured velocity, and then at '
        'most 0.8.', record=JOINT)
    robot_compensates_gravity: bool = flag(
        'Whether the robot adds g(q) to its commands itself, as Franka and UR do; commands then '
        'exclude g(q).', live=False, record=SETTINGS)
    payload_frame: str = text(
        'Link to which the payload is attached; a payload_mass above 0 needs it. In adaptive, the '
        'link with which a payload is learned; empty: that of the last joint.')
    payload_mass: float = number(
        0.0, 'kg', 0.0, 1000.0, 'Mass of the payload; 0: none, whatever its other parameters are.')
    payload_com: Sequence[float] = numbers(
        'm', -10.0, 10.0, 'Center of mass of the payload in `payload_frame`.', (0.0, 0.0, 0.0))
    payload_inertia: Sequence[float] = numbers(
        'kg·m²', -1e3, 1e3, 'Inertia of the payload about its center of mass, in the axes of '
        '`payload_frame`: ixx, ixy, ixz, iyy, iyz, izz. Zeros: a point mass.', (0.0,) * 6)
    payload_transition: float = number(
        0.5, 's', 0.0, 60.0, 'Time in which the dynamics change from one payload to another while '
        'the arm is driven.', record=SETTINGS)
    acceleration_limit: PerJoint = numbers(
        'rad/s² or m/s²', 1e-3, 1e5, 'Acceleration limit of references to a target without a time '
        'and of stops, which gains have to follow within `effort_rate_limit`; empty: the velocity '
        'limit within 0.25 s.')
    jerk_limit: PerJoint = numbers(
        'rad/s³ or m/s³', 1e-3, 1e7, 'Jerk limit of the same; empty: the acceleration limit '
        'within 0.1 s.')
    feedforward_limit: float = number(
        0.5, '', 0.0, 1.0, 'Maximum effort in the waypoints of trajectories, which is added to '
        'that of the control law, as a fraction of the effort limit; trajectories with more are '
        'refused.')
    trajectory_start_tolerance: PerJoint = numbers(
        'rad or m', 1e-6, 1e3, 'Largest distance between the start of a trajectory, for example '
        'the measured pose, and the reference, which joins the trajectory within its limits. A '
        'trajectory that starts further away is refused.', (0.05,))
    allow_nonzero_velocity_at_trajectory_end: bool = flag(
        'Whether the last waypoint of a trajectory may have a velocity other than 0. The '
        'reference then decelerates behind it, within `acceleration_limit` and `jerk_limit`. '
        'MoveIt Servo needs it from Jazzy on.')
    goal_tolerance: PerJoint = numbers(
        'rad or m', 0.0, 1e3, 'Distance from the end of a trajectory within which a goal of '
        '`~/follow_joint_trajectory` succeeds, where the goal has none of its own; joints must '
        'also be slower than `rest_velocity`. Empty or 0: unlimited.')
    goal_time_tolerance: float = number(
        0.0, 's', 0.0, 3600.0, 'Time after the end of a trajectory within which a goal must '
        'succeed, where it has none of its own; 0: unlimited.')
