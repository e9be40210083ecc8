# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Capsules that enclose the collision shapes of the links of a robot.

A capsule is all that is within a radius r of a segment. About a given axis, a ball of radius ρ at
the distance d from the axis and at t along it is inside where the segment reaches into
t ± √((r - ρ)² - d²); the shortest segment follows in closed form, and the best radius by a search
over one number. A capsule is inside where the balls at its ends are. The axis is found by the
method of Nelder and Mead from a principal axis of the centers: the result encloses all balls
whatever the search has found, and is no more than nearly the smallest. Vertices of meshes are
those of STL and OBJ files, or with pycollada of a COLLADA file.
"""

from functools import lru_cache
from io import BytesIO
from pathlib import Path
import re
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from .robot import RobotModel
from .shapes import Shape
from ..errors import UrdfError
from ..extras import pip_install

# Candidates of the radius, in the least one: in the search, and at its end
COARSE, FINE = (1.0 + np.linspace(0.0, 1.0, count)**2 for count in (12, 400))
SEARCH_ROUNDS = 2    # each starts at the result of the last
EVALUATIONS_PER_ROUND = 120
SIMPLEX_TILT = 0.2    # of the first simplex: of the axis, and of its position in radii
RADIUS_MARGIN = 1e-9    # of radii, against rounding
COLLADA = '.dae'
FORMATS = ('.stl', '.obj', COLLADA)
MAX_BYTES = 50_000_000          # of a file; meshes for collisions have a hundredth of it
HEADER, COUNT, TRIANGLE = 80, 4, 50     # bytes of a binary STL
NUMBER = rb'\s+([-+.\deE]+)'
VERTEX = {'.stl': re.compile(rb'vertex' + 3 * NUMBER), '.obj': re.compile(
    rb'^v' + 3 * NUMBER, re.MULTILINE)}
MAX_CACHED_SHAPES = 256
# Two capsules of a link become one that is at most as many times as large as they are together, or
# where there are more than MAX_CAPSULES, since every pair of capsules costs time in each cycle
MAX_MERGED_RATIO, MAX_CAPSULES = 1.3, 2


class Capsule(NamedTuple):
    """Segment between two points (3,) [m], and radius [m]."""

    begin: ndarray
    end: ndarray
    radius: float

    @property
    def volume(self) -> float:
        """Volume [m³]."""
        return volume(self.radius, float(np.linalg.norm(self.end - self.begin)))


def volume(radius: Any, length: Any) -> Any:
    """Return the volume [m³] of a capsule of this length between the centers of its ends."""
    return np.pi * radius**2 * (length + 4.0 / 3.0 * radius)


def around(points: ndarray, balls: ndarray | float = 0.0) -> Capsule:
    """
    Return a capsule of nearly the least volume that encloses points, or balls there.

    :param points: (N, 3) [m]; ``balls`` radii (N,) [m].
    """
    from scipy.optimize import minimize  # takes a while to import

    middle = points.mean(0)
    centered = points - middle
    size = max(float(np.linalg.norm(centered, axis=1).max()), 1e-12)
    axes = np.linalg.svd(centered, full_matrices=True)[2]
    first = min(range(3), key=lambda k: about(centered, axes[k], np.zeros(3), balls)[1])
    axis, across, upward = np.roll(axes, -first, axis=0)

    def placed(x: ndarray) -> tuple[ndarray, ndarray]:
        """Return an axis that x[:2] tilt and x[2:] shift, and a point of it."""
        tilted = axis + x[0] * across + x[1] * upward
        return tilted / np.linalg.norm(tilted), size * (x[2] * across + x[3] * upward)

    x = np.zeros(4)
    for k in range(SEARCH_ROUNDS):
        simplex = x + np.vstack([np.zeros(4), SIMPLEX_TILT / 4.0**k * np.eye(4)])
        x = minimize(lambda x: about(centered, *placed(x), balls)[1], x, method='Nelder-Mead',
                     options={'initial_simplex': simplex, 'xatol': 1e-4, 'fatol': 0.0,
                              'maxfev': EVALUATIONS_PER_ROUND}).x
    begin, end, radius = about(centered, *placed(x), balls, FINE)[0]
    return Capsule(begin + middle, end + middle, radius)


def about(points: ndarray, axis: ndarray, center: ndarray, balls: ndarray | float = 0.0,
          candidates: ndarray = COARSE) -> tuple[Capsule, float]:
    """
    Return the smallest capsule about an axis that encloses points or balls, and its volume [m³].

    :param axis: (3,) unit vector through ``center`` (3,) [m].
    :param candidates: of the radius, in the least one.
    """
    offset = points - center
    along = offset @ axis
    away = np.linalg.norm(offset - along[:, None] * axis, axis=1)
    radii = candidates * (away + balls).max()
    reach = np.sqrt(np.maximum((radii[:, None] - balls)**2 - away**2, 0.0))
    lower, upper = (along + reach).min(1), (along - reach).max(1)
    volumes = volume(radii, np.maximum(upper - lower, 0.0))
    k = int(volumes.argmin())
    if lower[k] > upper[k]:         # one ball is enough
        lower[k] = upper[k] = 0.5 * (lower[k] + upper[k])
    return Capsule(center + lower[k] * axis, center + upper[k] * axis,
                   float(radii[k]) * (1.0 + RADIUS_MARGIN) + 1e-12), float(volumes[k])


def mesh_points(path: Path) -> ndarray:
    """
    Return the vertices (N, 3) of a mesh that span its convex hull, in the units of the file.

    Those of a COLLADA file are in meters, placed by the nodes of its scene; as in rviz, its
    `up_axis` turns nothing.

    :raises UrdfError: the file cannot be read, is too large or of another format, has no
        vertices, or numbers that are not finite.
    """
    def refuse(problem: str, remedy: str) -> UrdfError:
        return UrdfError(f'the mesh {str(path)!r} {problem}', name=path.name, value=path,
                         remedy=remedy)

    kind = path.suffix.lower()
    if kind not in FORMATS:
        raise refuse('is not read', f'use {", ".join(FORMATS[:-1])} or {FORMATS[-1]}')
    try:
        with open(path, 'rb') as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise refuse(f'cannot be read ({error.strerror})', 'make the file readable') from error
    if len(content) > MAX_BYTES:
        raise refuse(f'has more than {MAX_BYTES} bytes', 'simplify it, as collisions need it')
    try:
        if kind == COLLADA:
            points = _collada(content)
        elif kind == '.stl' and _is_binary(content):
            points = _binary(content)
        else:
            points = np.array(VERTEX[kind].findall(content), dtype='S').astype(float).reshape(
                -1, 3)
    except ImportError as error:
        raise refuse('is a COLLADA file, which is read with pycollada',
                     f'run `{pip_install("pycollada")}`, or use .stl or .obj') from error
    except ValueError as error:
        raise refuse(f'is damaged ({error})', 'export it again') from error
    if not len(points) or not np.isfinite(points).all():
        raise refuse('has no vertices' if not len(points) else
                     'has vertices that are not finite', 'export it again')
    return hull(points)


def hull(points: ndarray) -> ndarray:
    """Return those of some points (N, 3) that span their convex hull; all of a flat set."""
    from scipy.spatial import ConvexHull, QhullError  # takes a while to import

    points = np.unique(points, axis=0)
    try:
        return points[ConvexHull(points).vertices]
    except (QhullError, ValueError):        # flat, or too few
        return points


def _is_binary(content: bytes) -> bool:
    """Return whether an STL is binary: then its size follows from its count of triangles."""
    count = int.from_bytes(content[HEADER:HEADER + COUNT], 'little')
    return len(content) == HEADER + COUNT + TRIANGLE * count


def _binary(content: bytes) -> ndarray:
    """Return the corners of the triangles: 12 single floats each, the normal first."""
    rows = np.frombuffer(content, np.uint8, offset=HEADER + COUNT).reshape(-1, TRIANGLE)
    numbers = np.ascontiguousarray(rows[:, :48]).view('<f4').reshape(-1, 4, 3)
    return numbers[:, 1:].reshape(-1, 3).astype(float)


def _collada(content: bytes) -> ndarray:
    """
    Return the vertices (N, 3) [m] of all geometries in the scene of a COLLADA file.

    :raises ImportError: pycollada is not installed.
    :raises ValueError: the file is none that it reads.
    """
    from collada import Collada
    from collada.common import DaeBrokenRefError, DaeError, DaeUnsupportedError
    if b'<!DOCTYPE' in content:         # entities, which are nothing that a mesh needs
        raise ValueError('it declares a document type')
    try:
        file = Collada(BytesIO(content), ignore=[DaeUnsupportedError, DaeBrokenRefError])
    except (DaeError, SyntaxError, LookupError, TypeError, AttributeError) as error:
        # The reader takes for granted what the format demands
        raise ValueError(str(error)) from error
    geometries = file.scene.objects('geometry') if file.scene else ()
    found = [primitive.vertex for geometry in geometries for primitive in geometry.primitives()
             if primitive.vertex is not None]
    points = np.concatenate([*found, np.zeros((0, 3))]).astype(float)
    return points * (file.assetInfo.unitmeter or 1.0)


def link_capsules(model: RobotModel) -> tuple[tuple[Shape, ...], tuple[str, ...]]:
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
