# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of robots that move as their models say, with friction, noise and bias of sensors."""

from functools import cache

import numpy as np
from robodyn_ros import load_urdf, RobotModel
from robodyn_ros.dynamics.api import Batch
from robodyn_ros.identification.recordings.recording import Recording
from robots import LOCKED, OWN, REAL


@cache
def robot(name: str) -> RobotModel:
    return load_urdf({**OWN, **REAL}[name], locked=LOCKED.get(name, {}))


def sines(model: RobotModel, time: np.ndarray, seed: int = 0):
    """
    Positions, velocities and accelerations (N, nv) of sums of five sines within the limits.

    The slowest goes round once in twelve seconds.
    """
    rng = np.random.default_rng(seed)
    lower = np.maximum(np.where(np.isfinite(model.position_lower), model.position_lower, -2), -2.8)
    upper = np.minimum(np.where(np.isfinite(model.position_upper), model.position_upper, 2), 2.8)
    q, v, a = np.zeros((3, len(time), model.nv))
    reach = np.zeros(model.nv)
    for k in range(1, 6):
        w = 2 * np.pi * k / 12
        s, c = rng.normal(size=(2, model.nv)) / k
        sin, cos = np.sin(w * time)[:, None], np.cos(w * time)[:, None]
        q += s * sin + c * cos
        v += (s * cos - c * sin) * w
        a -= (s * sin + c * cos) * w * w
        reach += np.hypot(s, c)
    scale = 0.45 * (upper - lower) / reach
    return (lower + upper) / 2 + scale * q, scale * v, scale * a


@cache
def recorded(name: str, seed: int = 0, rate: float = 250.0, duration: float = 12.0,
             model: RobotModel | None = None) -> Recording:
    """Return a recording that nothing is wrong with, of that robot or of ``model``."""
    model, rng = model or robot(name), np.random.default_rng(seed + 100)
    time = np.arange(round(rate * duration)) / rate
    q, v, a = sines(model, time, seed)
    effort = Batch(model).inverse_dynamics(q, v, a)
    size = effort.std(0)
    effort += size * (0.1 * np.tanh(v / 0.01) + 0.1 * v / v.std(0) + 0.05)
    return Recording(model.joint_names, time, q + 1e-4 * rng.normal(size=q.shape),
                     v + 5e-3 * rng.normal(size=q.shape),
                     effort + 0.05 * size * rng.normal(size=q.shape))
