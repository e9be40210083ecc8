# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pseudo-inertia of a body: its ten inertial parameters as a symmetric 4 x 4 matrix."""

from dataclasses import replace

import numpy as np
from numpy import ndarray

from .regression import INERTIAL
from ...errors import IdentificationError
from ...model.rigid_body import offset_inertia
from ...model.robot import RobotModel
from ...model.validate import validated

FLOOR = 1e-4  # of the largest eigenvalue, for flat bodies and points
MASS = 1.0    # [kg] of bodies of which none is known
LENGTH = 0.1  # [m] size of bodies whose inertia gives none
BALL = LENGTH**2 / 3.0


def _maps() -> ndarray:
    """Return the pseudo-inertia (10, 4, 4) of a unit of each parameter."""
    maps = np.zeros((10, 4, 4))
    maps[0, 3, 3] = 1.0
    for i in range(3):
        maps[1 + i, i, 3] = maps[1 + i, 3, i] = 1.0
    for i, name in enumerate(INERTIAL[4:], 4):
        a, b = ('xyz'.index(letter) for letter in name[1:])
        if a == b:      # E = tr(I) / 2 - I
            maps[i, :3, :3] = np.eye(3) / 2
            maps[i, a, a] -= 1.0
        else:
            maps[i, a, b] = maps[i, b, a] = -1.0
    return maps


UNITS = _maps()


def pseudo_inertia(parameters: ndarray) -> ndarray:
    """
    Return pseudo-inertias (nb, 4, 4) of inertial parameters (10 nb,).

    [[E, m c], [(m c)ᵀ, m]] with E = ∫ r rᵀ dm = tr(I)/2 1 - I about the origin of the body's
    frame: the second moment of mass of points (x, y, z, 1). A distribution of mass has these
    parameters if and only if the matrix is positive semidefinite (Wensing, Kim and Slotine 2018;
    Traversaro et al. 2016).
    """
    return np.einsum('bk,kij->bij', np.reshape(parameters, (-1, 10)), UNITS)


def inertial_parameters(P: ndarray) -> ndarray:
    """Return the parameters (10 nb,) of pseudo-inertias (nb, 4, 4)."""
    E = P[:, :3, :3]
    inertia = np.trace(E, axis1=1, axis2=2)[:, None, None] * np.eye(3) - E
    return np.column_stack([P[:, 3, 3], P[:, :3, 3], inertia[
        :, [0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]]).ravel()


def lengths(parameters: ndarray) -> ndarray:
    """Return the root-mean-square distance of each body's mass from its origin (nb,) [m]."""
    P = pseudo_inertia(parameters)
    mass = P[:, 3, 3]
    square = np.trace(P[:, :3, :3], axis1=1, axis2=2) / np.where(mass > 0, mass, 1.0)
    return np.where((mass > 0) & (square > 0), np.sqrt(np.maximum(square, 0.0)), LENGTH)


def trusted(parameters: ndarray) -> ndarray:
    """
    Return the nearest positive definite pseudo-inertias (nb, 4, 4) of a model's bodies.

    Models contain points, plates and inertias that no body has. In a frame in which lengths are
    measured in units of the body's size, eigenvalues below ``FLOOR`` of the largest are raised to
    it. A body without mass and inertia, of a model that has its kinematics only, is taken for a
    ball of the mean mass of the others, or of ``MASS``, at its origin.
    """
    P = pseudo_inertia(parameters)
    unknown = ~P.any(axis=(1, 2))
    masses = P[~unknown, 3, 3]
    P[unknown] = (masses.mean() if masses.any() else MASS) * np.diag([BALL, BALL, BALL, 1.0])
    total = P[:, 3, 3].sum()
    for body, length in zip(P, lengths(parameters)):
        scale = np.array([length] * 3 + [1.0])
        values, vectors = np.linalg.eigh(body / np.outer(scale, scale))
        least = FLOOR * max(values[-1], FLOOR * total)
        body[:] = (vectors * np.maximum(values, least)) @ vectors.T * np.outer(scale, scale)
    return P


def with_inertial_parameters(model: RobotModel, parameters: ndarray) -> RobotModel:
    """
    Return the model with other inertial parameters (10 nb,).

    :raises IdentificationError: a mass is not positive.
    :raises InertiaError: the mass matrix would not be positive definite.
    """
    rows = np.reshape(parameters, (-1, 10))
    for link, mass in zip(model.link_names, rows[:, 0]):
        if not mass > 0.0:
            raise IdentificationError(f'link {link!r} would have a mass of {mass:.4g} kg',
                                      name=link, value=mass,
                                      remedy='ask for a physically consistent estimate')
    mass = rows[:, 0].copy()
    com = rows[:, 1:4] / mass[:, None]
    E = pseudo_inertia(parameters)[:, :3, :3]
    about_origin = np.trace(E, axis1=1, axis2=2)[:, None, None] * np.eye(3) - E
    inertia = about_origin - np.array([offset_inertia(m, r) for m, r in zip(mass, com)])
    return validated(replace(model, mass=mass, com=com, inertia=inertia, warnings=()))
