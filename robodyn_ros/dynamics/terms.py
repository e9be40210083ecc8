# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The terms of the equation of motion as compiled code calls them: plain, unchecked, no allocation.

    τ = M(q) q̈ + C(q, q̇) q̇ + g(q) - Σ Jᵀ wrench

``robot`` is what :func:`~.bodies.parameters` returns, ``work`` what :func:`~.bodies.workspace`
does, for one caller at a time. Vectors are (nv,) float64, contiguous, in SI units; the last
argument is written and must be an array of its own. ``wrenches`` (nv, 6) are force and moment at
the origin of each body, in the axes of the records (:func:`~.bodies.axes`).
"""

from .crba import crba
from .forward import forward_dynamics as _forward_dynamics
from .forward import ltdl_solve
from .joints import place
from .rnea import rnea


def gravity(robot, q, work, tau):
    """Write the efforts that hold the robot still at q: g(q)."""
    bias(robot, q, work.rest, work, tau)


def bias(robot, q, qd, work, tau):
    """Write the efforts of motion without acceleration: C(q, q̇)q̇ + g(q)."""
    inverse_dynamics(robot, q, qd, work.rest, work, tau)


def inverse_dynamics(robot, q, qd, qdd, work, tau):
    """Write the efforts of a motion."""
    loaded_inverse_dynamics(robot, q, qd, qdd, work.unloaded, work, tau)


def loaded_inverse_dynamics(robot, q, qd, qdd, wrenches, work, tau):
    """Write the efforts of a motion under external wrenches."""
    place(robot.bodies, q, work.joints)
    rnea(robot.bodies, robot.gravity, work.joints, qd, qdd, wrenches, work.bodies, tau)


def mass_matrix(robot, q, work, M):
    """Write M(q) (nv, nv)."""
    place(robot.bodies, q, work.joints)
    crba(robot.bodies, work.joints, work.bodies, M)


def forward_dynamics(robot, q, qd, tau, work, qdd):
    """Write the accelerations that efforts cause."""
    loaded_forward_dynamics(robot, q, qd, tau, work.unloaded, work, qdd)


def loaded_forward_dynamics(robot, q, qd, tau, wrenches, work, qdd):
    """Write the accelerations that efforts and external wrenches cause."""
    place(robot.bodies, q, work.joints)
    _forward_dynamics(robot.bodies, robot.gravity, work.joints, qd, tau, work.rest, wrenches,
                      work.bodies, work.M, qdd)


def solve(robot, work, b):
    """Turn b into M(q)⁻¹ b, with the factors that the last forward dynamics left in ``work``."""
    ltdl_solve(robot.bodies, work.M, b)
