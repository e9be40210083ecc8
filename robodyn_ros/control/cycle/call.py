# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Call of the law in force by the control cycle, which is compiled before there are laws."""

import numpy as np
from numpy import ndarray

from ..laws import registry
from ..laws.law import Arm
from ..steps.cycle_data import JOINT, LawMemory

# Elements of `LawMemory.code`
ADDRESS, NUMBER = range(2)
#: Fields of an :class:`.Arm` that are vectors of the control cycle.
VECTORS = Arm._fields[2:11]


def no_law(nv: int, rows: int = 0) -> LawMemory:
    """Return the memory of gravity compensation that is not compiled, of ``rows`` rows."""
    return LawMemory(np.zeros(2, np.int64), np.zeros((0, nv)), np.zeros((rows, nv)),
                     np.zeros(1, np.int64), np.zeros((len(VECTORS), nv)), np.zeros(nv, JOINT))


def call_law(law: LawMemory, arm: Arm, tau: ndarray) -> None:
    """
    Write the efforts of the law in force into ``tau`` (nv,) [N·m | N].

    Elements that the law does not write are NaN, and so is the first one if it has failed with an
    error. Compiled code calls the compiled law instead, see :mod:`.compile`.
    """
    python_law = registry.by_number(int(law.code[NUMBER]))
    tau[:] = np.nan
    if python_law not in registry.BUILT_IN:
        arm = copied(law, arm)
    kind = registry.gains_class(python_law)
    python_law.efforts(arm, kind(*law.gains[:len(kind._fields)]),
                       registry.memory_fields(python_law, law.memory), tau)


def copied(law: LawMemory, arm: Arm) -> Arm:
    """
    Return the arm with copies of the arrays that the cycle uses afterwards.

    What a law of a user writes there by mistake, perhaps in a branch that no trial has reached,
    changes neither the state nor the limits that the guard judges by.
    """
    vectors = (arm.q, arm.qd, arm.q_reference, arm.qd_reference, arm.qdd_reference, arm.gravity,
               arm.measured, arm.applied, arm.withheld)
    for k in range(len(vectors)):
        for i in range(arm.q.shape[0]):
            law.shown[k, i] = vectors[k][i]
    for i in range(arm.q.shape[0]):
        law.shown_joints[i] = arm.joints[i]
    shown = law.shown
    return Arm(arm.time, arm.dt, shown[0], shown[1], shown[2], shown[3], shown[4], shown[5],
               shown[6], shown[7], shown[8], arm.policy, arm.partner, arm.coupled, arm.task,
               arm.bounds, arm.guided, arm.payload_body, arm.payload_time, law.shown_joints,
               arm.robot, arm.workspace)


def forget(law: LawMemory) -> None:
    """Set all memory of the law to zero, as it begins."""
    for k in range(law.memory.shape[0]):
        for i in range(law.memory.shape[1]):
            law.memory[k, i] = 0.0
