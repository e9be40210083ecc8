# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Direction of gravity in the frame of the base, from measured efforts."""

from dataclasses import replace

import numpy as np
from numpy import ndarray

from .fit import Fit
from ...dynamics.api import Batch
from ...model.robot import RobotModel

SAME_AXIS_ANGLE = np.radians(15.0)    # from an axis of the base, within which this axis is meant


def found_gravity(model: RobotModel, fit: Fit) -> ndarray:
    """
    Return the gravity (3,) [m/s²] in the base frame that fits the efforts best.

    The efforts of gravity are linear in its vector, so that least squares finds the vector, with
    inertial efforts, friction and an offset of each joint besides. Only its direction is taken,
    because masses may be wrong; one that is nearly an axis of the base is that axis.
    """
    nv, size = model.nv, float(np.linalg.norm(model.gravity_vector)) or 9.81
    along = np.stack([Batch(replace(model, gravity_vector=size * axis), threads=1).gravity(
        fit.states.position) for axis in np.eye(3)], axis=2)         # (N, nv, 3)
    noise = np.sqrt(np.maximum(fit.variance, 1e-30))
    rows, targets = [], []
    for j in range(nv):
        others = fit.columns(j)
        others[:, 0] -= fit.gravity[:, j]
        # What is left of both when the joint's own columns have explained what they can
        basis = np.linalg.qr(others / np.maximum(np.linalg.norm(others, axis=0), 1e-30))[0]
        both = np.column_stack([along[:, j], fit.effort[:, j]]) / noise[j]
        rest = both - basis @ (basis.T @ both)
        rows.append(rest[:, :3])
        targets.append(rest[:, 3])
    vector = np.linalg.lstsq(np.vstack(rows), np.concatenate(targets), rcond=1e-10)[0]
    length = float(np.linalg.norm(vector))
    if length == 0.0:
        return model.gravity_vector
    direction = vector / length
    k = int(np.argmax(np.abs(direction)))
    if abs(direction[k]) > np.cos(SAME_AXIS_ANGLE):
        direction = np.sign(direction[k]) * np.eye(3)[k]
    return np.round(size * direction, 3) + 0.0
