# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a control cycle reads and remembers: flat records, which compiled code shares."""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

# Modes of the control law, in the order of their numbers.
MODES = ('gravity_compensation', 'pd', 'joint_impedance', 'computed_torque')
GRAVITY_COMPENSATION, PD, JOINT_IMPEDANCE, COMPUTED_TORQUE = range(len(MODES))

# What happens where a state carries no velocity, in the order of their numbers.
MISSING_VELOCITY = ('fault', 'estimate', 'gravity_only')
VELOCITY_OR_FAULT, VELOCITY_OR_ESTIMATE, VELOCITY_OR_GRAVITY = range(len(MISSING_VELOCITY))

# Requests to the state machine; the cycle takes one and writes NO_REQUEST back.
NO_REQUEST, ARM, DISARM, STOP = range(4)

# What only the outside knows.
OUTSIDE = np.dtype([
    ('request', np.int64),
    ('missed', np.int64),               # periods missed between the last cycle and this one
    ('listeners', np.int64),            # subscribers of the commands
    ('command_publishers', np.int64),   # who publish commands, this controller included
    ('stop_reason', np.int64),          # reason code of an emergency stop or the like; 0: none
    ('stalled', float),                 # s for which the loop stood still before this cycle
    ('simulated_time', np.int64),       # 1: jumps of the time are resets of a simulation
    ('clock_stopped', float),           # s for which the arm has moved while time stood still
])

# One a joint: gains and limits, in the model's order.
JOINT = np.dtype([
    ('stiffness', float),               # N·m/rad | N/m     pd, joint_impedance
    ('damping', float),                 # N·m·s/rad | N·s/m pd, joint_impedance
    ('acceleration_kp', float),         # 1/s²              computed_torque
    ('acceleration_kd', float),         # 1/s               computed_torque
    ('friction_share', float),          # of friction and its offset that is compensated
    ('friction_offset', float),         # N·m | N
    ('effort_limit', float),            # N·m | N
    ('effort_rate', float),             # N·m/s | N/s
    ('position_lower', float),          # rad | m
    ('position_upper', float),
    ('velocity_limit', float),          # rad/s | m/s
    ('position_margin', float),         # rad | m, beyond the limits until it is a fault
    ('consistency_tolerance', float),   # rad | m, see plausibility.py
    ('following_error', float),         # rad | m, see motion_checks.py
    ('periodic', np.int64),             # 1: positions that differ by full turns are the same
])

# One a controller.
SETTINGS = np.dtype([
    ('mode', np.int64),
    ('law', np.int64),                  # another number: mode, gains, friction or payload differ
    ('version', np.int64),              # counts all changes, see history.py
    ('period', float),                  # s, nominal
    ('state_timeout', float),           # s
    ('arming_samples', np.int64),
    ('arming_velocity', float),         # rad/s | m/s
    ('arming_effort', float),           # fraction of the effort limit
    ('rest_velocity', float),           # rad/s | m/s
    ('damping_rate', float),            # 1/s, times M(q): rising, stopping, fault
    ('limit_rate', float),              # 1/s, see limits.keep_inside
    ('approach_rate', float),           # 1/s, likewise
    ('loop_delay', float),              # s, from a state's measurement to the effort's effect
    ('late_limit', float),              # s, see plausibility.py
    ('blocked_effort', float),          # share of the effort limit, see motion_checks.py
    ('power_limit', float),             # W
    ('strain_limit', float),            # s at the effort or the rate limit
    ('missed_limit', float),            # periods
    ('missing_velocity', np.int64),
    ('velocity_bandwidth', float),      # rad/s
    ('robot_compensates_gravity', np.int64),
    ('compensates_friction', np.int64),  # 1: of some joint
    ('stop_timeout', float),            # s
    ('stop_with_gravity', np.int64),    # 1: the last message is g(q), 0: it is zero
    ('fault_hold_time', float),         # s of damped gravity after a fault
    ('fault_ramp_time', float),         # s from there to zero
    ('zero_after_stall', np.int64),     # 1: send zero after a stall, 0: nothing
    ('fault_keeps_holding', np.int64),  # 1: damped gravity as long as the state is fresh
])

