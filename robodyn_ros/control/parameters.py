# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Control parameters, each declared once: default, unit, range, meaning and record.

From these declarations derive :class:`~.settings.Settings`, the records that the control cycle
reads (:mod:`.dtypes`), the parameters of the controller node and docs/parameters.md,
each in the order of this file. To add a parameter, add a field here; with ``record=`` the cycle
finds its value in a record field of the same name. Gains are declared with the laws that have
them, in :mod:`.laws`.

Lists hold one value a joint; a number, or a list of one, stands for all joints.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .contact_parameters import ContactParameters
from .coupling_parameters import CouplingParameters
from .laws.adaptive import AdaptiveGains
from .laws.computed_torque import AccelerationGains
from .laws.disturbance_observer import ObserverGains
from .laws.feedback_policy import PolicyGains
from .laws.hand_guiding import GuidingGains
from .laws.leader_follower import CouplingGains
from .laws.pd import ImpedanceGains
from .laws.registry import MODES
from .laws.task_space import PostureGains
from .motion_parameters import MotionParameters
from .setting_fields import choice, flag, number, numbers, PerJoint, text
from .setting_fields import JOINT_RECORD as JOINT
from .setting_fields import SETTINGS_RECORD as SETTINGS
from .task_parameters import TaskParameters

#: Reactions to a state without velocity, in the order of their numbers.
MISSING_VELOCITY = ('fault', 'estimate', 'gravity_only')
#: Efforts of the last message after stopping, of a latched fault, and after a stall of the loop.
STOP_WITH = ('zero', 'gravity')
FAULT_ACTION = ('ramp', 'hold')
STALL_ACTION = ('silence', 'zero')


@dataclass(frozen=True)
class LoopParameters:
    """Rate of the control loop."""

    rate: float = number(1000.0, 'Hz', 1.0, 10000.0, 'Rate of the control cycle.', live=False)


@dataclass(frozen=True)
class Mode:
    """Choice of the control law."""

    mode: str = choice(MODES, 'Control law; package.module:NAME is a custom law.',
                       places=True)


# A dataclass has the fields of its last base first
@dataclass(frozen=True)
class LawGains(CouplingGains, GuidingGains, PostureGains, PolicyGains, AdaptiveGains,
               ObserverGains, AccelerationGains, ImpedanceGains, Mode):
    """The gains of all laws of this package."""


