# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Vertices of a mesh, from an STL or OBJ file, or with pycollada from a COLLADA file."""

from io import BytesIO
from pathlib import Path
import re

import numpy as np
from numpy import ndarray

from ..errors import UrdfError
from ..extras import pip_install

COLLADA = '.dae'
FORMATS = ('.stl', '.obj', COLLADA)
MAX_BYTES = 50_000_000          # of a file; meshes for collisions have a hundredth of it
HEADER, COUNT, TRIANGLE = 80, 4, 50     # bytes of a binary STL
NUMBER = rb'\s+([-+.\deE]+)'
VERTEX = {'.stl': re.compile(rb'vertex' + 3 * NUMBER), '.obj': re.compile(
    rb'^v' + 3 * NUMBER, re.MULTILINE)}


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