# The state machine, written by the cycle alone.
MEMORY = np.dtype([
    ('phase', np.int64), ('reason', np.int64), ('joint', np.int64),
    ('faults', np.int64),               # latched so far
    ('request', np.int64),              # as the last cycle took it
    ('since', float),                   # s, when the phase began
    ('time', float),                    # s, of the last cycle
    ('newest', float),                  # s, receipt of the newest state seen
    ('arming', np.int64), ('good_samples', np.int64),
    ('objection', np.int64), ('objection_joint', np.int64),
    ('mode', np.int64), ('law', np.int64),
    ('serial', np.int64), ('segment', np.int64), ('following', np.int64),
    ('blind', np.int64),                # 1: the fault came, or goes on, without fresh state
    ('publishing', np.int64),           # 1: the last cycle had an effort to publish
    ('observing', np.int64),            # 1: the filter of the velocities is in step
    ('missed', float),                  # periods, less those forgiven
    ('strain', float),                  # s at the effort or the rate limit, less those without
    ('strained', np.int64),             # joint
    ('fault_speed', float),             # velocity limits, of the fastest joint at the fault
    ('power_time', float),              # s above the power limit
    ('gravity_by_robot', np.int64),     # 1: the efforts are without g(q), see gravity_check.py
    ('feels_gravity', np.int64),        # 1: the measured efforts carry it
    ('armed', float),                   # s, when the arm last began to rise
    ('contradictions', np.int64),       # samples in a row that tell of the other choice
    ('implausible', np.int64),          # samples of a joint that were rejected
    ('cycles', np.int64), ('saturated', np.int64), ('rate_limited', np.int64),
    ('kept_inside', np.int64),
])


class Vectors(NamedTuple):
    """One value a joint, (nv,) each: what the cycle computes from and keeps until the next."""

    q: ndarray              # last valid state
    qd: ndarray
    measured: ndarray       # measured effort, NaN where the state carries none
    gravity: ndarray        # g(q)
    felt: ndarray           # measured on top of the efforts when arming, see gravity_check.py
    supply: ndarray         # what of g(q) the efforts must bring: zero where the robot does
    momentum: ndarray       # M(q) q̇
    filtered: ndarray       # low-pass filtered position
    target: ndarray         # reference position, velocity, acceleration
    target_qd: ndarray
    target_qdd: ndarray
    acceleration: ndarray   # commanded acceleration of the computed-torque law
    friction: ndarray       # effort that overcomes the joints' friction
    wanted: ndarray         # effort the law asks for
    rise: ndarray           # gravity term while rising
    extra: ndarray          # effort of the law within its limits, less supply
    published: ndarray      # published effort less supply
    speed_limit: ndarray    # velocity limit on its way to another one
    position: ndarray       # newest position and velocity, whether they are used or not
    velocity: ndarray
    judged: ndarray         # s, receipt of the newest sample that was judged
    accepted: ndarray       # s, receipt of the sample in use
    stamp: ndarray          # s, its time stamp
    offset: ndarray         # s, least difference between receipt and time stamp
    last_offset: ndarray    # s, that of the newest sample
    late: ndarray           # s, filtered lateness of the time stamps
    interval: ndarray       # s, filtered interval between samples
    drift: ndarray          # leaky integral of Δq - q̇ Δt by times of receipt, and by time stamps
    stamped_drift: ndarray
    contradiction: ndarray  # the smaller of them, in tolerances
    rejected: ndarray       # samples rejected in a row
    requested: ndarray      # effort the law asked for, before the limits
    gained: ndarray         # leaky sum of changes of velocity: measured, and as the model predicts
    predicted_gain: ndarray
    blocked: ndarray        # s for which the joint was driven and did not move
    limited: ndarray        # direction in which the law was last limited, 1 or -1
    turned: ndarray         # effort of the law when that direction changed
    swings: ndarray         # changes of that direction, less those long ago
    push: ndarray           # what the limits add to the effort of the law
    response: ndarray       # accelerations that a unit effort causes
    cut: ndarray            # effort that is taken from other joints, and what that changes
    sample_time: ndarray    # s, receipt of the last state, and the velocity it brought
    sample_qd: ndarray
    pending_qd: ndarray     # change of the velocity that efforts under way will bring
    disturbance: ndarray    # acceleration that the model does not explain, see limits.predict
    predicted_q: ndarray    # position and velocity when the efforts of now will act
    predicted_qd: ndarray

    @classmethod
    def zeros(cls, nv: int) -> 'Vectors':
        """All vectors of ``nv`` joints, zero."""
        return cls(*(np.zeros(nv) for _ in cls._fields))
