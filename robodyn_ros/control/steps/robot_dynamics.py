# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Dynamics that the control cycle calls: the kernels of the robot, else those of any robot.

All arguments are as in :mod:`robodyn_ros.dynamics.entry_points`. Compiled code may call the latter
once they are loaded (:mod:`.generic_dynamics`).
"""

from typing import Any

from numpy import ndarray

from . import generic_dynamics
from ...dynamics import numba_types
from ...dynamics.model_data import ADDRESSED_KERNELS, ModelData, Workspace

invoke: Any = numba_types.invoke

# Elements of `ModelData.addresses`
GRAVITY, MASS_MATRIX, INVERSE_DYNAMICS, FORWARD_DYNAMICS = range(len(ADDRESSED_KERNELS))


def gravity(robot: ModelData, q: ndarray, work: Workspace, tau: ndarray) -> None:
    """Write the gravity torques g(q) (nv,) [N·m | N] to ``tau``."""
    if robot.addresses[GRAVITY] != 0:
        invoke(robot.addresses[GRAVITY], (q, tau))
    else:
        generic_dynamics.gravity(robot, q, work, tau)


def mass_matrix(robot: ModelData, q: ndarray, work: Workspace, M: ndarray) -> None:
    """Write the joint-space inertia matrix M(q) (nv, nv)."""
    if robot.addresses[MASS_MATRIX] != 0:
        invoke(robot.addresses[MASS_MATRIX], (q, M))
    else:
        generic_dynamics.mass_matrix(robot, q, work, M)


def inverse_dynamics(robot: ModelData, q: ndarray, qd: ndarray, qdd: ndarray, work: Workspace,
                     tau: ndarray) -> None:
    """Write the efforts (nv,) [N·m | N] that cause the accelerations ``qdd``."""
    if robot.addresses[INVERSE_DYNAMICS] != 0:
        invoke(robot.addresses[INVERSE_DYNAMICS], (q, qd, qdd, tau))
    else:
        generic_dynamics.inverse_dynamics(robot, q, qd, qdd, work, tau)


def forward_dynamics(robot: ModelData, q: ndarray, qd: ndarray, tau: ndarray, work: Workspace,
                     qdd: ndarray) -> None:
    """Write the accelerations (nv,) that efforts cause; leave the factors of M in ``work.M``."""
    if robot.addresses[FORWARD_DYNAMICS] != 0:
        invoke(robot.addresses[FORWARD_DYNAMICS], (q, qd, tau, qdd, work.M))
    else:
        generic_dynamics.forward_dynamics(robot, q, qd, tau, work, qdd)
