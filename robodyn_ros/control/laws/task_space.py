# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Jacobian, mobility, error and posture of laws that control a frame in task space."""

from dataclasses import dataclass
from math import sqrt
from typing import Any

from numpy import ndarray

from .law import Arm
from ..algebra import (
    cholesky_solve, column, damped_cholesky, dot, plus, put, put_row, row, vector, Vector6, ZERO)
from ..declare import gain, PerJoint
from ..inputs.task import KINEMATIC, TOOL_AXES, UNPROJECTED
from ..rotations import log, multiplied_transposed, rows
from ...dynamics.forward_dynamics import ltdl
from ...dynamics.kinematics import velocity_product
from ...dynamics.spatial import place_joints

# Added to the diagonal of the mobility, relative to it, that the projector inverts: where the task
# is singular it passes over from blocking the posture's efforts to passing them on
PROJECTOR_DAMPING = 1e-5


@dataclass(frozen=True)
class PostureGains:
    """Gains of the joint posture that a task leaves free."""

    nullspace_kp: PerJoint = gain(
        '1/s²', 0.0, 1e4, 'Position gain of the posture of redundant joints in task-space laws.',
        25.0)
    nullspace_kd: PerJoint = gain(
        '1/s', 0.0, 1e3, 'Velocity gain of the posture.', 10.0)


def task_jacobian(arm: Arm) -> None:
    """Write the Jacobian of the frame into ``arm.workspace.J``, in the axes of the base."""
    J, known = arm.workspace.J, arm.task.jacobian
    for r in range(6):
        for j in range(J.shape[1]):
            J[r, j] = known[r, j]


def pose_error(arm: Arm, e: ndarray) -> None:
    """Write position error p_d - p [m] and rotation vector of R_d Rᵀ [rad] into ``e`` (6,)."""
    task = arm.task
    angle = log(multiplied_transposed(rows(task.target), rows(task.pose)))
    for i in range(3):
        e[i], e[3 + i] = task.target[i, 3] - task.pose[i, 3], angle[i]


def shorten(arm: Arm, e: ndarray) -> None:
    """
    Shorten distance and angle of ``e`` (6,) to ``task_error_limit`` each.

    A reference far away pulls no harder.
    """
    for k in range(2):
        length = sqrt(e[3 * k]**2 + e[3 * k + 1]**2 + e[3 * k + 2]**2)
        limit = arm.task.settings[0].task_error_limit[k]
        if length > limit:
            for i in range(3 * k, 3 * k + 3):
                e[i] *= limit / length


def velocity_error(arm: Arm, v: ndarray) -> None:
    """Write v_d - J q̇ into ``v`` (6,) [m/s, rad/s], with J in the axes of the base."""
    J = arm.workspace.J
    for r in range(6):
        x = arm.task.velocity[r]
        for j in range(arm.qd.shape[0]):
            x -= J[r, j] * arm.qd[j]
        v[r] = x


def required_acceleration(arm: Arm, a: ndarray) -> None:
    """Write a_d - J̇ q̇, which J q̈ is to be, into ``a`` (6,) [m/s², rad/s²]; axes of the base."""
    place_joints(arm.robot.bodies, arm.q, arm.workspace.joints)
    linear, angular = velocity_product(arm.robot.bodies, arm.workspace.joints, arm.task.frame[0],
                                       arm.qd)
    for i in range(3):
        a[i] = arm.task.acceleration[i] - linear[i]
        a[3 + i] = arm.task.acceleration[3 + i] - angular[i]


def to_task_axes(arm: Arm, e: ndarray, v: ndarray) -> None:
    """
    Turn errors, and the Jacobian in ``arm.workspace.J``, to the axes of the gains.

    ``arm.task.vector[3]`` is used.
    """
    if arm.task.settings[0].task_axes != TOOL_AXES:
        return
    T, J = arm.task.pose, arm.workspace.J
    turn(T, e)
    turn(T, v)
    column = arm.task.vector[3]
    for j in range(J.shape[1]):
        for r in range(6):
            column[r] = J[r, j]
        turn(T, column)
        for r in range(6):
            J[r, j] = column[r]


