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
              '`robot_description` (transient local) if no parameter defines the robot.', 's',
              0.0, 60.0),
    Parameter('root', str, '', 'Link that is the fixed base; empty: root link of the URDF.'),
    Parameter('tip', str, '', 'Last link of the controlled chain; empty: the whole tree.'),
    Parameter('accepted_links', list[str], [], 'Links that are used although no rigid body has '
              'their inertia (triangle inequality violated by more than 2 %); `*`: all links.'),
)

LOOP = (
    Parameter('autostart', bool, False, 'Configure and activate once at start-up, without a '
              'request.'),
    Parameter('specialize', bool, True, 'Compile the dynamics for this robot when it is '
              'configured: faster cycles, a few seconds of compiling once per machine (`robodyn '
              'warmup` compiles in advance). A payload other than that at configuration uses the '
              'generic dynamics.'),
    Parameter('rate', float, D.rate, 'Rate of the control cycle.', 'Hz', 1.0, 10000.0),
    Parameter('trigger', str, 'timer', 'What starts a cycle: timer, the clock; state, the arrival '
              'of a joint state; inline, its arrival too, with the cycle in the middleware '
              'thread that received it (native data path only).', choices=TRIGGERS),
    Parameter('data_path', str, 'auto', 'How states are received and efforts published: native '
              'code, independent of the Python interpreter; Python with a wait set; or an rclpy '
              'executor. auto uses the first that is available. All compute the same efforts.',
              choices=DATA_PATHS),
    Parameter('arming_timeout', float, 5.0, 'How long activating and resetting wait until the arm '
              'can be armed.', 's', 0.1, 60.0, live=True),
)

REALTIME = (
    Parameter('priority', int, 0, 'Real-time priority (SCHED_FIFO) of the control thread; 0: '
              'none. Interrupt threads of a real-time kernel run at 50.', '', 0, 99),
    Parameter('cpus', list[int], [], 'CPUs to which the control thread is restricted; empty: no '
              'restriction.', '', 0, 1023),
    Parameter('lock_memory', bool, False, 'Lock the memory of the process in RAM (mlockall) while '
              'active.'),
    Parameter('spin', float, 0.0, 'Time before each deadline for which the control thread '
              'busy-waits instead of sleeping: less wake-up latency, for a busy CPU. With '
              '`trigger` timer.', 's', 0.0, 0.001),
    Parameter('keep_awake', bool, False, 'Keep all CPUs out of deep idle states while active '
              '(/dev/cpu_dma_latency): less wake-up latency, for more power and heat.'),
    Parameter('timing_file', str, '', 'File (.npz) to which the timing of the latest million '
              'cycles is written on deactivation, for `robodyn loop-report`; empty: none.'),
    Parameter('flight_recorder', float, 5.0, 'Time span of the latest cycles that is kept in '
              'memory (at the nominal rate; 64 MiB at most) and written when a fault latches, '
              'for `robodyn replay`; 0: none.', 's', 0.0, 60.0),
    Parameter('flight_folder', str, '', 'Folder of the flight recordings, of which the newest 20 '
              'of this node are kept; empty: folder of the ROS logs.', live=True),
    Parameter('rate_warn', float, 0.05, 'Mean error or standard deviation of the rate above which '
              'the diagnostics warn, relative to `rate`.', '', 0.0, 1.0, live=True),
    Parameter('rate_error', float, 0.1, 'As `rate_warn`, for an error.', '', 0.0, 1.0, live=True),
    Parameter('execution_warn', float, 0.001, 'Mean cycle time above which the diagnostics warn; '
              'half a period always does.', 's', 0.0, 1.0, live=True),
    Parameter('execution_error', float, 0.002, 'As `execution_warn`, for an error; a full period '
              'always is one.', 's', 0.0, 1.0, live=True),
    Parameter('jitter_warn', float, 0.0001, 'Standard deviation of the cycle time above which the '
              'diagnostics warn.', 's', 0.0, 1.0, live=True),
    Parameter('jitter_error', float, 0.0002, 'As `jitter_warn`, for an error.', 's', 0.0, 1.0,
              live=True),
)

