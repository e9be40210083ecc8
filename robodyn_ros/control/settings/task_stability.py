# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Stability of task-space gains and of integral action in a sampled loop with delay.

About a pose at rest the laws are springs and dampers
of the joints, τ = -K_q δq - D_q δq̇, whose matrices follow from the Jacobian and the inertia: Jᵀ K
J and Jᵀ D J, or Jᵀ M_x k_p J and Jᵀ M_x k_d J, and the posture in the null space. The eigenvalues
of the delayed loop are those of :mod:`.gain_stability`, at the same poses.

A disturbance observer of bandwidth K_o is a PID controller in that loop,
τ = -(K + K_o D) δq - (D + K_o M) δq̇ - K_o K ∫ δq dt, see
:mod:`.laws.disturbance_observer`; an adaptive law is at most one, too, with K = α D, see
:mod:`.laws.adaptive`. Integral gains and bandwidths of all joints are lowered by a common factor,
until they are stable at the worst pose. No bandwidth may exceed a tenth of that at which the delay
makes an observer alone unstable: longer delays are tolerated as with as much more damping, K_o M.
All lower values are to be stable too, because the action is weaker where a law suspends it: their
fractions CHECKED_SHARES are checked.
"""

from collections.abc import Sequence
from decimal import ROUND_FLOOR
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .friction import viscous
from .gain_stability import (
    GAIN_MARGIN, Gains, highest, listing, Loop, RADIUS_TOLERANCE, rounded, SEARCH_LEVELS,
    transposed)
from .task_and_bounds import coincidence, workspace_planes
from ..algebra import damped_cholesky
from ..declare import as_matrix, square_root
from ..laws.cartesian_impedance import MIN_MODE_MOBILITY
from ..laws.operational_space import MAX_SINGULARITY_DAMPING, SINGULAR_PIVOT
from ..laws.task_space import PROJECTOR_DAMPING
from ...dynamics import Dynamics
from ...errors import ParameterError
from ...model.robot import RobotModel

# Gain margin (6 dB) for gains on accelerations, which are the same in all poses; GAIN_MARGIN
# applies to the worst pose
ACCELERATION_MARGIN = 2.0
# Factors of all gains that are tried for the remedy of a refusal
REMEDY_LEVELS = tuple(0.8**np.arange(1, 40))
WALL_AXES = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
# Gains [1/s², 1/s] of motions that walls leave free, which are otherwise only marginally stable
FREE_MOTION_GAINS = 1.0, 2.0


def check_task(model: RobotModel, settings: Any, poses: ndarray) -> None:
    """
    Refuse gains of the task-space law in force that would be unstable at one of the poses.

    :param model: with its payload and its rotors.
    :param settings: :class:`.settings.Settings`, with a mode that follows a pose.
    :param poses: (P, nv) [rad | m].
    :raises ParameterError: naming the gain, and the largest that is accepted; or the gain of the
        posture, where no lower stiffness of the task helps.
    """
    impedance = settings.law_in_force.name == 'cartesian_impedance'
    name = 'task_stiffness' if impedance else 'task_kp'
    dynamics = Dynamics(model)
    J = np.array([dynamics.jacobian(q, settings.task_frame, 'aligned') for q in poses])
    M = np.array([dynamics.mass_matrix(q) for q in poses])
    if settings.task_axes == 'tool':
        turn = np.array([dynamics.pose(q, settings.task_frame)[:3, :3].T for q in poses])
        J = np.concatenate([turn @ J[:, :3], turn @ J[:, 3:]], 1)
    J = np.where(np.asarray(settings.task_selection)[:, None] == 0.0, 0.0, J)
    margin = GAIN_MARGIN if impedance else ACCELERATION_MARGIN
    loop = Loop(M, margin / settings.rate, margin * settings.loop_delay, viscous(model))
    posture = [np.asarray(settings.gain_of(model, f'nullspace_{k}')) for k in ('kp', 'kd')]

    def stable(level: float) -> bool:
        K, D = (_task_impedance if impedance else _accelerations)(J, M, settings, level)
        N = _projector(J, M, settings.nullspace_projector) @ M
        return bool(loop.coupled_radii(K + N * posture[0], D + N * posture[1]).max()
                    <= 1.0 + RADIUS_TOLERANCE)

    if stable(1.0):
        return
    level = next(filter(stable, REMEDY_LEVELS), 0.0)
    values = np.asarray(getattr(settings, name))
    remedy = 'lower nullspace_kp and nullspace_kd'
    if level:
        remedy = (f'use at most {", ".join(f"{x:.3g}" for x in level * values)}'
                  if len(values) == 6 else f'multiply all its elements by {level:.2g}')
    other = ('task_kd' if not impedance
             else 'task_damping' if settings.task_damping_design == 'given' else '')
    if level and other:
        remedy += f', and {other} lower by {np.sqrt(level):.2g}'
    raise ParameterError(
        f'{name} would be unstable, or nearly so, at {settings.rate:g} Hz with '
        f'{1e3 * settings.loop_delay:g} ms of delay', name=name if level else 'nullspace_kp',
        value=values.tolist(), remedy=remedy)


def check_walls(model: RobotModel, settings: Any, poses: ndarray) -> None:
    """
    Refuse walls of the workspace, critically damped, that would be unstable at one of the poses.

    :param model: with its payload and its rotors.
    :param settings: :class:`.settings.Settings` with a ``task_frame``.
    :param poses: (P, nv) [rad | m].
    :raises ParameterError: naming the highest ``workspace_stiffness`` that is accepted.
    """
    if not len(planes := workspace_planes(settings)) or not settings.workspace_stiffness:
        return
    times = coincidence(planes)
    dynamics = Dynamics(model)
    J = np.array([dynamics.jacobian(q, settings.task_frame, 'aligned') for q in poses])
    M = np.array([dynamics.mass_matrix(q) for q in poses])
    loop = Loop(M, GAIN_MARGIN / settings.rate, GAIN_MARGIN * settings.loop_delay, viscous(model))

    def stable(stiffness: float) -> bool:
        K, D = _impedance(J, M, times * stiffness * np.diag(WALL_AXES), 1.0)
        radii = loop.coupled_radii(K + FREE_MOTION_GAINS[0] * M, D + FREE_MOTION_GAINS[1] * M)
        return bool(radii.max() <= 1.0 + RADIUS_TOLERANCE)

    asked = settings.workspace_stiffness
    if stable(asked):
        return
    most = next((level * asked for level in REMEDY_LEVELS if stable(level * asked)), 0.0)
    raise ParameterError(
        f'workspace_stiffness = {asked:g} N/m would be unstable, or nearly so, at '
        f'{settings.rate:g} Hz with {1e3 * settings.loop_delay:g} ms of delay',
        name='workspace_stiffness', value=asked, remedy=f'use at most {most:.3g}')


def _task_impedance(J: ndarray, M: ndarray, settings: Any, level: float
                    ) -> tuple[ndarray, ndarray]:
    """Return Jᵀ K J and Jᵀ D J (P, nv, nv) of cartesian_impedance, K times ``level``."""
    stiffness = level * as_matrix(settings.task_stiffness, 6)
    if settings.task_damping_design == 'double_diagonalization':
        return _impedance(J, M, stiffness, settings.task_damping_ratio)
    damping = (2.0 * settings.task_damping_ratio * square_root(stiffness)
               if settings.task_damping_design == 'unit_inertia'
               else np.sqrt(level) * as_matrix(settings.task_damping, 6))
    return transposed(J) @ stiffness @ J, transposed(J) @ damping @ J


def _impedance(J: ndarray, M: ndarray, stiffness: ndarray, ratio: float
               ) -> tuple[ndarray, ndarray]:
    """
    Return Jᵀ K J and Jᵀ D J (P, nv, nv) with the damping ratio that double diagonalisation gives.

    See :func:`.cartesian_impedance.damping_force`.

    :param stiffness: (6, 6) [N/m, N, N·m/rad].
    """
    scaled = square_root(stiffness) @ J
    square, U = np.linalg.eigh(scaled @ np.linalg.solve(M, transposed(scaled)))
    largest = np.maximum(square.max(1, keepdims=True), 1e-30)
    square = np.maximum(square, MIN_MODE_MOBILITY * largest)
    damping = (U * (2.0 * ratio / np.sqrt(square))[:, None]) @ transposed(U)
    return transposed(scaled) @ scaled, transposed(scaled) @ damping @ scaled


def _accelerations(J: ndarray, M: ndarray, settings: Any, level: float) -> tuple[ndarray, ndarray]:
    """Return Jᵀ M_x k_p J and Jᵀ M_x k_d J (P, nv, nv)."""
    A = J @ np.linalg.solve(M, transposed(J))
    forces = transposed(J) @ np.linalg.inv(_more_damped(A, settings.task_singularity_damping))
    return (forces * (level * np.asarray(settings.task_kp)) @ J,
            forces * (np.sqrt(level) * np.asarray(settings.task_kd)) @ J)


def _projector(J: ndarray, M: ndarray, projector: str) -> ndarray:
    """Return the projector of the posture's efforts (P, nv, nv)."""
    n = J.shape[2]
    if projector == 'none':
        return np.broadcast_to(np.eye(n), M.shape)
    inverse = np.linalg.inv(M) if projector == 'dynamic' else np.eye(n)
    X = J @ inverse
    return np.eye(n) - transposed(J) @ np.linalg.solve(
        _damped(X @ transposed(J), PROJECTOR_DAMPING), X)


