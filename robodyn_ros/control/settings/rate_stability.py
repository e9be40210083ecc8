# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Gains that the effort rate limit can follow.

Where the acceleration of a reference steps by a, as it does at the ends of trajectories, the
effort has to change by M a, which a rate limit R delays by M a / R. The velocity error grows
meanwhile, and the damping D corrects it with the time constant M / D. A loop that is faster than
its rate limit, D a > R, is unstable for such errors, although it is stable for small ones: each
correction comes too late and calls for a greater one. In simulations of two_link (joint impedance
and computed torque, a delay of 8 ms, three effort rates), most motions with steps of a ended in
faults from D a = 1 to 1.5 R on, and most did not up to 0.9 R.
"""

from collections.abc import Sequence
from decimal import ROUND_CEILING

import numpy as np
from numpy import ndarray

from .gain_stability import listing, rounded, rounded_down
from ...errors import ParameterError


def highest_damping(inertia: ndarray, acceleration: ndarray, rate: ndarray) -> ndarray:
    """
    Return the highest damping (nv,) that the effort rate limit can follow, infinite for none.

    :param inertia: (nv,) of the joints, of gains that act on accelerations; 1 of others.
    :param acceleration: (nv,) [rad/s² | m/s²] of references; infinite without a limit.
    :param rate: (nv,) effort rate limit [N·m/s | N/s].
    """
    most = np.full(len(rate), np.inf)
    bounded = np.isfinite(acceleration) & (acceleration > 0.0) & np.isfinite(rate) & (rate > 0.0)
    np.divide(rate, inertia * acceleration, out=most, where=bounded)
    return most


def check_rate(joint_names: Sequence[str], damping: ndarray, inertia: ndarray,
               acceleration: ndarray, rate: ndarray, *, parameter: str) -> None:
    """
    Raise :class:`ParameterError` for damping that the effort rate limit cannot follow.

    :param damping: (nv,) the gains named ``parameter``.
    :param inertia, acceleration, rate: see :func:`highest_damping`.
    """
    most = highest_damping(inertia, acceleration, rate)
    where = np.flatnonzero(damping > most)
    if not len(where):
        return
    needed = rounded(rate * damping / most, ROUND_CEILING)
    raise ParameterError(
        f'{parameter} {listing(joint_names, damping, where)} would turn errors of a motion into '
        'oscillations, because effort_rate_limit '
        f'{listing(joint_names, rate, where)} delays the efforts', name=parameter,
        value=float(damping[where[0]]) if len(where) == 1 else damping[where].tolist(),
        remedy=f'give at most {parameter} {listing(joint_names, rounded_down(most), where)}, or '
               f'effort_rate_limit {listing(joint_names, needed, where)} if the drives can '
               'follow that, or a lower acceleration_limit')