@dataclass(frozen=True)
class LawParameters(CouplingParameters, TaskParameters, LawGains):
    """Control law, its gains and limits, and what is known of the robot beyond the URDF."""

    effort_limit: PerJoint = numbers(
        'N·m or N', 0.0, 1e6, 'Effort limit, at most that of the URDF. Empty: from the URDF.',
        live=False, record=JOINT)
    effort_rate_limit: PerJoint = numbers(
        'N·m/s or N/s', 0.0, 1e8, 'Maximum rate of change of the effort, without gravity '
        'compensation. Empty: ten times the effort limit per second.', record=JOINT)
    velocity_limit: PerJoint = numbers(
        'rad/s or m/s', 0.0, 1e3, 'Velocity limit, at most that of the URDF. Empty: from the '
        'URDF.', live=False, record=JOINT)
    loop_delay: float = number(
        0.002, 's', 0.0, 0.1, 'Maximum time from the measurement of a state to the effect of its '
        'efforts; gains must be stable with it.', live=False, record=SETTINGS)
    armature: PerJoint = numbers(
        'kg·m² or kg', 0.0, 1e3, 'Rotor inertia reflected to the joints, which standard URDF '
        'lacks; it permits higher gains. Empty: from the URDF.', live=False)
    viscous_friction: PerJoint = numbers(
        'N·m·s/rad or N·s/m', 0.0, 1e5, 'Viscous friction in the positive direction; it enters '
        'the gain check. Empty: from the URDF.')
    coulomb_friction: PerJoint = numbers(
        'N·m or N', 0.0, 1e6, 'Coulomb friction in the positive direction. Empty: from the URDF.')
    static_friction: PerJoint = numbers(
        'N·m or N', 0.0, 1e6, 'Friction near rest. Empty: `coulomb_friction` if set, else from '
        'the URDF.')
    backward_viscous_friction: PerJoint = numbers(
        'N·m·s/rad or N·s/m', 0.0, 1e5, 'Viscous friction in the negative direction. Empty: '
        '`viscous_friction` if set, else from the URDF.')
    backward_coulomb_friction: PerJoint = numbers(
        'N·m or N', 0.0, 1e6, 'Coulomb friction in the negative direction. Empty: '
        '`coulomb_friction` if set, else from the URDF.')
    backward_static_friction: PerJoint = numbers(
        'N·m or N', 0.0, 1e6, 'Friction near rest in the negative direction. Empty: '
        '`backward_coulomb_friction` if set, else as in the positive direction or from the URDF.')
    friction_velocity: PerJoint = numbers(
        'rad/s or m/s', 1e-6, 1e3, 'Velocity scale of the sign change of friction; in '
        'gravity_compensation, several times the velocity noise.')
    stribeck_velocity: PerJoint = numbers(
        'rad/s or m/s', 1e-6, 1e3, 'Velocity scale of the decay from static to Coulomb friction.')
    presliding_distance: PerJoint = numbers(
        'rad or m', 0.0, 1.0, 'Distance after a reversal over which friction changes sign, '
        'compensated along the reference or, if the arm floats, the measured motion (then at '
        'least 40 times the position noise). 0: the sign follows the velocity. Empty: from the '
        'URDF.')
    load_friction: PerJoint = numbers(
        '', 0.0, 0.5, 'Increase of Coulomb and static friction with the load, as a share of '
        '|g(q)|. Empty: from the URDF.')
    coupling_ratio: PerJoint = numbers(
        '', -10.0, 10.0, 'Ratio by which the motor of a joint also turns with the next joint, as '
        'in wrists: its friction acts on both. 0: none. Empty: from the URDF.')
    coupled_viscous_friction: PerJoint = numbers(
        'N·m·s/rad or N·s/m', 0.0, 1e5, 'Viscous friction of such a motor. Empty: from the URDF.')
    coupled_coulomb_friction: PerJoint = numbers(
        'N·m or N', 0.0, 1e6, 'Coulomb friction of such a motor. Empty: from the URDF.')
    friction_offset: PerJoint = numbers(
        'N·m or N', -1e6, 1e6, 'Constant effort in addition to gravity and friction; compensated '
        'with the friction.', record=JOINT)
    friction_compensation: PerJoint = numbers(
        '', 0.0, 1.0, 'Share of friction and offset that is compensated, at the reference '
        'velocity; in gravity_compensation at the measured one, up to 0.8. Empty: none.',
        record=JOINT)
    robot_compensates_gravity: bool = flag(
        'Whether the robot itself adds g(q) to its commands, as Franka and UR do; commands then '
        'exclude g(q). Required for robots that are not part of this package.',
        live=False, record=SETTINGS)
    payload_frame: str = text(
        'Link that carries the payload; required with a payload_mass above 0. In adaptive, the '
        'link of the learned payload; empty: that of the last joint.')
    payload_mass: float = number(
        0.0, 'kg', 0.0, 1000.0, 'Mass of the payload; 0: no payload.')
    payload_com: Sequence[float] = numbers(
        'm', -10.0, 10.0, 'Center of mass of the payload in `payload_frame`.', (0.0, 0.0, 0.0))
    payload_inertia: Sequence[float] = numbers(
        'kg·m²', -1e3, 1e3, 'Inertia of the payload about its center of mass, in the axes of '
        '`payload_frame`: ixx, ixy, ixz, iyy, iyz, izz. Zeros: a point mass.', (0.0,) * 6)
    payload_transition: float = number(
        0.5, 's', 0.0, 60.0, 'Duration of the transition between payloads while the arm is '
        'driven.', record=SETTINGS)
    acceleration_limit: PerJoint = numbers(
        'rad/s² or m/s²', 1e-3, 1e5, 'Acceleration limit of stops and of motions to a target '
        'without a time; gains must follow it within `effort_rate_limit`. Empty: velocity limit '
        'within 0.25 s.')
    jerk_limit: PerJoint = numbers(
        'rad/s³ or m/s³', 1e-3, 1e7, 'Jerk limit of the same motions. Empty: acceleration limit '
        'within 0.1 s.')
    feedforward_limit: float = number(
        0.5, '', 0.0, 1.0, 'Largest effort accepted in waypoints of trajectories, as a fraction '
        'of the effort limit.')
    trajectory_start_tolerance: PerJoint = numbers(
        'rad or m', 1e-6, 1e3, 'Largest accepted distance from the reference to the start of a '
        'trajectory, such as the measured pose.', (0.05,))
    allow_nonzero_velocity_at_trajectory_end: bool = flag(
        'Accept a trajectory that ends with a velocity, and decelerate past its end. MoveIt Servo '
        'needs it from Jazzy on.')
    goal_tolerance: PerJoint = numbers(
        'rad or m', 0.0, 1e3, 'Default `goal_tolerance` of `~/follow_joint_trajectory`; joints '
        'must also be slower than `rest_velocity`. Empty or 0: unlimited.')
    goal_time_tolerance: float = number(
        0.0, 's', 0.0, 3600.0, 'Default `goal_time_tolerance` of `~/follow_joint_trajectory`; 0: '
        'unlimited.')


