# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Dynamics that a control law may call, at the present position and velocity of the arm.

M(q) is ``arm.workspace.M`` until :func:`forward_dynamics` is called, g(q) is ``arm.gravity``.
"""

from numpy import ndarray

from .law import Arm
from ..steps import robot_dynamics
from ...dynamics import friction as friction_curve


def inverse_dynamics(arm: Arm, qdd: ndarray, tau: ndarray) -> None:
    """Write the efforts ``tau`` (nv,) [N·m | N] that cause accelerations ``qdd`` (nv,)."""
    robot_dynamics.inverse_dynamics(arm.robot, arm.q, arm.qd, qdd, arm.workspace, tau)


def bias(arm: Arm, tau: ndarray) -> None:
    """Write C(q, q̇) q̇ + g(q), the efforts (nv,) [N·m | N] of no acceleration."""
    inverse_dynamics(arm, arm.workspace.rest, tau)


def forward_dynamics(arm: Arm, tau: ndarray, qdd: ndarray) -> None:
    """Write the accelerations (nv,) that efforts ``tau`` (nv,) cause, without friction."""
    robot_dynamics.forward_dynamics(arm.robot, arm.q, arm.qd, tau, arm.workspace, qdd)


def friction(arm: Arm, qd: ndarray, effort: ndarray) -> None:
    """Write the efforts (nv,) [N·m | N] that overcome the model's friction at velocities qd."""
    friction_curve.friction(arm.robot.friction, qd, effort)
