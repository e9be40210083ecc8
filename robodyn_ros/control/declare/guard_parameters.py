# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the guard: when the arm is driven, and what happens in a fault."""

from dataclasses import dataclass

from .setting_fields import choice, flag, number, numbers, PerJoint
from .setting_fields import JOINT_RECORD as JOINT
from .setting_fields import SETTINGS_RECORD as SETTINGS

#: Reactions to a state without velocity, in the order of their numbers.
MISSING_VELOCITY = ('fault', 'estimate', 'gravity_only')
#: Efforts of the last message after stopping, of a latched fault, and after a stall of the loop.
STOP_WITH = ('zero', 'gravity')
FAULT_ACTION = ('ramp', 'hold')
STALL_ACTION = ('silence', 'zero')


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
