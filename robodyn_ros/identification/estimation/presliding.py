# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Presliding friction: elastic contact after a reversal."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy import ndarray

from ...dynamics import Batch
from ...model.robot import RobotModel
from ..motion import Motion

STEP = 1e-9   # [rad/s] width at which a smooth sign is a step
STILL = 1e-6  # [rad/s], below which the speed is clipped


def friction(model: RobotModel, motion: Motion, ways: tuple[float, ...]) -> ndarray:
    """
    Return the friction (N, nv) [N·m | N] of a motion.

    :param ways: presliding distances [rad]. The first replaces the smooth sign of the velocity of
        rotary joints by :func:`turned`; Stribeck curve and directions are the model's. Prismatic
        joints keep the smooth sign; without a distance all joints do.
    """
    smooth = Batch(model, threads=1).friction(motion.velocity)
    if not ways:
        return smooth
    nothing = np.zeros(model.nv)
    dry = replace(model, viscous_friction=nothing,
                  backward_friction=np.vstack([nothing, model.backward_friction[1:]]))
    stepped = replace(dry, friction_velocity=np.full(model.nv, STEP))
    share = shares(model, motion, ways[0])
    speed = np.copysign(np.maximum(abs(motion.velocity), STILL), share)
    held = (smooth - Batch(dry, threads=1).friction(motion.velocity)
            + abs(share) * Batch(stepped, threads=1).friction(speed))
    return np.where(model.slides, smooth, held)


def shares(model: RobotModel, motion: Motion, way: float) -> ndarray:
    """Return :func:`turned` of every joint (N, nv) and segment; 0 for prismatic joints."""
    found = np.zeros_like(motion.position)
    for j in np.flatnonzero(~model.slides):
        for a, b in motion.segments:
            found[a:b, j] = turned(motion.position[a:b, j], way)
    return found


def turned(position: ndarray, distance: float) -> ndarray:
    """
    Return dry friction relative to that in sliding, -1 to 1, along a path (N,).

    dz/dq = (1 - z sgn q̇) / distance (Dahl 1968, with the exponent 1), solved from one reversal to
    the next: after one distance 63 % of the change of direction are done, after three 95 %. At the
    first sample the joint is assumed to slide in its direction of motion.
    """
    sign = np.sign(np.diff(position))
    share = np.zeros(len(position))
    moving = sign[sign != 0.0]
    if not len(moving):
        return share
    share[0] = moving[0]
    for a, b in pairwise([0, *np.flatnonzero(np.diff(sign)) + 1, len(sign)]):
        left = np.exp(-abs(position[a + 1:b + 1] - position[a]) / distance)
        share[a + 1:b + 1] = sign[a] + (share[a] - sign[a]) * left
    return share
