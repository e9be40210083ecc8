# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joint impedance: a spring and a damper about the reference, with gravity compensation."""

from typing import Any

from numpy import ndarray

from .law import Arm, Law
from .pd import ImpedanceGains, JUDGED, pd


def joint_impedance(arm: Arm, gains: Any, memory: Any, tau: ndarray) -> None:
    """Write τ = K (q_r - q) + D (q̇_r - q̇) + g(q) (8.51): a spring-damper about the reference."""
    pd(arm, gains, memory, tau)
    for i in range(tau.shape[0]):
        tau[i] += arm.gravity[i]


LAW = Law('joint_impedance', joint_impedance, equation='τ = K (q_r - q) + D (q̇_r - q̇) + g(q)',
          source='Siciliano et al., Robotics, 2009, equation 8.51', gains=ImpedanceGains,
          judged=(JUDGED,))
