# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Operational-space control: computed torque of a frame of the robot, damped at singularities."""

from typing import Any

from numpy import ndarray

from .dynamics import bias
from .law import Arm, Law, POSE
from .task_space import (
    add_posture, add_wrench, mobility, pose_error, PostureGains, required_acceleration, select,
    shorten, task_jacobian, to_task_axes, turn, velocity_error)
from ..algebra import cholesky_solve, damped_cholesky
from ..inputs.task import TOOL_AXES

# The damping rises by at most MAX_SINGULARITY_DAMPING where a pivot of the mobility is below
# SINGULAR_PIVOT of its diagonal (Nakamura and Hanafusa, ASME Journal of Dynamic Systems 108, 1986,
# section 4)
SINGULAR_PIVOT, MAX_SINGULARITY_DAMPING = 0.05, 0.3
# Effort limits that the task may use, besides gravity, Coriolis and posture efforts. The velocity
# and position limits need the rest: without it they fail where many joints are near them
MAX_TASK_EFFORT = 0.5


def operational_space(arm: Arm, gains: Any, memory: Any, tau: ndarray) -> None:
    """
    Write τ = Jᵀ M_x (a_d + k_d (v_d - v) + k_p e - J̇ q̇) + C q̇ + g + posture.

    Khatib 1987, eqs. 29 and 51. The part of C q̇ + g in the null space of the task is compensated
    too, so that V_x and G_x need not be formed. Errors and accelerations are turned to the axes of
    the gains; axes that are left out have neither.
    """
    task, s = arm.task, arm.task.settings[0]
    a, v, A, L = task.vector[0], task.vector[1], task.scratch[0], task.scratch[1]
    known = task.vector[2]
    bias(arm, tau)
    task_jacobian(arm)
    pose_error(arm, a)
    shorten(arm, a)
    velocity_error(arm, v)
    required_acceleration(arm, known)
    if s.task_axes == TOOL_AXES:
        turn(task.pose, known)
    to_task_axes(arm, a, v)
    add_wrench(arm, tau)
    select(arm)
    mobility(arm, A)
    for r in range(6):
        a[r] = known[r] + s.task_kd[r] * v[r] + s.task_kp[r] * a[r]
    least = damped_cholesky(A, s.task_singularity_damping, L)
    if least < SINGULAR_PIVOT:
        damped_cholesky(A, s.task_singularity_damping
                        + MAX_SINGULARITY_DAMPING * (1.0 - least / SINGULAR_PIVOT)**2, L)
    cholesky_solve(L, a)
    add_bounded(arm, a, tau)
    add_posture(arm, gains, A, tau)


def add_bounded(arm: Arm, force: ndarray, tau: ndarray) -> None:
    """
    Add Jᵀ F, with F (6,) shortened until each joint gets at most MAX_TASK_EFFORT effort limits.

    Limiting each joint separately would change the direction of the force.
    """
    effort, J, scale = arm.task.effort, arm.workspace.J, 1.0
    for i in range(tau.shape[0]):
        effort[i] = 0.0
        for r in range(6):
            effort[i] += J[r, i] * force[r]
        most = MAX_TASK_EFFORT * arm.joints[i].effort_limit
        if abs(effort[i]) > most:
            scale = min(scale, most / abs(effort[i]))
    for i in range(tau.shape[0]):
        tau[i] += scale * effort[i]


LAW = Law('operational_space', operational_space,
          equation='τ = Jᵀ M_x (a_d + k_d (v_d - v) + k_p e - J̇ q̇) + Jᵀ F + C(q, q̇) q̇ '
                   '+ g(q) + N M (k_p (q_h - q) - k_d q̇), M_x = (J M⁻¹ Jᵀ)⁻¹',
          source='Khatib, IEEE Journal of Robotics and Automation 3(1), 1987, equations 29 and 51',
          gains=PostureGains, reference=POSE)
