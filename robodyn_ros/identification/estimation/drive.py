# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Drive gains: efforts per ampere, for robots that report motor currents only."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy import ndarray
from scipy import optimize

from .base_parameters import base_parameters, BaseParameters
from .estimate import autocovariance
from .regression import Regression, regression, triangle
from ..motion import Motion
from ..options import ParameterSelection
from ...errors import IdentificationError, UnknownNameError
from ...model.robot import RobotModel

CONVERGENCE_TOLERANCE = 1e-3    # relative change of σ
MAX_ROUNDS = 20
RANK_TOLERANCE = 1e-7  # of the largest singular value


@dataclass(frozen=True, eq=False)
class DriveGains:
    """
    Drive gains k of τ = k i.

    :param gains: (nv,) [N·m/A | N/A]; multiples of that of the reference joint where
        ``relative``; NaN for joints whose gain is not determined.
    :param standard_errors: (nv,) of the gains, with autocorrelated errors taken into account.
    :param sigma: (nv,) [A] standard deviation of the residual currents.
    :param relative: whether one common factor of all gains and parameters is not determined.
    :param values: (p,) base parameters for these gains (over the same factor); ``base`` names
        them.
    :param undetermined: sentences about gains and parameters that the recordings do not determine.
    """

    joint_names: tuple[str, ...]
    gains: ndarray
    standard_errors: ndarray
    sigma: ndarray
    relative: bool
    base: BaseParameters
    values: ndarray
    undetermined: tuple[str, ...]

    def anchored(self, name: str, value: float) -> 'DriveGains':
        """
        Return absolute gains and parameters from one known value.

        :param name: a joint, whose gain is ``value`` [N·m/A | N/A], or a base parameter, such as
            the leading one of a combination known from CAD. The uncertainty of the value is not
            included.
        :raises UnknownNameError: there is no such joint or base parameter.
        :raises IdentificationError: it is not determined, or practically zero, and gives no
            factor.
        """
        names = (*self.joint_names, *self.base.base_names)
        if name not in names:
            raise UnknownNameError('joint or base parameter', name, names)
        at = names.index(name)
        here = np.concatenate([self.gains, self.values])[at]
        factor = value / here if here else np.nan
        if not (np.isfinite(factor) and factor != 0.0):
            raise IdentificationError(f'{name} is {here:.4g} by these currents, and {value!r} is '
                                      'given', name=name, value=value, remedy='use one that is '
                                      'determined and not zero')
        text = self.undetermined[1:] if self.relative else self.undetermined
        return replace(self, gains=factor * self.gains, values=factor * self.values,
                       standard_errors=abs(factor) * self.standard_errors, relative=False,
                       undetermined=text)


def drive_gains(model: RobotModel, motions: Sequence[Motion], selection: ParameterSelection,
                loads: Sequence[RobotModel | None] = (), reference: str = '') -> DriveGains:
    """
    Estimate drive gains from motions whose ``effort`` is motor currents [A].

    i_j = (Y_j φ + load_j) / k_j, where φ are the base parameters of the robot without load and
    load_j the efforts of a known payload (Gautier and Briot 2014; Khalil, Gautier and Lemoine
    2007). These papers multiply currents by gains and solve by total least squares; here the noisy
    currents stand alone on their side, so that least squares is the maximum-likelihood estimate
    for white noise of the currents with one σ per joint. It starts from the linear solution with
    the gains on the side of the currents.

    Without a known load, gains and parameters are determined up to one factor: only ratios are,
    and only of joints whose efforts share a parameter. One known gain or parameter, from a data
    sheet or CAD, gives the factor (:meth:`DriveGains.anchored`). Joints that share no parameter
    with others, and gains that the load does not determine, are named.

    :param motions: at least one; those with a load are recorded separately from those without.
    :param loads: for each motion the robot with its payload
        (:func:`~robodyn_ros.model.robot.with_payload` of ``model``), None for no payload; empty:
        no motion has one.
    :param reference: joint of whose gain the others are multiples, where no motion has a load:
        one whose gain is known; empty: the first joint.
    :raises UnknownNameError: there is no joint ``reference``.
    :raises IdentificationError: the numbers of motions and loads differ, or friction or armature
        of the model is neither selected nor zero.
    """
    given = list(loads) or [None] * len(motions)
    if not motions or len(given) != len(motions):
        raise IdentificationError(f'{len(motions)} motions with {len(given)} loads', name='loads',
                                  value=len(given), remedy='pass one load, or None, per motion')
    base = base_parameters(model, selection)
    pieces = [regression(model, motion, selection) for motion in motions]
    if any(piece.known.any() for piece in pieces):
        raise IdentificationError('friction or armature of the model is taken as known',
                                  name='selection', value=selection,
                                  remedy='select them, or set them to zero in the model')
    extra = [np.zeros_like(piece.effort) if load is None else
             piece.matrix[:, :, :10 * model.nb]
             @ (load.inertial_parameters - model.inertial_parameters)
             for piece, load in zip(pieces, given)]
    problem = Problem(pieces, extra, base, any(load is not None for load in given),
                      model.joint_index(reference) if reference else 0)
    return problem.solve(model, base)


