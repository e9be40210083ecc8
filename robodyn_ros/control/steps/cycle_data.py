# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Data of a control cycle, which each of its steps takes as first argument.

Further arguments of several steps: ``now`` and ``dt``, time and duration of the cycle [s];
``elapsed``, time since the last cycle [s]; ``fresh``, 1 if a sample has come since; ``tau`` (nv,)
[N·m | N], the efforts published last, or those to be written; ``unmeasured``, index of a joint
without a measured velocity, -1 for none; ``robot``, the dynamics in force.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from os.path import dirname
from pkgutil import iter_modules
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from . import (
    collisions, friction_compensation, frozen_readings, gravity_check, guard, limits, lowering,
    momentum_observer, motion_checks, motor_test, payload_transition, plausibility,
    trajectory_tracking, velocity_estimator)
from ..declare import JOINT_RECORD, record_dtype, RobotParameters, SETTINGS_RECORD
from ..inputs import partner, pose_tracking, task
from ..inputs.partner import Partner, Policy
from ..inputs.pose_tracking import Points, PosePoints
from ..inputs.task import Bounds, Task
from ...dynamics.model_data import ModelData, Workspace

#: Steps of the cycle: the modules of this package.
STEPS = [import_module(f'{__package__}.{step.name}') for step in iter_modules([dirname(__file__)])
         if step.name != __name__.rpartition('.')[2]]

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
    ('spring', np.int64),               # 1: drives hold the pose in a spring of their own, that
                                        # fades while the arm rises
    ('awaited', np.int64),              # 1: drives do not take the efforts yet, see motor_test.py
])


@dataclass(frozen=True)
class GuardParameters(motor_test.Parameters, lowering.Parameters, motion_checks.Parameters,
                      velocity_estimator.Parameters, plausibility.Parameters, guard.Parameters):
    """Conditions under which the arm is driven, and the reactions if they fail."""


@dataclass(frozen=True)
class ContactParameters(collisions.Parameters, momentum_observer.Parameters):
    """Estimate of external efforts, and thresholds of collisions."""


@dataclass(frozen=True)
class MotionParameters(task.BoundParameters, trajectory_tracking.Parameters):
    """Enabling signal of hand guiding, and bounds that references are slowed down for."""


@dataclass(frozen=True)
class ArmParameters(payload_transition.Parameters, RobotParameters, partner.Parameters,
                    task.Parameters):
    """Task and partner of the arm, its limits, friction and payload beyond the URDF."""


@dataclass(frozen=True)
class Declared(MotionParameters, ContactParameters, GuardParameters, ArmParameters):
    """All parameters of the cycle, except gains."""


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
    ('approach_rate', float),           # 1/s, see limits.enforce_joint_limits
    ('compensates_friction', np.int64),  # 1: of some joint
    ('rests_at_position', np.int64),    # 1: rest_position is given
    ('payload_body', np.int64),         # index of the body that holds payload_frame
])

# State of the controller, written by the cycle alone: the state machine, timers and counters.
CONTROLLER_STATE = np.dtype([
    ('mode', np.int64),
    ('law', np.int64),
    ('basis', np.int64),
    *(field for step in STEPS for field in getattr(step, 'STATE', ())),
    *partner.STATE,
    *pose_tracking.STATE,
])


