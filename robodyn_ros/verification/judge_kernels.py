# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Comparisons of every tick, compiled."""

from functools import cache
from typing import Any, NamedTuple

from numba import types
from numpy import ndarray

from ..compiler.jit import compile_function

VECTOR = types.float64[::1]
ANY = types.Array(types.float64, 1, 'A', readonly=True)


class Compared(NamedTuple):
    """
    An effort compared with its limit, and with the effort before it.

    :param excess: [N·m | N] above the limit of any joint; ``share``: largest share of a limit.
    :param step: largest share of a limit by which an effort changed; ``step_joint``: its joint.
    :param worst: largest step as a share of what is allowed; ``worst_joint``: its joint.
    """

    excess: float
    share: float
    step: float
    step_joint: int
    worst: float
    worst_joint: int


def compare(tau: ndarray, last: ndarray, limit: ndarray, rate: ndarray, gravity_rate: ndarray,
            periods: float, elapsed: float, ramp: float, margin: float
            ) -> tuple[float, float, float, float, float, float]:
    """
    Return the fields of :class:`Compared`; NaN as the excess where an effort is not finite.

    :param tau, last: (nv,) [N·m | N].
    :param limit, rate, gravity_rate: (nv,) [N·m | N], [1/s], [1/s].
    :param periods: [s] in which efforts may change at ``rate``; ``elapsed``: gravity likewise.
    :param ramp: share of the limit that is allowed besides; ``margin``: [N·m | N] likewise.
    """
    excess, share, step, step_joint, worst, worst_joint = -1e300, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(tau.shape[0]):
        size = abs(tau[i])
        if not size < 1e300:
            return tau[i] - tau[i], 0.0, 0.0, 0.0, 0.0, 0.0
        excess = max(excess, size - limit[i])
        share = max(share, size / limit[i])
        change = abs(tau[i] - last[i])
        if change / limit[i] > step:
            step, step_joint = change / limit[i], float(i)
        allowed = rate[i] * periods + gravity_rate[i] * elapsed + ramp * limit[i] + margin
        if change > worst * allowed:
            worst, worst_joint = change / allowed, float(i)
    return excess, share, step, step_joint, worst, worst_joint


def distance(q: ndarray, start: ndarray) -> float:
    """Return the largest distance of any joint [rad | m]."""
    found = 0.0
    for i in range(q.shape[0]):
        found = max(found, abs(q[i] - start[i]))
    return found


@cache
def compiled_comparison() -> Any:
    """Return :func:`compare`, compiled."""
    return compile_function('verification_judge', compare, types.UniTuple(types.float64, 6)(
        VECTOR, VECTOR, ANY, ANY, ANY, *(types.float64,) * 4), ())


@cache
def compiled_distance() -> Any:
    """Return :func:`distance`, compiled."""
    return compile_function('verification_distance', distance, types.float64(VECTOR, VECTOR), ())
