# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Control cycle in plain Python, in which a debugger can stop: slow, and the same."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy import ndarray

from .plain_records import Records
from .recorded_cycle import recorded_cycle
from ..steps.cycle_data import Cycle


def prepared(c: Cycle) -> Callable[[float, ndarray], bool]:
    """
    Return a function of ``now`` and ``tau``.

    It is equivalent to the compiled :func:`.recorded_cycle.recorded_cycle`.
    """
    return partial(recorded_cycle, fields_readable(c))


def fields_readable(c: Cycle) -> Cycle:
    """Return the data with fields that Python reads as compiled code does, and no kernels."""
    c = _readable(c)
    return c._replace(
        robot=c.robot._replace(addresses=np.zeros_like(c.robot.addresses)),
        task=c.task._replace(kernel=np.zeros_like(c.task.kernel)), settings=c.settings[0],
        cycle_input=c.cycle_input[0], controller=c.controller[0])


def _readable(value: Any) -> Any:
    """Return a tuple, and the tuples in it, with all structured arrays as :class:`.Records`."""
    if isinstance(value, tuple):
        return type(value)(*map(_readable, value))      # type: ignore[arg-type]
    return Records(value) if value.dtype.names else value
