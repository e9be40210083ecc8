# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Objective of the optimization of a motion: criterion and penalties on its limits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray

from .base_regressor import BaseRegressor, Criterion, of_matrix, Quality, quality
from .fourier import Fourier
from .motion_limits import Limits
from ..estimation.regression import triangle
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
MAX_KNOWN_SAMPLES = 2000    # of a recording
MAX_ADDED_TIMES = 40    # at once, at which collisions are looked for


@dataclass(frozen=True)
class Usage:
    """
    Largest values of a motion on a fine grid, (nv,) each; units as in :class:`Limits`.

    :param lower, upper: ends of the range of positions.
    """

    lower: ndarray
    upper: ndarray
    velocity: ndarray
    acceleration: ndarray
    effort: ndarray

    def of(self, limits: Limits) -> dict[str, ndarray]:
        """Return the share of each limit by name, (nv,) each."""
        middle, half = (limits.lower + limits.upper) / 2, (limits.upper - limits.lower) / 2
        return {'position': np.maximum(self.upper - middle, middle - self.lower) / half,
                'velocity': self.velocity / limits.velocity,
                'acceleration': self.acceleration / limits.acceleration,
                'effort': self.effort / limits.effort}


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
        self._series, self._pose, self.limits = series, pose, limits
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

    def usage(self, coefficients: ndarray) -> Usage:
        """Return the largest values of a motion."""
        q, qd, qdd = self._motion(self._check, coefficients)
        # Between the samples of a series the peaks are higher by this at most, see Fourier.grid
        peak = 1.0 / np.cos(np.pi / CHECKS_PER_WAVE)
        return Usage(self._pose + peak * (q.min(0) - self._pose),
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
        middle, half = (limits.lower + limits.upper) / 2, (limits.upper - limits.lower) / 2
        for kind, (value, limit) in enumerate((
                (q - middle, half), (qd, limits.velocity), (qdd, limits.acceleration))):
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


def known_rows(regressor: BaseRegressor, motions: Sequence[Motion], period: float) -> ndarray:
    """
    Return rows (k, nv, columns) with the information of motions that were recorded before.

    They are those of a motion of one sample, to be multiplied by the root of the number of samples
    of a new motion of duration ``period`` [s]; longer recordings count more.
    """
    nv, count = len(regressor.sizes.lower), len(regressor)
    tall = np.zeros((0, count))
    for motion in motions:
        step = max(len(motion) // MAX_KNOWN_SAMPLES, 1)
        rows = regressor(*(a[::step] for a in (motion.position, motion.velocity,
                                               motion.acceleration)))
        weight = len(motion) / motion.rate / period / len(rows)
        tall = triangle(np.vstack([tall, np.sqrt(weight) * rows.reshape(-1, count)]))
    filled = np.zeros((-(-len(tall) // nv) * nv, count))
    filled[:len(tall)] = tall
    return filled.reshape(-1, nv, count)
