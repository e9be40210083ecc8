# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Dynamics of the control cycle, compiled on their own and linked by name to cycle and laws.

They would be a quarter of what is compiled for the cycle, and each law would contain them again.
"""

from functools import cache
import sys
from typing import Any

from numba import types
from numpy import ndarray

from . import robot_dynamics
from ..dynamics import compile as dynamics_code
from ..dynamics import numba_types
from ..dynamics.model_data import ModelData, Workspace
from ..dynamics.numba_types import MATRIX, VECTOR
from ..jit import compile_callback, link, linked, substitute
from ..tuple_reference import Reference

MODULES = (*dynamics_code.MODULES, dynamics_code, robot_dynamics, sys.modules[__name__])

_ROBOT, _WORKSPACE = Reference(numba_types.MODEL_DATA), Reference(numba_types.WORKSPACE)
SIGNATURES: dict[Any, Any] = {
    robot_dynamics.gravity: types.void(_ROBOT, VECTOR, _WORKSPACE, VECTOR),
    robot_dynamics.mass_matrix: types.void(_ROBOT, VECTOR, _WORKSPACE, MATRIX),
    robot_dynamics.inverse_dynamics: types.void(_ROBOT, VECTOR, VECTOR, VECTOR, _WORKSPACE,
                                                VECTOR),
    robot_dynamics.forward_dynamics: types.void(_ROBOT, VECTOR, VECTOR, VECTOR, _WORKSPACE,
                                                VECTOR)}
SYMBOLS = {function: f'robodyn_ros_{function.__name__}' for function in SIGNATURES}

call_gravity, call_mass_matrix, call_inverse_dynamics, call_forward_dynamics = (
    linked(SYMBOLS[function], signature) for function, signature in SIGNATURES.items())


def gravity(robot: ModelData, q: ndarray, work: Workspace, tau: ndarray) -> None:
    """Call the machine code of :func:`.robot_dynamics.gravity`."""
    call_gravity((robot, q, work, tau))


def mass_matrix(robot: ModelData, q: ndarray, work: Workspace, M: ndarray) -> None:
    """Call the machine code of :func:`.robot_dynamics.mass_matrix`."""
    call_mass_matrix((robot, q, work, M))


def inverse_dynamics(robot: ModelData, q: ndarray, qd: ndarray, qdd: ndarray, work: Workspace,
                     tau: ndarray) -> None:
    """Call the machine code of :func:`.robot_dynamics.inverse_dynamics`."""
    call_inverse_dynamics((robot, q, qd, qdd, work, tau))


def forward_dynamics(robot: ModelData, q: ndarray, qd: ndarray, tau: ndarray, work: Workspace,
                     qdd: ndarray) -> None:
    """Call the machine code of :func:`.robot_dynamics.forward_dynamics`."""
    call_forward_dynamics((robot, q, qd, tau, work, qdd))


substitute(robot_dynamics.gravity, gravity, inline=True)
substitute(robot_dynamics.mass_matrix, mass_matrix, inline=True)
substitute(robot_dynamics.inverse_dynamics, inverse_dynamics, inline=True)
substitute(robot_dynamics.forward_dynamics, forward_dynamics, inline=True)


@cache
def load() -> None:
    """Load the machine code, before code is loaded that calls it."""
    for function, signature in SIGNATURES.items():
        compiled = compile_callback(f'{function.__name__}_of_cycle', function, signature, MODULES)
        link(SYMBOLS[function], compiled.address)


def promise() -> None:
    """Let code that calls it be compiled, in a process that does not run what it compiles."""
    for symbol in SYMBOLS.values():
        link(symbol, 1)
