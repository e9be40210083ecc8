# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Estimated parameters with their standard errors, and models of parameters."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray
from scipy.signal import oaconvolve

from .base_parameters import BaseParameters
from .regression import (
    FRICTION_TERMS, LOAD_TERM, Parameters, predicted, presliding_model, Regression, triangle)
from ..motion import Motion
from ..options import ParameterSelection
from ...errors import IdentificationError, UnknownNameError
from ...model.rigid_body import body_of, pseudo_inertia
from ...model.robot import RobotModel
from ...model.validate import validated

WINDOW_LENGTH = 5.0    # correlation times
MAX_SPREAD_FACTOR = 10.0    # by which the spread of blocks may enlarge a standard error


class Covariance(NamedTuple):
    """Covariance (p, p) of base parameters, effective samples of each joint (nv,)."""

    matrix: ndarray
    independent: ndarray


def covariance(given: Regression, columns: ndarray, divisor: ndarray, error: ndarray
               ) -> Covariance:
    """
    Return the covariance of an estimate by weighted least squares.

    A⁻¹ B A⁻¹ with A = Σ Wᵀ W/σ² and B = Σ Wᵀ Γ W/σ⁴ over the joints, where W (N, p) are the rows
    of a joint and Γ (N, N) is the autocovariance of its errors. For white noise, Γ = σ² 1, it is
    A⁻¹, the textbook result. Recorded efforts are filtered and model errors change slowly, so that
    errors persist for many samples, and A⁻¹ is too small by as much. This is the estimator of
    Newey and West 1987 for errors that are stationary and independent of the motion and between
    joints: Γ is the autocovariance of the residuals, tapered by Parzen's window so that it stays
    positive, over WINDOW_LENGTH correlation times on either side (Sokal 1997, section 3). Errors
    that depend on the motion, such as a wrong friction law, are not covered.

    :param divisor: (nv,) σ by which the estimate divided the errors, whether correct or not.
    :param error: (N, nv) that the estimate leaves [N·m | N].
    """
    p = len(columns)
    A, B = np.zeros((p, p)), np.zeros((p, p))
    independent = np.empty(len(divisor))
    size = np.linalg.norm(given.matrix[:, :, columns].reshape(-1, p), axis=0)
    for j, s in enumerate(divisor):
        W = given.matrix[:, j, columns] / (s * size)
        count = max(given.counted[:, j].sum(), 1)
        # Excluded samples are 0 in the sums of squares, and are not counted
        gamma = autocovariance(error[:, j] / s, given.segments) * len(given) / count
        independent[j] = independent_samples(gamma, count)
        A += W.T @ W
        kernel = np.concatenate([gamma[:0:-1], gamma])[:, None]
        lags = len(gamma) - 1
        for a, b in given.segments:
            B += W[a:b].T @ oaconvolve(W[a:b], kernel, axes=0)[lags:lags + b - a]
    inverse = np.linalg.inv(A) / size[:, None]
    # Residuals are smaller than errors: some of those went into the parameters
    total = independent.sum()
    return Covariance(inverse @ B @ inverse.T * total / max(total - p, 1.0), independent)


def independent_samples(gamma: ndarray, count: int) -> float:
    """Return the effective number of ``count`` errors with an autocovariance ``gamma``."""
    count = max(count, 1)
    return float(max(count * gamma[0] / max(gamma[0] + 2.0 * gamma[1:].sum(), gamma[0] / count,
                                            1e-300), 1.0))


def autocovariance(errors: ndarray, segments: tuple[tuple[int, int], ...]) -> ndarray:
    """Return the autocovariance, tapered, of errors (N,), from lag 0: (lags,)."""
    longest = max(b - a for a, b in segments)
    full = np.zeros(longest)
    for a, b in segments:
        piece = errors[a:b]
        spectrum = np.fft.rfft(piece, 2 * len(piece))
        full[:b - a] += np.fft.irfft(abs(spectrum)**2)[:b - a]
    full /= len(errors)
    if full[0] == 0.0:
        return full[:1]
    time = 1.0 + 2.0 * np.cumsum(full[1:] / full[0])        # correlation time by window
    windows = np.arange(1, longest)
    enough = np.flatnonzero(windows >= WINDOW_LENGTH * np.maximum(time, 1.0))
    length = min(2 * (int(windows[enough[0]]) if enough.size else longest), longest)
    u = np.arange(length) / length
    taper = np.where(u < 0.5, 1.0 - 6.0 * u**2 * (1.0 - u), 2.0 * (1.0 - u)**3)
    return full[:length] * taper


