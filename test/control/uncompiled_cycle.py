# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The control cycle in plain Python: slow, and the same; it stands in for control/compile.py."""

import sys
from types import ModuleType

import numpy as np

from robodyn_ros.control import ring_buffer
from robodyn_ros.control.cycle import cycle as plain
from robodyn_ros.dynamics.entry_points import (
    forward_dynamics,
    gravity,
    inverse_dynamics,
    mass_matrix,
    solve,
)

KERNELS = gravity, mass_matrix, inverse_dynamics, forward_dynamics, solve


def compiled() -> ModuleType:
    """Return the module whose ``cycle`` is the control cycle."""
    return sys.modules[__name__]


def cycle(robot, work, joints, settings, outside, state, points, memory, v, ring, now, tau):
    """Do what the compiled cycle does, with fields read as Python reads them."""
    def fields(records):
        return records.view(np.recarray)
    settings, outside, state, memory = map(fields, (settings, outside, state, memory))
    points = points._replace(header=fields(points.header))
    ring = ring._replace(cycles=fields(ring.cycles))
    ring_buffer.before(ring, settings, outside, state, points, now)
    publish = plain(*KERNELS, robot._replace(bodies=fields(robot.bodies)),
                    work._replace(bodies=fields(work.bodies), joints=fields(work.joints)),
                    fields(joints), settings, outside, state, points, memory, v, now, tau)
    ring_buffer.after(ring, memory, tau, publish)
    return publish
