# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Compilation of the planner, for any robot.

Planning in machine code takes microseconds, and other threads run meanwhile. Until the second
process has compiled it on this machine, the same functions plan in plain Python: an arm that is
driven does not wait for a compiler.
"""

from collections.abc import Callable
import ctypes
from functools import cache
import sys
from typing import Any

from numba import types
import numpy as np

from . import joint_requests, motions, paths, pose_requests, request as request_data
from .joint_requests import plan_joints
from .pose_requests import plan_poses, sample_poses
from .request import Request, request
from ..cycle.compile_ahead import plain
from .. import rotations
from ..inputs import pose_tracking
from ...compiler import second_process
from ...compiler.jit import compile_callback, is_cached, jitable, tuple_type
from ...compiler.tuple_reference import Reference, TupleMemory

MODULES = (*(jitable(module, exact=True) for module in (
    request_data, motions, paths, joint_requests, pose_requests)),
    jitable(rotations), jitable(pose_tracking), sys.modules[__name__])
REQUEST = tuple_type(Request, **request(1, 1, 1, 2)._asdict())
SIGNATURE = types.int64(Reference(REQUEST))
PLANNER = 'planning of references'
#: Functions of :func:`plan`.
PLANNERS = plan_joints, plan_poses, sample_poses
_planner = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


def plan(function: Callable[[Request], int], r: Request) -> int:
    """Plan a request by one of :data:`PLANNERS`; return what is wrong."""
    if plain() or not planner_is_ready(function):
        return function(r._replace(
            memory=r.memory.view(np.recarray),
            poses=r.poses._replace(header=r.poses.header.view(np.recarray))))
    memory = TupleMemory(REQUEST)
    memory.write(r)
    return int(_callback(function)(memory.address))


def begin_planner() -> None:
    """Compile the planner in a background process, if this machine has not done so yet."""
    if not (plain() or all(map(planner_is_ready, PLANNERS))):
        second_process.begin(
            PLANNER, f'from {__name__} import compile_planner; compile_planner()', nice=19)


_ready: set[Callable[[Request], int]] = set()


def planner_is_ready(function: Callable[[Request], int]) -> bool:
    """Return whether this machine has compiled one of :data:`PLANNERS`."""
    if function not in _ready and is_cached(function.__name__, function, SIGNATURE, MODULES):
        _ready.add(function)
    return function in _ready


def planner_is_being_compiled() -> bool:
    """Return whether motions of joints are planned in plain Python for the present."""
    return not plain() and not planner_is_ready(plan_joints)


def compile_planner() -> None:
    """Compile the planner into the cache."""
    for function in PLANNERS:
        _callback(function)


@cache
def _callback(function: Callable[[Request], int]) -> Any:
    return _planner(compile_callback(function.__name__, function, SIGNATURE, MODULES,
                                     allocates=False).address)
