# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Cartesian impedance: a spring and a damper between a frame of the robot and its reference pose.

τ = Jᵀ (K e + D (v_d - v) + F) + g(q) + posture, with full matrices K and D, and the wrench F of a
feed-forward. C(q, q̇) q̇ is not compensated, so that at constant K the arm is passive toward its
environment (Ott, Cartesian Impedance Control of Redundant and
Flexible-Joint Robots, 2008, section 3.3). A stiffness that varies pays for its energy, see
:mod:`.spring`; of the spring, see :mod:`.spring`.
"""

from math import sqrt
from typing import Annotated, Any, NamedTuple

from numpy import ndarray

from .law import Arm, Law, POSE
from .spring import BEGUN, COUPLED, fill, spring_force, TankMemory, turn_force, vary_stiffness
from .task_space import (
    add_force, add_posture, add_wrench, mobility, pose_error, PostureGains, select, task_jacobian,
    to_task_axes, velocity_error)
from ..algebra import (
    dot, lower_times, plus, put, put_column, put_row, row, scaled, times, transposed_times, vector,
    Vector6, ZERO)
from ..inputs.task import GIVEN, TOOL_AXES, UNIT_INERTIA

# Of cyclic Jacobi rotations, as the law begins, and in each cycle after. D is positive definite
# after any number of them, and after three its modes have the damping ratio within a few percent;
# from the modes of the cycle before, one sweep does more
INITIAL_JACOBI_SWEEPS, JACOBI_SWEEPS = 3, 1
# Least mobility of a mode, relative to the largest, that its damping is designed for
MIN_MODE_MOBILITY = 1e-9
# Of the diagonal elements: smaller off-diagonal elements count as zero; size whose square is not 0
OFF_DIAGONAL_TOLERANCE, SQUARE_UNDERFLOW = 1e-9, 1e-150
# Of an element of the diagonal of K, below which a pivot of its factor is rounding
PIVOT_TOLERANCE = 1e-9


class ImpedanceMemory(NamedTuple):
    """Memory of the law: that of its tank, see :class:`.TankMemory`, and of its damping."""

    stiffness: Annotated[ndarray, (6, 6)]
    account: Annotated[ndarray, 3]
    factor: Annotated[ndarray, (6, 6)]      # of the stiffness, see :func:`factor_stiffness`
    modes: Annotated[ndarray, (6, 6)]       # directions Uᵀ of the damping, by rows


def cartesian_impedance(arm: Arm, gains: Any, memory: Any, tau: ndarray) -> None:
    """Write τ = Jᵀ (K e + D (v_d - v) + F) + g(q) + posture."""
    task, J, s = arm.task, arm.workspace.J, arm.task.settings[0]
    e, v, force, speed = task.vector[0], task.vector[1], task.vector[2], task.vector[3]
    K, L, A = memory.stiffness, memory.factor, task.scratch[0]
    tank, sweeps = TankMemory(K, memory.account), JACOBI_SWEEPS
    if memory.account[BEGUN] == 0.0:
        sweeps = INITIAL_JACOBI_SWEEPS
        for r in range(6):
            for c in range(6):
                memory.modes[r, c] = 1.0 if r == c else 0.0
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
        speed[r] = v[r]
    if vary_stiffness(tank, s, task.stiffness, e, arm.dt, force):
        factor_stiffness(K, L)
    mobility(arm, A)
    if s.task_damping_design == GIVEN:
        given_damping(s.task_damping, v, force)
    else:
        damping_force(A, s.task_damping_design == UNIT_INERTIA, L, s.task_damping_ratio,
                      memory.modes, sweeps, v, task.scratch)
    fill_from_damper(task.velocity, speed, v, tank, arm.dt)
    spring_force(s, K, memory.account[COUPLED] == 1.0, e, force)
    turn_force(e, s.task_axes == TOOL_AXES, force)
    add_force(J, plus(vector(force), 1.0, vector(v)), tau)
    add_posture(arm, gains, A, tau)


def fill_from_damper(reference: ndarray, speed: ndarray, force: ndarray, memory: TankMemory,
                     dt: float) -> None:
    """
    Credit the tank with the work of the damper while the reference rests.

    While the reference moves, its source does part of that work.

    :param reference: (6,) velocity of the reference; ``speed`` (6,) v_d - v; ``force`` (6,) of
        the damper.
    """
    power, moving = 0.0, 0.0
    for r in range(6):
        power += speed[r] * force[r]
        moving = max(moving, abs(reference[r]))
    if moving == 0.0:
        fill(memory, power, dt)


def given_damping(D: ndarray, v: ndarray, force: ndarray) -> None:
    """Replace the velocity ``v`` (6,) by D v; ``D`` (36,) by rows, ``force`` (6,) workspace."""
    for r in range(6):
        x = 0.0
        for c in range(6):
            x += D[6 * r + c] * v[c]
        force[r] = x
    for r in range(6):
        v[r] = force[r]


def damping_force(A: ndarray, unit_inertia: bool, L: ndarray, ratio: float, modes: ndarray,
                  sweeps: int, v: ndarray, scratch: ndarray) -> None:
    """
    Replace the velocity ``v`` (6,) by the force D v whose modes have a damping ratio.

    Double diagonalisation (Albu-Schäffer, Ott, Frese and Hirzinger, ICRA 2003, section IV), with
    the mobility A in place of its inverse, the task inertia, so that it exists at singularities,
    and with the Cholesky factor of K in place of its root, from which it differs by a rotation:
    K = L Lᵀ, Lᵀ A L = U Ω² Uᵀ, D = 2 ζ L U Ω⁻¹ Uᵀ Lᵀ. Along a direction in which the arm cannot
    move, D is large and Jᵀ D J small.

    :param A: (6, 6) J M⁻¹ Jᵀ; with ``unit_inertia``, A is that of 1 kg and 1 kg·m² instead, for
        which D = 2 ζ √K.
    :param L: (6, 6) factor of the stiffness, from :func:`factor_stiffness`; ``ratio`` ζ.
    :param modes: (6, 6) any rotation Uᵀ, in and out: the nearer to it, the fewer ``sweeps`` it
        takes.
    :param scratch: workspace (4, 6, 6), of which 1 and 2 are used.
    """
    S, B = scratch[1], scratch[2]
    for k in range(6):                  # S = Bᵀ A B, B = L U
        b = lower_times(L, row(modes, k))
        put_row(B, k, b)
        if not unit_inertia:
            b = times(A, b)
        for i in range(k + 1):
            S[i, k] = S[k, i] = dot(row(B, i), b)
    diagonalize(S, modes, sweeps)
    largest = 0.0
    for i in range(6):
        largest = max(largest, S[i, i])
    x = transposed_times(L, vector(v))
    force = ZERO
    if largest > 0.0:
        for k in range(6):
            mode = row(modes, k)
            rate = 2.0 * ratio * dot(mode, x) / sqrt(max(S[k, k], MIN_MODE_MOBILITY * largest))
            force = plus(force, rate, mode)
    put(v, lower_times(L, force))


def factor_stiffness(K: ndarray, L: ndarray) -> None:
    """Write the lower factor L (6, 6) of K = L Lᵀ, which may be semi-definite; 0 above it."""
    for k in range(6):
        pivot = K[k, k]
        for j in range(k):
            pivot -= L[k, j] * L[k, j]
        root = sqrt(pivot) if pivot > PIVOT_TOLERANCE * K[k, k] else 0.0
        for i in range(6):
            if i <= k or root == 0.0:
                L[i, k] = root if i == k else 0.0
            else:
                x = K[i, k]
                for j in range(k):
                    x -= L[i, j] * L[k, j]
                L[i, k] = x / root


def diagonalize(S: ndarray, modes: ndarray, sweeps: int) -> None:
    """
    Diagonalise ``S`` (6, 6), symmetric, by cyclic Jacobi rotations, which ``modes`` collects.

    Golub and Van Loan, Matrix Computations, 2013, section 8.5. With the half difference d of the
    diagonal, the off-diagonal o, and w = √(d² + o²), the tangent of an angle is ±o/(|d| + w), and
    its cosine √((|d| + w)/2w).

    :param modes: (6, 6) rotations by rows, in and out.
    """
    for _ in range(sweeps):
        for p in range(5):
            for q in range(p + 1, 6):
                size = abs(S[p, p]) + abs(S[q, q])
                if abs(S[p, q]) > OFF_DIAGONAL_TOLERANCE * size + SQUARE_UNDERFLOW:
                    d, o = 0.5 * (S[q, q] - S[p, p]), S[p, q]
                    w = sqrt(d * d + o * o)
                    t = (o if d >= 0.0 else -o) / (abs(d) + w)
                    rotate_modes(S, modes, p, q, sqrt((abs(d) + w) / (2.0 * w)), t)


def rotate_modes(S: ndarray, modes: ndarray, p: int, q: int, c: float, t: float) -> None:
    """Apply the rotation of rows and columns p and q, of cosine c, that makes S[p, q] zero."""
    s, shift, first, second = t * c, t * S[p, q], S[p, p], S[q, q]
    x, y = rotated(row(S, p), row(S, q), c, s)
    put_row(S, p, x)
    put_row(S, q, y)
    put_column(S, p, x)
    put_column(S, q, y)
    S[p, p], S[q, q] = first - shift, second + shift
    S[p, q] = S[q, p] = 0.0
    x, y = rotated(row(modes, p), row(modes, q), c, s)
    put_row(modes, p, x)
    put_row(modes, q, y)


def rotated(x: Vector6, y: Vector6, c: float, s: float) -> tuple[Vector6, Vector6]:
    """Return c x - s y and s x + c y."""
    return plus(scaled(c, x), -s, y), plus(scaled(s, x), c, y)


LAW = Law('cartesian_impedance', cartesian_impedance,
          equation='τ = Jᵀ (K e + D (v_d - v) + F) + g(q) + N M (k_p (q_h - q) - k_d q̇), with e '
                   'the error of the pose of `task_frame`, N the null-space projector',
          source='Albu-Schäffer, Ott, Frese and Hirzinger, ICRA 2003', gains=PostureGains,
          memory=ImpedanceMemory, reference=POSE)
