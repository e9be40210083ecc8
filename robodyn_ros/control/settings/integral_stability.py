# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Stability of integral action, observers and adaptation, beside gains that are stable alone.

The loop is that of :mod:`.gain_stability`. A disturbance observer of bandwidth K_o is in it a PID
controller, τ = -(K + K_o D) δq - (D + K_o M) δq̇ - K_o K ∫ δq dt, see
:mod:`.laws.disturbance_observer`; an adaptive law is at most one, too, with K = α D, see
:mod:`.laws.adaptive`. Integral gains and bandwidths of all joints are lowered by a
common factor, to what is stable at the worst pose. No bandwidth may exceed a tenth of that at
which the delay makes an observer alone unstable: longer delays are tolerated as with as much more
damping, K_o M. All lower values are to be stable too, because the action is weaker where a law
suspends it: their fractions CHECKED_SHARES are checked.
"""

from collections.abc import Sequence
from decimal import ROUND_FLOOR
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .gain_stability import (
    GAIN_MARGIN,
    Gains,
    highest,
    listing,
    Loop,
    RADIUS_TOLERANCE,
    rounded,
    SEARCH_LEVELS,
)
from ...errors import ParameterError

# What acts, as an argument of `Loop.radii`
INTEGRAL, OBSERVER, REFERENCE = 'integral', 'observer', 'reference'
# Highest bandwidth of an observer, in those at which the delay makes it unstable alone
MAX_BANDWIDTH_SHARE = 0.1
# Fractions of integral gains and bandwidths that are to be stable as well
CHECKED_SHARES = 1.0, 0.7, 0.5, 0.35, 0.25, 0.12, 0.06


def highest_integral(M: ArrayLike, gains: Gains, integral: ndarray, period: float, delay: float,
                     viscous: ArrayLike = 0.0, margin: float = GAIN_MARGIN, *,
                     action: str = INTEGRAL) -> ndarray:
    """
    Return integral gains (nv,) that are stable with a margin: those given, or lower ones.

    :param M, period, delay, viscous: see :func:`~.gain_stability.spectral_radius`.
    :param gains: K and D (nv,), which are stable alone.
    :param integral: (nv,) gain of the integral of the position error [N·m/(rad·s) | N/(m·s)].
    :param action: what ``integral`` is: the gain of INTEGRAL action, or the bandwidth [1/s] of an
        OBSERVER or of a REFERENCE velocity, see :meth:`.gain_stability.Loop.radii`.
    """
    loop = Loop(M, margin * period, margin * delay, viscous)
    if action != INTEGRAL:
        bearable = MAX_BANDWIDTH_SHARE * Loop(np.eye(1), period, delay, 0.0).bearable
        integral = np.where(integral > bearable, rounded(bearable, ROUND_FLOOR), integral)

    def stable(share: float) -> bool:
        lower = (share * fraction * integral for fraction in CHECKED_SHARES)
        acts: list[dict[str, Any]] = [{action: gain} for gain in lower]
        return all(loop.radii(*gains, **act).max() <= 1.0 + RADIUS_TOLERANCE for act in acts)
    if not integral.any() or stable(1.0):
        return integral
    low = next((level for level in SEARCH_LEVELS if stable(level)), 0.0)
    high = low / SEARCH_LEVELS[1]
    while high - low > 1e-3 * high:
        middle = (low + high) / 2.0
        low, high = (middle, high) if stable(middle) else (low, middle)
    return rounded(low * integral, ROUND_FLOOR)


def check_integral(joint_names: Sequence[str], M: ArrayLike, gains: Gains, integral: ndarray,
                   period: float, delay: float, viscous: ArrayLike = 0.0,
                   margin: float = GAIN_MARGIN, *, parameter: str,
                   action: str = INTEGRAL) -> None:
    """
    Raise :class:`ParameterError` for unstable integral gains, with the highest stable ones.

    :param M, gains, integral, period, delay, viscous, action: see :func:`highest_integral`.
    :param parameter: name of ``integral``.
    """
    most = highest_integral(M, gains, integral, period, delay, viscous, margin, action=action)
    if np.array_equal(most, integral):
        return
    where = np.flatnonzero(integral)
    raise ParameterError(
        f'{parameter} {listing(joint_names, integral, where)} would be unstable, or nearly so, '
        f'with these other gains, at {1.0 / period:g} Hz with {1e3 * delay:g} ms of delay',
        name=parameter, value=integral.tolist(),
        remedy=f'give at most {listing(joint_names, most, where)}')


def check_adaptation(joint_names: Sequence[str], M: ArrayLike, damping: ndarray,
                     bandwidth: ndarray, rate: ndarray, period: float, delay: float,
                     viscous: ArrayLike = 0.0, margin: float = GAIN_MARGIN, *,
                     parameters: tuple[str, str]) -> None:
    """
    Raise :class:`ParameterError` for unstable adaptation, with the highest stable one.

    :param damping: (nv,) D, which is stable alone.
    :param bandwidth, rate: (nv,) Λ and α [1/s], named ``parameters``; the rate has to be stable
        alone, with τ = -D δq̇ - α D δq, and the bandwidth beside it.
    :param M, period, delay, viscous, margin: see :func:`highest_integral`.
    """
    low, _ = highest(M, rate * damping, damping, period, delay, viscous, margin)
    if (where := np.flatnonzero(low < rate * damping)).size:
        most = rounded(low / np.where(damping > 0.0, damping, 1.0), ROUND_FLOOR)
        raise ParameterError(
            f'{parameters[1]} {listing(joint_names, rate, where)} would be unstable, or nearly '
            f'so, at {1.0 / period:g} Hz with {1e3 * delay:g} ms of delay', name=parameters[1],
            value=rate.tolist(), remedy=f'give at most {listing(joint_names, most, where)}')
    check_integral(joint_names, M, (rate * damping, damping), bandwidth, period, delay, viscous,
                   margin, parameter=parameters[0], action=REFERENCE)
