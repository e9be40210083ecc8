# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compilation of the requests of the C library, for any robot."""

from collections.abc import Callable
import sys
from typing import Any

from numba import types

from . import payload_requests
from .payload_requests import check_payload, load_payload
from ..compiler.jit import compile_callback, jitable
from ..compiler.tuple_reference import Reference
from ..control.cycle.compile import CYCLE_INPUTS
from ..control.cycle.compile import MODULES as CYCLE_MODULES
from ..control.references.compile_planner import MODULES as PLANNER_MODULES
from ..control.references.compile_planner import REQUEST
from ..control.references.joint_requests import (
    begin_path,
    begin_stop,
    begin_target,
    prepare_path,
    stream_joints,
)
from ..control.references.pose_requests import begin_pose, stream_pose

#: Functions of the requests: those of the step, and the check of a trajectory by another thread.
FUNCTIONS = (stream_joints, begin_target, begin_stop, prepare_path, begin_path, begin_pose,
             stream_pose, load_payload, check_payload)
MODULES = (*CYCLE_MODULES, *PLANNER_MODULES, jitable(payload_requests), sys.modules[__name__])
SIGNATURE = types.int64(Reference(CYCLE_INPUTS), Reference(REQUEST), types.float64)


def compiled_request(function: Callable[..., int]) -> Any:
    """
    Return one of :data:`FUNCTIONS`, with an ``address``.

    It takes the addresses of a Cycle and a Request, and the time [s].
    """
    assert function in FUNCTIONS
    return compile_callback(f'request_{function.__name__}', function, SIGNATURE, MODULES,
                            allocates=False)
