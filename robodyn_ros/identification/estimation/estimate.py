# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Estimated parameters with their standard errors, and models of parameters."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy import ndarray

from .base_parameters import BaseParameters
from .regression import FRICTION_TERMS, LOAD_TERM, Parameters, predicted, presliding_model
from ..motion import Motion
from ..options import ParameterSelection
from ...errors import IdentificationError, UnknownNameError
from ...model.rigid_body import body_of, pseudo_inertia
from ...model.robot import RobotModel
from ...model.validate import validated

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