CONTROL = (
    Parameter('mode', str, D.mode, 'Control law.', choices=MODES, live=True),
    Parameter('stiffness', list[float], [], 'Stiffness K of pd and joint_impedance, per joint.',
              'N·m/rad or N/m', 0.0, 1e6, live=True),
    Parameter('damping', list[float], [], 'Damping D of pd and joint_impedance, per joint.',
              'N·m·s/rad or N·s/m', 0.0, 1e5, live=True),
    Parameter('acceleration_kp', list[float], [], 'Position gain k_p of computed_torque.', '1/s²',
              0.0, 1e5, live=True),
    Parameter('acceleration_kd', list[float], [], 'Velocity gain k_d of computed_torque.', '1/s',
              0.0, 1e4, live=True),
    Parameter('effort_limit', list[float], [], 'Effort limit, at most that of the URDF; empty: '
              'that of the URDF.', 'N·m or N', 0.0, 1e6),
    Parameter('effort_rate_limit', list[float], [], 'Maximum rate of change of the effort, '
              'gravity compensation excepted; empty: ten times the effort limit per second.',
              'N·m/s or N/s', 0.0, 1e8, live=True),
    Parameter('velocity_limit', list[float], [], 'Velocity limit, at most that of the URDF; '
              'empty: that of the URDF.', 'rad/s or m/s', 0.0, 1e3),
    Parameter('loop_delay', float, D.loop_delay, 'Maximum time from the measurement of a state to '
              'the effect of its efforts; gains must be stable with it.', 's', 0.0, 0.1),
    Parameter('armature', list[float], [], 'Rotor inertia reflected to the joints, which standard '
              'URDF cannot express; with it, higher gains are stable. Empty: that of the URDF.',
              'kg·m² or kg', 0.0, 1e3),
    Parameter('viscous_friction', list[float], [], 'Viscous friction of motion in the positive '
              'direction; taken into account when gains are checked. Empty: that of the URDF.',
              'N·m·s/rad or N·s/m', 0.0, 1e5, live=True),
    Parameter('coulomb_friction', list[float], [], 'Coulomb friction of motion in the positive '
              'direction. Empty: that of the URDF.', 'N·m or N', 0.0, 1e6, live=True),
    Parameter('static_friction', list[float], [], 'Friction near rest; empty: equal to '
              '`coulomb_friction` if that is set, else that of the URDF.', 'N·m or N', 0.0, 1e6,
              live=True),
    Parameter('backward_viscous_friction', list[float], [], 'Viscous friction of motion in the '
              'negative direction; empty: equal to `viscous_friction` if that is set, else that '
              'of the URDF.', 'N·m·s/rad or N·s/m', 0.0, 1e5, live=True),
    Parameter('backward_coulomb_friction', list[float], [], 'Coulomb friction of motion in the '
              'negative direction; empty: equal to `coulomb_friction` if that is set, else that '
              'of the URDF.', 'N·m or N', 0.0, 1e6, live=True),
    Parameter('backward_static_friction', list[float], [], 'Friction near rest of motion in the '
              'negative direction; empty: equal to `backward_coulomb_friction` if that is set, '
              'else as in the positive direction or in the URDF.', 'N·m or N', 0.0, 1e6,
              live=True),
    Parameter('friction_velocity', list[float], [], 'Velocity scale on which friction changes '
              'sign. In gravity_compensation, choose several times the noise of the velocity.',
              'rad/s or m/s', 1e-6, 1e3, live=True),
    Parameter('stribeck_velocity', list[float], [], 'Velocity scale on which static friction '
              'decays to Coulomb friction.', 'rad/s or m/s', 1e-6, 1e3, live=True),
    Parameter('friction_offset', list[float], [], 'Effort needed at any velocity in addition to '
              'gravity and friction; compensated with the friction.', 'N·m or N', -1e6, 1e6,
              live=True),
    Parameter('friction_compensation', list[float], [], 'Share of friction and offset that is '
              'compensated; empty: none. Uses the velocity of the reference; in '
              'gravity_compensation the measured velocity, and then at most 0.8.', '', 0.0, 1.0,
              live=True),
    Parameter('robot_compensates_gravity', bool, D.robot_compensates_gravity, 'Whether the robot '
              'adds g(q) to its commands itself, as Franka and UR do; commands then exclude '
              'g(q).'),
    Parameter('payload_frame', str, '', 'Link to which the payload is attached.', live=True),
    Parameter('payload_mass', float, D.payload_mass, 'Mass of the payload, a point mass.', 'kg',
              0.0, 1000.0, live=True),
    Parameter('payload_com', list[float], [0.0, 0.0, 0.0], 'Position of the payload in '
              '`payload_frame`.', 'm', -10.0, 10.0, live=True),
)

