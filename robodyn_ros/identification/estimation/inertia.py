# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Bodies of a model as physically consistent pseudo-inertias, and models of parameters."""

from dataclasses import replace

import numpy as np
from numpy import ndarray

from ...errors import IdentificationError
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
