# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Static types of the records that the algorithms read and write.

At run time a record is an element of a NumPy array of one of the dtypes in :mod:`~.model_data`,
or, while an algorithm is traced, an object with the same attributes whose numbers are symbolic.
"""

from typing import Protocol

from numpy import ndarray

Vector3 = tuple[float, float, float]
Matrix3 = tuple[Vector3, Vector3, Vector3]      # rows
# Entries xx, yy, zz, xy, xz, yz of a symmetric matrix, or nine by rows: a field or a tuple
Entries = ndarray | tuple[float, ...]


class BodyRecord(Protocol):
    """Element of :data:`~.model_data.BODY`."""

    parent: int
    driver: int
    turn: float
    slide: float
    offset: float
    armature: float
    rotation: ndarray
    origin: ndarray
    mass: float
    first: ndarray
    second: ndarray


class JointRecord(Protocol):
    """Element of :data:`~.model_data.JOINT`."""

    cos: float
    sin: float
    slide: float


class WorkRecord(Protocol):
    """Element of :data:`~.model_data.WORK`."""

    w: ndarray
    dw: ndarray
    v: ndarray
    a: ndarray
    f: ndarray
    n: ndarray
    mass: float
    first: ndarray
    second: ndarray
    momentum: ndarray
    momentum_moment: ndarray


class FrameRecord(Protocol):
    """Element of :data:`~.model_data.FRAME`."""

    body: int
    rotation: ndarray
    origin: ndarray