class Problem:
    """Currents of each joint compressed to (p + 2, p + 2): columns Y_j, load_j, i_j."""

    def __init__(self, pieces: list[Regression], extra: list[ndarray], base: BaseParameters,
                 loaded: bool, reference: int):
        self.pieces, self.extra, self.reference = pieces, extra, reference
        matrix = np.concatenate([piece.matrix[:, :, base.independent] for piece in pieces])
        load, current = np.concatenate(extra), np.concatenate([p.effort for p in pieces])
        self.rows = np.concatenate([matrix, load[:, :, None], current[:, :, None]], axis=2)
        self.count, self.nv, self.p, self.loaded = *current.shape, base.rank, loaded
        self.counted = sum(piece.counted.sum(0) for piece in pieces)
        if self.count * self.nv < self.p + self.nv:
            raise IdentificationError(
                f'{self.count * self.nv} equations for {self.p} parameters and {self.nv} gains',
                name='motion', value=self.count, remedy='record a longer motion')
        self.scale = np.linalg.norm(matrix.reshape(-1, self.p), axis=0)
        self.scale[self.scale == 0.0] = 1.0
        self.compact = [triangle(self.rows[:, j]) for j in range(self.nv)]

    def start(self) -> ndarray:
        """Return 1/k (nv,) and scaled base parameters (p,) of k i - Yφ = load."""
        blocks = []
        for j, R in enumerate(self.compact):
            gains = np.zeros((len(R), self.nv))
            gains[:, j] = R[:, -1]
            blocks.append(np.hstack([gains, -R[:, :self.p] / self.scale, R[:, -2:-1]]))
        system = np.vstack(blocks)
        if self.loaded:
            found = np.linalg.lstsq(system[:, :-1], system[:, -1], rcond=None)[0]
        else:       # the gain of the reference is 1
            rest = np.linalg.lstsq(np.delete(system[:, :-1], self.reference, axis=1),
                                   -system[:, self.reference], rcond=None)[0]
            found = np.insert(rest, self.reference, 1.0)
        gains = found[:self.nv]
        gains = np.where(abs(gains) > 0.0, gains, 1.0)
        return np.concatenate([1.0 / gains, found[self.nv:]])

    def residual(self, x: ndarray, sigma: ndarray) -> ndarray:
        """Return errors of the currents, as shares of σ."""
        effort = np.concatenate([x[self.nv:] / self.scale, [1.0]])
        return np.concatenate([(c * (R[:, :-1] @ effort) - R[:, -1]) / s
                               for c, R, s in zip(x[:self.nv], self.compact, sigma)])

    def jacobian(self, x: ndarray, sigma: ndarray) -> ndarray:
        """Return its derivatives."""
        effort = np.concatenate([x[self.nv:] / self.scale, [1.0]])
        blocks = []
        for j, (c, R, s) in enumerate(zip(x[:self.nv], self.compact, sigma)):
            own = np.zeros((len(R), self.nv))
            own[:, j] = R[:, :-1] @ effort
            blocks.append(np.hstack([own, c * R[:, :self.p] / self.scale]) / s)
        return np.vstack(blocks)

    def solve(self, model: RobotModel, base: BaseParameters) -> DriveGains:
        """Iterate σ and solutions, then list what is undetermined."""
        x, sigma = self.start(), np.ones(self.nv)
        free = np.delete(np.arange(len(x)), [] if self.loaded else self.reference)
        floor = np.finfo(float).eps * np.sqrt((self.rows[:, :, -1]**2).mean(0)) + 1e-300
        for _ in range(MAX_ROUNDS):
            x = self.best(x, sigma, free)
            errors = np.array([np.linalg.norm(e) for e in np.split(
                self.residual(x, np.ones(self.nv)), self.nv)])
            before, sigma = sigma, np.maximum(
                errors / np.sqrt(np.maximum(
                    self.counted - (self.p + self.nv) / self.nv, 1.0)), floor)
            if np.allclose(before, sigma, rtol=CONVERGENCE_TOLERANCE, atol=0.0):
                break
        return self.result(model, base, x, sigma, free)

    def best(self, x: ndarray, sigma: ndarray, free: ndarray) -> ndarray:
        """Return x whose free elements minimize the errors."""
        def whole(y: ndarray) -> ndarray:
            z = x.copy()
            z[free] = y
            return z
        size = np.maximum(abs(x[free]), 1e-6 * abs(x).max())
        return whole(optimize.least_squares(
            lambda y: self.residual(whole(y), sigma), x[free], x_scale=size,
            jac=lambda y: self.jacobian(whole(y), sigma)[:, free], xtol=1e-14, ftol=1e-14,
            gtol=1e-14).x)

    def result(self, model: RobotModel, base: BaseParameters, x: ndarray, sigma: ndarray,
               free: ndarray) -> DriveGains:
        """Name the undetermined gains, and return the standard errors of the others."""
        J = self.jacobian(x, sigma)[:, free]
        norms = np.linalg.norm(J, axis=0)
        norms[norms == 0.0] = 1.0
        _, singular, V = np.linalg.svd(J / norms, full_matrices=True)
        singular = np.pad(singular, (0, len(V) - len(singular)))
        null = V[singular <= RANK_TOLERANCE * singular[0]]
        above = singular > RANK_TOLERANCE * singular[0]
        determined = V[above] / singular[above, None]
        spread = np.sqrt((determined**2).sum(0)) / norms
        still = max((self._inflation(x, j) for j in range(self.nv)), default=1.0)
        deviation, open_ = np.zeros(len(x)), np.zeros(len(x), bool)
        deviation[free] = spread * np.sqrt(still)
        open_[free] = (abs(null) > 1e-4).any(axis=0)
        names = model.joint_names
        text = [] if self.loaded else [
            'one common factor of all gains and parameters: only ratios of gains to that of '
            f'{names[self.reference]} are determined; a motion with a known load gives the factor']
        text += [f'the gain of {names[j]}: its current shares no parameter with '
                 + ('what feels the load' if self.loaded else f'that of {names[self.reference]}')
                 for j in np.flatnonzero(open_[:self.nv])]
        text += [base.base_names[i] for i in np.flatnonzero(open_[self.nv:])]
        gains = np.where(open_[:self.nv], np.nan, 1.0 / x[:self.nv])
        values = np.where(open_[self.nv:], np.nan, x[self.nv:] / self.scale)
        return DriveGains(names, gains, deviation[:self.nv] * gains**2, sigma, not self.loaded,
                          base, values, tuple(text))

    def _inflation(self, x: ndarray, joint: int) -> float:
        """By how much errors that persist make the variance larger."""
        effort = np.concatenate([x[self.nv:] / self.scale, [1.0]])
        error = x[joint] * self.rows[:, joint, :-1] @ effort - self.rows[:, joint, -1]
        ends = np.cumsum([0, *(len(piece) for piece in self.pieces)])
        segments = tuple((int(at + a), int(at + b)) for at, piece in zip(ends, self.pieces)
                         for a, b in piece.segments)
        gamma = autocovariance(error, segments)
        return 1.0 if gamma[0] == 0.0 else max(1.0 + 2.0 * gamma[1:].sum() / gamma[0], 1.0)
