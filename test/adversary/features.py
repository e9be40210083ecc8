# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Features of the guard that not every version has: the one place that asks for them."""

from typing import Any

import numpy as np
from robodyn_ros.control.controller.controller import Controller
from robodyn_ros.control.steps import guard, limits
from robodyn_ros.state import STATE

# Factor by which braking at a limit may exceed the effort rate limit
BRAKING_RATE = float(getattr(limits, 'BRAKING_RATE', 1.0))
HAS_STAMP = 'stamp' in (STATE.names or ())
FAULT, RUNNING, INACTIVE = guard.FAULT, guard.RUNNING, guard.INACTIVE


def tell(controller: Controller, **fields: Any) -> None:
    """Write what the loop would tell the cycle, as far as this version can be told it."""
    for name, value in fields.items():
        if name in (controller.cycle_input.dtype.names or ()):
            controller.cycle_input[name] = value


def reason_number(code: str) -> int:
    """Return the number of a reason code; 0, which is none, where there is no such reason."""
    return guard.CODES.index(code) if code in guard.CODES else 0


def write_stamp(state: np.ndarray, stamp: float) -> None:
    """Write the header stamp of a sample as the decoder does, where states carry one."""
    if HAS_STAMP:
        state['stamp'] = stamp if stamp != 0.0 else np.nan


def braking_cycles(controller: Controller) -> int:
    """Count the cycles in which a position or velocity limit changed the efforts."""
    names = controller.memory.dtype.names or ()
    return int(controller.memory['joint_limited'][0]) if 'joint_limited' in names else -1
