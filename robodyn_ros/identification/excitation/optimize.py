# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Optimization of exciting motions within limits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray
from scipy.optimize import minimize

from .base_regressor import BaseRegressor, Criterion, little_information, Quality, smooth_condition
from .fourier import Fourier
from .motion_limits import Limits
from .objective import MIN_SCALE, MotionCost, OTHER_POSE, Usage
from ..motion import Motion
from ...dynamics import Dynamics
from ...errors import Argument, IdentificationError

if TYPE_CHECKING:
    from .collisions import Collisions

CRITERIA = ('condition', 'information')
DEFAULT_SERIES = Fourier(harmonics=5, period=10.0)
# Rounds of one attempt: how near the stand-in is to the condition, the weight of the penalty that
# limits are kept by, and the most iterations
ROUNDS = ((1.0, 30.0, 40), (4.0, 300.0, 50), (4.0, 1000.0, 20))
WAYPOINTS_PER_WAVE = 40    # of the last harmonic; quintics between them are exact to 1e-9
LBFGS_MEMORY = 20    # steps


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
    usage: Usage
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
                                  remedy='give at least 1')
    model = dynamics.model
    fastest = series.highest_frequency * limits.velocity
    regressor = BaseRegressor(dynamics, limits, fastest, include)
    attempts, motions = [], []
    for number in range(starts):
        cost = MotionCost(dynamics, series, pose, limits, regressor, collisions, after)
        random = np.random.default_rng([seed, number])
        begin = _fitted(cost, random.normal(size=(model.nv, series.size)))
        motion = cost.inside(_optimised(cost, begin, criterion, partial(
            _forward, progress, number, starts)))
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


def _forward(progress: Callable[[float], None], number: int, starts: int, share: float) -> None:
    progress((number + share) / starts)


def _fitted(cost: MotionCost, coefficients: ndarray) -> ndarray:
    """Return a random motion scaled, joint by joint, to the velocities, then to all limits."""
    shares = cost.usage(coefficients).of(cost.limits)
    fast = coefficients / shares['velocity'][:, None]
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
