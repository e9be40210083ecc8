# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Data of a control cycle, which each of its steps takes as first argument."""

from typing import NamedTuple

from numpy import ndarray, record

from ..declare.dtypes import Vectors
from ..inputs.bounds import Bounds
from ..inputs.partner import Partner
from ..inputs.points import Points
from ..inputs.policy import Policy
from ..inputs.pose_tracking import PosePoints
from ..inputs.task import Task
from ...dynamics.model_data import ModelData, Workspace


class LawMemory(NamedTuple):
    """The law in force: its code, its gains, and what it keeps from cycle to cycle."""

    code: ndarray           # (2,) int64: address of the compiled law, number in the registry
    gains: ndarray          # (G, nv) one row a gain
    memory: ndarray         # (L, nv) contiguous rows of its memory; it may use fewer
    returned: ndarray       # (1,) int64: 1 once the law has returned without an error
    shown: ndarray          # (9, nv) copies of the vectors of the cycle, for a law of a user,
    shown_joints: ndarray   # (nv,) JOINT, and of the limits


class PayloadInForce(NamedTuple):
    """Inertial parameters in force, kept from cycle to cycle, and the robot that has them."""

    inertial: ndarray       # (nb, 10) mass, first and second moments, as in BODY
    bodies: ndarray         # (nb,) BODY, written while the payload changes
    friction: ndarray       # (13, nv), likewise: that of the settings
    robot: ModelData        # with read-only views of both, and without kernels


class Flight(NamedTuple):
    """
    Ring of N slots, for K rows of nv joints; with N = 0 nothing is recorded.

    The rows are the `Vectors`, and the memory of the law.
    """

    done: ndarray           # (1,) complete cycles since the ring was begun
    cycles: ndarray         # (N,) CYCLE
    state: ndarray          # (N, nv) STATE
    memory: ndarray         # (N,) CONTROLLER_STATE at the boundary before the cycle
    vectors: ndarray        # (N, K, nv) likewise, of the K rows
    tau: ndarray            # (N, nv) likewise
    partner: ndarray        # (N, 5, nv) rows of the partner, an input of the cycle
    present: ndarray        # (K, nv) the rows of the controller themselves


class Cycle(NamedTuple):
    """
    All that a control cycle reads and writes, except its time and its efforts.

    A ``record`` is an array (1,) where Python holds it, see :mod:`.tuple_reference`.
    """

    robot: ModelData            # parameters of the dynamics
    workspace: Workspace        # memory of the dynamics
    joints: ndarray             # (nv,) JOINT, limits
    settings: record            # SETTINGS
    law: LawMemory              # the law in force
    cycle_input: record         # CYCLE_INPUT, observations of the surrounding loop
    state: ndarray              # (nv,) STATE, times on the clock of the cycle
    points: Points              # reference trajectory
    policy: Policy              # newest policy of a planner
    partner: Partner            # of a coupled arm, as it last was
    task: Task                  # frame that is controlled, and what is known of it
    poses: PosePoints           # its reference
    bounds: Bounds              # of the motion in space
    controller: record          # CONTROLLER_STATE, kept from cycle to cycle
    vectors: Vectors            # (nv,) each, kept likewise
    payload: PayloadInForce     # inertial parameters of the dynamics, kept likewise
    ring: Flight                # flight recorder
    code: ndarray               # (6,) int64, addresses of machine code, see cycle/compile.py
