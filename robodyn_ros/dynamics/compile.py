# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
From algorithms to machine code: the only file of this room that compiles.

The *generic* entry points take any robot as data and are compiled once per machine. The *bound*
kernels of one robot are thin: they hold its data, keep the workspace of each call on the stack,
and call the generic ones.
"""

import sys
from collections.abc import Callable
from functools import cache
from types import ModuleType

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ..jit import jitable, load
from . import bodies, crba, forward, joints, rnea, spatial, terms
from .bodies import BODY, JOINT, WORK, Robot, Workspace

# What text that calls `terms` depends on: pass it on to jit.load.
MODULES: tuple[ModuleType, ...] = (
    bodies, jitable(spatial, inline=True), jitable(joints, inline=True), jitable(rnea),
    jitable(crba), jitable(forward), jitable(terms))


def _record_type(dtype: np.dtype, readonly: bool = False) -> types.Array:
    return types.Array(numba.from_dtype(dtype), 1, 'C', readonly=readonly)


VECTOR, MATRIX = types.float64[::1], types.float64[:, ::1]
ROBOT = types.NamedTuple(
    (_record_type(BODY, True), types.Array(types.float64, 1, 'C', readonly=True)), Robot)
WORKSPACE = types.NamedTuple(
    (_record_type(WORK), _record_type(JOINT), MATRIX, VECTOR, MATRIX), Workspace)

GENERIC = '''
from numba import njit, void

from robodyn_ros.dynamics import terms
from robodyn_ros.dynamics.compile import MATRIX, ROBOT, VECTOR, WORKSPACE
from robodyn_ros.jit import OPTIONS


@njit(void(ROBOT, VECTOR, WORKSPACE, VECTOR), cache=True, **OPTIONS)
def gravity(robot, q, work, tau):
    terms.gravity(robot, q, work, tau)


@njit(void(ROBOT, VECTOR, VECTOR, WORKSPACE, VECTOR), cache=True, **OPTIONS)
def bias(robot, q, qd, work, tau):
    terms.bias(robot, q, qd, work, tau)


@njit(void(ROBOT, VECTOR, VECTOR, VECTOR, MATRIX, WORKSPACE, VECTOR), cache=True, **OPTIONS)
def inverse_dynamics(robot, q, qd, qdd, wrenches, work, tau):
    terms.loaded_inverse_dynamics(robot, q, qd, qdd, wrenches, work, tau)


@njit(void(ROBOT, VECTOR, WORKSPACE, MATRIX), cache=True, **OPTIONS)
def mass_matrix(robot, q, work, M):
    terms.mass_matrix(robot, q, work, M)


@njit(void(ROBOT, VECTOR, VECTOR, VECTOR, MATRIX, WORKSPACE, VECTOR), cache=True, **OPTIONS)
def forward_dynamics(robot, q, qd, tau, wrenches, work, qdd):
    terms.loaded_forward_dynamics(robot, q, qd, tau, wrenches, work, qdd)
'''


BOUND = '''
import numpy as np
from numba import carray, njit, void

from robodyn_ros.dynamics.bodies import BODY, JOINT, WORK, Robot, Workspace
from robodyn_ros.dynamics.compile import MATRIX, VECTOR, generic, stack
from robodyn_ros.jit import OPTIONS

BODIES = np.frombuffer(bytes.fromhex('{bodies}'), BODY)
GRAVITY = np.frombuffer(bytes.fromhex('{gravity}'))
entry = generic().{name}


@njit(void({types}), cache=True, **OPTIONS)
def {name}({arguments}):
    bodies = carray(stack({body_room}), {n} + 1, WORK)
    joints = carray(stack({joint_room}), {n}, JOINT)
    factors = {factors}
    rest = carray(stack({n}), {n}, np.float64)
    unloaded = carray(stack(6 * {n}), ({n}, 6), np.float64)
    rest[:] = 0.0
    unloaded[:] = 0.0
    work = Workspace(bodies, joints, factors, rest, unloaded)
    entry({call})
'''
ARGUMENTS = {'gravity': ('q', 'tau'), 'bias': ('q', 'qd', 'tau'),
             'inverse_dynamics': ('q', 'qd', 'qdd', 'tau'), 'mass_matrix': ('q', 'M'),
             'forward_dynamics': ('q', 'qd', 'tau', 'qdd')}


@cache
def generic() -> ModuleType:
    """Return the compiled functions of ``GENERIC``; the first call on a machine takes seconds."""
    return load('dynamics', GENERIC, MODULES)


def bind(name: str, robot: Robot) -> Callable[..., None]:
    """Return the compiled function ``name`` of one robot: it takes ``ARGUMENTS[name]``."""
    n = len(robot.bodies)
    *given, out = ARGUMENTS[name]
    # A thread's stack has megabytes: enough for the matrix of any robot, not of any tree.
    factors = (f'carray(stack({n} * {n}), ({n}, {n}), np.float64)' if n <= 128
               else f'np.empty(({n}, {n}))')
    loads = ['unloaded'] if name in ('inverse_dynamics', 'forward_dynamics') else []
    text = BOUND.format(
        name=name, n=n, factors=factors,
        bodies=robot.bodies.tobytes().hex(), gravity=robot.gravity.tobytes().hex(),
        types=', '.join('MATRIX' if a == 'M' else 'VECTOR' for a in ARGUMENTS[name]),
        arguments=', '.join(ARGUMENTS[name]),
        body_room=(n + 1) * WORK.itemsize // 8, joint_room=n * JOINT.itemsize // 8,
        call=', '.join(['Robot(BODIES, GRAVITY)', *given, *loads, 'work', out]))
    return getattr(load(f'{name}_of_one', text, (*MODULES, sys.modules[__name__])), name)


@intrinsic(prefer_literal=True)
def stack(typing, size):
    """Return a pointer to ``size`` (a constant) float64s in the frame of the calling function."""
    count = getattr(size, 'literal_value', None)
    if count is None:
        return None

    def build(context, builder, signature, args):
        room = cgutils.alloca_once(builder, ir.DoubleType(), size=ir.IntType(64)(count))
        return builder.bitcast(room, ir.IntType(8).as_pointer())
    return types.voidptr(size), build
