# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Computed torque control with optional integral action."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from numpy import ndarray

from .dynamics import inverse_dynamics
from .law import Arm, Judged, Law, WITHHELD_TOLERANCE
from ..declare import gain, PerJoint


@dataclass(frozen=True)
class AccelerationGains:
    """Gains from errors to accelerations of each joint."""

    acceleration_kp: PerJoint = gain(
        '1/s²', 0.0, 1e5, 'Position gain k_p of computed_torque.')
    acceleration_kd: PerJoint = gain(
        '1/s', 0.0, 1e4, 'Velocity gain k_d of computed_torque.')
    acceleration_ki: PerJoint = gain(
        '1/s³', 0.0, 1e6, 'Integral gain k_i of computed_torque.', 0.0)


class Memory(NamedTuple):
    """State of the law."""

    integral: ndarray       # ∫ (q_r - q) dt [rad·s | m·s]
    acceleration: ndarray   # commanded acceleration [rad/s² | m/s²]


def computed_torque(arm: Arm, gains: Any, memory: Any, tau: ndarray) -> None:
    """
    Write τ = M(q) (q̈_r + k_d (q̇_r - q̇) + k_p (q_r - q) + k_i ∫ (q_r - q)) + C q̇ + g, by RNEA.

    The integral of a joint is frozen while its effort is limited and the error would drive it
    further beyond the limit (conditional integration, Åström and Hägglund, Advanced PID Control,
    2006, section 3.5).
    """
    for i in range(tau.shape[0]):
        error = arm.q_reference[i] - arm.q[i]
        withheld, limit = arm.withheld[i], arm.joints[i].effort_limit
        if abs(withheld) <= WITHHELD_TOLERANCE * limit or withheld * error < 0.0:
            memory.integral[i] += error * arm.dt
        memory.acceleration[i] = (
            arm.qdd_reference[i]
            + gains.acceleration_kd[i] * (arm.qd_reference[i] - arm.qd[i])
            + gains.acceleration_kp[i] * error
            + gains.acceleration_ki[i] * memory.integral[i])
    inverse_dynamics(arm, memory.acceleration, tau)


LAW = Law('computed_torque', computed_torque,
          equation='τ = M(q) (q̈_r + k_d (q̇_r - q̇) + k_p (q_r - q) + k_i ∫ (q_r - q) dt) '
                   '+ C(q, q̇) q̇ + g(q)',
          source='Siciliano et al., Robotics, 2009, equation 8.57, and integral action as in 8.3',
          gains=AccelerationGains, memory=Memory, exact=True,
          judged=(Judged('acceleration_kp', 'acceleration_kd', 'acceleration_ki', True),))
