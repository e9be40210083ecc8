# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compensation of joint friction, added to the effort of any control law."""

from numpy import ndarray

from ..dynamics.friction import friction


def friction_compensation(parameters: ndarray, joints: ndarray, qd: ndarray, effort: ndarray,
                          tau: ndarray) -> None:
    """
    Add a share of the friction f(q̇) and of its offset to ``tau`` (nv,) [N·m | N].

    :param parameters: (8, nv), of f: see :func:`robodyn_ros.dynamics.friction.friction`.
    :param qd: (nv,) [rad/s | m/s], of the reference or measured: see :mod:`.friction`.
    :param effort: (nv,) [N·m | N] receives f(q̇).
    """
    friction(parameters, qd, effort)
    for i in range(qd.shape[0]):
        tau[i] += joints[i].friction_compensation * (effort[i] + joints[i].friction_offset)
