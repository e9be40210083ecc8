# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compensation of joint friction, added to the effort of any control law."""

import numpy as np
from numpy import ndarray

from ..dynamics.friction import advance_presliding, loaded_friction


def friction_compensation(parameters: ndarray, joints: ndarray, qd: ndarray, follows: bool,
                          load: ndarray, dt: float, share: ndarray, effort: ndarray,
                          tau: ndarray) -> None:
    """
    Add a share of the friction f and of its offset to ``tau`` (nv,) [N·m | N].

    Presliding is compensated along the reference, which no measurement moves: no limit cycle can
    come of it, and at rest the effort that holds against the contact stays. A measured velocity
    would keep pushing where the arm has come to rest, so friction then has the smooth sign, which
    is zero there.

    :param parameters: (13, nv), of f: see :func:`robodyn_ros.dynamics.friction.friction`.
    :param qd: (nv,) [rad/s | m/s], of the reference or measured: see :mod:`.friction`.
    :param follows: whether it is that of the reference.
    :param load: (nv,) g(q) [N·m | N]; ``dt`` [s], for which ``qd`` has been in force.
    :param share: (nv,) state of presliding, kept from cycle to cycle.
    :param effort: (nv,) [N·m | N] receives f.
    """
    for i in range(qd.shape[0]):
        effort[i] = qd[i] * dt
        if not follows:
            share[i] = np.tanh(qd[i] / parameters[6, i])
    if follows:
        advance_presliding(parameters, effort, share)
    loaded_friction(parameters, qd, load, share, effort)
    for i in range(qd.shape[0]):
        tau[i] += joints[i].friction_compensation * (effort[i] + joints[i].friction_offset)
