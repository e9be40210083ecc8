# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Records of parameters and inputs that the control cycle reads, shared with compiled code."""

from dataclasses import dataclass

import numpy as np

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
