# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Maximum-likelihood delay of the efforts and tilt of the base."""

from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np
from numpy import ndarray
from scipy.interpolate import CubicSpline
from scipy.special import chdtrc

from .base_parameters import base_parameters
from .compressed import triangle
from .least_squares import determined_part, Likelihood, solve
from .parameter_selection import ParameterSelection
from .regression import Regression, regression
from ..motion import Motion
from ...model.robot import RobotModel

MAX_DELAY = 0.03                       # [s], of either sign
MAX_TILT = 0.05                        # [rad]; more is another mounting
SIGNIFICANCE = 0.01                    # level of the likelihood-ratio test
MAX_ROUNDS, MAX_HALVINGS = 10, 6               # of steps, and of their length
STEP_TOLERANCE = 1e-5    # [s], [rad]
MAX_CUTOFF = 0.25                      # of the rate, for interpolation between samples
MIN_SEGMENT = 50                       # samples


@dataclass(frozen=True, eq=False)
class Mounting:
    """
    Delay of the efforts and tilt of the base; zero where not significant or not estimated.

    :param delay: of the efforts after the positions [s].
    :param tilt: (3,) rotation vector of gravity [rad], in the base frame.
    :param notes: estimates with standard errors, one line each.
    """

    delay: float
    tilt: ndarray
    notes: tuple[str, ...]

    def model(self, model: RobotModel) -> RobotModel:
        """Return the model with gravity as it was found."""
        turned = model.gravity_vector + np.cross(self.tilt, model.gravity_vector)
        size = np.linalg.norm(turned)
        if not self.tilt.any():
            return model
        return replace(model, gravity_vector=turned * np.linalg.norm(model.gravity_vector) / size)

    def motion(self, motion: Motion) -> Motion:
        """Return the motion with the efforts that belong to its positions."""
        if not self.delay:
            return motion
        kept = _SHIFTED_MOTIONS.setdefault(motion, {})
        if self.delay not in kept:
            kept[self.delay] = motion.later(self.delay)
        return kept[self.delay]


AS_RECORDED = Mounting(0.0, np.zeros(3), ())

# Motions by their delay, so that what is computed of one is not computed again
_SHIFTED_MOTIONS: WeakKeyDictionary[Motion, dict[float, Motion]] = WeakKeyDictionary()
_INNER_MOTIONS: WeakKeyDictionary[Motion, Motion] = WeakKeyDictionary()


def find_mounting(model: RobotModel, motion: Motion, selection: ParameterSelection,
                  delay: bool = True, tilt: bool = True) -> Mounting:
    """
    Return the maximum-likelihood delay of the efforts and tilt of the base.

    All efforts have the same delay; the base is tilted about two horizontal axes. For normal
    errors the likelihood is greatest where Σ n log σ over the joints is least, with σ of
    :func:`~.least_squares.least_squares` ('weighted', all parameters free) and n the effective
    number of samples. Both effects are common in a laboratory; ignored, they appear as wrong, even
    negative inertias. Values that are not significant (likelihood-ratio test at ``SIGNIFICANCE``)
    or are beyond ``MAX_DELAY`` or ``MAX_TILT`` are set to zero.

    :param delay: whether the delay is estimated; ``tilt``: whether the tilt is.
    """
    axes = _horizontal(model) if tilt else np.zeros((0, 3))
    notes = []
    if delay and motion.cutoff > MAX_CUTOFF * motion.rate:
        delay = False
        notes.append('delay: not estimated, since efforts must be filtered to be interpolated '
                     'between samples')
    problem = Problem(model, motion, selection, axes)
    kinds = ['delay'] * delay + ['tilt'] * len(axes)
    if not kinds or problem.given is None:
        return Mounting(0.0, np.zeros(3), tuple(notes) if not kinds else (
            'delay and tilt: not estimated, since no segment is long enough',))
    x, spread = problem.most_likely(len(kinds), delay)
    parts = {kind: [k for k, other in enumerate(kinds) if other == kind]
             for kind in dict.fromkeys(kinds)}
    kept = np.zeros(len(kinds))
    for kind, k in parts.items():
        chance = _chance(x[k], spread[np.ix_(k, k)])
        most = MAX_DELAY if kind == 'delay' else MAX_TILT
        beyond = bool(np.linalg.norm(x[k]) >= most)
        taken = chance < SIGNIFICANCE and not beyond
        kept[k] = x[k] * taken
        notes.append(_note(kind, x[k], np.sqrt(np.abs(np.diag(spread)[k])), taken,
                           beyond))
    return Mounting(float(kept[0]) if delay else 0.0, kept[int(delay):] @ axes, tuple(notes))


def criterion(model: RobotModel, motion: Motion, selection: ParameterSelection,
              mounting: Mounting, reference: ParameterSelection) -> float:
    """
    Return Akaike's criterion, halved, of a mounting and a selection; less is better.

    Σ n log σ of :func:`find_mounting` plus the number of parameters (Akaike 1974).

    :param motion: long enough for a delay to be found.
    :param reference: selection by whose residuals the samples n are counted, the same for all that
        are compared.
    """
    problem = Problem(mounting.model(model), motion, selection, np.zeros((0, 3)))
    if reference != selection:
        problem.weight = Problem(model, motion, reference, np.zeros((0, 3))).weight
    count = (problem.base.rank + bool(selection.presliding) + bool(mounting.delay)
             + 2 * bool(mounting.tilt.any()))
    return problem.step(np.array([mounting.delay]), True)[0] + count


