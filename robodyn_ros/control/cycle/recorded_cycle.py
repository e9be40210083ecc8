# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The control cycle together with the flight recorder."""

from numpy import ndarray

from . import ring_buffer
from .cycle import cycle
from ..steps.cycle_data import Cycle


def recorded_cycle(c: Cycle, now: float, tau: ndarray) -> bool:
    """Advance the controller as :func:`.cycle.cycle` does; the flight recorder takes it down."""
    ring_buffer.before(c, now)
    publish = cycle(c, now, tau)
    ring_buffer.after(c, tau, publish)
    return publish
