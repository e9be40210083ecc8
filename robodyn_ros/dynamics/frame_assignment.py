# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Assignment of body frames with as many zero coordinates as the robot allows.

Efforts, mass matrix and accelerations do not depend on the body frames, but the number of
operations does. Each frame is chosen such that the joint axis is exactly z, and x is the common
normal with the axis of the child that carries most bodies: the modified Denavit-Hartenberg
convention for trees (Khalil and Kleinfinger 1986). Quantities in the frame of a link are converted
with the placements that :func:`record_frames` returns.
"""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from ..model.robot import RobotModel

Z_AXIS = np.array([0.0, 0.0, 1.0])
# Entries this small are rounding errors and set to zero. Larger ones are kept: right angles that a
# URDF gives with few digits are taken as they are.
ANGLE_ROUNDING = 1e-14
# Sine of the angle between two axes: up to PARALLEL they are parallel; up to NEARLY_PARALLEL the
# normal may be far away, which would lose digits, and the frames are left as they are.
PARALLEL, NEARLY_PARALLEL = 1e-9, 0.1


class Frames(NamedTuple):
    """Body frames, relative to the link frames and, at q = 0, to the frames of the parents."""

    axes: ndarray           # (nb, 3, 3) in the link frame
    origin: ndarray         # (nb, 3) [m] in the link frame
    rotation: ndarray       # (nb, 3, 3) in the parent frame, before the rotation by `offset`
    place: ndarray          # (nb, 3) [m] origin in the parent frame
    offset: ndarray         # (nb,) [rad] constant angle about z


def record_frames(model: RobotModel) -> Frames:
    """Return the frames of all bodies of a model."""
    n, parent = model.nb, model.parent
    axes = np.array([_along(axis) for axis in model.joint_axis])
    outer = [axes[p] if p >= 0 else np.eye(3) for p in parent]
    rotation = np.array([P.T @ R @ A for P, R, A in zip(outer, model.joint_rotation, axes)])
    place = np.array([P.T @ p for P, p in zip(outer, model.joint_origin)])
    origin, offset = np.zeros((n, 3)), np.zeros(n)
    children: list[list[int]] = [[] for _ in range(n)]
    carried = np.ones(n)
    for i in range(n - 1, -1, -1):
        if parent[i] >= 0:
            children[parent[i]].append(i)
            carried[parent[i]] += carried[i]

    def move(i: int, turn: ndarray, shift: float) -> None:
        """Shift the frame of body i along z and rotate it about z, its joint axis."""
        origin[i] += shift * axes[i, :, 2]
        place[i] += shift * rotation[i, :, 2]
        axes[i], rotation[i] = axes[i] @ turn, rotation[i] @ turn
        for k in children[i]:
            rotation[k], place[k] = turn.T @ rotation[k], turn.T @ (place[k] - shift * Z_AXIS)

    for i in range(n):
        if not children[i]:
            continue
        j = max(children[i], key=lambda k: carried[k])
        z, p = rotation[j, :, 2], place[j].copy()
        sine = np.hypot(z[0], z[1])
        if sine < PARALLEL:
            length = np.hypot(p[0], p[1])
            x = np.array([p[0], p[1], 0.0]) / length if length > PARALLEL else np.eye(3)[0]
            along = p[2]
        elif sine < NEARLY_PARALLEL:
            continue
        else:
            x = np.array([-z[1], z[0], 0.0]) / sine
            # Ends of the common normal: at `along` on z, and at `back` from p on z_j
            along, _, back = np.linalg.solve(np.column_stack([Z_AXIS, x, -z]), p)
            move(j, np.eye(3), back)
        move(i, np.column_stack([x, np.cross(Z_AXIS, x), Z_AXIS]), along)

    for i in range(n):
        if abs(rotation[i, 0, 2]) < ANGLE_ROUNDING:
            # R = Rx(α) Rz(β): β is added to the joint angle
            s, c = -rotation[i, 1, 2], rotation[i, 2, 2]
            about_x = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
            about_z = about_x.T @ rotation[i]
            offset[i] = np.arctan2(about_z[1, 0], about_z[0, 0])
            rotation[i] = about_x
    for array in (rotation, place, offset):
        array[np.abs(array) < ANGLE_ROUNDING] = 0.0
    return Frames(axes, origin, rotation, place, offset)


def _along(z: ndarray) -> ndarray:
    """Return axes (3, 3) with exactly this z axis; the identity for z itself."""
    x = np.cross(np.eye(3)[np.argmax(np.abs(z)) - 1], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])