@dataclass(frozen=True)
class GuardParameters:
    """Conditions under which the arm is driven, and what happens when they fail."""

    state_timeout: float = number(
        0.05, 's', 0.001, 1.0, 'Age above which joint states are stale, which is a fault.',
        record=SETTINGS)
    late_limit: float = number(
        0.0, 's', 0.0, 1e3, 'Maximum mean delay of the state stamps plus half the interval '
        'between states; more is a fault, because gains are not checked for it. 0: twice '
        '`loop_delay` plus one period.', record=SETTINGS)
    missing_velocity: str = choice(
        MISSING_VELOCITY, 'Reaction to a state without velocity, or with more than ten times its '
        'limit: a fault, an estimate from positions, or gravity compensation alone.',
        record=SETTINGS)
    velocity_bandwidth: float = number(
        30.0, 'Hz', 0.1, 1000.0, 'Bandwidth of the velocity estimate, well below the rate of the '
        'states.', record=SETTINGS)
    velocity_scale: float = number(
        1.0, '', 0.01, 1.0, 'Reduced speed: fraction of the velocity limits available to the arm '
        'and to trajectories.')
    position_margin: PerJoint = numbers(
        'rad or m', 0.0, 1e3, 'Distance beyond the position limits that is a fault and prevents '
        'arming. Empty: 3 % of the range, 0: unlimited.', record=JOINT,
        unlimited=True)
    consistency_tolerance: PerJoint = numbers(
        'rad or m', 0.0, 1e3, 'Maximum difference between positions and integrated velocities '
        'over about 0.2 s, and maximum position jump; more is a fault. Empty: 0.02 rad or 0.005 '
        'm, 0: unlimited.', record=JOINT, unlimited=True)
    following_error: PerJoint = numbers(
        'rad or m', 0.0, 1e3, 'Maximum distance from the trajectory; more is a fault. Empty: 0.5 '
        'rad or 0.1 m in computed_torque, unlimited in modes with a stiffness; 0: unlimited.',
        record=JOINT, unlimited=True)
    blocked_effort: float = number(
        0.3, '', 0.0, 1.0, 'Fraction of the effort limit, on top of gravity, that may act for 0.5 '
        's without motion; more is a fault. 0: unlimited.',
        record=SETTINGS, unlimited=True)
    power_limit: float = number(
        0.0, 'W', 0.0, 1e6, 'Maximum mechanical power of all joints together; 0: unlimited.',
        record=SETTINGS, unlimited=True)
    missed_limit: int = number(
        100, '', 1, 1000000, 'Number of periods that may be missed at once, or in total beyond '
        'one in ten; more is a fault.', record=SETTINGS)
    saturation_timeout: float = number(
        2.0, 's', 0.01, 3600.0, 'Time at the effort limit or effort rate limit, less the time '
        'without, that is a fault.', record=SETTINGS)
    arming_samples: int = number(
        20, '', 1, 10000, 'Number of consecutive good samples required for arming.',
        record=SETTINGS)
    arming_velocity: float = number(
        0.05, 'rad/s or m/s', 0.0, 10.0, 'Maximum joint velocity for arming.',
        record=SETTINGS)
    arming_effort: float = number(
        0.1, '', 0.0, 10.0, 'Maximum difference between measured efforts and g(q) for arming, as '
        'a fraction of the effort limit; above 2 only if the brakes carry loads that the effort '
        'sensors do not measure.', record=SETTINGS)
    motor_test_effort: float = number(
        0.0, '', 0.0, 0.5, 'Test of the motors while arming: largest effort on top of gravity and '
        'known static friction, as a fraction of the effort limit. Each joint moves by a few mrad '
        'or mm, in about 0.7 s. 0: no test, as required with `controller_manager`.',
        record=SETTINGS)
    accept_zero_state: bool = flag(
        'Permit arming while all positions and velocities are exactly zero and no effort is '
        'measured, as before a driver has read its encoders. For an arm that really is at zero.',
        record=SETTINGS)
    damping_rate: float = number(
        10.0, '1/s', 0.0, 100.0, 'Damping while rising, stopping and after a fault: λ in '
        'λ M(q) q̇.', record=SETTINGS)
    rest_velocity: float = number(
        0.02, 'rad/s or m/s', 0.0, 1.0, 'Velocity below which a joint is at rest.',
        record=SETTINGS)
    stop_timeout: float = number(
        2.0, 's', 0.0, 30.0, 'Maximum duration of the stopping phase.', record=SETTINGS)
    stop_with: str = choice(
        STOP_WITH, 'Last message after stopping: zero effort, or g(q) for a drive that keeps its '
        'last command.', record=SETTINGS)
    fault_action: str = choice(
        FAULT_ACTION, 'After a fault with a fresh state: damped gravity compensation, then ramp '
        'to zero; or hold as long as the state is fresh.', record=SETTINGS)
    stall_action: str = choice(
        STALL_ACTION, 'After a stall of the loop: silence, because a drive with a command timeout '
        'has engaged its brakes and a command might release them; or a single zero, for a drive '
        'that keeps its last command.',
        record=SETTINGS)
    fault_hold_time: float = number(
        0.5, 's', 0.0, 60.0, 'Duration of damped gravity compensation after a fault.',
        record=SETTINGS)
    fault_ramp_time: float = number(
        0.5, 's', 0.01, 60.0, 'Duration of the ramp to zero afterwards.', record=SETTINGS)


@dataclass(frozen=True)
class ControlParameters(LoopParameters, MotionParameters, ContactParameters, GuardParameters,
                        LawParameters):
    """All control parameters: of law, guard, contacts, bounds and loop, in this order."""