def with_spread_of_blocks(matrix: ndarray, blocks: Sequence[ndarray]) -> ndarray:
    """
    Return a covariance (p, p) whose errors are no less than those by blocks of the data.

    Friction changes with temperature and from day to day, so that recordings, or the parts of one,
    differ by more than their residuals show. Each block is left out in turn, and the jackknife
    gives the standard errors (Efron and Stein 1981); where they are larger, rows and columns are
    scaled.

    :param matrix: covariance by the residuals.
    :param blocks: triangular factors (k, p + 1) of the weighted rows of each block, with the
        efforts in the last column; at least three.
    """
    p, found = len(matrix), []
    for k in range(len(blocks)):
        R = triangle(np.vstack([*blocks[:k], *blocks[k + 1:]]))
        if len(R) < p or not (abs(np.diag(R)[:p]) > 0.0).all():
            return matrix               # one block alone determines a parameter
        found.append(np.linalg.lstsq(R[:p, :p], R[:p, p], rcond=None)[0])
    each = np.array(found)
    spread = np.sqrt((len(each) - 1) / len(each) * ((each - each.mean(0))**2).sum(0))
    own = np.sqrt(np.diag(matrix))
    with np.errstate(divide='ignore', invalid='ignore'):
        factor = np.where(own > 0.0, np.maximum(spread / own, 1.0), 1.0)
    factor = np.minimum(factor, MAX_SPREAD_FACTOR)
    return matrix * factor[:, None] * factor


MIN_EIGENVALUE = 1e-4    # relative to the largest one, for flat bodies and points
DEFAULT_MASS = 1.0    # [kg] if no mass is known
DEFAULT_LENGTH = 0.1    # [m] size of bodies whose inertia gives none
BALL_MOMENT = DEFAULT_LENGTH**2 / 3.0


def lengths(parameters: ndarray) -> ndarray:
    """Return the root-mean-square distance of each body's mass from its origin (nb,) [m]."""
    P = pseudo_inertia(parameters)
    mass = P[:, 3, 3]
    square = np.trace(P[:, :3, :3], axis1=1, axis2=2) / np.where(mass > 0, mass, 1.0)
    return np.where((mass > 0) & (square > 0), np.sqrt(np.maximum(square, 0.0)), DEFAULT_LENGTH)


def trusted(parameters: ndarray) -> ndarray:
    """
    Return the nearest positive definite pseudo-inertias (nb, 4, 4) of a model's bodies.

    Models contain points, plates and impossible inertias. With lengths in units of the body's
    size, eigenvalues below MIN_EIGENVALUE of the largest are raised to it. A body without mass and
    inertia, as in a model with kinematics only, becomes a ball at its origin with the mean mass of
    the others, or with DEFAULT_MASS.
    """
    P = pseudo_inertia(parameters)
    unknown = ~P.any(axis=(1, 2))
    masses = P[~unknown, 3, 3]
    P[unknown] = (masses.mean() if masses.any() else DEFAULT_MASS) * np.diag(
        [BALL_MOMENT, BALL_MOMENT, BALL_MOMENT, 1.0])
    total = P[:, 3, 3].sum()
    for body, length in zip(P, lengths(parameters)):
        scale = np.array([length] * 3 + [1.0])
        values, vectors = np.linalg.eigh(body / np.outer(scale, scale))
        least = MIN_EIGENVALUE * max(values[-1], MIN_EIGENVALUE * total)
        body[:] = (vectors * np.maximum(values, least)) @ vectors.T * np.outer(scale, scale)
    return P


def with_inertial_parameters(model: RobotModel, parameters: ndarray) -> RobotModel:
    """
    Return the model with other inertial parameters (10 nb,).

    :raises IdentificationError: a mass is not positive.
    :raises InertiaError: the mass matrix would not be positive definite.
    """
    bodies = [body_of(P) for P in pseudo_inertia(parameters)]
    for link, body in zip(model.link_names, bodies):
        if not body.mass > 0.0:
            raise IdentificationError(f'link {link!r} would have a mass of {body.mass:.4g} kg',
                                      name=link, value=body.mass,
                                      remedy='ask for a physically consistent estimate')
    mass, com, inertia = map(np.array, zip(*bodies))
    return validated(replace(model, mass=mass, com=com, inertia=inertia, warnings=()))


