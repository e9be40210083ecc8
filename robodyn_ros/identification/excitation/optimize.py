# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Optimization of exciting motions within limits, and its objective."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray
from scipy.optimize import minimize

from .base_regressor import (
    BaseRegressor, Criterion, known_rows, Limits, little_information, of_matrix, Quality, quality,
    smooth_condition)
from .trajectory_file import Fourier
from ..motion import Motion
from ...dynamics import Dynamics
from ...errors import Argument, IdentificationError, Placeholder

if TYPE_CHECKING:
    from .collisions import Collisions

# Per wave of the last harmonic: samples at which limits are evaluated, and those of the final
# check, whose peaks are exact to cos(π / 400), 3e-5; every second sample is one of the regressor
SAMPLES_PER_WAVE, SAMPLE_STRIDE, CHECKS_PER_WAVE = 24, 2, 400
FRICTION_STEP = 1e-6    # of the velocity limit, for the slope of friction
SCALE_FACTOR, MIN_SCALE = 0.98, 0.1
OTHER_POSE = Argument('pose', tuple(map(Placeholder, ('V1', 'V2', '...'))))
MAX_ADDED_TIMES = 40    # at once, at which collisions are looked for
CRITERIA = ('condition', 'information')
DEFAULT_SERIES = Fourier(harmonics=5, period=10.0)
# Rounds of one attempt: how near the stand-in is to the condition, the weight of the penalty that
# limits are kept by, and the most iterations
ROUNDS = ((1.0, 30.0, 40), (4.0, 300.0, 50), (4.0, 1000.0, 20))
WAYPOINTS_PER_WAVE = 40    # of the last harmonic; quintics between them are exact to 1e-9
LBFGS_MEMORY = 20    # steps


