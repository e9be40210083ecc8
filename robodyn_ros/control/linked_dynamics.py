# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Dynamics of the control cycle, compiled on their own and linked by name to cycle and laws.

They would be a quarter of what is compiled for the cycle, and each law would contain them again.
"""

from functools import cache
import sys

from numba import types

from . import robot_dynamics
from ..dynamics import compile as dynamics_code
from ..dynamics import numba_types
from ..dynamics.numba_types import MATRIX, VECTOR
from ..linking import LinkedFunction
from ..tuple_reference import Reference

MODULES = (*dynamics_code.MODULES, dynamics_code, robot_dynamics, sys.modules[__name__])

_ROBOT, _WORKSPACE = Reference(numba_types.MODEL_DATA), Reference(numba_types.WORKSPACE)
FUNCTIONS = [
    LinkedFunction(f'{function.__name__}_of_cycle', function, types.void(*arguments), MODULES)
    for function, arguments in (
        (robot_dynamics.gravity, (_ROBOT, VECTOR, _WORKSPACE, VECTOR)),
        (robot_dynamics.mass_matrix, (_ROBOT, VECTOR, _WORKSPACE, MATRIX)),
        (robot_dynamics.inverse_dynamics, (_ROBOT, VECTOR, VECTOR, VECTOR, _WORKSPACE, VECTOR)),
        (robot_dynamics.forward_dynamics, (_ROBOT, VECTOR, VECTOR, VECTOR, _WORKSPACE, VECTOR)))]


@cache
def load() -> None:
    """Load the machine code, before code is loaded that calls it."""
    for function in FUNCTIONS:
        function.load()


def promise() -> None:
    """Let code that calls it be compiled, in a process that does not run what it compiles."""
    for function in FUNCTIONS:
        function.promise()
