# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the controller node, declared once; docs/parameters.md is made from this table."""

from dataclasses import fields
from typing import Any

from ..control.records import MISSING_VELOCITY, MODES
from ..control.settings import Settings
from ..errors import ParameterError
from ..realtime.scheduling import Scheduling
from . import robot
from .data_path import DATA_PATHS
from .parameters import Parameter

D = Settings()
TRIGGERS = ('timer', 'state', 'inline')

ROBOT = (
    *robot.PARAMETERS,
    Parameter('description_timeout', float, 5.0, 'How long configuring waits for the topic '
              '`robot_description` (transient local) where no parameter names the robot.', 's',
              0.0, 60.0),
    Parameter('root', str, '', 'Link that is the fixed base; empty: the root of the URDF.'),
    Parameter('tip', str, '', 'Last link of the chain to control; empty: the whole tree.'),
    Parameter('accepted_links', list[str], [], 'Links whose inertia no rigid body has (the '
              'triangle inequality is off by more than 2 %) that shall be used nevertheless; `*` '
              'stands for all.'),
)

LOOP = (
    Parameter('autostart', bool, False, 'Configure and activate without being asked, once.'),
    Parameter('specialize', bool, True, 'Compile the dynamics for this robot alone when it is '
              'configured: faster cycles, for seconds of compiling once on a machine (`robodyn '
              'warmup` does it ahead). Another payload than at the start is computed by the '
              'dynamics for any robot.'),
    Parameter('rate', float, D.rate, 'Rate of the control cycle.', 'Hz', 1.0, 10000.0),
    Parameter('trigger', str, 'timer', 'What starts a cycle: the clock, or the arrival of a joint '
              'state. inline: its arrival, and the thread of the middleware that has brought it '
              'runs the cycle (native data path only).', choices=TRIGGERS),
    Parameter('data_path', str, 'auto', 'What takes states and publishes efforts: native code, '
              'which nothing in Python holds up; Python on a wait set; or an rclpy executor. auto '
              'is the first of these that can be had. All give the same efforts.',
              choices=DATA_PATHS),
    Parameter('arming_timeout', float, 5.0, 'How long activating and resetting wait for an arm '
              'that may be armed.', 's', 0.1, 60.0, live=True),
)

REALTIME = (
    Parameter('priority', int, 0, 'Real-time priority (SCHED_FIFO) of the control thread; 0: '
              'none. Interrupts of a real-time kernel run at 50.', '', 0, 99),
    Parameter('cpus', list[int], [], 'The only CPUs on which the control thread may run; empty: '
              'any.', '', 0, 1023),
    Parameter('lock_memory', bool, False, 'Keep the memory of the process in RAM (mlockall) while '
              'it is active.'),
    Parameter('spin', float, 0.0, 'The control thread sleeps so much less and watches the clock '
              'for the rest: less late, for a CPU kept busy meanwhile. With `trigger` timer.',
              's', 0.0, 0.001),
    Parameter('keep_awake', bool, False, 'Keep all CPUs out of deep idle states while active '
              '(/dev/cpu_dma_latency): less late, for more power and heat.'),
    Parameter('timing_file', str, '', 'When deactivated, write the timing of the latest million '
              'cycles there (.npz), for `robodyn loop-report`; empty: nowhere.'),
    Parameter('flight_recorder', float, 5.0, 'How much of the latest cycles is kept in memory (of '
              'the nominal rate; 64 MiB at most), and written when a fault latches, for `robodyn '
              'replay`; 0: nothing.', 's', 0.0, 60.0),
    Parameter('flight_folder', str, '', 'Folder of these recordings, of which the newest 20 of '
              'this node are kept; empty: that of the ROS logs.', live=True),
    Parameter('rate_warn', float, 0.05, 'Mean error, or standard deviation, of the rate that is '
              'warned of in the diagnostics, as a share of `rate`.', '', 0.0, 1.0, live=True),
    Parameter('rate_error', float, 0.1, 'The same, an error.', '', 0.0, 1.0, live=True),
    Parameter('execution_warn', float, 0.001, 'Mean time of a cycle that is warned of; half a '
              'period always is.', 's', 0.0, 1.0, live=True),
    Parameter('execution_error', float, 0.002, 'The same, an error; a period always is.', 's',
              0.0, 1.0, live=True),
    Parameter('jitter_warn', float, 0.0001, 'Standard deviation of the time of a cycle that is '
              'warned of.', 's', 0.0, 1.0, live=True),
    Parameter('jitter_error', float, 0.0002, 'The same, an error.', 's', 0.0, 1.0, live=True),
)

