# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Disturbance observer: a spring and a damper that also cancel friction and errors of the model.

The disturbance is estimated from the generalised momentum, see :func:`.filtered`; the
bandwidth of the estimate r is K_o. τ is the request of the law itself: compensated friction counts
as known.

For small motion about rest, τ = -(K + K_o D) δq - (D + K_o M) δq̇ - K_o K ∫ δq dt: the gain check
judges this PID controller. The estimate is bounded by the effort limit, and effort withheld by the
limits is no disturbance. It is frozen in cycles that are late, and where the reference rests and
the position is within ``observer_deadband`` of it, because integral action against static friction
is a limit cycle (Olsson and Åström, "Friction generated limit cycles", IEEE Transactions on
Control Systems Technology 9, 2001). Cycles in which a limit acts are not left out: with noise they
are those with the greatest changes of velocity, and the estimate would drift until the arm
oscillates. A lasting push is a disturbance as well: the arm does not yield to it as a spring does,
so for contact choose joint_impedance.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from numpy import ndarray

from .dynamics import bias
from .law import Arm, Judged, Law
from .pd import ImpedanceGains
from ..algebra import filtered, momentum_change
from ..declare import gain, PerJoint

# Durations of a cycle that may pass from one cycle to the next, in both of which efforts are known
MAX_CYCLE_INTERVAL = 1.5


@dataclass(frozen=True)
class Gains(ImpedanceGains):
    """Gains of joint impedance, and of an observer of disturbances at each joint."""

    observer_bandwidth: PerJoint = gain(
        '1/s', 0.0, 1e4, 'Bandwidth of the estimate of disturbance_observer.')
    observer_deadband: PerJoint = gain(
        'rad or m', 0.0, 1e3, 'Distance from a reference at rest within which the observer '
        'pauses.', 1e-3)


class Memory(NamedTuple):
    """State of the law."""

    estimate: ndarray       # r [N·m | N]
    velocity: ndarray       # q̇ of the last cycle [rad/s | m/s]
    effort: ndarray         # τ of the law in the last cycle [N·m | N]
    time: ndarray           # of the last cycle [s], the same for all joints
    began: ndarray          # 1 after the first cycle


def learns(arm: Arm, gains: Any, memory: Any, i: int) -> bool:
    """Return whether the estimate of joint ``i`` may change in this cycle."""
    since = arm.time - memory.time[i]
    if arm.dt <= 0.0 or memory.began[i] == 0.0 or since > MAX_CYCLE_INTERVAL * arm.dt:
        return False
    at_rest = arm.qd_reference[i] == 0.0 and arm.qdd_reference[i] == 0.0
    return not (at_rest
                and abs(arm.q_reference[i] - arm.q[i]) <= gains.observer_deadband[i])


def observe(arm: Arm, gains: Any, memory: Any, bias_effort: ndarray) -> None:
    """Advance the estimate; ``bias_effort`` (nv,) is C q̇ + g."""
    for i in range(bias_effort.shape[0]):
        if learns(arm, gains, memory, i):
            given = memory.effort[i] - arm.withheld[i]
            unknown = (momentum_change(arm.workspace.M, arm.qd, memory.velocity, i)
                       - (given - bias_effort[i]) * arm.dt)
            limit = arm.joints[i].effort_limit
            memory.estimate[i] = min(limit, max(-limit, filtered(
                memory.estimate[i], gains.observer_bandwidth[i], unknown, arm.dt)))


def disturbance_observer(arm: Arm, gains: Any, memory: Any, tau: ndarray) -> None:
    """Write τ = M(q) q̈_r + C q̇ + g + K (q_r - q) + D (q̇_r - q̇) - r, r from :func:`observe`."""
    bias(arm, tau)
    observe(arm, gains, memory, tau)
    for i in range(tau.shape[0]):
        for j in range(tau.shape[0]):
            tau[i] += arm.workspace.M[i, j] * arm.qdd_reference[j]
        tau[i] += (gains.stiffness[i] * (arm.q_reference[i] - arm.q[i])
                   + gains.damping[i] * (arm.qd_reference[i] - arm.qd[i]) - memory.estimate[i])
        memory.velocity[i], memory.effort[i] = arm.qd[i], tau[i]
        memory.time[i], memory.began[i] = arm.time, 1.0


LAW = Law('disturbance_observer', disturbance_observer,
          equation='τ = M(q) q̈_r + C(q, q̇) q̇ + g(q) + K (q_r - q) + D (q̇_r - q̇) - r,  '
                   'r = K_o (p - ∫ (τ + Cᵀ q̇ - g + r) dt),  p = M(q) q̇',
          source='De Luca, Albu-Schäffer, Haddadin and Hirzinger, IROS 2006, equations 9 to 11',
          gains=Gains, memory=Memory,
          judged=(Judged('stiffness', 'damping', observer='observer_bandwidth'),))
