# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The records that the algorithms read and write, and how a :class:`RobotModel` becomes them.

Body frames are turned, about their origins, until every joint axis is exactly z. Joint efforts,
mass matrix and accelerations do not notice; whatever is given or asked for in the axes of a link
has to pass through :func:`axes`.
"""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from ..model.robot import RobotModel

_F = np.float64

# Of a body: the record of its parent (nv for the base), its joint type as (turn, slide) in {0, 1},
# a constant angle about z before the joint's own, the rotor inertia seen at the joint, the
# placement in the parent's frame at q = 0 (rotation by rows), and mass with first moment m c and
# second moment ∫ r rᵀ dm (xx, yy, zz, xy, xz, yz) about the origin.
BODY = np.dtype([
    ('parent', np.int64), ('turn', _F), ('slide', _F), ('offset', _F), ('armature', _F),
    ('rotation', _F, (9,)), ('origin', _F, (3,)),
    ('mass', _F), ('first', _F, (3,)), ('second', _F, (6,))], align=True)

# Where a joint stands: cos and sin of the angle about z, and the way along z [m].
JOINT = np.dtype([('cos', _F), ('sin', _F), ('slide', _F)], align=True)

# Of a body while an algorithm runs: angular velocity and acceleration, acceleration of the origin,
# force and moment, and mass and moments of the composite body; all in its own frame.
WORK = np.dtype([
    ('w', _F, (3,)), ('dw', _F, (3,)), ('a', _F, (3,)), ('f', _F, (3,)), ('n', _F, (3,)),
    ('mass', _F), ('first', _F, (3,)), ('second', _F, (6,))], align=True)


class Robot(NamedTuple):
    """A model as the algorithms take it; read-only, any number of threads may share it."""

    bodies: ndarray         # (nv,) of BODY
    gravity: ndarray        # (3,) [m/s²] in the base frame


class Workspace(NamedTuple):
    """Memory that one call at a time may use. ``rest`` and ``unloaded`` are zero and stay so."""

    bodies: ndarray         # (nv + 1,) of WORK, the last one is the base
    joints: ndarray         # (nv,) of JOINT
    M: ndarray              # (nv, nv)
    rest: ndarray           # (nv,) no acceleration, or no velocity
    unloaded: ndarray       # (nv, 6) no external wrenches


def parameters(model: RobotModel) -> Robot:
    """Return the model as the algorithms take it."""
    turned = axes(model)
    records = np.zeros(model.nv, BODY)
    for i, (record, R) in enumerate(zip(records, turned, strict=True)):
        parent = model.parent[i]
        P = turned[parent] if parent >= 0 else np.eye(3)
        com, inertia = R.T @ model.com[i], R.T @ model.inertia[i] @ R
        E = (0.5 * np.trace(inertia) * np.eye(3) - inertia
             + model.mass[i] * np.outer(com, com))
        record['parent'] = parent if parent >= 0 else model.nv
        record['slide'] = float(model.joint_types[i] == 'prismatic')
        record['turn'] = 1.0 - record['slide']
        record['armature'] = model.armature[i]
        record['rotation'] = (P.T @ model.joint_rotation[i] @ R).ravel()
        record['origin'] = P.T @ model.joint_origin[i]
        record['mass'], record['first'] = model.mass[i], model.mass[i] * com
        record['second'] = E[0, 0], E[1, 1], E[2, 2], E[0, 1], E[0, 2], E[1, 2]
    robot = Robot(records, np.array(model.gravity_vector, _F))
    for array in robot:
        array.setflags(write=False)
    return robot


def axes(model: RobotModel) -> ndarray:
    """
    Return (nv, 3, 3): the axes of the records' body frames, in the link frames of the model.

    The third column is the joint axis. An axis along x, y or z gives an exact permutation, z the
    identity; nothing is rounded to such an axis.
    """
    turned = np.empty((model.nv, 3, 3))
    for R, z in zip(turned, model.joint_axis, strict=True):
        x = np.cross(np.eye(3)[np.argmax(np.abs(z)) - 1], z)
        x /= np.linalg.norm(x)
        R[:] = np.column_stack([x, np.cross(z, x), z])
    return turned


def workspace(model: RobotModel) -> Workspace:
    """Return memory for one caller."""
    n = model.nv
    return Workspace(np.zeros(n + 1, WORK), np.zeros(n, JOINT), np.zeros((n, n)), np.zeros(n),
                     np.zeros((n, 6)))
