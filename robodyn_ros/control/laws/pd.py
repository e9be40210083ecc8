# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Gravity compensation, PD control of the joints, and both: joint impedance."""

from dataclasses import dataclass
from typing import Any

from numpy import ndarray

from .law import Arm, Judged, Law, NO_REFERENCE
from ..declare import gain, PerJoint


def gravity_compensation(arm: Arm, gains: Any, memory: Any, tau: ndarray) -> None:
    """Write τ = g(q): the arm floats where it is."""
    for i in range(tau.shape[0]):
        tau[i] = arm.gravity[i]


GRAVITY_COMPENSATION = Law(
    'gravity_compensation', gravity_compensation, equation='τ = g(q)',
    source='Siciliano et al., Robotics, 2009, section 8.5.1', reference=NO_REFERENCE)


@dataclass(frozen=True)
class StiffnessGains:
    """Gains of a spring at each joint."""

    stiffness: PerJoint = gain(
        'N·m/rad or N/m', 0.0, 1e6, 'Stiffness K of pd, joint_impedance and disturbance_observer.')


@dataclass(frozen=True)
class DampingGains:
    """Gains of a damper at each joint."""

    damping: PerJoint = gain(
        'N·m·s/rad or N·s/m', 0.0, 1e5, 'Damping D of pd, joint_impedance, disturbance_observer '
        'and adaptive.')


@dataclass(frozen=True)
class ImpedanceGains(DampingGains, StiffnessGains):
    """Gains of a spring and a damper at each joint."""


JUDGED = Judged('stiffness', 'damping')


def pd(arm: Arm, gains: Any, memory: Any, tau: ndarray) -> None:
    """Write τ = K (q_r - q) + D (q̇_r - q̇): independent of any model, it sags under gravity."""
    for i in range(tau.shape[0]):
        tau[i] = (gains.stiffness[i] * (arm.q_reference[i] - arm.q[i])
                  + gains.damping[i] * (arm.qd_reference[i] - arm.qd[i]))


LAW = Law('pd', pd, equation='τ = K (q_r - q) + D (q̇_r - q̇)',
          source='Siciliano et al., Robotics, 2009, section 8.5.1, without g(q)',
          gains=ImpedanceGains, judged=(JUDGED,))


def joint_impedance(arm: Arm, gains: Any, memory: Any, tau: ndarray) -> None:
    """Write τ = K (q_r - q) + D (q̇_r - q̇) + g(q) (8.51): a spring-damper about the reference."""
    pd(arm, gains, memory, tau)
    for i in range(tau.shape[0]):
        tau[i] += arm.gravity[i]


JOINT_IMPEDANCE = Law(
    'joint_impedance', joint_impedance, equation='τ = K (q_r - q) + D (q̇_r - q̇) + g(q)',
    source='Siciliano et al., Robotics, 2009, equation 8.51', gains=ImpedanceGains,
    judged=(JUDGED,))