class Problem:
    """Regression of the samples that have efforts at the longest delays."""

    def __init__(self, model: RobotModel, motion: Motion, selection: ParameterSelection,
                 axes: ndarray):
        inside = round(MAX_DELAY * motion.rate) + 1
        self.pieces = [(a + inside, b - inside, CubicSpline(motion.time[a:b], motion.effort[a:b]))
                       for a, b in motion.segments if b - a > 2 * inside + MIN_SEGMENT]
        self.given: Regression | None = None
        if not self.pieces:
            return
        if motion not in _INNER_MOTIONS:
            index = np.concatenate([np.arange(a, b) for a, b, _ in self.pieces])
            ends = np.cumsum([0, *(b - a for a, b, _ in self.pieces)]).tolist()
            _INNER_MOTIONS[motion] = replace(motion, segments=tuple(zip(ends, ends[1:])), **{
                name: getattr(motion, name)[index]
                for name in ('time', 'position', 'velocity', 'acceleration', 'effort')})
        self.inner = _INNER_MOTIONS[motion]
        self.every = selection.decimate
        plain = regression(model, self.inner, selection)
        self.given, self.base = determined_part(plain, base_parameters(model, selection))
        # Linear in gravity, which a small rotation moves by axis × gravity
        self.turned = [regression(replace(model, gravity_vector=model.gravity_vector + np.cross(
            axis, model.gravity_vector)), self.inner, selection).matrix - plain.matrix
            for axis in axes]
        self.weight = Likelihood(plain).count

    def most_likely(self, count: int, delay: bool) -> tuple[ndarray, ndarray]:
        """
        Return the most likely delay, if it is sought, and angles about the axes; and covariances.

        Gauss-Newton steps from zero, shortened where the misfit grows: all effects are nearly
        linear in the efforts, so that few are needed.
        """
        x, limit = np.zeros(count), np.full(count, MAX_TILT)
        limit[:int(delay)] = MAX_DELAY
        value, step, spread = *self.step(x, delay), np.zeros((count, count))
        for _ in range(MAX_ROUNDS):
            best, (change, spread) = value, step
            for _ in range(MAX_HALVINGS):
                y = np.clip(x + change, -limit, limit)
                value, step = self.step(y, delay)
                if value <= best:
                    break
                change = change / 2.0
            else:
                return x, spread
            x, moved = y, np.abs(y - x).max(initial=0.0)
            if moved < STEP_TOLERANCE:
                break
        return x, step[1]

    def step(self, x: ndarray, delay: bool) -> tuple[float, tuple[ndarray, ndarray]]:
        """Return the misfit Σ n log σ, and a step to a lesser one with the covariances there."""
        now, slopes = self._at(x, delay)
        found = solve(now, self.base, 'weighted')
        full = np.zeros(now.size)
        full[self.base.independent] = found.values
        effects = [slopes] if delay else []
        effects += [-turned @ full for turned in self.turned]
        columns = now.matrix[:, :, self.base.independent]
        # What is left of the effects once the parameters have been fitted again
        weight = 1.0 / found.sigma
        rows = np.concatenate([columns, np.stack(effects, axis=2), found.error[:, :, None]], axis=2
                              ) * weight[:, None] * np.sqrt(self.weight / len(now))[:, None]
        size = np.linalg.norm(rows.reshape(-1, rows.shape[2]), axis=0)
        size[size == 0.0] = 1.0
        R = triangle((rows / size).reshape(-1, rows.shape[2]))
        k = slice(self.base.rank, self.base.rank + len(x))
        inverse = np.linalg.pinv(R[k, k]) / size[k, None]
        return float(self.weight @ np.log(found.sigma)), (
            inverse @ R[k, -1] * -size[-1], inverse @ inverse.T)

    def _at(self, x: ndarray, delay: bool) -> tuple[Regression, ndarray]:
        """Return the regression at a delay and angles, and the slopes of the efforts by delay."""
        assert self.given is not None
        late = float(np.clip(x[0], -MAX_DELAY, MAX_DELAY)) if delay else 0.0
        matrix = self.given.matrix
        if len(self.turned) and x[int(delay):].any():
            matrix = matrix + sum(
                angle * turned for angle, turned in zip(x[int(delay):], self.turned))
        effort, slopes = (np.concatenate([
            of(self.inner.time[a:b:self.every] + late, order)
            for (a, b), (*_, of) in zip(self.inner.segments, self.pieces)]) for order in (0, 1))
        counted = self.given.counted
        return replace(self.given, matrix=matrix, effort=effort * counted), slopes * counted


def _horizontal(model: RobotModel) -> ndarray:
    """Return two directions (2, 3) across gravity, or none where there is no gravity."""
    size = np.linalg.norm(model.gravity_vector)
    if size == 0.0:
        return np.zeros((0, 3))
    return np.linalg.svd(model.gravity_vector[None] / size)[2][1:]


def _chance(x: ndarray, spread: ndarray) -> float:
    """Return how probable so large an x is, or a larger one, where the true one is zero."""
    values, vectors = np.linalg.eigh(spread)
    told = values > 1e-12 * max(values.max(), 1e-30)
    along = vectors.T @ x
    return float(chdtrc(max(told.sum(), 1), np.sum(along[told]**2 / values[told])))


def _note(kind: str, x: ndarray, error: ndarray, taken: bool, beyond: bool) -> str:
    if kind == 'delay':
        text = f'efforts are later than positions by {1e3 * x[0]:.3g} ± {1e3 * error[0]:.2g} ms'
    else:
        angle = np.degrees(np.linalg.norm(x))
        text = (f'gravity is tilted by {angle:.3g}° against the base '
                f'(± {np.degrees(error.max()):.2g}°)')
    return text + (': taken into account' if taken else
                   ': rejected as implausible; check the mounting and the clocks' if beyond
                   else ': not significant, not modelled')
