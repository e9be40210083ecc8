# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Motion of a simulated arm during one tick, compiled for any robot."""

from functools import cache
from typing import Any

from numba import types
from numpy import ndarray

from ..compiler.jit import compile_function
from ..dynamics.compile import MODULES
from ..dynamics.entry_points import forward_dynamics, friction, gravity, solve
from ..dynamics.model_data import ModelData, Workspace
from ..dynamics.numba_types import MODEL_DATA, WORKSPACE

VECTOR, MATRIX = types.float64[::1], types.float64[:, ::1]
CONSTANT = types.Array(types.float64, 1, 'A', readonly=True)
SIGNATURE = types.float64(MODEL_DATA, WORKSPACE, VECTOR, VECTOR, VECTOR, MATRIX, MATRIX,
                       types.int64[::1], types.int64, types.float64, types.boolean, types.float64,
                       types.int64, CONSTANT)
# Rows of `drives`, each (nv,): factor of the effort, largest effort, effort below which nothing
# acts, effort of a stuck motor (NaN: none), effort from outside, factor of a faulty motor
GAIN, SATURATION, DEAD_ZONE, STUCK, EXTERNAL, MOTOR = range(6)
COMMAND, ACTUAL, APPLIED, UNIT, GRAVITY = range(5)        # rows of `efforts`, each (nv,)


def step(robot: ModelData, work: Workspace, q: ndarray, qd: ndarray, qdd: ndarray,
         efforts: ndarray, drives: ndarray, wired: ndarray, blocked: int, lag: float,
         compensates: bool, timestep: float, steps: int, velocity_limit: ndarray) -> float:
    """
    Advance q and q̇ (nv,) by semi-implicit Euler steps; return the velocity in velocity limits.

    :param efforts: (5, nv) [N·m | N], see above: command, output of the drives, and memory.
    :param drives: (6, nv), see above.
    :param wired: (nv,) index of the command that each drive gets.
    :param blocked: index of a joint that does not move, or -1.
    :param lag: [s] time constant of the drives; 0: none.
    :param compensates: whether the drives add g(q).
    :param timestep: [s].
    """
    command, actual, applied = efforts[0], efforts[1], efforts[2]
    unit, weight = efforts[3], efforts[4]
    for _ in range(steps):
        if compensates:
            gravity(robot, q, work, weight)
        friction(robot, qd, work, unit)
        for i in range(q.shape[0]):
            actual[i] += (command[wired[i]] - actual[i]) * (timestep / (lag + timestep))
            effort = actual[i] if drives[3, i] != drives[3, i] else drives[3, i]
            if abs(effort) < drives[2, i]:
                effort = 0.0
            effort = drives[0, i] * drives[5, i] * min(max(effort, -drives[1, i]), drives[1, i])
            applied[i] = effort + drives[4, i] - unit[i]
            if compensates:
                applied[i] += weight[i]
        forward_dynamics(robot, q, qd, applied, work, qdd)
        if blocked >= 0:                # the constraint force that stops it
            for i in range(q.shape[0]):
                unit[i] = 0.0
            unit[blocked] = 1.0
            solve(robot, work, unit)
            force = (-qd[blocked] / timestep - qdd[blocked]) / unit[blocked]
            for i in range(q.shape[0]):
                qdd[i] += force * unit[i]
        for i in range(q.shape[0]):
            qd[i] += timestep * qdd[i]
            q[i] += timestep * qd[i]
    fastest = 0.0
    for i in range(q.shape[0]):
        ratio = abs(qd[i]) / velocity_limit[i]
        if not ratio <= fastest:        # NaN neither
            fastest = ratio if ratio < 1e300 else 1e300
    return fastest


@cache
def compiled_step() -> Any:
    """Return the compiled function, from the cache where it is there already."""
    return compile_function('verification_plant', step, SIGNATURE, MODULES)
