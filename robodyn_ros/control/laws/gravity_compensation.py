# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Gravity compensation: the arm floats."""

from typing import Any

from numpy import ndarray

from .law import Arm, Law, NO_REFERENCE


def gravity_compensation(arm: Arm, gains: Any, memory: Any, tau: ndarray) -> None:
    """Write τ = g(q): the arm floats where it is."""
    for i in range(tau.shape[0]):
        tau[i] = arm.gravity[i]


LAW = Law('gravity_compensation', gravity_compensation, equation='τ = g(q)',
          source='Siciliano et al., Robotics, 2009, section 8.5.1', reference=NO_REFERENCE)
