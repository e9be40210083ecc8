# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Search of the most likely effects in which efforts are not linear: delay, tilt, presliding.

For normal errors the likelihood is greatest where Σ n log σ over the joints is least, with σ of
:func:`~.least_squares.least_squares` ('weighted', all parameters free) and n the effective number
of samples (:class:`~.least_squares.Likelihood`). Ignored, these effects appear as wrong, even
negative inertias, which no consistent estimate has.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from scipy import optimize
from scipy.interpolate import CubicSpline
from scipy.special import chdtri

from .filtered_columns import path_friction, thinner
from .least_squares import Likelihood
from .regression import friction_columns, presliding_model, Regression, regression
from ..motion import Motion
from ..options import ParameterSelection
from ...model.robot import RobotModel

MIN_DISTANCE = 1e-4     # [rad] of presliding
MAX_CUTOFF = 0.25       # of the rate, for interpolation between samples
MIN_SEGMENT = 50        # samples
MIN_GAIN = 1e-9         # of a likelihood, against a division by zero
COUPLING_SIGNIFICANCE = 1e-3    # level of the likelihood-ratio test
MOTION_SIGNS = (1.0, -1.0)    # of the second joint, as the motor feels it


class Effect(NamedTuple):
    """
    Effect that a search describes by numbers of about one.

    :param size: count of the numbers.
    :param low, limit: bounds of each number; at the limit, of either sign, it is implausible.
    :param significance: level of the likelihood-ratio test.
    """

    size: int
    low: float
    limit: float
    significance: float


# Decades of the distance / 0.1, from MIN_DISTANCE on; delay [ms]; tilt about two axes [mrad]
EFFECTS = {'presliding': Effect(1, 0.0, 25.0, 1e-3), 'delay': Effect(1, -30.0, 30.0, 0.01),
           'tilt': Effect(2, -50.0, 50.0, 0.01)}
STARTS = np.arange(0.0, 25.0, 5.0)      # of the presliding


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
        if not self.tilt.any():
            return model
        turned = model.gravity_vector + np.cross(self.tilt, model.gravity_vector)
        size = np.linalg.norm(model.gravity_vector) / np.linalg.norm(turned)
        return replace(model, gravity_vector=turned * size)

    def motion(self, motion: Motion) -> Motion:
        """Return the motion with the efforts that belong to its positions."""
        return motion if not self.delay else motion.once(
            ('later', self.delay), partial(motion.later, self.delay))


AS_RECORDED = Mounting(0.0, np.zeros(3), ())


Effects = dict[str, ndarray]     # numbers of those of EFFECTS that a model has


def find_mounting(model: RobotModel, motion: Motion, selection: ParameterSelection,
                  delay: bool = True, tilt: bool = True) -> Mounting:
    """
    Return the maximum-likelihood delay of the efforts and tilt of the base.

    :param delay: whether the delay is estimated; ``tilt``: whether the tilt is.
    """
    return find_effects(model, motion, selection, ['delay'] * delay + ['tilt'] * tilt)[0]


def find_effects(model: RobotModel, motion: Motion, selection: ParameterSelection,
                 wanted: Collection[str] = tuple(EFFECTS)) -> tuple[Mounting, float | None]:
    """
    Return the most likely delay and tilt, and the most likely presliding of a selection [rad].

    All efforts have the same delay, all rotary joints the same presliding distance, and the base
    is tilted about two horizontal axes. Friction that changes its sign late looks like a delay:
    the search starts both from the delay without presliding and from the presliding without a
    delay. An effect is zero where the most likely model without it is as likely but for chance
    (likelihood-ratio test), or where it is at its limit.

    :param wanted: effects that are estimated; a presliding that is not is that of the selection.
    """
    notes, wanted = list[str](), [name for name in EFFECTS if name in wanted and (
        name != 'tilt' or model.gravity_vector.any())]
    if 'delay' in wanted and (why := _why_no_delay(motion)):
        notes.append(f'delay: not estimated, since {why}')
        wanted.remove('delay')
    if not wanted:
        return Mounting(0.0, np.zeros(3), tuple(notes)), selection.presliding
    search = Search(model, motion, selection, wanted)
    found = search.best(wanted)
    for name in wanted:
        numbers, effect = found[name], EFFECTS[name]
        without = search.best([other for other in found if other != name], found)
        gain = max(search.misfit(without) - search.misfit(found), MIN_GAIN)
        beyond = bool(np.linalg.norm(numbers) > 0.999 * effect.limit)
        taken = not beyond and bool(2.0 * gain > chdtri(effect.size, effect.significance))
        notes.append(_note(name, numbers, np.linalg.norm(numbers) / np.sqrt(2.0 * gain))
                     + (': taken into account' if taken else ': rejected as implausible; check '
                        'the mounting and the clocks' if beyond else
                        ': not significant, not modelled'))
        if not taken:
            found = without
    distance = _distance(found['presliding']) if 'presliding' in found else (
        0.0 if 'presliding' in wanted else selection.presliding)
    return Mounting(1e-3 * float(found.get('delay', np.zeros(1))[0]),
                    _tilt(found) @ search.axes, tuple(notes)), distance