def _damped(A: ndarray, damping: float) -> ndarray:
    """Return A (P, 6, 6) with the diagonal of :func:`.damped_cholesky`."""
    out, d = A.copy(), np.einsum('pii->pi', A)
    np.einsum('pii->pi', out)[:] = np.where(d > 1e-12, d * (1.0 + damping), 1.0)
    return out


def _more_damped(A: ndarray, damping: float) -> ndarray:
    """Return A (P, 6, 6) with the damping of :mod:`.laws.operational_space`."""
    out, L = _damped(A, damping), np.zeros((6, 6))
    for k, matrix in enumerate(A):
        if (least := damped_cholesky(matrix, damping, L)) < SINGULAR_PIVOT:
            more = MAX_SINGULARITY_DAMPING * (1.0 - least / SINGULAR_PIVOT)**2
            out[k] = _damped(matrix[None], damping + more)[0]
    return out


# Actions, as arguments of `Loop.radii`
INTEGRAL, OBSERVER, REFERENCE = 'integral', 'observer', 'reference'
# Highest bandwidth of an observer, relative to that at which the delay makes it unstable alone
MAX_BANDWIDTH_SHARE = 0.1
# Fractions of integral gains and bandwidths that must be stable as well
CHECKED_SHARES = 1.0, 0.7, 0.5, 0.35, 0.25, 0.12, 0.06


