# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compilation of :mod:`.requests`, for any robot."""

from collections.abc import Callable
import sys
from typing import Any

from numba import types

from . import requests
from .requests import FUNCTIONS, Request, request
from ..compiler.jit import compile_callback, jitable, tuple_type
from ..compiler.tuple_reference import Reference
from ..control.cycle.compile import CYCLE_INPUTS
from ..control.cycle.compile import MODULES as CYCLE_MODULES

MODULES = (*CYCLE_MODULES, jitable(requests), sys.modules[__name__])
REQUEST = tuple_type(Request, **request(1, 1, 1, 2)._asdict())
SIGNATURE = types.int64(Reference(CYCLE_INPUTS), Reference(REQUEST), types.float64)


def compiled_request(function: Callable[..., int], *, cached: bool = True) -> Any:
    """
    Return one of :data:`.requests.FUNCTIONS`, with an ``address`` and an ``inspect_llvm``.

    It takes the addresses of a Cycle and a Request, and the time [s].

    :param cached: False: compile it in this process, as :mod:`..compiler.object_code` needs it.
    """
    assert function in FUNCTIONS
    return compile_callback(f'request_{function.__name__}', function, SIGNATURE, MODULES,
                            cached=cached, allocates=False)
