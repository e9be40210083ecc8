# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Payload: a rigid body fixed to a frame of the robot."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from .array_checks import finite
from .rigid_body import can_exist, Inertial, joined
from .robot import RobotModel
from ..errors import ArgumentError


def with_payload(model: RobotModel, frame: str, mass: float, com: Sequence[float] = (0, 0, 0),
                 inertia: ArrayLike | None = None) -> RobotModel:
    """
    Return the model with a body fixed to one of its frames.

    :param frame: one of ``model.frame_names``.
    :param mass: [kg].
    :param com: (3,) [m] in the axes of the frame.
    :param inertia: (3, 3) [kg·m²] about the center of mass, in the axes of the frame; None for a
        point mass.
    :raises UnknownNameError: there is no such frame.
    :raises ArgumentError: the frame does not move, or mass, center or inertia are invalid.
    """
    place = model.frame(frame)
    if place.body < 0:
        raise ArgumentError(f'frame {frame!r} belongs to the base, which does not move',
                            name=frame, remedy='name the frame that holds the payload')
    center = finite('com', com, (3,), '[m] in the axes of the frame')
    moments = np.zeros((3, 3)) if inertia is None else finite('inertia', inertia, (3, 3),
                                                              '[kg·m²] about the center of mass')
    mass = float(finite('mass', mass, (), '[kg]'))
    if not (mass >= 0.0 and (moments == moments.T).all() and can_exist(moments)):
        raise ArgumentError('mass or inertia of the payload are invalid', name='payload',
                            value=(mass, center.tolist(), moments.tolist()),
                            remedy='give a mass of at least 0, three coordinates of its center, '
                                   'and a symmetric inertia about it without negative principal '
                                   'moments, each at most the sum of the other two')
    if mass == 0.0 and not moments.any():
        return model
    b = place.body
    whole = joined([Inertial(model.mass[b], model.com[b], model.inertia[b]),
                    Inertial(mass, center, moments).placed(place.rotation, place.origin)])
    masses, coms, inertias = model.mass.copy(), model.com.copy(), model.inertia.copy()
    masses[b], coms[b], inertias[b] = whole
    return replace(model, mass=masses, com=coms, inertia=inertias)
