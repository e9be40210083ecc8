# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Viscous, Coulomb and static joint friction, smooth at zero velocity."""

import numpy as np
from numpy import ndarray


def friction(parameters: ndarray, qd: ndarray, tau: ndarray) -> None:
    """
    Write into ``tau`` the efforts that overcome friction, which have the sign of q̇.

    f(v) = F_v v + (F_c + (F_s - F_c) exp(-(v/v_s)²)) tanh(v/v_0): the Stribeck curve as in
    Armstrong-Hélouvry, Dupont and Canudas de Wit 1994, section 2, with a hyperbolic tangent in
    place of the sign, so that it is continuous at rest and does not make a controller chatter.
    The slope at rest is F_v + F_s/v_0; there is no stiction. Each direction has its own
    coefficients.

    :param parameters: (8, nv) rows F_v, F_c, F_s for v ≥ 0 and for v < 0, v_0, v_s.
    :param qd: (nv,) [rad/s | m/s].
    :param tau: (nv,) out [N·m | N].
    """
    for i in range(qd.shape[0]):
        v = qd[i]
        k = 0 if v >= 0.0 else 3
        viscous, coulomb, static = parameters[k, i], parameters[k + 1, i], parameters[k + 2, i]
        near = np.exp(-(v / parameters[7, i])**2)
        tau[i] = viscous * v + (coulomb + (static - coulomb) * near) * np.tanh(
            v / parameters[6, i])