def add_wrench(arm: Arm, tau: ndarray) -> None:
    """
    Add Jᵀ F of the wrench that the frame is to exert, after :func:`to_task_axes`.

    In axes that :func:`select` leaves out it is all that acts: hybrid control of force and motion
    (Raibert and Craig, ASME Journal of Dynamic Systems 103, 1981). ``arm.task.vector[3]`` is used.
    """
    w = arm.task.vector[3]
    if dot(vector(arm.task.wrench), vector(arm.task.wrench)) == 0.0:
        return
    put(w, vector(arm.task.wrench))
    if arm.task.settings[0].task_axes == TOOL_AXES:
        turn(arm.task.pose, w)
    add_force(arm.workspace.J, vector(w), tau)


def add_force(J: ndarray, force: Vector6, tau: ndarray) -> None:
    """Add Jᵀ F of a force (6,) [N, N·m] to the efforts ``tau`` (nv,)."""
    for i in range(tau.shape[0]):
        tau[i] += dot(column(J, i), force)


def select(arm: Arm) -> None:
    """
    Take axes that are not controlled out of the task: their rows of ``arm.workspace.J`` are zero.

    So they have no mobility, no force, and no part in the projector of the posture.
    """
    J, selection = arm.workspace.J, arm.task.settings[0].task_selection
    for r in range(6):
        if selection[r] == 0.0:
            for j in range(J.shape[1]):
                J[r, j] = 0.0


def turn(T: ndarray, x: ndarray) -> None:
    """Replace two vectors of the base, ``x`` (6,), by their components along the axes of T."""
    for k in range(0, 6, 3):
        a, b, c = x[k], x[k + 1], x[k + 2]
        for i in range(3):
            x[k + i] = T[0, i] * a + T[1, i] * b + T[2, i] * c


def mobility(arm: Arm, A: ndarray) -> None:
    """
    Write J M⁻¹ Jᵀ into ``A`` (6, 6), the inverse of the task inertia (Khatib 1987, eq. 51).

    With the factors M = Lᵀ D L it is (J L⁻¹) D⁻¹ (J L⁻¹)ᵀ. ``arm.workspace.C`` keeps the factors,
    ``arm.task.columns`` (J L⁻¹)ᵀ.
    """
    work, parent, n = arm.workspace, arm.robot.elimination_parent, arm.q.shape[0]
    C, X = work.C, arm.task.columns
    for i in range(n):
        for j in range(i + 1):
            C[i, j] = work.M[i, j]
    ltdl(parent, C)
    for j in range(n):
        put_row(X, j, column(work.J, j))
    for i in range(n - 1, -1, -1):
        x, j = row(X, i), parent[i]
        while 0 <= j < n:
            put_row(X, j, plus(row(X, j), -C[i, j], x))
            j = parent[j]
    for r in range(6):
        a = ZERO
        for j in range(n):
            a = plus(a, C[j, j] * X[j, r], row(X, j))
        put_row(A, r, a)


def add_posture(arm: Arm, gains: Any, A: ndarray, tau: ndarray) -> None:
    """
    Add the efforts that hold the posture, M (k_p (q_h - q) - k_d q̇), projected on the null space.

    Dynamically consistent: they cause no acceleration of the frame, (I - Jᵀ (J M⁻¹ Jᵀ)⁻¹ J M⁻¹)
    τ (Khatib 1987, eq. 55), where M⁻¹ τ is the acceleration that the gains ask for. Kinematic:
    (I - Jᵀ (J Jᵀ)⁻¹ J) τ.

    :param A: (6, 6) from :func:`mobility`, which is overwritten by the kinematic projector.
    """
    work, n = arm.workspace, arm.q.shape[0]
    projected, x, L = arm.task.effort, arm.task.vector[2], arm.task.scratch[3]
    J, projector = work.J, arm.task.settings[0].nullspace_projector
    for i in range(n):
        projected[i] = (gains.nullspace_kp[i] * (arm.q_reference[i] - arm.q[i])
                        - gains.nullspace_kd[i] * arm.qd[i])
    for i in range(n):
        effort = 0.0
        for j in range(n):
            effort += work.M[i, j] * projected[j]
        tau[i] += effort
        work.b[i] = effort
    if projector == UNPROJECTED:
        return
    if projector == KINEMATIC:
        projected = work.b
        for r in range(6):
            for c in range(6):
                a = 0.0
                for j in range(n):
                    a += J[r, j] * J[c, j]
                A[r, c] = a
    damped_cholesky(A, PROJECTOR_DAMPING, L)
    for r in range(6):
        a = 0.0
        for j in range(n):
            a -= J[r, j] * projected[j]
        x[r] = a
    cholesky_solve(L, x)
    add_force(J, vector(x), tau)