class Search:
    """
    Likelihood of effects, for the samples that have efforts at the longest delays.

    :param wanted: effects that are searched for.
    """

    def __init__(self, model: RobotModel, motion: Motion, selection: ParameterSelection,
                 wanted: Collection[str]):
        reach = round(1e-3 * EFFECTS['delay'].limit * motion.rate) + 1 if 'delay' in wanted else 0
        pieces = [(a, b) for a, b in motion.segments if b - a > 2 * reach + MIN_SEGMENT]
        self.motion, self.splines = motion, list[CubicSpline]()
        self._kept: dict[tuple[str, ...], Effects] = {}    # most likely ones without presliding
        if reach and pieces:
            self.splines = [CubicSpline(motion.time[a:b], motion.effort[a:b]) for a, b in pieces]
            self.motion = _without_ends(motion, pieces, reach)
        if 'presliding' in wanted:
            selection = replace(selection, presliding=0.0)
        self.plain = regression(model, self.motion, selection)
        self.likelihood = Likelihood(self.plain)
        self.axes = np.zeros((2, 3)) if 'tilt' not in wanted else np.linalg.svd(
            model.gravity_vector[None])[2][1:]
        # Linear in gravity, which a small rotation moves by axis × gravity
        self.turned = [regression(replace(model, gravity_vector=model.gravity_vector + np.cross(
            axis, model.gravity_vector)), self.motion, selection).matrix - self.plain.matrix
            for axis in self.axes if 'tilt' in wanted]

    def best(self, names: Collection[str], near: Effects | None = None) -> Effects:
        """
        Return the most likely numbers of these effects, the others being absent.

        :param near: where the search starts; None: everywhere.
        """
        if (key := tuple(names)) in self._kept:
            return self._kept[key]
        if near is not None:
            return self._improved({name: near[name] for name in names})
        late = self._improved({name: np.zeros(EFFECTS[name].size) for name in names
                               if name != 'presliding'})
        self._kept[tuple(late)] = late
        if 'presliding' not in names:
            return late
        prompt = {name: numbers * (name != 'delay') for name, numbers in late.items()}
        return self._improved(min(({**start, 'presliding': np.array([way])} for way in STARTS
                                   for start in (late, prompt)), key=self.misfit))

    def _improved(self, start: Effects) -> Effects:
        """Return the effects at the end of a search."""
        if not start:
            return start
        names = list(start)
        ends = np.cumsum([EFFECTS[name].size for name in names])[:-1]
        limits = [EFFECTS[name][1:3] for name in names for _ in range(EFFECTS[name].size)]

        def effects(x: ndarray) -> Effects:
            return dict(zip(names, np.split(x, ends)))

        found = optimize.minimize(lambda x: self.misfit(effects(x)), np.concatenate(
            [start[name] for name in names]), method='L-BFGS-B', bounds=limits,
            options={'eps': 1e-3, 'ftol': 1e-5})
        return effects(found.x)

    def misfit(self, effects: Effects) -> float:
        """Return Σ n log σ, less that without any effect."""
        given = self.plain
        matrix, effort = given.matrix, given.effort
        if 'presliding' in effects:
            matrix = _with_distance(given, self.motion, _distance(effects['presliding']))
        if 'tilt' in effects:
            matrix = matrix + np.tensordot(_tilt(effects), self.turned, 1)
        if 'delay' in effects:
            late, every = 1e-3 * effects['delay'][0], given.selection.decimate
            effort = np.concatenate([spline(self.motion.time[a:b:every] + late) for spline, (
                a, b) in zip(self.splines, self.motion.segments)]) * given.counted
        return self.likelihood.misfit(replace(given, matrix=matrix, effort=effort)) \
            - self.likelihood.reference


