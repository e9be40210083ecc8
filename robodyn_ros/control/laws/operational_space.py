# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Operational-space control: computed torque of a frame of the robot, damped at singularities."""

from typing import Any

from numpy import ndarray

from .dynamics import bias
from .law import Arm, Law, POSE
from .task_space import (
    add_posture,
    add_wrench,
    mobility,
    pose_error,
    PostureGains,
    required_acceleration,
    select,
    shorten,
    task_jacobian,
    to_task_axes,
    turn,
    velocity_error,
)
from ..algebra.cholesky import cholesky_solve, damped_cholesky
from ..inputs.task import TOOL_AXES

# The damping rises where a pivot of the mobility is below NEAR of its diagonal, by at most MOST
# (Nakamura and Hanafusa, ASME Journal of Dynamic Systems 108, 1986, section 4)
NEAR, MOST = 0.05, 0.3
# Of the effort limits, for the task beside gravity, Coriolis and posture efforts: the rest is left
# to the limits of velocity and position, which otherwise fail where many joints are near them
SHARE = 0.5


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
    if least < NEAR:
        damped_cholesky(A, s.task_singularity_damping + MOST * (1.0 - least / NEAR)**2, L)
    cholesky_solve(L, a)
    add_bounded(arm, a, tau)
    add_posture(arm, gains, A, tau)


def add_bounded(arm: Arm, force: ndarray, tau: ndarray) -> None:
    """
    Add Jᵀ F, with F (6,) shortened until no joint gets more than SHARE of its effort limit.

    So the direction of the force stays, where limits of each joint would turn it.
    """
    effort, J, scale = arm.task.effort, arm.workspace.J, 1.0
    for i in range(tau.shape[0]):
        effort[i] = 0.0
        for r in range(6):
            effort[i] += J[r, i] * force[r]
        most = SHARE * arm.joints[i].effort_limit
        if abs(effort[i]) > most:
            scale = min(scale, most / abs(effort[i]))
    for i in range(tau.shape[0]):
        tau[i] += scale * effort[i]


LAW = Law('operational_space', operational_space,
          equation='τ = Jᵀ M_x (a_d + k_d (v_d - v) + k_p e - J̇ q̇) + Jᵀ F + C(q, q̇) q̇ '
                   '+ g(q) + N M (k_p (q_h - q) - k_d q̇), M_x = (J M⁻¹ Jᵀ)⁻¹',
          source='Khatib, IEEE Journal of Robotics and Automation 3(1), 1987, equations 29 and 51',
          gains=PostureGains, reference=POSE)
