# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The frames in which the algorithms see the bodies: as many zeros as the robot allows.

Efforts, mass matrix and accelerations do not depend on the frames of the bodies; the number of
operations does. Each frame is moved until its joint axis is exactly z, and, of the child that
carries most, x is the common normal of the two axes: the modified convention of Denavit and
Hartenberg, of trees (Khalil and Kleinfinger 1986). What a robot is given or asked for in the frame
of a link passes through the placements that :func:`record_frames` returns.
"""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from ..model.robot import RobotModel

Z = np.array([0.0, 0.0, 1.0])
# Entries this small are rounding. Nothing larger is taken for zero: URDFs write right angles with
# few digits, and their robots have them.
ROUNDING = 1e-14
# Sines of the angle between two axes: up to the first they are parallel; up to the second their
# common normal may be far away, where it would cost digits, and the frames stay.
PARALLEL, NEARLY = 1e-9, 0.1


class Frames(NamedTuple):
    """Frames of the bodies: in those of the links, and at q = 0 in those of the parents."""

    axes: ndarray           # (nb, 3, 3) in the frame of the link
    origin: ndarray         # (nb, 3)
    rotation: ndarray       # (nb, 3, 3) in the parent's frame, before the joint turns by `offset`
    place: ndarray          # (nb, 3)
    offset: ndarray         # (nb,) [rad] a constant angle about z


def record_frames(model: RobotModel) -> Frames:
    """Return the frames of all bodies."""
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
        """Move the frame of body i along z, and turn it about z: its joint does not notice."""
        origin[i] += shift * axes[i, :, 2]
        place[i] += shift * rotation[i, :, 2]
        axes[i], rotation[i] = axes[i] @ turn, rotation[i] @ turn
        for k in children[i]:
            rotation[k], place[k] = turn.T @ rotation[k], turn.T @ (place[k] - shift * Z)

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
        elif sine < NEARLY:
            continue
        else:
            x = np.array([-z[1], z[0], 0.0]) / sine
            # The feet of the common normal: z at `along`, p + z_j back by `back`, apart along x
            along, _, back = np.linalg.solve(np.column_stack([Z, x, -z]), p)
            move(j, np.eye(3), back)
        move(i, np.column_stack([x, np.cross(Z, x), Z]), along)

    for i in range(n):
        if abs(rotation[i, 0, 2]) < ROUNDING:
            # R = Rx(α) Rz(β): the joint turns by β as well
            s, c = -rotation[i, 1, 2], rotation[i, 2, 2]
            about_x = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
            about_z = about_x.T @ rotation[i]
            offset[i] = np.arctan2(about_z[1, 0], about_z[0, 0])
            rotation[i] = about_x
    for array in (rotation, place, offset):
        array[np.abs(array) < ROUNDING] = 0.0
    return Frames(axes, origin, rotation, place, offset)


def _along(z: ndarray) -> ndarray:
    """Return axes (3, 3) whose z has this direction, exactly; z itself gives the identity."""
    x = np.cross(np.eye(3)[np.argmax(np.abs(z)) - 1], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])