@dataclass(frozen=True, eq=False)
class Estimate(Parameters):
    """
    Estimated parameters of a robot.

    :param method: 'consistent', 'weighted' or 'ordinary'.
    :param parameters: (P,) of all that have the estimated base parameters, those nearest to the
        nominal ones: efforts do not determine them one by one.
    :param base: combinations that efforts determine; ``values`` (p,): their estimates.
    :param covariance: (p, p) of ``values``. For a consistent estimate it is that of the weighted
        one: constraints and prior are not taken into account.
    :param sigma: (nv,) standard deviation of the residual efforts [N·m | N].
    :param independent: (nv,) effective number of samples, smaller than N since errors are
        autocorrelated.
    :param condition: condition number of the regression with columns scaled to unit length.
    :param weight: of the prior, for a consistent estimate.
    :param undetermined: base parameters that the motion does not determine: they stay near their
        nominal values, and their standard errors are infinite.
    """

    method: str
    parameters: ndarray
    base: BaseParameters
    values: ndarray
    covariance: ndarray
    sigma: ndarray
    independent: ndarray
    condition: float
    weight: float | None = None
    undetermined: tuple[str, ...] = ()

    @property
    def standard_errors(self) -> ndarray:
        """Return the standard errors (p,) of the base parameters."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def relative_deviations(self) -> ndarray:
        """Return the standard errors (p,) in % of the values; above about 10 one is uncertain."""
        with np.errstate(divide='ignore'):
            return 100.0 * self.standard_errors / abs(self.values)

    def __getitem__(self, name: str) -> float:
        """Return a parameter: 'm link3'; :class:`UnknownNameError` if there is none."""
        if name not in self.names:
            raise UnknownNameError('parameter', name, self.names)
        return float(self.parameters[self.names.index(name)])

    def of_joints(self, what: str) -> ndarray:
        """Return 'viscous', 'Coulomb forward', 'armature', ... of every joint (nv,)."""
        kind, _, direction = what.partition(' ')
        return np.array([self[f'{kind} {joint} {direction}'.strip()]
                         for joint in self.model.joint_names])

    def predict(self, motion: Motion) -> ndarray:
        """
        Return the efforts (N, nv) of a motion, every sample of it.

        They pass the filter of the motion.
        """
        return predicted(self.model, motion, self.every_sample, self.parameters)

    @property
    def every_sample(self) -> ParameterSelection:
        """Return the selection, of every sample."""
        return replace(self.selection, decimate=1, moving=None)

    def to_model(self) -> RobotModel:
        """
        Return the robot with the estimated inertia, friction and armature.

        Offsets are not part of a model.

        :raises IdentificationError: a mass is not positive.
        :raises InertiaError: the mass matrix would not be positive definite.
        """
        return with_inertial_parameters(self.with_friction(),
                                        self.parameters[:10 * self.model.nb])

    def with_friction(self) -> RobotModel:
        """Return the nominal robot with the estimated friction and armature."""
        found = replace(presliding_model(self.model, self.selection), **self._friction())
        if self.selection.armature:
            found = replace(found, armature=self.of_joints('armature'))
        return found

    def _friction(self) -> dict[str, Any]:
        chosen = (self.selection.viscous, self.selection.coulomb, self.selection.static)
        backward = self.model.backward_friction.copy()
        fields: dict[str, Any] = {}
        for row, (kind, wanted) in enumerate(zip(FRICTION_TERMS, chosen)):
            kind, wanted = ('Coulomb', chosen[1]) if row == 2 and not wanted else (kind, wanted)
            if wanted:
                ways = (' forward', ' backward') if self.selection.directions else ('', '')
                fields[f'{FRICTION_TERMS[row].lower()}_friction'] = self.of_joints(kind + ways[0])
                backward[row] = self.of_joints(kind + ways[1])
        if self.selection.coupling:
            coupled = self.model.coupled_friction.copy()
            for i, ratio in self.selection.coupling:
                coupled[:, i] = ratio, *(self[f'coupled {kind} {self.model.joint_names[i]}']
                                         for kind in ('viscous', 'Coulomb'))
            fields['coupled_friction'] = coupled
        if self.selection.load:
            fields['load_friction'] = self.of_joints(LOAD_TERM)
        return fields | {'backward_friction': backward}


def inertial_of(estimate: Estimate) -> tuple[float, ...]:
    """Return the inertial parameters (10 nb,) of an estimate, for ``ParameterSelection.load``."""
    return tuple(estimate.parameters[:10 * estimate.model.nb].tolist())
