# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Records and vectors that the control cycle reads and keeps, shared with compiled code."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from .contact_parameters import COLLISION_REACTION, ContactParameters, OBSERVED_EFFORT
from .coupling_parameters import CouplingParameters
from .guard_parameters import (
    FAULT_ACTION,
    GuardParameters,
    MISSING_VELOCITY,
    STALL_ACTION,
    STOP_WITH,
)
from .motion_parameters import MotionParameters
from .robot_parameters import RobotParameters
from .setting_fields import JOINT_RECORD, record_dtype, SETTINGS_RECORD, TASK_RECORD
from .task_parameters import TaskParameters

#: Number of the law to which the cycle falls back.
GRAVITY_COMPENSATION = 0

# Choices of parameters as the numbers that their record has
VELOCITY_OR_FAULT, VELOCITY_OR_ESTIMATE, VELOCITY_OR_GRAVITY = range(len(MISSING_VELOCITY))
STOP_WITH_ZERO, STOP_WITH_GRAVITY = range(len(STOP_WITH))
FAULT_RAMP, FAULT_HOLD = range(len(FAULT_ACTION))
STALL_SILENCE, STALL_ZERO = range(len(STALL_ACTION))
EFFORT_COMMANDED, EFFORT_MEASURED = range(len(OBSERVED_EFFORT))
REACT_STOP, REACT_FLOAT, REACT_RETREAT = range(len(COLLISION_REACTION))

# Requests to the state machine; the cycle takes one and writes NO_REQUEST back.
NO_REQUEST, ARM, DISARM, STOP = range(4)

# Input of a cycle besides the joint states: requests and observations of the surrounding loop.
CYCLE_INPUT = np.dtype([
    ('request', np.int64),
    ('missed', np.int64),               # periods missed between the last cycle and this one
    ('listeners', np.int64),            # subscribers of the commands
    ('command_publishers', np.int64),   # publishers of commands, this controller included
    ('stop_reason', np.int64),          # reason code of an emergency stop or the like; 0: none
    ('stalled', float),                 # s for which the loop stalled before this cycle
    ('simulated_time', np.int64),       # 1: jumps of the time are resets of a simulation
    ('clock_stopped', float),           # s for which the arm has moved while time stood still
    ('guiding_until', float),           # s, until when the arm may be guided by hand
])


@dataclass(frozen=True)
class Declared(MotionParameters, ContactParameters, GuardParameters, RobotParameters,
               CouplingParameters, TaskParameters):
    """All parameters that have a place in a record."""


# Limits of one joint: the parameters declared for this record, and
JOINT = np.dtype([
    *record_dtype(Declared, JOINT_RECORD),
    ('position_lower', float),          # rad | m
    ('position_upper', float),
    ('periodic', np.int64),             # 1: positions that differ by full turns are the same
])

# Settings of the controller: the parameters declared for this record, and
SETTINGS = np.dtype([
    *record_dtype(Declared, SETTINGS_RECORD),
    ('mode', np.int64),                 # number of the law, see laws/registry.py
    ('follows', np.int64),              # 1: it follows a trajectory
    ('follows_pose', np.int64),         # 1: it follows a pose of the task frame
    ('guided', np.int64),               # 1: hands may guide the arm
    ('bounded', np.int64),              # 1: references are slowed down, see time_scaling.py
    ('couples', np.int64),              # 1: it couples the arm to a partner
    ('law', np.int64),                  # another number: mode, gains or friction differ
    ('basis', np.int64),                # another number: references end, see Settings.basis
    ('payload', np.int64),              # another number: the payload differs
    ('version', np.int64),              # counts all changes, see history.py
    ('period', float),                  # s, nominal
    ('limit_rate', float),              # 1/s, see limits.enforce_joint_limits
    ('approach_rate', float),           # 1/s, likewise
    ('compensates_friction', np.int64),  # 1: of some joint
    ('payload_body', np.int64),         # index of the body that holds payload_frame
])

# Settings of laws that control a frame in task space: the parameters declared for this record.
TASK = np.dtype(record_dtype(Declared, TASK_RECORD))

