# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Stability of gains in a sampled loop with delay.

The check is made for small motion about rest, M(q) δq̈ + B δq̇ = τ with τ = -K δq - D δq̇, where B
is the viscous friction of the joints, and K and D are ``stiffness`` and ``damping``. The effort
computed from the state at time k T acts from k T + delay on, for one period T. The delay comprises
sensing, transport, computation and drive, and is rounded up to whole periods; efforts that have
not acted yet are additional states (Åström and Wittenmark, Computer-Controlled Systems, 1997,
sections 2.3 and 3.2). The loop is stable if all eigenvalues of this linear system are inside the
unit circle. M depends on the pose: several poses are checked, and the worst one decides.

computed_torque cancels M: for it M is the identity, K and D are ``acceleration_kp`` and ``_kd``.
Neglected are other friction, compliance, and the change of gravity with the pose.

Gains that the effort rate limit can follow: where the acceleration of a reference steps by a, as
it does at the ends of trajectories, the effort has to change by M a, which a rate limit R delays
by M a / R. The velocity error grows meanwhile, and the damping D corrects it with the time
constant M / D. A loop that is faster than its rate limit, D a > R, is unstable for such errors,
although it is stable for small ones: each correction comes too late and calls for a greater one.
In simulations of two_link (joint impedance and computed torque, a delay of 8 ms, three effort
rates), most motions with steps of a ended in faults from D a = 1 to 1.5 R on, and most did not up
to 0.9 R.
"""

from collections.abc import Callable, Iterator, Sequence
from decimal import Context, ROUND_CEILING, ROUND_FLOOR
from math import ceil, pi, sin

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from ...errors import ParameterError

# Factor of period and delay for which gains must be stable, which is equivalent to the factor on D
# and its square on K: a margin for jitter, and for an arm a fifth lighter than its model. It is
# small because it applies to the worst of many poses.
GAIN_MARGIN = 1.25
# Low gains have pairs of eigenvalues so close to 1 that rounding moves them by √ε = 1.5e-8. At
# 1 kHz, a motion that grows at this rate takes ten hours to double.
RADIUS_TOLERANCE = 1.5e-8
# Longer delays are checked with a period of this fraction of the delay, which keeps the eigenvalue
# problem small and is slightly stricter: the hold delays by half a period, 1/16 of the delay.
MAX_DELAY_PERIODS = 8
# Factors of gains, or of bounds of gains, in the search for the highest stable ones.
SEARCH_LEVELS = tuple(0.7**np.arange(34))

Gains = tuple[ndarray, ndarray]             # K, D
Change = Callable[[float], Gains]           # lower gains, from a level


def spectral_radius(M: ArrayLike, stiffness: ArrayLike, damping: ArrayLike, period: float,
                    delay: float, viscous: ArrayLike = 0.0) -> float:
    """
    Return the largest modulus of the closed loop's eigenvalues: above 1, deviations grow.

    :param M: (nv, nv) or (P, nv, nv) [kg·m² | kg·m | kg] mass matrices, of P poses.
    :param stiffness, damping: (nv,) K [N·m/rad | N/m] and D [N·m·s/rad | N·s/m], finite and not
        negative. The position of a joint without stiffness is no state.
    :param period: T [s] of the controller; ``delay`` [s] from the state to its efforts.
    :param viscous: (nv,), or one for all joints, B [N·m·s/rad | N·s/m].
    """
    K, D = np.asarray(stiffness, float), np.asarray(damping, float)
    return float(Loop(M, period, delay, viscous).radii(K, D).max())


def highest(M: ArrayLike, stiffness: ArrayLike, damping: ArrayLike, period: float, delay: float,
            viscous: ArrayLike = 0.0, margin: float = GAIN_MARGIN) -> Gains:
    """
    Return K and D (nv,) that are stable with a margin: those given, or lower ones.

    Where lowering one gain of one joint suffices, it is lowered to the highest stable value,
    rounded down to 3 digits: the stiffness of a joint without enough damping for it, else the gain
    that needs the smallest change. Otherwise stiffness, damping or both are limited to a common
    fraction of the highest value that each joint could have alone.

    :param M, stiffness, damping, period, delay, viscous: see :func:`spectral_radius`.
    """
    K, D = np.asarray(stiffness, float), np.asarray(damping, float)
    return _lower(Loop(M, margin * period, margin * delay, viscous), K, D)


def check(joint_names: Sequence[str], M: ArrayLike, stiffness: ArrayLike, damping: ArrayLike,
          period: float, delay: float, viscous: ArrayLike = 0.0,
          parameters: Sequence[str] = ('stiffness', 'damping'),
          margin: float = GAIN_MARGIN) -> None:
    """
    Raise :class:`ParameterError` for unstable gains, with the :func:`highest` stable ones.

    Its ``name`` is the parameter to lower (the first of ``parameters`` for both), its ``value``
    that of the joint concerned, or a list for several joints. If more damping would be as good as
    less stiffness, the remedy states how much.

    :param M, stiffness, damping, period, delay, viscous: see :func:`spectral_radius`.
    :param parameters: names of ``stiffness`` and ``damping``.
    """
    K, D = np.asarray(stiffness, float), np.asarray(damping, float)
    loop = Loop(M, margin * period, margin * delay, viscous)
    changed = [(name, gain, low, where)
               for name, gain, low in zip(parameters, (K, D), _lower(loop, K, D))
               if (where := np.flatnonzero(low < gain)).size]
    if not changed:
        return
    listed = [f'{name} {listing(joint_names, gain, where)}' for name, gain, _, where in changed]
    at_most = [f'{name} {listing(joint_names, low, where)}' for name, _, low, where in changed]
    remedy = f'use at most {" and ".join(at_most)}'
    if len(changed) == 1 and changed[0][0] == parameters[0]:
        more = _more_damping(loop, K, D, changed[0][3])
        if more is not None:
            raised = listing(joint_names, more, np.flatnonzero(more > D))
            remedy += f', or {parameters[1]} {raised}'
    name, gain, _, where = changed[0]
    raise ParameterError(
        f'{" and ".join(listed)} would be unstable, or nearly so, at {1.0 / period:g} Hz with '
        f'{1e3 * delay:g} ms of delay', name=name, remedy=remedy,
        value=float(gain[where[0]]) if len(where) == 1 else gain[where].tolist())


class Loop:
    """
    The loop at P poses.

    Its state is (δq, δq̇, efforts not acted yet, the oldest first), and ∫ δq with integral gains.
    """

    def __init__(self, M: ArrayLike, period: float, delay: float, viscous: ArrayLike):
        M = np.asarray(M, float)
        n = M.shape[-1]
        self._M = M = M.reshape(-1, n, n)
        self.periods = ceil(delay / period - 1e-9)
        if self.periods > MAX_DELAY_PERIODS:
            self.periods, period = MAX_DELAY_PERIODS, delay / MAX_DELAY_PERIODS
        # The hold is late by half a period; K that is late by t is one with the damping -K t
        self.late = (self.periods + 0.5) * period
        self._period = period
        self.friction = np.broadcast_to(np.asarray(viscous, float), n)

        half = np.linalg.cholesky(M)
        inverse = np.linalg.inv(half)

        # Damping of one joint, the others free: x⁺ = x - a x₋d is stable for
        # 0 < a < 2 sin(π / (4 d + 2)) (Levin, May, Theoretical Population Biology 9 (1976))
        self.max_damping = (2.0 * sin(pi / (4 * self.periods + 2)) / period
                         / (inverse**2).sum(-2).max(0))

        # Modes W of friction, Wᵀ M W = 1 and Wᵀ B W = diag(rate), in which ÿ + rate ẏ = Wᵀ τ
        rate, turn = np.linalg.eigh(inverse * self.friction @ transposed(inverse))
        W = transposed(inverse) @ turn
        to_modes = transposed(half @ turn)
        x = np.maximum(rate, 0.0)[:, None, :] * period
        mean = np.divide(-np.expm1(-x), x, where=x > 0.0, out=np.ones_like(x))
        first = period * mean                                   # ∫ exp(-rate t) dt over T
        small = np.minimum(x, 1e-3)
        second = period**2 * np.where(                          # ∫∫
            x < 1e-3, 0.5 - small / 6.0 + small**2 / 24.0, (1.0 - mean) / np.maximum(x, 1e-3))

        self._step = np.zeros((len(M), 2 * n, 2 * n))           # of (δq, δq̇) over T, no efforts
        self._step[:, :n, :n] = np.eye(n)
        self._step[:, :n, n:] = W * first @ to_modes
        self._step[:, n:, n:] = np.eye(n) + W * np.expm1(-x) @ to_modes
        self._push = np.concatenate([W * second, W * first], 1) @ transposed(W)    # by τ over T

    def max_stiffness(self, D: ndarray) -> ndarray:
        """Return the stiffness (nv,) whose delay cancels all damping of slow motion."""
        return (D + self.friction) / self.late

    def radii(self, K: ndarray, D: ndarray, integral: ndarray | float = 0.0,
              poses: Sequence[int] | slice = slice(None),
              observer: ndarray | float = 0.0,
              reference: ndarray | float = 0.0) -> ndarray:
        """
        Return the spectral radius (P,) at each pose.

        :param integral: gain (nv,) of ∫ δq; ``observer``: bandwidth K_o (nv,) of a disturbance
            observer, with which τ = -(K + K_o D) δq - (D + K_o M) δq̇ - K_o K ∫ δq dt.
        :param reference: bandwidth Λ (nv,) of a reference velocity, with which
            τ = -(K + Λ D) δq - (D + M Λ) δq̇ - Λ K ∫ δq dt: for K = α D and s = -(δq̇ + Λ δq),
            these are D s + α D ∫ s dt, in addition to M v̇.
        """
        n, d, step, push = len(K), self.periods, self._step[poses], self._push[poses]
        m = n * (2 + d)                     # states without the integrals, which are the last ones
        observer, reference = np.zeros(n) + observer, np.zeros(n) + reference
        bandwidth = observer + reference
        ki = integral + bandwidth * K
        K = K + bandwidth * D
        on_velocity = (np.diag(D) + observer[:, None] * self._M[poses]
                       + self._M[poses] * reference)
        feedback = -np.concatenate([np.broadcast_to(np.diag(K), on_velocity.shape), on_velocity],
                                   2)
        A = np.zeros((len(step), m + n, m + n))
        A[:, m:, m:], A[:, m:, :n] = np.eye(n), self._period * np.eye(n)
        if d:
            A[:, :2 * n, :2 * n], A[:, :2 * n, 2 * n:3 * n] = step, push
            A[:, 2 * n:m - n, 3 * n:m] = np.eye((d - 1) * n)
            A[:, m - n:m, :2 * n], A[:, m - n:m, m:] = feedback, -np.diag(ki)
        else:
            A[:, :m, :m], A[:, :m, m:] = step + push @ feedback, -push * ki
        # States that no other state depends on are no part of the loop
        acts = (K != 0.0) | (D != 0.0) | (bandwidth != 0.0)
        moves = acts | (self.friction > 0.0) | bandwidth.any()
        kept = np.flatnonzero(np.concatenate([K != 0.0, moves, np.tile(acts, d), ki != 0.0]))
        if not len(kept):
            return np.zeros(len(A))
        return np.abs(np.linalg.eigvals(A[:, kept[:, None], kept])).max(1)

    def coupled_radii(self, K: ndarray, D: ndarray) -> ndarray:
        """Return the spectral radius (P,) with gains that couple the joints, (P, nv, nv) each."""
        n, d = K.shape[-1], self.periods
        m = n * (2 + d)
        feedback = -np.concatenate([K, D], 2)
        A = np.zeros((len(K), m, m))
        if d:
            A[:, :2 * n, :2 * n], A[:, :2 * n, 2 * n:3 * n] = self._step, self._push
            A[:, 2 * n:m - n, 3 * n:] = np.eye((d - 1) * n)
            A[:, m - n:, :2 * n] = feedback
        else:
            A[:] = self._step + self._push @ feedback
        return np.abs(np.linalg.eigvals(A)).max(1)


def _lower(loop: Loop, K: ndarray, D: ndarray) -> Gains:
    """See :func:`highest`; sought at the worst pose, and at others as they turn out worse."""
    gains, poses = (K, D), list[int]()
    while (radii := loop.radii(*gains)).max() > 1.0 + RADIUS_TOLERANCE:
        poses.append(int(radii.argmax()))
        gains = _search(loop, K, D, poses)
    return gains


def _search(loop: Loop, K: ndarray, D: ndarray, poses: list[int]) -> Gains:
    """Return the gains after the first of :func:`_changes` that is stable at ``poses``."""
    def lowered(change: Change, level: float) -> Gains:
        k, d = (np.where(low < gain, rounded(low, ROUND_FLOOR), gain)
                for low, gain in zip(change(level), (K, D)))
        return k, d

    def stable(change: Change, level: float) -> bool:
        return bool(loop.radii(*lowered(change, level), poses=poses).max() < 1.0)

    def finer(change: Change, low: float, high: float) -> float:
        while high - low > 1e-4 * high:
            middle = (low + high) / 2.0
            low, high = (middle, high) if stable(change, middle) else (low, middle)
        return low

    for changes in _changes(loop, K, D, poses):
        above = 1.0
        for level in SEARCH_LEVELS:
            if cures := [change for change in changes if stable(change, level)]:
                found = [finer(change, level, above) for change in cures]
                best = int(np.argmax(found))
                return lowered(cures[best], found[best])
            above = level
    return np.zeros_like(K), np.zeros_like(D)


def _changes(loop: Loop, K: ndarray, D: ndarray, poses: list[int]) -> Iterator[list[Change]]:
    """Yield groups of changes to try at decreasing levels, the preferred ones first."""
    def alone(which: int, joints: ndarray) -> Iterator[Change]:
        for joint in joints:
            def change(level: float, joint: int = joint) -> Gains:
                gains = K.copy(), D.copy()
                gains[which][joint] *= level
                return gains
            k, d = change(0.0)
            # Else no level helps
            if loop.radii(0.0 * k if which else k, d, poses=poses).max() < 1.0:
                yield change

    def softer(level: float) -> Gains:
        return np.minimum(K, level * loop.max_stiffness(D)), D

    def less_damped(level: float) -> Gains:
        return K, np.minimum(D, level * loop.max_damping)

    def both(level: float) -> Gains:
        d = np.minimum(D, level * loop.max_damping)
        return np.minimum(K, 0.5 * loop.max_stiffness(d)), d

    if (weak := np.flatnonzero(K > loop.max_stiffness(D))).size:    # stiffer than damping allows
        yield list(alone(0, weak))
        yield [softer]
    yield [*alone(0, np.flatnonzero(K)), *alone(1, np.flatnonzero(D))]
    yield [less_damped]
    yield [both]


def rounded_down(values: ndarray) -> ndarray:
    """Return gains rounded down to 3 significant digits."""
    return rounded(values, ROUND_FLOOR)


def rounded(values: ndarray, direction: str) -> ndarray:
    """Return numbers rounded to 3 significant digits."""
    context = Context(prec=3, rounding=direction)
    return np.array([float(context.create_decimal_from_float(float(x))) for x in values])


def _more_damping(loop: Loop, K: ndarray, D: ndarray, where: ndarray) -> ndarray | None:
    """Return D that makes K stable, raised at some joints; None where that does not help."""
    for factor in (1.1, 1.3, 1.6, 2.0, 3.0, 5.0):
        more = D.copy()
        more[where] = np.maximum(D, rounded(factor * loop.late * K - loop.friction,
                                            ROUND_CEILING))[where]
        if loop.radii(K, more).max() < 1.0:
            return more
    return None


def listing(joint_names: Sequence[str], values: ndarray, where: ndarray) -> str:
    """Return the values of the joints ``where``, each with the name of its joint."""
    return ', '.join(f'{values[i]:.6g} ({joint_names[i]})' for i in where)


def transposed(matrices: ndarray) -> ndarray:
    """Return the transposes of matrices (..., n, m)."""
    return np.swapaxes(matrices, -1, -2)


def highest_damping(inertia: ndarray, acceleration: ndarray, rate: ndarray) -> ndarray:
    """
    Return the highest damping (nv,) that the effort rate limit can follow, infinite for none.

    :param inertia: (nv,) of the joints, of gains that act on accelerations; 1 of others.
    :param acceleration: (nv,) [rad/s² | m/s²] of references; infinite without a limit.
    :param rate: (nv,) effort rate limit [N·m/s | N/s].
    """
    most = np.full(len(rate), np.inf)
    bounded = np.isfinite(acceleration) & (acceleration > 0.0) & np.isfinite(rate) & (rate > 0.0)
    np.divide(rate, inertia * acceleration, out=most, where=bounded)
    return most


def check_rate(joint_names: Sequence[str], damping: ndarray, inertia: ndarray,
               acceleration: ndarray, rate: ndarray, *, parameter: str) -> None:
    """
    Raise :class:`ParameterError` for damping that the effort rate limit cannot follow.

    :param damping: (nv,) the gains named ``parameter``.
    :param inertia, acceleration, rate: see :func:`highest_damping`.
    """
    most = highest_damping(inertia, acceleration, rate)
    where = np.flatnonzero(damping > most)
    if not len(where):
        return
    needed = rounded(rate * damping / most, ROUND_CEILING)
    raise ParameterError(
        f'{parameter} {listing(joint_names, damping, where)} would turn errors of a motion into '
        'oscillations, because effort_rate_limit '
        f'{listing(joint_names, rate, where)} delays the efforts', name=parameter,
        value=float(damping[where[0]]) if len(where) == 1 else damping[where].tolist(),
        remedy=f'use at most {parameter} {listing(joint_names, rounded_down(most), where)}, or '
               f'effort_rate_limit {listing(joint_names, needed, where)} if the drives can '
               'follow that, or a lower acceleration_limit')