CONTROL = (
    Parameter('mode', str, D.mode, 'Control law.', choices=MODES, live=True),
    Parameter('stiffness', list[float], [], 'K of pd and joint_impedance, one a joint.',
              'N·m/rad or N/m', 0.0, 1e6, live=True),
    Parameter('damping', list[float], [], 'D of pd and joint_impedance.', 'N·m·s/rad or N·s/m',
              0.0, 1e5, live=True),
    Parameter('acceleration_kp', list[float], [], 'Position gain of computed_torque.', '1/s²',
              0.0, 1e5, live=True),
    Parameter('acceleration_kd', list[float], [], 'Velocity gain of computed_torque.', '1/s',
              0.0, 1e4, live=True),
    Parameter('effort_limit', list[float], [], 'At most the limit of the URDF, which empty means.',
              'N·m or N', 0.0, 1e6),
    Parameter('effort_rate_limit', list[float], [], 'How fast efforts besides gravity may change; '
              'empty: ten times the effort limit per second.', 'N·m/s or N/s', 0.0, 1e8,
              live=True),
    Parameter('velocity_limit', list[float], [], 'At most the limit of the URDF, which empty '
              'means.', 'rad/s or m/s', 0.0, 1e3),
    Parameter('loop_delay', float, D.loop_delay, 'Longest time from the measurement of a state to '
              'the effect of its efforts: gains must be stable up to it.',
              's', 0.0, 0.1),
    Parameter('armature', list[float], [], 'Inertia of the rotors seen at the joints, which a '
              'URDF does not say: with it, higher gains are stable.', 'kg·m² or kg', 0.0, 1e3),
    Parameter('viscous_friction', list[float], [], 'Friction of motion in the positive direction, '
              'all that grows with the velocity. Empty, here and below: what the URDF says. Gains '
              'are judged with it.', 'N·m·s/rad or N·s/m', 0.0, 1e5, live=True),
    Parameter('coulomb_friction', list[float], [], 'Friction that does not.', 'N·m or N', 0.0, 1e6,
              live=True),
    Parameter('static_friction', list[float], [], 'Friction near rest; empty: as much as '
              '`coulomb_friction` where that is given.', 'N·m or N', 0.0, 1e6, live=True),
    Parameter('backward_viscous_friction', list[float], [], 'Of motion in the negative direction; '
              'empty: as in the positive one where that is given.', 'N·m·s/rad or N·s/m', 0.0,
              1e5, live=True),
    Parameter('backward_coulomb_friction', list[float], [], 'The same.', 'N·m or N', 0.0, 1e6,
              live=True),
    Parameter('backward_static_friction', list[float], [], 'The same; as much as '
              '`backward_coulomb_friction` where that is given.', 'N·m or N', 0.0, 1e6,
              live=True),
    Parameter('friction_velocity', list[float], [], 'On this scale friction passes through zero. '
              'In gravity_compensation several times the noise of the velocity.',
              'rad/s or m/s', 1e-6, 1e3, live=True),
    Parameter('stribeck_velocity', list[float], [], 'On this scale static friction becomes '
              "Coulomb's.", 'rad/s or m/s', 1e-6, 1e3, live=True),
    Parameter('friction_offset', list[float], [], 'Effort that a joint takes at any velocity, '
              'besides gravity and friction: compensated with it.', 'N·m or N', -1e6, 1e6,
              live=True),
    Parameter('friction_compensation', list[float], [], 'Share of friction and offset that the '
              'efforts overcome; empty: none. Friction of the velocity of the reference, in '
              'gravity_compensation of the measured one, and then at most 0.8.', '', 0.0, 1.0,
              live=True),
    Parameter('robot_compensates_gravity', bool, D.robot_compensates_gravity, 'The robot adds '
              'g(q) to its commands itself, as Franka and UR do; they are then without it.'),
    Parameter('payload_frame', str, '', 'Link that holds the payload.', live=True),
    Parameter('payload_mass', float, D.payload_mass, 'Mass of the payload, a point.', 'kg', 0.0,
              1000.0, live=True),
    Parameter('payload_com', list[float], [0.0, 0.0, 0.0], 'Where it is, in the frame of the '
              'link.', 'm', -10.0, 10.0, live=True),
)