class Vectors(NamedTuple):
    """
    One value a joint, (nv,) each: results of the cycle, some of which it keeps until the next.

    Efforts are in N·m | N, positions in rad | m, times in s. What a single step keeps is declared
    there. Recordings refer to the rows by their order.
    """

    q: ndarray              # position and velocity in use
    qd: ndarray
    measured: ndarray       # measured effort, NaN where the state carries none
    gravity: ndarray        # g(q)
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
    requested: ndarray      # effort before the limits
    withheld: ndarray       # that minus the effort published, in the last cycle of a law
    applied: ndarray        # effort published last, with g(q) where the robot adds it
    target_effort: ndarray  # effort of the trajectory, and what of it is added to the law's
    feedforward: ndarray
    bias: ndarray           # C(q, q̇) q̇ + g(q)
    plausibility: plausibility.Memory
    motion_checks: motion_checks.Memory
    limits: limits.Memory
    momentum_observer: momentum_observer.Memory
    frozen_readings: frozen_readings.Memory
    motor_test: motor_test.Memory
    collisions: collisions.Memory
    friction_compensation: friction_compensation.Memory
    gravity_check: gravity_check.Memory
    velocity_estimator: velocity_estimator.Memory

    @classmethod
    def of(cls, rows: ndarray) -> 'Vectors':
        """Return views of rows (K, nv), at least as many as :data:`VECTOR_NAMES`."""
        return _views(cls, iter(rows))

    @classmethod
    def zeros(cls, nv: int) -> 'Vectors':
        """Return all vectors of ``nv`` joints, zero."""
        return cls.of(np.zeros((len(VECTOR_NAMES), nv)))


def _views(kind: Any, rows: Iterator[ndarray]) -> Any:
    return kind(*(_views(of, rows) if hasattr(of, '_fields') else next(rows)
                  for of in kind.__annotations__.values()))


def _names(kind: Any, prefix: str = '') -> Iterator[str]:
    for name, of in kind.__annotations__.items():
        if hasattr(of, '_fields'):
            yield from _names(of, f'{name}.')
        else:
            yield prefix + name


#: Names of all rows of :class:`Vectors`, in order.
VECTOR_NAMES = tuple(_names(Vectors))


class LawMemory(NamedTuple):
    """The law in force: its code, its gains, and its memory."""

    code: ndarray           # (2,) int64: address of the compiled law, number in the registry
    gains: ndarray          # (G, nv) one row a gain
    memory: ndarray         # (L, nv) contiguous rows of its memory; it may use fewer
    returned: ndarray       # (1,) int64: 1 once the law has returned without an error
    shown: ndarray          # (9, nv) copies of the vectors of the cycle, for a law of a user,
    shown_joints: ndarray   # (nv,) JOINT, and of the limits


class Flight(NamedTuple):
    """
    Ring of N slots, for K rows of nv joints; with N = 0 nothing is recorded.

    The rows are the `Vectors`, and the memory of the law.
    """

    done: ndarray           # (1,) complete cycles since the ring was begun
    cycles: ndarray         # (N,) CYCLE
    inputs: ndarray         # (N,) CYCLE_INPUT
    state: ndarray          # (N, nv) STATE
    memory: ndarray         # (N,) CONTROLLER_STATE at the boundary before the cycle
    vectors: ndarray        # (N, K, nv) the K vectors there
    tau: ndarray            # (N, nv) efforts there
    partner: ndarray        # (N, 5, nv) rows of the partner, an input of the cycle
    present: ndarray        # (K, nv) the rows of the controller themselves


class Cycle(NamedTuple):
    """
    All that a control cycle reads and writes, except its time and its efforts.

    A record is an array (1,) where Python holds it, see :mod:`.tuple_reference`.
    """

    robot: ModelData            # parameters of the dynamics
    workspace: Workspace        # memory of the dynamics
    joints: ndarray             # (nv,) JOINT, limits
    settings: Any               # record SETTINGS
    law: LawMemory              # the law in force
    cycle_input: Any            # record CYCLE_INPUT, observations of the surrounding loop
    state: ndarray              # (nv,) STATE, times on the clock of the cycle
    points: Points              # reference trajectory
    policy: Policy              # newest policy of a planner
    partner: Partner            # of a coupled arm, as it last was
    task: Task                  # frame that is controlled, and what is known of it
    poses: PosePoints           # its reference
    bounds: Bounds              # of the motion in space
    controller: Any             # record CONTROLLER_STATE, kept from cycle to cycle
    vectors: Vectors            # (nv,) each, kept from cycle to cycle
    payload: payload_transition.PayloadInForce  # inertial parameters in force, also kept
    ring: Flight                # flight recorder
    code: ndarray               # (6,) int64, addresses of machine code, see cycle/compile.py