def most_likely_coupling(model: RobotModel, motion: Motion, selection: ParameterSelection,
                         pairs: Sequence[tuple[str, str]] = ()) -> tuple[int, float] | None:
    """
    Return the pair of neighbouring joints whose common friction explains most.

    In a wrist, the motor of the last joint often turns with q_i ± q_j, since its gear is carried
    by the joint before it, and its friction acts on both.

    :param pairs: names of joints that a URDF says are coupled, among which only is chosen; empty:
        all neighbours.
    :return: index of the first joint, and the ratio of the other one's motion; None where no pair
        is significant.
    """
    names = model.joint_names
    said = {min(map(names.index, pair)) for pair in pairs if set(pair) <= set(names)
            and abs(names.index(pair[0]) - names.index(pair[1])) == 1}
    likelihood = Likelihood(regression(model, motion, selection))
    found = {(i, sign): likelihood.misfit(regression(model, motion, replace(
        selection, coupling=((i, sign),)))) for i in range(model.nv - 1) for sign in MOTION_SIGNS
        if model.slides[i] == model.slides[i + 1] and (i in said or not said)}
    best = min(found, key=found.__getitem__, default=None)
    return best if best and likelihood.explains(found[best], 2, COUPLING_SIGNIFICANCE) else None


def _why_no_delay(motion: Motion) -> str:
    """Return why the delay of a motion cannot be estimated, '' if it can."""
    if motion.cutoff > MAX_CUTOFF * motion.rate:
        return 'efforts must be filtered to be interpolated between samples'
    least = 2 * (round(1e-3 * EFFECTS['delay'].limit * motion.rate) + 1) + MIN_SEGMENT
    return '' if any(b - a > least for a, b in motion.segments) else 'no segment is long enough'


def _without_ends(motion: Motion, pieces: Sequence[tuple[int, int]], reach: int) -> Motion:
    """Return segments of a motion without the samples at their ends."""
    index = np.concatenate([np.arange(a + reach, b - reach) for a, b in pieces])
    ends = np.cumsum([0, *(b - a - 2 * reach for a, b in pieces)]).tolist()
    return motion.once(('inner', reach, *pieces),
                       lambda: motion.samples(index, zip(ends, ends[1:])))


def _with_distance(given: Regression, motion: Motion, distance: float) -> ndarray:
    """Return the matrix of a regression with another presliding distance."""
    selection = replace(given.selection, presliding=distance)
    thin, matrix = thinner(motion, selection, True), given.matrix.copy()
    each, first = np.arange(given.model.nv), 10 * given.model.nb
    columns = friction_columns(presliding_model(given.model, selection), selection, motion)
    for name, *_, unit, load in columns:
        if not name.startswith('viscous'):      # it has no distance
            matrix[:, each, first + each] = thin(path_friction(unit, motion, load)) \
                * given.counted
        first += given.model.nv
    return matrix


def _distance(numbers: ndarray) -> float:
    return float(MIN_DISTANCE * 10.0**(0.1 * numbers[0]))


def _tilt(effects: Effects) -> ndarray:
    return 1e-3 * effects.get('tilt', np.zeros(2))


def _note(name: str, numbers: ndarray, error: float) -> str:
    """Return an estimate as text, with its standard error by the likelihood ratio."""
    if name == 'presliding':
        return f'presliding distance {1e3 * _distance(numbers):.2g} mrad'
    if name == 'delay':
        return f'efforts are later than positions by {numbers[0]:.3g} ± {error:.2g} ms'
    return (f'gravity is tilted by {np.degrees(1e-3 * np.linalg.norm(numbers)):.3g}° against the '
            f'base (± {np.degrees(1e-3 * error):.2g}°)')
