# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Records that the algorithms read and write.

At run time a record is an element of a NumPy array of its :func:`dtype`, or, while an algorithm is
traced, an object with the same attributes whose numbers are symbolic.
"""

from typing import Annotated, get_type_hints, Protocol

import numpy as np
from numpy import ndarray

Vector3 = tuple[float, float, float]
Matrix3 = tuple[Vector3, Vector3, Vector3]      # rows
# Entries xx, yy, zz, xy, xz, yz of a symmetric matrix, or nine by rows: a field or a tuple
Entries = ndarray | tuple[float, ...]


class BodyRecord(Protocol):
    """
    Body: its place in the tree, placement in the parent frame at q = 0, and inertia.

    The joint above it turns or slides by ``turn`` or ``slide`` times q[driver], one of which is 0
    and the other 1, or the ratio of a mimic joint.
    """

    parent: int                         # index, nb for the base
    driver: int                         # index of a joint
    turn: float                         # rotation about z
    slide: float                        # translation along z
    offset: float                       # [rad] constant angle about z before that of the joint
    armature: float                     # [kg·m² | kg] rotor inertia at the joint
    rotation: Annotated[ndarray, 9]     # by rows
    origin: Annotated[ndarray, 3]       # [m]
    mass: float                         # [kg]
    first: Annotated[ndarray, 3]        # [kg·m] first moment m c about the origin
    second: Annotated[ndarray, 6]       # [kg·m²] ∫ r rᵀ dm: xx, yy, zz, xy, xz, yz


class JointRecord(Protocol):
    """Joint transform: cosine and sine of the angle about z, displacement along z [m]."""

    cos: float
    sin: float
    slide: float


class WorkRecord(Protocol):
    """Intermediate results of a body, in its axes, and of the composite that it carries."""

    w: Annotated[ndarray, 3]            # angular velocity
    dw: Annotated[ndarray, 3]           # and acceleration
    v: Annotated[ndarray, 3]            # velocity of the origin
    a: Annotated[ndarray, 3]            # and acceleration
    f: Annotated[ndarray, 3]            # force
    n: Annotated[ndarray, 3]            # moment
    mass: float                         # of the composite, as all that follows
    first: Annotated[ndarray, 3]        # moment about the origin
    second: Annotated[ndarray, 6]       # moment
    momentum: Annotated[ndarray, 3]     # ∫ u dm with the velocities u
    momentum_moment: Annotated[ndarray, 9]      # ∫ r uᵀ dm by rows


class FrameRecord(Protocol):
    """Frame: index of its body (nb for the base) and placement in the frame of the body."""

    body: int
    rotation: Annotated[ndarray, 9]     # by rows
    origin: Annotated[ndarray, 3]


def dtype(record: type) -> np.dtype:
    """Return the dtype of a record: 64 bits a number, arrays of the length that is stated."""
    return np.dtype([(name, np.int64 if kind is int else np.float64,
                      getattr(kind, '__metadata__', ()))
                     for name, kind in get_type_hints(record, include_extras=True).items()],
                    align=True)