# State of the controller, written by the cycle alone: the state machine, timers and counters.
CONTROLLER_STATE = np.dtype([
    ('phase', np.int64), ('reason', np.int64), ('joint', np.int64),
    ('faults', np.int64),               # latched so far
    ('request', np.int64),              # as the last cycle took it
    ('since', float),                   # s, when the phase began
    ('time', float),                    # s, of the last cycle
    ('newest', float),                  # s, receipt of the newest state seen
    ('arming', np.int64), ('good_samples', np.int64),
    ('arming_refusal', np.int64), ('arming_refusal_joint', np.int64),
    ('mode', np.int64), ('law', np.int64), ('basis', np.int64),
    ('payload', np.int64),
    ('payload_time', float),            # s until the payload in force is that of the settings
    ('serial', np.int64), ('segment', np.int64), ('following', np.int64),
    ('pose_serial', np.int64), ('pose_segment', np.int64), ('pose_following', np.int64),
    ('pose_held', np.int64),            # 1: the reference pose below is valid
    ('pose_position', float, (3,)),     # m, and rotation by rows: reference of the task
    ('pose_rotation', float, (9,)),
    ('lag', float),                     # s, of the clock of the references behind the cycle's
    ('slowing', float),                 # 1 less the rate of that clock, see time_scaling.py
    ('slowed_by', np.int64),            # reason code of it
    ('held_by', np.int64),              # reason code of the end of the last motion
    ('holds', np.int64),                # motions that have ended so
    ('guided', np.int64),               # 1: the arm is guided by hand, see guiding.py
    ('without_state', np.int64),        # 1: the fault began, or goes on, without a valid state
    ('publishing', np.int64),           # 1: the last cycle had an effort to publish
    ('observing', np.int64),            # 1: the velocity filter is initialized
    ('missed', float),                  # periods, less those forgiven
    ('saturation_time', float),         # s at the effort or the rate limit, less those without
    ('saturated_joint', np.int64),
    ('fault_speed', float),             # velocity limits, fastest joint until fading_end
    ('fading_end', float),              # s, until when efforts of the law act after the fault
    ('power_time', float),              # s above the power limit
    ('gravity_by_robot', np.int64),     # 1: the efforts are without g(q), see gravity_check.py
    ('senses_gravity', np.int64),       # 1: the measured efforts include it
    ('armed', float),                   # s, when the arm last began to rise
    ('contradictions', np.int64),       # consecutive samples that indicate the other choice
    ('implausible', np.int64),          # samples of a joint that were rejected
    ('estimates', np.int64),            # 1: external efforts are estimated
    ('unsampled', float),               # s since the sample of the last estimate
    ('above', np.int64),                # samples in a row above a collision threshold
    ('contact_time', float),            # s, when the last collision was detected
    ('contact_side', np.int64),         # direction in which it pushed its joint, 1 or -1
    ('coupled', np.int64),              # 1: coupled to a partner, see partner_link.py
    ('unbraked', float),                # s without braking after a collision, see phase_efforts.py
    ('cycles', np.int64), ('saturated', np.int64), ('rate_limited', np.int64),
    ('joint_limited', np.int64),        # cycles in which enforce_joint_limits acted
    ('disobeyed', np.int64),            # samples in a row that indicate a motor fault
    ('tested', np.int64),               # joint whose motor is tested, see motor_test.py
    ('test_round', np.int64), ('test_side', np.int64),
    ('test_effort', float),             # N·m | N on this joint; 0: the arm comes to rest before
    ('test_time', float),               # s of the rest, or with the largest effort
    ('window_time', float),             # s of the window of the rest
    ('motors_moved', np.int64),         # 1: some joint has moved in the test
    ('other_joint', np.int64),          # that moves by the effort of the joint of the fault
])


