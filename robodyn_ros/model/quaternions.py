# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Rotations by quaternions x, y, z, w (Siciliano et al., Robotics, 2009, section 2.6).

They are what messages contain. SciPy has all of this too, but its import would make each start of
a controller longer.
"""

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike


def unit(quaternion: ArrayLike) -> ndarray:
    """Return a quaternion (4,) of length 1; NaN of one of length 0."""
    q = np.asarray(quaternion, float)
    with np.errstate(invalid='ignore'):
        return q / np.linalg.norm(q)


def product(first: ndarray, second: ndarray) -> ndarray:
    """Return the quaternion (4,) of the rotation ``second``, followed by ``first``."""
    (u, a), (v, b) = (first[:3], first[3]), (second[:3], second[3])
    return np.append(a * v + b * u + np.cross(u, v), a * b - u @ v)


def matrix(quaternion: ArrayLike) -> ndarray:
    """Return the rotation (3, 3) of a quaternion (4,) of any length but 0."""
    x, y, z, w = unit(quaternion)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
