# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The control cycle together with the flight recorder."""

from numpy import ndarray

from . import ring_buffer
from .cycle import cycle, CycleInputs


def recorded_cycle(inputs: CycleInputs, now: float, tau: ndarray) -> bool:
    """Advance the controller as :func:`.cycle.cycle` does; the flight recorder takes it down."""
    ring_buffer.before(inputs.ring, inputs.settings, inputs.cycle_input, inputs.state,
                       inputs.points, inputs.policy, inputs.partner, inputs.poses, now)
    publish = cycle(inputs, now, tau)
    ring_buffer.after(inputs.ring, inputs.controller_state, tau, publish)
    return publish