class Vectors(NamedTuple):
    """
    One value a joint, (nv,) each: results of the cycle, some of which it keeps until the next.

    Efforts are in N·m | N, positions in rad | m, times in s. Recordings refer to the vectors by
    their order.
    """

    q: ndarray              # position and velocity in use
    qd: ndarray
    measured: ndarray       # measured effort, NaN where the state carries none
    gravity: ndarray        # g(q)
    tau_offset: ndarray     # measured minus commanded effort at arming, see gravity_check.py
    tau_gravity: ndarray    # gravity term of the efforts: g(q), or 0 where the robot adds it
    momentum: ndarray       # M(q) q̇
    filtered: ndarray       # low-pass filtered position
    target: ndarray         # reference position, velocity, acceleration
    target_qd: ndarray
    target_qdd: ndarray
    acceleration: ndarray   # commanded acceleration of computed torque; predicted one afterwards
    friction: ndarray       # effort that overcomes the joints' friction
    tau_law: ndarray        # effort of the control law, with g(q)
    tau_rising: ndarray     # gravity term while RISING
    tau_residual: ndarray   # effort of the law within the effort limits, minus tau_gravity
    published: ndarray      # published effort minus tau_gravity
    speed_limit: ndarray    # velocity limit in force, which follows the one that is set
    position: ndarray       # newest position and velocity, used or not
    velocity: ndarray
    judged: ndarray         # receipt of the newest sample that was judged
    accepted: ndarray       # receipt of the sample in use
    stamp: ndarray          # its time stamp
    offset: ndarray         # least difference between receipt and time stamp
    last_offset: ndarray    # that of the newest sample
    set_back: ndarray       # 1: the stamps went back, to be allowed for in `offset`; -1: forward
    late: ndarray           # filtered lateness of the time stamps
    interval: ndarray       # filtered interval between samples
    drift: ndarray          # leaky integral of Δq - q̇ Δt by times of receipt, and by time stamps
    stamped_drift: ndarray
    contradiction: ndarray  # the smaller magnitude of the two, in tolerances
    rejected: ndarray       # samples rejected in a row
    requested: ndarray      # effort before the limits
    withheld: ndarray       # that minus the effort published, in the last cycle of a law
    applied: ndarray        # effort published last, with g(q) where the robot adds it
    gained: ndarray         # leaky sum of changes of velocity: measured, and as the model predicts
    predicted_gain: ndarray
    recent_gain: ndarray    # of the measured ones, sum of the latest, see motion_checks.py
    blocked: ndarray        # time for which the joint was driven without moving
    limited: ndarray        # direction in which the law was last limited, 1 or -1
    turned: ndarray         # effort of the law when that direction changed
    swings: ndarray         # changes of that direction, less those long ago
    push: ndarray           # correction of tau_law by enforce_joint_limits
    response: ndarray       # accelerations that a unit effort causes
    cut: ndarray            # effort that is taken from other joints, then what that accelerates
    sample_time: ndarray    # receipt of the last state, and the velocity it brought
    sample_qd: ndarray
    pending_qd: ndarray     # change of the velocity by efforts that have not acted yet
    disturbance: ndarray    # acceleration that the model does not explain, see predict_state
    predicted_q: ndarray    # position and velocity when the efforts of now will act
    predicted_qd: ndarray
    target_effort: ndarray  # effort of the trajectory, and what of it is added to the law's
    feedforward: ndarray
    external: ndarray       # estimate of the external effort, see momentum_observer.py
    impulse: ndarray        # of known efforts since the last sample [N·m·s | N·s]
    observed_qd: ndarray    # velocity of that sample
    bias: ndarray           # C(q, q̇) q̇ + g(q)
    retreat: ndarray        # reference velocity after a collision
    pushing: ndarray        # part of the external effort that lasts, see push_bandwidth
    presliding: ndarray     # dry friction relative to that in sliding, -1 to 1: compensated,
    sliding: ndarray        # and along the measured motion
    path: ndarray           # measured position behind the play of friction compensation
    external_impulse: ndarray   # of the external effort and of the efforts sent, over the last
    sent_impulse: ndarray       # milliseconds [N·m·s | N·s], see motor_faults.py
    unchanged: ndarray      # time since the position last changed, see frozen_readings.py
    renewal: ndarray        # usual interval between two changes
    encoder_step: ndarray   # smallest change of position so far
    coasting_qd: ndarray    # velocity predicted since the position last changed
    hidden_motion: ndarray  # displacement by it that the reported velocity does not explain
    disturbance_before: ndarray     # disturbance when the position last changed
    held: ndarray           # effort that compensates the external one in the test of the motors
    passed: ndarray         # 1: the motor has passed this test
    test_pose: ndarray      # position before the effort on a joint, which follows slowly
    mobility: ndarray       # diagonal of the inverse mass matrix

    @classmethod
    def zeros(cls, nv: int) -> 'Vectors':
        """Return all vectors of ``nv`` joints, zero."""
        return cls(*(np.zeros(nv) for _ in cls._fields))
