# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Dynamics of any robot for the control cycle, compiled on their own, once, where they are needed.

A controller has kernels of its robot; with another payload or armature than at its start it has
none. Compiled code that calls these functions needs :func:`load` only before the first call.

All arguments are as in :mod:`robodyn_ros.dynamics.entry_points`.
"""

from functools import cache
import sys

from numba import types
from numpy import ndarray

from ...compiler.linking import DeferredFunction
from ...compiler.tuple_reference import Reference
from ...dynamics import compile as dynamics_code
from ...dynamics import entry_points, numba_types
from ...dynamics.model_data import ModelData, Workspace
from ...dynamics.numba_types import MATRIX, VECTOR

MODULES = (*dynamics_code.MODULES, dynamics_code, sys.modules[__name__])


def gravity(robot: ModelData, q: ndarray, work: Workspace, tau: ndarray) -> None:
    """Write the gravity torques g(q) (nv,) [N·m | N] to ``tau``."""
    entry_points.gravity(robot, q, work, tau)


def mass_matrix(robot: ModelData, q: ndarray, work: Workspace, M: ndarray) -> None:
    """Write the joint-space inertia matrix M(q) (nv, nv)."""
    entry_points.mass_matrix(robot, q, work, M)


def inverse_dynamics(robot: ModelData, q: ndarray, qd: ndarray, qdd: ndarray, work: Workspace,
                     tau: ndarray) -> None:
    """Write the efforts (nv,) [N·m | N] that cause the accelerations ``qdd``."""
    entry_points.inverse_dynamics(robot, q, qd, qdd, work, tau)


def forward_dynamics(robot: ModelData, q: ndarray, qd: ndarray, tau: ndarray, work: Workspace,
                     qdd: ndarray) -> None:
    """Write the accelerations (nv,) that efforts cause; leave the factors of M in ``work.M``."""
    entry_points.forward_dynamics(robot, q, qd, tau, work, qdd)


_ROBOT, _WORKSPACE = Reference(numba_types.MODEL_DATA), Reference(numba_types.WORKSPACE)
FUNCTIONS = [
    DeferredFunction(f'generic_{function.__name__}', function, types.void(*arguments), MODULES)
    for function, arguments in (
        (gravity, (_ROBOT, VECTOR, _WORKSPACE, VECTOR)),
        (mass_matrix, (_ROBOT, VECTOR, _WORKSPACE, MATRIX)),
        (inverse_dynamics, (_ROBOT, VECTOR, VECTOR, VECTOR, _WORKSPACE, VECTOR)),
        (forward_dynamics, (_ROBOT, VECTOR, VECTOR, VECTOR, _WORKSPACE, VECTOR)))]


@cache
def load() -> None:
    """Load the machine code, before it is called for the first time."""
    for function in FUNCTIONS:
        function.load()


def are_cached() -> bool:
    """Return whether this machine has compiled it."""
    return all(function.is_cached() for function in FUNCTIONS)
