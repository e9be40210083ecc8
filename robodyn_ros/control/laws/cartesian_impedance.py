# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Cartesian impedance: a spring and a damper between a frame of the robot and its reference pose.

τ = Jᵀ (K e + D (v_d - v) + F) + g(q) + posture, with the wrench F of a feed-forward. C(q, q̇) q̇ is
not compensated: then, at constant K in the axes of the base, what the arm gives to whoever touches
its frame is what it was given (Ott, Cartesian Impedance Control of Redundant and Flexible-Joint
Robots, 2008, section 3.3). A stiffness that varies pays for its energy, see :mod:`.energy_tank`.
"""

from math import sqrt
from typing import Any

from numpy import ndarray

from ..task import GIVEN, MODES
from .energy_tank import TankMemory, fill, vary_stiffness
from .law import POSE, Arm, Law
from .task_space import (
    PostureGains,
    add_posture,
    add_wrench,
    mobility,
    pose_error,
    select,
    shorten,
    task_jacobian,
    to_task_axes,
    velocity_error,
)

# Of cyclic Jacobi rotations. D is positive definite after any number of them, and after three its
# modes have the damping ratio within a few percent
SWEEPS = 3
# Least mobility of a mode, relative to the largest, that its damping is designed for
LEAST = 1e-9


def cartesian_impedance(arm: Arm, gains: Any, memory: Any, tau: ndarray) -> None:
    """Write τ = Jᵀ (K e + D (v_d - v) + F) + g(q) + posture."""
    task, J, s = arm.task, arm.workspace.J, arm.task.settings[0]
    e, v, full, K = task.vector[0], task.vector[1], task.vector[2], memory.stiffness
    task_jacobian(arm)
    pose_error(arm, e)
    velocity_error(arm, v)
    to_task_axes(arm, e, v)
    for i in range(tau.shape[0]):
        tau[i] = arm.gravity[i]
    add_wrench(arm, tau)
    select(arm)
    for r in range(6):
        if s.task_selection[r] == 0.0:
            e[r] = v[r] = 0.0
        full[r] = e[r]
    shorten(arm, e)
    vary_stiffness(memory, task.stiffness, full, e, s.tank_energy, arm.dt)
    A, speed = task.scratch[0], task.vector[3]
    for r in range(6):
        speed[r] = v[r]
    mobility(arm, A)
    if s.task_damping_design == MODES:
        damping_force(A, K, s.task_damping_ratio, v, task.scratch, task.vector[2])
    else:
        for r in range(6):
            v[r] *= (s.task_damping[r] if s.task_damping_design == GIVEN
                     else 2.0 * s.task_damping_ratio * sqrt(K[r]))
    fill_from_damper(task.velocity, speed, v, memory, arm.dt)
    for i in range(tau.shape[0]):
        for r in range(6):
            tau[i] += J[r, i] * (K[r] * e[r] + v[r])
    add_posture(arm, gains, A, tau)


def fill_from_damper(reference: ndarray, speed: ndarray, force: ndarray, memory: TankMemory,
                     dt: float) -> None:
    """
    Credit the tank with the work of the damper while the reference rests.

    Of a reference that moves, whoever moves it does a part of that work.

    :param reference: (6,) velocity of the reference; ``speed`` (6,) v_d - v; ``force`` (6,) of
        the damper.
    """
    power, moving = 0.0, 0.0
    for r in range(6):
        power += speed[r] * force[r]
        moving = max(moving, abs(reference[r]))
    if moving == 0.0:
        fill(memory, power, dt)


def damping_force(A: ndarray, K: ndarray, ratio: float, v: ndarray, scratch: ndarray,
                  modes: ndarray) -> None:
    """
    Replace the velocity ``v`` (6,) by the force D v whose modes have a damping ratio.

    Double diagonalisation (Albu-Schäffer, Ott, Frese and Hirzinger, ICRA 2003, section IV), with
    the mobility A in place of its inverse, the task inertia, so that it exists at singularities:
    √K A √K = U Ω² Uᵀ, D = 2 ζ √K U Ω⁻¹ Uᵀ √K. Along a direction in which the arm cannot move, D is
    large and Jᵀ D J small.

    :param A: (6, 6) J M⁻¹ Jᵀ; ``K`` (6,) stiffness; ``ratio`` ζ.
    :param scratch: workspace (4, 6, 6), of which 1 and 2 are used; ``modes`` (6,) likewise.
    """
    S, U = scratch[1], scratch[2]
    largest = 0.0
    for i in range(6):
        v[i] *= sqrt(K[i])
        for j in range(6):
            S[i, j] = sqrt(K[i] * K[j]) * A[i, j]
            U[i, j] = 1.0 if i == j else 0.0
        largest = max(largest, S[i, i])
    jacobi(S, U)
    for k in range(6):
        modes[k] = 0.0
        if largest > 0.0:
            for i in range(6):
                modes[k] += U[i, k] * v[i]
            modes[k] *= 2.0 * ratio / sqrt(max(S[k, k], LEAST * largest))
    for i in range(6):
        v[i] = 0.0
        for k in range(6):
            v[i] += sqrt(K[i]) * U[i, k] * modes[k]


def jacobi(S: ndarray, U: ndarray) -> None:
    """
    Diagonalise ``S`` (6, 6), symmetric, by SWEEPS of rotations that ``U`` collects by columns.

    Golub and Van Loan, Matrix Computations, 2013, section 8.5.
    """
    for _ in range(SWEEPS):
        for p in range(5):
            for q in range(p + 1, 6):
                if abs(S[p, q]) > 1e-9 * (abs(S[p, p]) + abs(S[q, q])):
                    ratio = (S[q, q] - S[p, p]) / (2.0 * S[p, q])
                    t = (1.0 if ratio >= 0.0 else -1.0) / (abs(ratio) + sqrt(1.0 + ratio * ratio))
                    c = 1.0 / sqrt(1.0 + t * t)
                    rotate_modes(S, U, p, q, c, t * c, t)


def rotate_modes(S: ndarray, U: ndarray, p: int, q: int, c: float, s: float, t: float) -> None:
    """Apply the Jacobi rotation of rows and columns p and q that makes S[p, q] zero."""
    a = t * S[p, q]
    S[p, p] -= a
    S[q, q] += a
    S[p, q] = S[q, p] = 0.0
    for i in range(6):
        if i != p and i != q:
            x, y = S[i, p], S[i, q]
            S[i, p] = S[p, i] = c * x - s * y
            S[i, q] = S[q, i] = s * x + c * y
        x, y = U[i, p], U[i, q]
        U[i, p], U[i, q] = c * x - s * y, s * x + c * y


LAW = Law('cartesian_impedance', cartesian_impedance,
          equation='τ = Jᵀ (K e + D (v_d - v) + F) + g(q) + N M (k_p (q_h - q) - k_d q̇), with e '
                   'the error of the pose of `task_frame`, N the null-space projector',
          source='Albu-Schäffer, Ott, Frese and Hirzinger, ICRA 2003', gains=PostureGains,
          memory=TankMemory, reference=POSE)