GUARD = (
    Parameter('heartbeat_timeout', float, 0.0, 'Maximum time between messages on `~/heartbeat` '
              '(std_msgs/Bool); longer silence, false, or two publishers stop the arm. 0: no '
              'heartbeat is required.', 's', 0.0, 60.0),
    Parameter('emergency_stop', bool, False, 'Subscribe to `~/emergency_stop` (std_msgs/Bool): '
              'true stops the arm, as do no message yet, no publisher any more, and two '
              'publishers.'),
    Parameter('state_timeout', float, D.state_timeout, 'Age above which joint states are stale, '
              'which is a fault.', 's', 0.001, 1.0, live=True),
    Parameter('late_limit', float, D.late_limit, 'Maximum of the delay of the state time stamps '
              'plus half the interval between states; a lasting excess is a fault, because gains '
              'are not checked for it. 0: twice `loop_delay` plus one period.', 's', 0.0, 1e3,
              live=True),
    Parameter('missing_velocity', str, D.missing_velocity, 'Reaction to a state without velocity, '
              'or with more than ten times its limit: a fault, an estimate from positions, or '
              'gravity compensation alone while it lasts.', choices=MISSING_VELOCITY, live=True),
    Parameter('velocity_bandwidth', float, D.velocity_bandwidth, 'Bandwidth of the velocity '
              'estimate; choose it well below the rate of the states.', 'Hz', 0.1, 1000.0,
              live=True),
    Parameter('velocity_scale', float, D.velocity_scale, 'Reduced speed: fraction of the velocity '
              'limits available to the arm and to trajectories.', '', 0.01, 1.0, live=True),
    Parameter('position_margin', list[float], [], 'Distance beyond the position limits at which a '
              'joint is in fault; empty: 3 % of its range, 0: unlimited.', 'rad or m', 0.0, 1e3,
              live=True),
    Parameter('consistency_tolerance', list[float], [], 'Maximum difference between positions and '
              'the integral of the velocities over about 0.2 s, and maximum position jump; more '
              'is a fault. Empty: 0.02 rad or 0.005 m, 0: unlimited.', 'rad or m', 0.0, 1e3,
              live=True),
    Parameter('following_error', list[float], [], 'Maximum distance of a joint from the '
              'trajectory that it follows; more is a fault. Empty: 0.5 rad or 0.1 m in '
              'computed_torque, unlimited in modes with a stiffness; 0: unlimited.', 'rad or m',
              0.0, 1e3, live=True),
    Parameter('blocked_effort', float, D.blocked_effort, 'Fraction of the effort limit, in '
              'addition to gravity, with which a joint may be driven for half a second without '
              'moving; more is a fault. 0: unlimited.', '', 0.0, 1.0, live=True),
    Parameter('power_limit', float, D.power_limit, 'Maximum mechanical power of all joints '
              'together; 0: unlimited.', 'W', 0.0, 1e6, live=True),
    Parameter('missed_limit', int, D.missed_limit, 'Number of periods that may be missed at a '
              'time, or in total beyond one in ten; more are a fault.', '', 1, 1000000, live=True),
    Parameter('saturation_timeout', float, D.saturation_timeout, 'Time at the effort limit or the '
              'effort rate limit, less the time without, that is a fault.', 's', 0.01, 3600.0,
              live=True),
    Parameter('arming_samples', int, D.arming_samples, 'Number of consecutive good samples '
              'required for arming.', '', 1, 10000, live=True),
    Parameter('arming_velocity', float, D.arming_velocity, 'Velocity below which joints must be '
              'for arming.', 'rad/s or m/s', 0.0, 10.0, live=True),
    Parameter('arming_effort', float, D.arming_effort, 'Maximum difference between measured '
              'efforts and g(q) for arming, as a fraction of the effort limit; set it above 2 '
              'only if the brakes carry loads that the effort sensors do not measure.', '', 0.0,
              10.0, live=True),
    Parameter('damping_rate', float, D.damping_rate, 'Damping while rising, stopping and after a '
              'fault: λ in λ M(q) q̇.', '1/s', 0.0, 100.0, live=True),
    Parameter('rest_velocity', float, D.rest_velocity, 'Velocity below which a joint is at rest.',
              'rad/s or m/s', 0.0, 1.0, live=True),
    Parameter('stop_timeout', float, D.stop_timeout, 'Maximum duration of the stopping phase.',
              's', 0.0, 30.0, live=True),
    Parameter('stop_with', str, D.stop_with, 'Last message after stopping: zero effort, or g(q) '
              'for a drive that keeps its last command.', choices=('zero', 'gravity'), live=True),
    Parameter('fault_action', str, D.fault_action, 'After a fault with a fresh state: damped '
              'gravity compensation for a time followed by a ramp to zero, or hold as long as '
              'the state is fresh.', choices=('ramp', 'hold'), live=True),
    Parameter('stall_action', str, D.stall_action, 'After the loop stalled for longer than '
              '`state_timeout`: send nothing, because a drive with a command timeout has engaged '
              'its brakes and a command might release them; or send a single zero, for a drive '
              'that keeps its last command.', choices=('silence', 'zero'), live=True),
    Parameter('fault_hold_time', float, D.fault_hold_time, 'Duration of damped gravity '
              'compensation after a fault.', 's', 0.0, 60.0, live=True),
    Parameter('fault_ramp_time', float, D.fault_ramp_time, 'Duration of the ramp to zero '
              'afterwards.', 's', 0.01, 60.0, live=True),
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
