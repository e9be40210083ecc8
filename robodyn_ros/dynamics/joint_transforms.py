# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joint transforms: the only evaluation of sines and cosines in the algorithms."""

import numpy as np
from numpy import ndarray

# [rad] Beyond, the argument reduction of `cos_sin` loses digits, and `far_cos_sin` takes over.
REDUCTION_LIMIT = 1e5
QUARTERS_PER_RADIAN = 0.6366197723675814


def cos_sin(angle: float) -> tuple[float, float]:
    """
    Return cos and sin of an angle [rad] within ±REDUCTION_LIMIT.

    The error is below 2e-16, and NaN gives NaN. There are no branches, so that loops over joints
    are vectorized.
    """
    k = np.floor(angle * QUARTERS_PER_RADIAN + 0.5)
    c, s = remainder_cos_sin(angle, k)
    quadrant = k - 4.0 * np.floor(k * 0.25)
    odd = (quadrant == 1.0) | (quadrant == 3.0)
    sine, cosine = (c if odd else s), (s if odd else c)
    return (-cosine if (quadrant == 1.0) | (quadrant == 2.0) else cosine,
            -sine if quadrant >= 2.0 else sine)


def remainder_cos_sin(angle: float, k: float) -> tuple[float, float]:
    """
    Return cos and sin of ``angle - k π/2`` [rad], which is within ±π/4.

    The polynomials are those of fdlibm. The angle is reduced in two parts, the first of 33 bits.
    """
    r = (angle - k * 1.57079632673412561417e+00) - k * 6.07710050650619224932e-11
    z = r * r
    s = r + r * z * (-1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * (
        -1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * (
            -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))))
    c = 1.0 + z * (-0.5 + z * (4.16666666666666019037e-02 + z * (
        -1.38888888888741095749e-03 + z * (2.48015872894767294178e-05 + z * (
            -2.75573143513906633035e-07 + z * (
                2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))))))
    return c, s


def far_cos_sin(angle: float, offset: float) -> tuple[float, float]:
    """
    Return cos and sin of ``angle + offset`` [rad] beyond REDUCTION_LIMIT.

    The addition theorem keeps the digits of the offset that the sum would lose.
    """
    c, s, c0, s0 = np.cos(angle), np.sin(angle), np.cos(offset), np.sin(offset)
    return c * c0 - s * s0, s * c0 + c * s0


def place_joints(bodies: ndarray, q: ndarray, joints: ndarray) -> None:
    """
    Write into ``joints`` cosine, sine and displacement of each joint at q.

    The angle about z is ``turn * q[driver] + offset``, the displacement along z is
    ``slide * q[driver]``; ``turn`` of a prismatic joint and ``slide`` of a revolute joint are 0.

    :param bodies: (nb,) records of :data:`~.model_data.BODY`.
    :param q: (nv,) [rad | m].
    :param joints: (nb,) records of :data:`~.model_data.JOINT`, out.
    """
    for i in range(len(bodies)):
        at = q[bodies[i].driver]
        joints[i].cos, joints[i].sin = cos_sin(bodies[i].turn * at + bodies[i].offset)
        joints[i].slide = bodies[i].slide * at
    for i in range(len(bodies)):
        angle, offset = bodies[i].turn * q[bodies[i].driver], bodies[i].offset
        if abs(angle + offset) > REDUCTION_LIMIT:
            joints[i].cos, joints[i].sin = far_cos_sin(angle, offset)