def highest_integral(M: ArrayLike, gains: Gains, integral: ndarray, period: float, delay: float,
                     viscous: ArrayLike = 0.0, margin: float = GAIN_MARGIN, *,
                     action: str = INTEGRAL) -> ndarray:
    """
    Return integral gains (nv,) that are stable with a margin: those given, or lower ones.

    :param M, period, delay, viscous: see :func:`~.gain_stability.spectral_radius`.
    :param gains: K and D (nv,), which are stable alone.
    :param integral: (nv,) gain of the integral of the position error [N·m/(rad·s) | N/(m·s)].
    :param action: meaning of ``integral``: gain of INTEGRAL action, or bandwidth [1/s] of an
        OBSERVER or of a REFERENCE velocity, see :meth:`.gain_stability.Loop.radii`.
    """
    loop = Loop(M, margin * period, margin * delay, viscous)
    if action != INTEGRAL:
        largest = MAX_BANDWIDTH_SHARE * Loop(np.eye(1), period, delay, 0.0).max_damping
        integral = np.where(integral > largest, rounded(largest, ROUND_FLOOR), integral)

    def stable(share: float) -> bool:
        lower = (share * fraction * integral for fraction in CHECKED_SHARES)
        acts: list[dict[str, Any]] = [{action: gain} for gain in lower]
        return all(loop.radii(*gains, **act).max() <= 1.0 + RADIUS_TOLERANCE for act in acts)
    if not integral.any() or stable(1.0):
        return integral
    low = next((level for level in SEARCH_LEVELS if stable(level)), 0.0)
    high = low / SEARCH_LEVELS[1]
    while high - low > 1e-3 * high:
        middle = (low + high) / 2.0
        low, high = (middle, high) if stable(middle) else (low, middle)
    return rounded(low * integral, ROUND_FLOOR)


def check_integral(joint_names: Sequence[str], M: ArrayLike, gains: Gains, integral: ndarray,
                   period: float, delay: float, viscous: ArrayLike = 0.0,
                   margin: float = GAIN_MARGIN, *, parameter: str,
                   action: str = INTEGRAL) -> None:
    """
    Raise :class:`ParameterError` for unstable integral gains, with the highest stable ones.

    :param M, gains, integral, period, delay, viscous, action: see :func:`highest_integral`.
    :param parameter: name of ``integral``.
    """
    most = highest_integral(M, gains, integral, period, delay, viscous, margin, action=action)
    if np.array_equal(most, integral):
        return
    where = np.flatnonzero(integral)
    raise ParameterError(
        f'{parameter} {listing(joint_names, integral, where)} would be unstable, or nearly so, '
        f'with these other gains, at {1.0 / period:g} Hz with {1e3 * delay:g} ms of delay',
        name=parameter, value=integral.tolist(),
        remedy=f'use at most {listing(joint_names, most, where)}')


def check_adaptation(joint_names: Sequence[str], M: ArrayLike, damping: ndarray,
                     bandwidth: ndarray, rate: ndarray, period: float, delay: float,
                     viscous: ArrayLike = 0.0, margin: float = GAIN_MARGIN, *,
                     parameters: tuple[str, str]) -> None:
    """
    Raise :class:`ParameterError` for unstable adaptation, with the highest stable one.

    :param damping: (nv,) D, which is stable alone.
    :param bandwidth, rate: (nv,) Λ and α [1/s], named ``parameters``; the rate has to be stable
        alone, with τ = -D δq̇ - α D δq, and the bandwidth together with it.
    :param M, period, delay, viscous, margin: see :func:`highest_integral`.
    """
    low, _ = highest(M, rate * damping, damping, period, delay, viscous, margin)
    if (where := np.flatnonzero(low < rate * damping)).size:
        most = rounded(low / np.where(damping > 0.0, damping, 1.0), ROUND_FLOOR)
        raise ParameterError(
            f'{parameters[1]} {listing(joint_names, rate, where)} would be unstable, or nearly '
            f'so, at {1.0 / period:g} Hz with {1e3 * delay:g} ms of delay', name=parameters[1],
            value=rate.tolist(), remedy=f'use at most {listing(joint_names, most, where)}')
    check_integral(joint_names, M, (rate * damping, damping), bandwidth, period, delay, viscous,
                   margin, parameter=parameters[0], action=REFERENCE)
