# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The records that the algorithms read and write, and how a :class:`RobotModel` becomes them.

The frames of the bodies are those of :func:`~.frame_assignment.record_frames`: every joint axis is
z. Joint efforts, mass matrix and accelerations are the same; quantities given or requested in the
frame of a link pass through ``axes`` and ``origins``.
"""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from ..model.robot import RobotModel
from .frame_assignment import record_frames

_F = np.float64

# Of a body: the record of its parent (nb for the base), the joint that drives it, how far it turns
# about z or slides along z a unit of that joint (one of both is zero, and 1 is the other of all
# joints but those that mimic), a constant angle about z before the joint's own, the rotor inertia
# seen at the joint, the placement in the parent's frame at q = 0 (rotation by rows), and mass with
# first moment m c and second moment ∫ r rᵀ dm (xx, yy, zz, xy, xz, yz) about the origin.
BODY = np.dtype([
    ('parent', np.int64), ('driver', np.int64), ('turn', _F), ('slide', _F), ('offset', _F),
    ('armature', _F), ('rotation', _F, (9,)), ('origin', _F, (3,)),
    ('mass', _F), ('first', _F, (3,)), ('second', _F, (6,))], align=True)

# Where a joint stands: cos and sin of the angle about z, and the way along z [m].
JOINT = np.dtype([('cos', _F), ('sin', _F), ('slide', _F)], align=True)

# Of a body while an algorithm runs, all in its own axes: angular velocity and acceleration,
# velocity and acceleration of the origin, force and moment; and of the composite of all that it
# carries, about its origin: mass, first and second moment, and of the velocities u the linear
# momentum ∫ u dm and ∫ r uᵀ dm (by rows).
WORK = np.dtype([
    ('w', _F, (3,)), ('dw', _F, (3,)), ('v', _F, (3,)), ('a', _F, (3,)), ('f', _F, (3,)),
    ('n', _F, (3,)), ('mass', _F), ('first', _F, (3,)), ('second', _F, (6,)),
    ('momentum', _F, (3,)), ('spread', _F, (9,))], align=True)

# A frame on a body (nb: on the base): its placement there, rotation by rows.
FRAME = np.dtype([('body', np.int64), ('rotation', _F, (9,)), ('origin', _F, (3,))], align=True)


# The kernels that compiled code of other rooms may call through `Robot.addresses`, in this order
CALLED = ('gravity', 'mass_matrix', 'inverse_dynamics', 'factored_forward_dynamics')


class Robot(NamedTuple):
    """A model as the algorithms take it; read-only, any number of threads may share it."""

    bodies: ndarray         # (nb,) of BODY
    base: ndarray           # (3, 3) angular velocity, its rate, acceleration less gravity: at rest
    chain: ndarray          # (nv,) which joint the factors of M couple each with, nv for none
    axes: ndarray           # (nb, 9) axes of the records' frames in those of the links, by rows
    origins: ndarray        # (nb, 3) [m] origins of the links' frames in those of the records
    friction: ndarray       # (8, nv) as `friction` takes it
    addresses: ndarray      # of this robot's own kernels, see `compile.with_kernels`; 0 for none


class Workspace(NamedTuple):
    """Memory that one call at a time may use. ``rest`` and ``unloaded`` are zero and stay so."""

    bodies: ndarray         # (nb + 1,) of WORK, the last one is the base
    joints: ndarray         # (nb,) of JOINT
    M: ndarray              # (nv, nv)
    rest: ndarray           # (nv,) no acceleration, or no velocity
    unloaded: ndarray       # (nb, 6) no external wrenches
    C: ndarray              # (nv, nv)
    J: ndarray              # (6, nv)
    Jd: ndarray             # (6, nv)
    X: ndarray              # (6, nv)
    b: ndarray              # (nv,)
    task: ndarray           # (8, 6)
    g: ndarray              # (nv,)
    e: ndarray              # (nv,)


# What a Robot and a Workspace are made of
ROBOT_SHAPES: dict[str, tuple[np.dtype, tuple[str, ...]]] = {
    'bodies': (BODY, ('nb',)), 'base': (np.dtype(_F), ('3', '3')),
    'chain': (np.dtype(np.int64), ('nv',)), 'axes': (np.dtype(_F), ('nb', '9')),
    'origins': (np.dtype(_F), ('nb', '3')), 'friction': (np.dtype(_F), ('8', 'nv')),
    'addresses': (np.dtype(np.int64), ('4',))}
SHAPES: dict[str, tuple[np.dtype, tuple[str, ...]]] = {
    'bodies': (WORK, ('nb+1',)), 'joints': (JOINT, ('nb',)), 'M': (np.dtype(_F), ('nv', 'nv')),
    'rest': (np.dtype(_F), ('nv',)), 'unloaded': (np.dtype(_F), ('nb', '6')),
    'C': (np.dtype(_F), ('nv', 'nv')), 'J': (np.dtype(_F), ('6', 'nv')),
    'Jd': (np.dtype(_F), ('6', 'nv')), 'X': (np.dtype(_F), ('6', 'nv')),
    'b': (np.dtype(_F), ('nv',)), 'task': (np.dtype(_F), ('8', '6')),
    'g': (np.dtype(_F), ('nv',)), 'e': (np.dtype(_F), ('nv',))}


def sizes(nb: int, nv: int) -> dict[str, int]:
    """Return what the words of shapes mean for a robot."""
    return {'nb': nb, 'nb+1': nb + 1, 'nv': nv, '10nb': 10 * nb, 'pairs': nv * (nv - 1) // 2,
            '1': 1, '3': 3, '4': 4, '6': 6, '8': 8}


def parameters(model: RobotModel) -> Robot:
    """Return the model as the algorithms take it."""
    frames = record_frames(model)
    leaders = set(model.leaders.tolist())
    records = np.zeros(model.nb, BODY)
    for i, (record, R) in enumerate(zip(records, frames.axes, strict=True)):
        parent, slides = model.parent[i], model.body_joint_types[i] == 'prismatic'
        com = R.T @ (model.com[i] - frames.origin[i])
        inertia = R.T @ model.inertia[i] @ R
        E = (0.5 * np.trace(inertia) * np.eye(3) - inertia
             + model.mass[i] * np.outer(com, com))
        rotation, shift = frames.rotation[i], model.shift[i]
        record['parent'] = parent if parent >= 0 else model.nb
        record['driver'] = model.driver[i]
        record['slide' if slides else 'turn'] = model.ratio[i]
        record['offset'] = frames.offset[i] + (0.0 if slides else shift)
        # A joint that mimics has no motor of its own
        record['armature'] = model.armature[model.driver[i]] if i in leaders else 0.0
        record['rotation'] = rotation.ravel()
        record['origin'] = frames.place[i] + (shift * rotation[:, 2] if slides else 0.0)
        record['mass'], record['first'] = model.mass[i], model.mass[i] * com
        record['second'] = E[0, 0], E[1, 1], E[2, 2], E[0, 1], E[0, 2], E[1, 2]
    friction = np.vstack([model.viscous_friction, model.coulomb_friction, model.static_friction,
                          model.backward_friction, model.friction_velocity,
                          model.stribeck_velocity])
    origins = -np.einsum('bji,bj->bi', frames.axes, frames.origin)
    robot = Robot(records, base_at_rest(model), _chain(model), frames.axes.reshape(-1, 9),
                  origins, np.ascontiguousarray(friction), np.zeros(len(CALLED), np.int64))
    for array in robot:
        array.setflags(write=False)
    return robot


def base_at_rest(model: RobotModel) -> ndarray:
    """Return (3, 3): no angular velocity, no change of it, and gravity as an acceleration."""
    return np.array([np.zeros(3), np.zeros(3), -model.gravity_vector])


def _chain(model: RobotModel) -> ndarray:
    """
    Return (nv,) the joint that each is eliminated into when M is factored, nv for none.

    It is the elimination tree of M's pattern: a tree without mimic joints has its own branches;
    one that mimics couples the branches of its leader and of itself.
    """
    n = model.nv
    coupled: list[set[int]] = [set() for _ in range(n)]
    for i in range(model.nb):
        path = [i]
        while model.parent[path[-1]] >= 0:
            path.append(model.parent[path[-1]])
        drivers = {int(model.driver[j]) for j in path}
        for k in drivers:
            coupled[k] |= {j for j in drivers if j < k}
    chain = np.full(n, n)
    for k in range(n - 1, -1, -1):
        if coupled[k]:
            chain[k] = max(coupled[k])
            coupled[chain[k]] |= coupled[k] - {int(chain[k])}
    return chain


def frame_record(model: RobotModel, robot: Robot, name: str) -> ndarray:
    """Return (1,) of FRAME; :class:`UnknownNameError` for a name the model does not have."""
    frame, record = model.frame(name), np.zeros(1, FRAME)
    R, p = np.eye(3), np.zeros(3)
    if frame.body >= 0:
        R, p = robot.axes[frame.body].reshape(3, 3), robot.origins[frame.body]
    record[0] = (frame.body if frame.body >= 0 else model.nb, (R.T @ frame.rotation).ravel(),
                 R.T @ frame.origin + p)
    record.setflags(write=False)
    return record


def workspace(model: RobotModel) -> Workspace:
    """Return memory for one caller."""
    size = sizes(model.nb, model.nv)
    return Workspace(**{name: np.zeros([size[word] for word in shape], dtype)
                        for name, (dtype, shape) in SHAPES.items()})
