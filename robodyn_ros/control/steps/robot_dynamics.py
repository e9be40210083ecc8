# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Dynamics that the control cycle calls: the kernels of the robot, else those of any robot.

A controller has kernels of its robot; with another payload or armature than at its start it has
none. The dynamics for any robot are compiled on their own, once, where they are needed: compiled
code has to :func:`load_generic` only before the first call.

All arguments are as in :mod:`robodyn_ros.dynamics.entry_points`.
"""

from functools import cache
import sys
from typing import Any

from numba import types
from numpy import ndarray

from ...compiler.linking import DeferredFunction
from ...compiler.tuple_reference import Reference
from ...dynamics import compile as dynamics_code, entry_points, numba_types
from ...dynamics.model_data import ADDRESSED_KERNELS, ModelData, Workspace
from ...dynamics.numba_types import MATRIX, VECTOR

MODULES = (*dynamics_code.MODULES, dynamics_code, sys.modules[__name__])
invoke: Any = numba_types.invoke

# Elements of `ModelData.addresses`
GRAVITY, MASS_MATRIX, INVERSE_DYNAMICS, FORWARD_DYNAMICS = range(len(ADDRESSED_KERNELS))


def gravity(robot: ModelData, q: ndarray, work: Workspace, tau: ndarray) -> None:
    """Write the gravity torques g(q) (nv,) [N·m | N] to ``tau``."""
    if robot.addresses[GRAVITY] != 0:
        invoke(robot.addresses[GRAVITY], (q, tau))
    else:
        _generic_gravity(robot, q, work, tau)


def mass_matrix(robot: ModelData, q: ndarray, work: Workspace, M: ndarray) -> None:
    """Write the joint-space inertia matrix M(q) (nv, nv)."""
    if robot.addresses[MASS_MATRIX] != 0:
        invoke(robot.addresses[MASS_MATRIX], (q, M))
    else:
        _generic_mass_matrix(robot, q, work, M)


def inverse_dynamics(robot: ModelData, q: ndarray, qd: ndarray, qdd: ndarray, work: Workspace,
                     tau: ndarray) -> None:
    """Write the efforts (nv,) [N·m | N] that cause the accelerations ``qdd``."""
    if robot.addresses[INVERSE_DYNAMICS] != 0:
        invoke(robot.addresses[INVERSE_DYNAMICS], (q, qd, qdd, tau))
    else:
        _generic_inverse_dynamics(robot, q, qd, qdd, work, tau)


def forward_dynamics(robot: ModelData, q: ndarray, qd: ndarray, tau: ndarray, work: Workspace,
                     qdd: ndarray) -> None:
    """Write the accelerations (nv,) that efforts cause; leave the factors of M in ``work.M``."""
    if robot.addresses[FORWARD_DYNAMICS] != 0:
        invoke(robot.addresses[FORWARD_DYNAMICS], (q, qd, tau, qdd, work.M))
    else:
        _generic_forward_dynamics(robot, q, qd, tau, work, qdd)


def _generic_gravity(robot: ModelData, q: ndarray, work: Workspace, tau: ndarray) -> None:
    entry_points.gravity(robot, q, work, tau)


def _generic_mass_matrix(robot: ModelData, q: ndarray, work: Workspace, M: ndarray) -> None:
    entry_points.mass_matrix(robot, q, work, M)


def _generic_inverse_dynamics(robot: ModelData, q: ndarray, qd: ndarray, qdd: ndarray,
                              work: Workspace, tau: ndarray) -> None:
    entry_points.inverse_dynamics(robot, q, qd, qdd, work, tau)


def _generic_forward_dynamics(robot: ModelData, q: ndarray, qd: ndarray, tau: ndarray,
                              work: Workspace, qdd: ndarray) -> None:
    entry_points.forward_dynamics(robot, q, qd, tau, work, qdd)


_ROBOT, _WORKSPACE = Reference(numba_types.MODEL_DATA), Reference(numba_types.WORKSPACE)
GENERIC = [
    DeferredFunction(function.__name__[1:], function, types.void(*arguments), MODULES)
    for function, arguments in (
        (_generic_gravity, (_ROBOT, VECTOR, _WORKSPACE, VECTOR)),
        (_generic_mass_matrix, (_ROBOT, VECTOR, _WORKSPACE, MATRIX)),
        (_generic_inverse_dynamics, (_ROBOT, VECTOR, VECTOR, VECTOR, _WORKSPACE, VECTOR)),
        (_generic_forward_dynamics, (_ROBOT, VECTOR, VECTOR, VECTOR, _WORKSPACE, VECTOR)))]


@cache
def load_generic() -> None:
    """Load the machine code for any robot, before it is called for the first time."""
    for function in GENERIC:
        function.load()


def are_cached() -> bool:
    """Return whether this machine has compiled it."""
    return all(function.is_cached() for function in GENERIC)
