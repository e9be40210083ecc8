# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pseudo-inertia of a body: its ten inertial parameters as a symmetric 4 x 4 matrix."""

import numpy as np
from numpy import ndarray

from .rigid_body import Inertial

MOMENTS = (0, 0, 1, 0, 1, 2), (0, 1, 1, 2, 2, 2)    # rows, columns of Ixx Ixy Iyy Ixz Iyz Izz


def _maps() -> ndarray:
    """Return the pseudo-inertia (10, 4, 4) of a unit of each parameter."""
    maps = np.zeros((10, 4, 4))
    maps[0, 3, 3] = 1.0
    for i in range(3):
        maps[1 + i, i, 3] = maps[1 + i, 3, i] = 1.0
    for i, (a, b) in enumerate(zip(*MOMENTS), 4):
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
    Traversaro et al. 2016). Compiled code has :mod:`..dynamics.pseudo_inertia`.

    :param parameters: as ``RobotModel.inertial_parameters``.
    """
    return np.einsum('bk,kij->bij', np.reshape(parameters, (-1, 10)), UNITS)


def inertial_parameters(P: ndarray) -> ndarray:
    """Return the parameters (10 nb,) of pseudo-inertias (nb, 4, 4)."""
    E = P[:, :3, :3]
    inertia = np.trace(E, axis1=1, axis2=2)[:, None, None] * np.eye(3) - E
    return np.column_stack([P[:, 3, 3], P[:, :3, 3], inertia[:, MOMENTS[0], MOMENTS[1]]]).ravel()


def of_body(body: Inertial) -> ndarray:
    """Return the pseudo-inertia (4, 4) of a body about the origin of its frame."""
    first = body.mass * body.com
    second = np.trace(body.inertia) / 2 * np.eye(3) - body.inertia + np.outer(first, body.com)
    return np.block([[second, first[:, None]], [first[None, :], np.array([[body.mass]])]])


def body_of(P: ndarray) -> Inertial:
    """Return the body of a pseudo-inertia (4, 4); without mass its center is the origin."""
    mass, first = P[3, 3], P[:3, 3]
    com = first / mass if mass else np.zeros(3)
    about = P[:3, :3] - np.outer(first, com)
    return Inertial(mass, com, np.trace(about) * np.eye(3) - about)