GUARD = (
    Parameter('heartbeat_timeout', float, 0.0, 'Longest silence on `~/heartbeat` '
              '(std_msgs/Bool): no message, or false, is a stop; so are two publishers. 0: no '
              'heartbeat is asked for.', 's', 0.0, 60.0),
    Parameter('emergency_stop', bool, False, 'Hear `~/emergency_stop` (std_msgs/Bool): true is a '
              'stop; so are no word yet, no publisher any more, or two of them.'),
    Parameter('state_timeout', float, D.state_timeout, 'Older joint states are stale: a fault.',
              's', 0.001, 1.0, live=True),
    Parameter('late_limit', float, D.late_limit, 'Lateness of the time stamps of the states, and '
              'half the interval between them, that is a fault where it lasts: gains are not '
              'judged with more. 0: twice `loop_delay` and a period.', 's', 0.0, 1e3, live=True),
    Parameter('missing_velocity', str, D.missing_velocity, 'Where a state carries no velocity, or '
              'one of more than ten times its limit: a fault, an estimate from positions, or '
              'gravity alone until it does again.',
              choices=MISSING_VELOCITY, live=True),
    Parameter('velocity_bandwidth', float, D.velocity_bandwidth, 'Of that estimate; well below '
              'the rate of the states.', 'Hz', 0.1, 1000.0, live=True),
    Parameter('velocity_scale', float, D.velocity_scale, 'Reduced speed: share of the velocity '
              'limits that the arm may reach, and that trajectories may ask for.', '', 0.01, 1.0,
              live=True),
    Parameter('position_margin', list[float], [], 'How far a joint may be beyond its position '
              'limits before it is a fault; empty: 3 % of its range, 0: any distance.',
              'rad or m', 0.0, 1e3, live=True),
    Parameter('consistency_tolerance', list[float], [], 'How far positions may be from what the '
              'velocities of the last 0.2 s make of them before the state is a fault, and how far '
              'a position may jump; empty: 0.02 rad or 0.005 m, 0: any distance.', 'rad or m',
              0.0, 1e3, live=True),
    Parameter('following_error', list[float], [], 'How far a joint may be from the trajectory '
              'that it follows before it is a fault; empty: 0.5 rad or 0.1 m in '
              'computed_torque, and any distance in modes with a stiffness; 0: any distance.',
              'rad or m', 0.0, 1e3, live=True),
    Parameter('blocked_effort', float, D.blocked_effort, 'Share of the effort limit, besides '
              'gravity, with which a joint may be driven for half a second without moving; more '
              'is a fault. 0: any effort.', '', 0.0, 1.0, live=True),
    Parameter('power_limit', float, D.power_limit, 'Mechanical power that all joints together may '
              'give; 0: any.', 'W', 0.0, 1e6, live=True),
    Parameter('missed_limit', int, D.missed_limit, 'Periods that may be missed at a time, or '
              'little by little beyond one in ten; more are a fault.', '', 1, 1000000, live=True),
    Parameter('saturation_timeout', float, D.saturation_timeout, 'Time at the effort limit or the '
              'effort rate limit, less the time without, that is a fault.', 's', 0.01, 3600.0,
              live=True),
    Parameter('arming_samples', int, D.arming_samples, 'Good samples in a row before the arm '
              'rises.', '', 1, 10000, live=True),
    Parameter('arming_velocity', float, D.arming_velocity, 'Joints must be slower to arm.',
              'rad/s or m/s', 0.0, 10.0, live=True),
    Parameter('arming_effort', float, D.arming_effort, 'Measured efforts must agree with g(q) up '
              'to this share of the effort limit to arm; raise it above 2 only for an arm whose '
              'brakes carry what its sensors do not feel.', '', 0.0, 10.0, live=True),
    Parameter('damping_rate', float, D.damping_rate, 'Damping while rising, stopping and after a '
              'fault: this times M(q).', '1/s', 0.0, 100.0,
              live=True),
    Parameter('rest_velocity', float, D.rest_velocity, 'Slower joints are at rest.',
              'rad/s or m/s', 0.0, 1.0, live=True),
    Parameter('stop_timeout', float, D.stop_timeout, 'Longest stopping phase.', 's', 0.0, 30.0,
              live=True),
    Parameter('stop_with', str, D.stop_with, 'Last message after stopping: zero effort, or g(q) '
              'for a plant that keeps it.', choices=('zero', 'gravity'), live=True),
    Parameter('fault_action', str, D.fault_action, 'After a fault with fresh state: damped '
              'gravity for a time and a ramp to zero, or holding as long as the state is fresh.',
              choices=('ramp', 'hold'), live=True),
    Parameter('stall_action', str, D.stall_action, 'After the loop stood still for longer than '
              '`state_timeout`: send nothing, since a drive with a command timeout has engaged '
              'its brakes and a command might release them; or send one zero, for a drive that '
              'keeps the last command for ever.', choices=('silence', 'zero'), live=True),
    Parameter('fault_hold_time', float, D.fault_hold_time, 'Time of damped gravity after a fault.',
              's', 0.0, 60.0, live=True),
    Parameter('fault_ramp_time', float, D.fault_ramp_time, 'Time of the ramp to zero after it.',
              's', 0.01, 60.0, live=True),
)

TABLE = ROBOT + LOOP + REALTIME + CONTROL + GUARD
THRESHOLDS = ('rate_warn', 'rate_error', 'execution_warn', 'execution_error', 'jitter_warn',
              'jitter_error')


def settings(values: dict[str, Any]) -> Settings:
    """Return the control settings among a node's parameter values."""
    return Settings(**{f.name: values[f.name] for f in fields(Settings)})


def scheduling(values: dict[str, Any]) -> Scheduling:
    """
    Return what is wanted for the control thread.

    :raises ParameterError: the final spin would be longer than a period.
    """
    if values['trigger'] == 'timer' and values['spin'] * values['rate'] >= 1.0:
        raise ParameterError(f'parameter spin = {values["spin"]:g} s is refused', name='spin',
                             value=values['spin'],
                             remedy=f'it must be a part of the period, {1 / values["rate"]:g} s; '
                                    '0.00005 is much')
    return Scheduling(values['priority'], tuple(values['cpus']), values['lock_memory'],
                      values['keep_awake'])


def thresholds(values: dict[str, Any]) -> dict[str, float]:
    """Return the thresholds that ``realtime.statistics.quality`` asks for."""
    return {name: values[name] for name in THRESHOLDS}
