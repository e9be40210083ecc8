# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Planes that bound the workspace of the tool, from the settings."""

from typing import Any

import numpy as np
from numpy import ndarray

from ...errors import ParameterError

MAX_PLANES = 8


def workspace_planes(settings: Any) -> ndarray:
    """
    Return the planes (P, 4) of the workspace: unit normals out of it, and distances [m].

    :raises ParameterError: a list of the wrong length, a normal without a direction, a box without
        a volume, or too many planes.
    """
    rows: list[Any] = []
    box: dict[str, ndarray] = {}
    for name, sign in (('workspace_lower', -1.0), ('workspace_upper', 1.0)):
        corner = np.asarray(getattr(settings, name), float)
        if corner.size not in (0, 3):
            raise ParameterError(f'parameter {name} has {corner.size} values', name=name,
                                 value=corner.tolist(), remedy='give x, y and z')
        box[name] = corner
        rows += [[*(sign * np.eye(3)[i]), sign * corner[i]] for i in range(corner.size)]
    lower, upper = box.values()
    if lower.size and upper.size and not (lower < upper).all():
        raise ParameterError('the workspace has no volume', name='workspace_lower',
                             value=lower.tolist(), remedy='give less than workspace_upper')
    given = np.asarray(settings.workspace_planes, float)
    if given.size % 4 or given.size > 4 * MAX_PLANES:
        raise ParameterError(f'workspace_planes has {given.size} numbers', name='workspace_planes',
                             value=given.tolist(),
                             remedy=f'give four a plane, of at most {MAX_PLANES} planes')
    for plane in given.reshape(-1, 4):
        if not (length := float(np.linalg.norm(plane[:3]))) > 1e-6:
            raise ParameterError('a plane of workspace_planes has no normal',
                                 name='workspace_planes', value=plane.tolist(),
                                 remedy='give nx, ny, nz and b, with a normal that is not zero')
        rows.append(plane / length)
    return np.array(rows, float).reshape(len(rows), 4)


def coincidence(planes: ndarray) -> float:
    """
    Return how many times stiffer than one plane several of them are together, at most.

    The stiffness of planes that a point is beyond at once is Σ n nᵀ, whose greatest eigenvalue is
    that of the Gram matrix of the normals: at most its largest row sum (Gershgorin). Planes that
    face each other do not act together.
    """
    if not len(planes):
        return 1.0
    return float(np.maximum(planes[:, :3] @ planes[:, :3].T, 0.0).sum(1).max())