class MotionCost:
    """
    Objective of motions from a pose and back: criterion and penalty, with gradients.

    Coefficients (nv, size) are those of :class:`Fourier`.

    :param collisions: None: collisions are not considered.
    :raises IdentificationError: the pose is not within the limits, or cannot be held in them.
    """

    def __init__(self, dynamics: Dynamics, series: Fourier, pose: ndarray, limits: Limits,
                 regressor: BaseRegressor, collisions: 'Collisions | None',
                 known: Sequence[Motion] = ()):
        self._batch, self._model = dynamics.batch, dynamics.model
        self._pose, self.limits = pose, limits
        self._regressor, self._collisions = regressor, collisions
        self._known = known_rows(regressor, known, series.period)
        self._basis = np.stack(series.basis(series.grid(SAMPLES_PER_WAVE)))
        self._check = np.stack(series.basis(series.grid(CHECKS_PER_WAVE)))
        self._watched = self._basis[0, ::SAMPLE_STRIDE]     # where collisions are looked for
        weight = np.abs(self._batch.gravity(pose[None])[0])
        for i, name in enumerate(self._model.joint_names):
            if not limits.lower[i] < pose[i] < limits.upper[i]:
                raise IdentificationError(
                    f'joint {name} starts at {pose[i]:.6g}', name=name, value=float(pose[i]),
                    remedy=(f'start between {limits.lower[i]:.6g} and {limits.upper[i]:.6g}, its '
                            'range less the margin: ', OTHER_POSE))
            if not weight[i] < limits.effort[i]:
                raise IdentificationError(
                    f'joint {name} bears {weight[i]:.4g} N·m or N at the start', name=name,
                    value=float(weight[i]), remedy=(
                        f'start where it bears less than the {limits.effort[i]:.4g} allowed: ',
                        OTHER_POSE, ', or allow more'))

    def __call__(self, coefficients: ndarray, criterion: Criterion, weight: float
                 ) -> tuple[float, ndarray]:
        """
        Return criterion + ``weight`` × penalty, and its derivative (nv, size).

        The penalty is the mean over the grid of the squared shares by which limits are exceeded,
        and of :meth:`Collisions.penalty`.
        """
        motion = self._motion(self._basis, coefficients)
        slopes = np.zeros((3, *motion[0].shape))
        some = tuple(a[::SAMPLE_STRIDE] for a in motion)
        matrix, by_state = self._regressor.with_slopes(*some)
        value, gradient = of_matrix(criterion, self._with_known(matrix))
        slopes[:, ::SAMPLE_STRIDE] = np.einsum('tij,kntij->ktn', gradient[:len(matrix)], by_state)
        value += self._penalty(motion, slopes, weight / len(motion[0]))
        slope = np.einsum('ktn,ktc->nc', slopes, self._basis)
        if self._collisions:
            share = weight * SAMPLE_STRIDE / len(motion[0])
            depth, by_pose = self._collisions.penalty(self._pose + self._watched @ coefficients.T)
            value, slope = value + share * depth, slope + share * by_pose.T @ self._watched
        return value, slope

    def _touching(self, coefficients: ndarray, suspects: ndarray) -> ndarray:
        """Return at which samples of the check bodies are too close, likely ones tried first."""
        if self._collisions is None:
            return suspects[:0]
        q = self._motion(self._check, coefficients)[0]
        # Where it touched before it is likely to touch again
        found = suspects[self._collisions.close(q[suspects])]
        return found if len(found) else np.flatnonzero(self._collisions.close(q))

    def watch(self, coefficients: ndarray) -> None:
        """Check for collisions from now on also where this motion has unnoticed ones."""
        touching = self._touching(coefficients, np.arange(0))
        some = touching[::max(len(touching) // MAX_ADDED_TIMES, 1)]
        self._watched = np.vstack([self._watched, self._check[0, some]])

    def quality(self, coefficients: ndarray) -> Quality:
        """Return the quality of a motion."""
        return quality(self._with_known(self._regressor(*self._motion(
            self._basis, coefficients))))

    def _with_known(self, matrix: ndarray) -> ndarray:
        """Return the rows of a motion, and those that stand for the known motions."""
        return np.concatenate([matrix, np.sqrt(len(matrix)) * self._known])

    def usage(self, coefficients: ndarray) -> Limits:
        """Return the largest values of a motion, on a fine grid."""
        q, qd, qdd = self._motion(self._check, coefficients)
        # Between the samples of a series the peaks are higher by this at most, see Fourier.grid
        peak = 1.0 / np.cos(np.pi / CHECKS_PER_WAVE)
        return Limits(self._pose + peak * (q.min(0) - self._pose),
                      self._pose + peak * (q.max(0) - self._pose),
                      peak * np.abs(qd).max(0), peak * np.abs(qdd).max(0),
                      np.abs(self.effort(q, qd, qdd)).max(0))

    def effort(self, q: ndarray, qd: ndarray, qdd: ndarray) -> ndarray:
        """Return the efforts (N, nv) [N·m | N] of a motion, friction of the model included."""
        return self._batch.inverse_dynamics(q, qd, qdd) + self._batch.friction(qd)

    def inside(self, coefficients: ndarray) -> ndarray | None:
        """
        Return the coefficients scaled down until all limits and the clearance are kept.

        :return: None if hardly any motion is left.
        """
        # At the pose itself all is well, and position, velocity, acceleration scale with the size
        use, pose, limits = self.usage(coefficients), self._pose, self.limits
        with np.errstate(divide='ignore'):
            room = np.concatenate([
                (limits.upper - pose) / np.maximum(use.upper - pose, 0.0),
                (limits.lower - pose) / np.minimum(use.lower - pose, -0.0),
                limits.velocity / use.velocity, limits.acceleration / use.acceleration])
        scale = min(1.0, float(np.nanmin(room)) * (1.0 - 1e-9))
        suspects = np.arange(0)
        while scale >= MIN_SCALE:
            smaller = scale * coefficients
            if (self.usage(smaller).effort <= limits.effort).all():
                suspects = self._touching(smaller, suspects)
                if not len(suspects):
                    return smaller
            scale *= SCALE_FACTOR
        return None

    def _motion(self, basis: ndarray, coefficients: ndarray) -> tuple[ndarray, ndarray, ndarray]:
        shift, velocity, acceleration = basis @ coefficients.T
        return self._pose + shift, velocity, acceleration

    def _penalty(self, motion: tuple[ndarray, ndarray, ndarray], slopes: ndarray, weight: float
                 ) -> float:
        """Return the weighted penalty and add its derivatives by q, q̇, q̈ to ``slopes``."""
        (q, qd, qdd), limits, total = motion, self.limits, 0.0
        for kind, (value, limit) in enumerate((
                (q - limits.middle, limits.half), (qd, limits.velocity),
                (qdd, limits.acceleration))):
            excess, slope = _excess(value, limit)
            total += np.sum(excess**2)
            slopes[kind] += 2.0 * weight * excess * slope
        effort = self.effort(q, qd, qdd)
        excess, slope = _excess(effort, limits.effort)
        over = np.flatnonzero(excess.any(axis=1))
        if len(over):
            total += np.sum(excess**2)
            pull = 2.0 * weight * (excess * slope)[over]
            for kind, part in enumerate(self._batch.inverse_dynamics_derivatives(
                    q[over], qd[over], qdd[over])):
                slopes[kind, over] += np.einsum('ti,tij->tj', pull, part)
            step = FRICTION_STEP * limits.velocity
            slopes[1, over] += pull * (self._batch.friction(qd[over] + step)
                                       - self._batch.friction(qd[over])) / step
        return weight * float(total)


def _excess(value: ndarray, limit: ndarray) -> tuple[ndarray, ndarray]:
    """Return by which share of the limit values exceed it, and the derivative where they do."""
    return np.maximum(np.abs(value) / limit - 1.0, 0.0), np.sign(value) / limit


@dataclass(frozen=True)
class Attempt:
    """
    One start of the optimization: quality of its random motion and of its result.

    ``reached`` is None where no motion within the limits was left.
    """

    start: Quality
    reached: Quality | None


@dataclass(frozen=True)
class Excitation:
    """
    Exciting motion that starts and ends at rest at ``pose`` and can be repeated.

    :param coefficients: (nv, size) of ``series``.
    :param attempts: all of them; ``best`` is the number of the one that was chosen.
    :param columns: names of the base parameters that were considered.
    :param usage: largest values of the motion; ``limits``: its limits.
    :param notes: sentences about collisions that were not checked.
    """

    joint_names: tuple[str, ...]
    series: Fourier
    coefficients: ndarray
    pose: ndarray
    criterion: str
    attempts: tuple[Attempt, ...]
    best: int
    columns: tuple[str, ...]
    usage: Limits
    limits: Limits
    notes: tuple[str, ...]

    @property
    def reached(self) -> Quality:
        """Quality of this motion."""
        quality = self.attempts[self.best].reached
        assert quality is not None
        return quality

    @property
    def rate(self) -> float:
        """Rate of waypoints [Hz] between which quintics still follow the motion."""
        return WAYPOINTS_PER_WAVE * self.series.harmonics / self.series.period

    def trajectory(self, rate: float | None = None, repeat: int = 1
                   ) -> tuple[ndarray, ndarray, ndarray, ndarray]:
        """
        Return times (T,) [s] and q, q̇, q̈ (T, nv) of some periods, both ends included.

        :param repeat: number of periods.
        :param rate: [Hz], rounded to a whole number of intervals per period; None: :attr:`rate`.
        """
        intervals = max(round((rate or self.rate) * self.series.period), 2)
        times = self.series.period / intervals * np.arange(intervals * repeat + 1)
        q, qd, qdd = self.series.motion(times, self.coefficients, self.pose)
        for end in (0, -1):         # rounding must not look like a motion that goes on
            q[end], qd[end], qdd[end] = self.pose, 0.0, 0.0
        return times, q, qd, qdd


def excite(dynamics: Dynamics, pose: ndarray, limits: Limits, *,
           series: Fourier = DEFAULT_SERIES, criterion: str = 'condition', starts: int = 5,
           seed: int = 0, include: Sequence[str] = ('friction',),
           collisions: 'Collisions | None' = None, after: Sequence[Motion] = (),
           progress: Callable[[float], None] = lambda done: None) -> Excitation:
    """
    Optimize the coefficients of a series for a well-conditioned base regressor.

    Swevers et al. 1997 with the base regressor of :class:`BaseRegressor`. From each random start
    L-BFGS minimizes the criterion and a growing penalty on position, velocity, acceleration,
    effort and distances; the result is scaled down until a dense check finds every limit kept. The
    best result is returned.

    :param pose: (nv,) [rad | m] where the motion starts and ends.
    :param criterion: 'condition' (minimized) or 'information' (maximized), see :class:`Quality`.
    :param starts: number of random starts.
    :param seed: of the random numbers.
    :param include: joint terms to be identified too, see :class:`BaseRegressor`.
    :param after: motions that are recorded already, which the new one complements.
    :param collisions: None: not checked, which a note says.
    :param progress: is called with the completed share, 0 to 1.
    :raises IdentificationError: there is no such criterion, the robot cannot rest at the pose, or
        no attempt leaves a motion.
    """
    if criterion not in CRITERIA:
        raise IdentificationError(f'no criterion {criterion!r}', name='criterion',
                                  value=criterion, remedy=f'choose {" or ".join(CRITERIA)}')
    if starts < 1:
        raise IdentificationError(f'{starts} starts', name='starts', value=starts,
                                  remedy='use at least 1')
    model = dynamics.model
    fastest = series.highest_frequency * limits.velocity
    regressor = BaseRegressor(dynamics, limits, fastest, include)
    attempts, motions = [], []
    for number in range(starts):
        cost = MotionCost(dynamics, series, pose, limits, regressor, collisions, after)
        random = np.random.default_rng([seed, number])
        begin = _fitted(cost, random.normal(size=(model.nv, series.size)))

        def forward(share: float, number: int = number) -> None:
            progress((number + share) / starts)
        motion = cost.inside(_optimised(cost, begin, criterion, forward))
        attempts.append(Attempt(cost.quality(begin), motion if motion is None
                                else cost.quality(motion)))
        motions.append(motion)
        progress((number + 1) / starts)
    worth = [np.inf if a.reached is None else a.reached.condition if criterion == 'condition'
             else -a.reached.information for a in attempts]
    best = int(np.argmin(worth))
    if (chosen := motions[best]) is None:
        raise IdentificationError(
            f'none of {starts} motions keeps the limits and touches nothing', name='starts',
            value=starts, remedy=('start at a pose with more room: ', OTHER_POSE,
                                  ', or try more: ', Argument('starts', 2 * starts)))
    return Excitation(model.joint_names, series, chosen, pose, criterion, tuple(attempts), best,
                      regressor.names, cost.usage(chosen), limits, tuple(_notes(collisions)))


def _fitted(cost: MotionCost, coefficients: ndarray) -> ndarray:
    """Return a random motion scaled, joint by joint, to the velocities, then to all limits."""
    share = cost.usage(coefficients).velocity / cost.limits.velocity
    fast = coefficients / share[:, None]
    inside = cost.inside(fast)
    return MIN_SCALE * fast if inside is None else inside


def _optimised(cost: MotionCost, begin: ndarray, criterion: str,
               progress: Callable[[float], None]) -> ndarray:
    """Return the coefficients at the end of all rounds, which may exceed limits a little."""
    unit = cost.limits.velocity[:, None]

    def value(x: ndarray, measure: Criterion, weight: float) -> tuple[float, ndarray]:
        found, slope = cost(x.reshape(unit.size, -1) * unit, measure, weight)
        return found, (slope * unit).ravel()

    whole, done = sum(most for _, _, most in ROUNDS), 0
    x = (begin / unit).ravel()
    for power, weight, most in ROUNDS:
        measure: Criterion = (smooth_condition(power) if criterion == 'condition'
                              else little_information)

        steps = count(done + 1)
        x = minimize(value, x, (measure, weight), jac=True, method='L-BFGS-B',
                     callback=lambda _, steps=steps: progress(next(steps) / whole),
                     options={'maxiter': most, 'maxcor': LBFGS_MEMORY}).x
        done += most
        cost.watch(x.reshape(unit.size, -1) * unit)
        progress(done / whole)
    return x.reshape(unit.size, -1) * unit


def _notes(collisions: 'Collisions | None') -> list[str]:
    if collisions is None:
        return ['collisions were not checked']
    notes = []
    if collisions.excluded:
        notes.append('too close at the start, not checked: ' + ', '.join(
            f'{first} and {second}' for first, second in collisions.excluded))
    if collisions.left_out:
        notes.append(f'not part of this model, not checked: {", ".join(collisions.left_out)}')
    return notes
