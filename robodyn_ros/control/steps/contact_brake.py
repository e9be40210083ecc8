# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Damping of an arm that is faster than its contacts may be.

:mod:`.time_scaling` bounds the reference, and an arm under a soft law overshoots it. The force of
a contact is that of the motion itself, hence whatever the arm is faster than

    τ = -λ (1 - σ) M(q) q̇,    λ = BRAKE_RATE_SHARE limit_rate

takes from it, with σ the permitted share of its velocity q̇: damping, in every law that follows a
reference, and nothing where the arm is slow enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy import ndarray

from .time_scaling import factor_inertia, moves, permitted_contact
from ...dynamics.model_data import ModelData

if TYPE_CHECKING:
    from .cycle_data import Cycle

# Of `limit_rate`, with which the arm is kept inside its limits
BRAKE_RATE_SHARE = 0.5


def brake(c: Cycle, robot: ModelData, tau: ndarray) -> None:
    """Take from the efforts ``tau`` (nv,) [N·m | N] of a law what makes the arm too fast."""
    s, v, work, bounds = c.settings, c.vectors, c.workspace, c.bounds
    if bounds.region.shape[0] == 0 or not moves(v.qd):
        return
    factor_inertia(robot, work, v.q)
    share = permitted_contact(bounds, robot, work, v.qd)
    if share < 1.0:
        for i in range(tau.shape[0]):
            tau[i] -= BRAKE_RATE_SHARE * s.limit_rate * (1.0 - share) * v.momentum[i]
