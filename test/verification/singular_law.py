# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A law with a planted mistake: its stiffness grows without bound as the arm is stretched."""

from dataclasses import dataclass
from math import sin
from typing import Any

from numpy import ndarray
from robodyn_ros import gain, Law


@dataclass(frozen=True)
class Gains:
    spring: Any = gain('N·m/rad or N/m', 0.0, 1e4, 'Stiffness where the last joint is at π/2.')
    damper: Any = gain('N·m·s/rad or N·s/m', 0.0, 1e3, 'Damping.', default=3.0)


def efforts(arm: Any, gains: Any, memory: Any, tau: ndarray) -> None:
    stretched = abs(sin(arm.q[tau.shape[0] - 1])) + 1e-3
    for i in range(tau.shape[0]):
        tau[i] = (arm.gravity[i] + gains.spring[i] * (arm.q_reference[i] - arm.q[i]) / stretched
                  + gains.damper[i] * (arm.qd_reference[i] - arm.qd[i]))


SINGULAR = Law('singular', efforts, equation='τ = g(q) + K (q_r - q) / |sin q_n| + D (q̇_r - q̇)',
               source='none: a mistake', gains=Gains)
