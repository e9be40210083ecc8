# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Capsules that enclose the collision shapes of the links of a robot."""

from functools import lru_cache

import numpy as np
from numpy import ndarray

from .capsule_fit import about, around, Capsule, FINE, volume
from .mesh_points import mesh_points
from .robot_data import RobotData
from .shapes import Shape
from ..errors import UrdfError

MAX_CACHED_SHAPES = 256
# Two capsules of a link become one that is at most as many times as large as they are together, or
# where there are more than MAX_CAPSULES, since every pair of capsules costs time in each cycle
MAX_MERGED_RATIO, MAX_CAPSULES = 1.3, 2


def link_capsules(model: RobotData) -> tuple[tuple[Shape, ...], tuple[str, ...]]:
    """
    Return capsules around the collision shapes of a robot, and what is missing.

    A link has two at most; fewer where one is hardly larger than several are together. The result
    of a robot whose shapes are these capsules is the same, to the last bit.

    :return: shapes of kind 'capsule', and a sentence for each shape that could not be read.
    """
    found: list[Shape] = []
    problems = list(model.shape_problems)
    for shape in model.shapes:
        try:
            found.append(capsule_around(shape))
        except UrdfError as error:
            problems.append(f'link {shape.link!r}: {error}')
    return tuple(one for name in model.frames
                 for one in _merged([one for one in found if one.link == name])), tuple(problems)


@lru_cache(MAX_CACHED_SHAPES)
def capsule_around(shape: Shape) -> Shape:
    """
    Return a shape of kind 'capsule' that encloses another one.

    Spheres and capsules are their own, of a box and of a mesh it is nearly the smallest.

    :raises UrdfError: the file of a mesh cannot be read.
    """
    if shape.kind == 'capsule':
        return shape
    if shape.kind == 'sphere':
        return shape._replace(kind='capsule', size=(shape.size[0], 0.0))
    if shape.kind == 'cylinder':        # one point of each rim is enough
        radius, half = shape.size
        found, _ = about(np.array([[radius, 0.0, -half], [radius, 0.0, half]]),
                         np.array([0.0, 0.0, 1.0]), np.zeros(3), candidates=FINE)
    elif shape.kind == 'box':
        corners = np.stack(np.meshgrid(*3 * [[-1.0, 1.0]]), -1).reshape(-1, 3)
        found = around(corners * shape.size)
    else:
        assert shape.mesh is not None
        found = around(mesh_points(shape.mesh) * shape.size)
    rotation, origin = shape.rotation, np.array(shape.origin)
    return _shape(shape.link, Capsule(origin + rotation @ found.begin,
                                      origin + rotation @ found.end, found.radius))


def segment(capsule: Shape) -> tuple[ndarray, ndarray]:
    """Return the ends (3,) [m] of the segment of a capsule in the frame of its link."""
    half = capsule.size[1] * capsule.rotation[:, 2]
    return capsule.origin - half, capsule.origin + half


def _shape(link: str, capsule: Capsule) -> Shape:
    along = capsule.end - capsule.begin
    x, y, z = along
    rpy = np.arctan2(-y, np.hypot(x, z)), np.arctan2(x, z), 0.0     # turns z into `along`
    return Shape(link, 'capsule', (capsule.radius, 0.5 * float(np.linalg.norm(along))),
                 tuple(map(float, rpy)), tuple((0.5 * (capsule.begin + capsule.end)).tolist()))


def _merged(capsules: list[Shape]) -> list[Shape]:
    """Return capsules of one link, of which those that belong together have become one."""
    kept = list(capsules)
    while len(kept) > 1:
        growth, i, k = min((_volume(_joined(a, b)) / (_volume(a) + _volume(b)), i, k)
                           for k, b in enumerate(kept) for i, a in enumerate(kept[:k]))
        if growth > MAX_MERGED_RATIO and len(kept) <= MAX_CAPSULES:
            break
        kept[i] = _joined(kept[i], kept.pop(k))
    return kept


@lru_cache(MAX_CACHED_SHAPES)
def _joined(a: Shape, b: Shape) -> Shape:
    """Return a capsule around two capsules of a link."""
    ends = np.array([*segment(a), *segment(b)])
    return _shape(a.link, around(ends, np.repeat([a.size[0], b.size[0]], 2)))


def _volume(capsule: Shape) -> float:
    return float(volume(capsule.size[0], 2.0 * capsule.size[1]))
