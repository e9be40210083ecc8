# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The control cycle as machine code, for any robot; the only file of this room that compiles."""

from functools import cache
from types import ModuleType

import numba
import numpy as np
from numba import types

from ..dynamics import compile as dynamics
from ..dynamics import numba_types
from ..jit import jitable, load
from ..wire.joint_state import STATE
from . import (
    cycle,
    gravity_check,
    guard,
    laws,
    limits,
    motion_checks,
    plausibility,
    ring_buffer,
    trajectory_tracking,
    velocity_estimator,
)
from .dtypes import JOINT, MEMORY, OUTSIDE, SETTINGS
from .trajectory_tracking import Points

MODULES = (*dynamics.MODULES, dynamics, *(jitable(m) for m in (
    cycle, gravity_check, guard, laws, limits, motion_checks, plausibility, trajectory_tracking,
    velocity_estimator)),
           jitable(ring_buffer, inline=True))

SIGNATURE = types.boolean(
    numba_types.MODEL_DATA, numba_types.WORKSPACE, *map(numba.typeof, (
        np.zeros(1, JOINT), np.zeros(1, SETTINGS), np.zeros(1, OUTSIDE), np.zeros(1, STATE),
        Points.none(1), np.zeros(1, MEMORY), *reversed(ring_buffer.recorder(1, 0)), 0.0,
        np.zeros(1))))

CYCLE = '''
from numba import njit
from numba.extending import register_jitable

from robodyn_ros.control import ring_buffer
from robodyn_ros.control.compile import SIGNATURE
from robodyn_ros.control.cycle import cycle as plain
from robodyn_ros.dynamics import entry_points
from robodyn_ros.dynamics.numba_types import invoke
from robodyn_ros.jit import OPTIONS

# The kernels of this robot where it has some, else those of any robot, in the order of
# `model_data.ADDRESSED_KERNELS`


@register_jitable
def gravity(robot, q, work, tau):
    if robot.addresses[0] != 0:
        invoke(robot.addresses[0], (q, tau))
    else:
        entry_points.gravity(robot, q, work, tau)


@register_jitable
def mass_matrix(robot, q, work, M):
    if robot.addresses[1] != 0:
        invoke(robot.addresses[1], (q, M))
    else:
        entry_points.mass_matrix(robot, q, work, M)


@register_jitable
def inverse_dynamics(robot, q, qd, qdd, work, tau):
    if robot.addresses[2] != 0:
        invoke(robot.addresses[2], (q, qd, qdd, tau))
    else:
        entry_points.inverse_dynamics(robot, q, qd, qdd, work, tau)


@register_jitable
def forward_dynamics(robot, q, qd, tau, work, qdd):
    if robot.addresses[3] != 0:
        invoke(robot.addresses[3], (q, qd, tau, qdd, work.M))
    else:
        entry_points.forward_dynamics(robot, q, qd, tau, work, qdd)


@njit(SIGNATURE, cache=True, **OPTIONS)
def cycle(robot, work, joints, settings, outside, state, points, memory, v, ring, now, tau):
    ring_buffer.before(ring, settings, outside, state, points, now)
    publish = plain(gravity, mass_matrix, inverse_dynamics, forward_dynamics, entry_points.solve,
                    robot, work, joints, settings, outside, state, points, memory, v, now, tau)
    ring_buffer.after(ring, memory, tau, publish)
    return publish
'''


@cache
def compiled() -> ModuleType:
    """Return the module whose ``cycle`` is the compiled control cycle."""
    return load('control', CYCLE, MODULES)
