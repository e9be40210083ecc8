# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Records of robot and workspace on which the algorithms operate, as NumPy arrays.

The body frames are those of :func:`~.frame_assignment.record_frames`, in which every joint axis is
z. Joint efforts, mass matrix and accelerations do not depend on them; quantities given or
requested in the frame of a link are converted with ``axes`` and ``origins``.
"""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from .frame_assignment import record_frames
from ..model.robot import RobotModel

_F = np.float64

# Body: index of its parent (nb for the base) and of the joint that drives it; rotation about z
# (turn) and translation along z (slide) per unit of that joint, one of which is 0 and the other 1,
# or the ratio of a mimic joint; constant angle about z before that of the joint; rotor inertia at
# the joint; placement in the parent frame at q = 0 (rotation by rows); mass, first moment m c and
# second moment ∫ r rᵀ dm (xx, yy, zz, xy, xz, yz) about the origin.
BODY = np.dtype([
    ('parent', np.int64), ('driver', np.int64), ('turn', _F), ('slide', _F), ('offset', _F),
    ('armature', _F), ('rotation', _F, (9,)), ('origin', _F, (3,)),
    ('mass', _F), ('first', _F, (3,)), ('second', _F, (6,))], align=True)

# Joint transform: cos and sin of the angle about z, and the displacement along z [m].
JOINT = np.dtype([('cos', _F), ('sin', _F), ('slide', _F)], align=True)

# Intermediate results of a body, in its axes: angular velocity and acceleration, velocity and
# acceleration of the origin, force and moment; of the composite of the body and all that it
# carries, about its origin: mass, first and second moment, and with the velocities u the linear
# momentum ∫ u dm and its moment ∫ r uᵀ dm (by rows).
WORK = np.dtype([
    ('w', _F, (3,)), ('dw', _F, (3,)), ('v', _F, (3,)), ('a', _F, (3,)), ('f', _F, (3,)),
    ('n', _F, (3,)), ('mass', _F), ('first', _F, (3,)), ('second', _F, (6,)),
    ('momentum', _F, (3,)), ('momentum_moment', _F, (9,))], align=True)

# Frame: index of its body (nb for the base) and placement in the frame of the body, rotation by
# rows.
FRAME = np.dtype([('body', np.int64), ('rotation', _F, (9,)), ('origin', _F, (3,))], align=True)


# Kernels that other compiled code may call through `ModelData.addresses`, in this order
ADDRESSED_KERNELS = ('gravity', 'mass_matrix', 'inverse_dynamics', 'factored_forward_dynamics')


class ModelData(NamedTuple):
    """Robot model as the algorithms take it: read-only arrays, which threads may share."""

    bodies: ndarray         # (nb,) of BODY
    base: ndarray           # (3, 3) angular velocity, its derivative, acceleration minus gravity
    elimination_parent: ndarray     # (nv,) parents in the elimination tree of M, nv for none
    axes: ndarray           # (nb, 9) axes of the record frames in the link frames, by rows
    origins: ndarray        # (nb, 3) [m] origins of the link frames in the record frames
    friction: ndarray       # (13, nv) as `friction.friction` takes it
    addresses: ndarray      # (4,) of kernels of this robot, see `specialize.with_kernels`, or 0


class Workspace(NamedTuple):
    """Workspace of one call at a time; ``rest`` and ``unloaded`` are always zero."""

    bodies: ndarray         # (nb + 1,) of WORK, the last one is the base
    joints: ndarray         # (nb,) of JOINT
    M: ndarray              # (nv, nv)
    rest: ndarray           # (nv,) zero velocity or acceleration
    unloaded: ndarray       # (nb, 6) no external wrenches
    C: ndarray              # (nv, nv)
    J: ndarray              # (6, nv)
    Jd: ndarray             # (6, nv)
    X: ndarray              # (6, nv)
    b: ndarray              # (nv,)
    task: ndarray           # (8, 6)
    g: ndarray              # (nv,)
    e: ndarray              # (nv,)


# Element type and symbolic shape of each array, see `dimensions`
MODEL_DATA_SHAPES: dict[str, tuple[np.dtype, tuple[str, ...]]] = {
    'bodies': (BODY, ('nb',)), 'base': (np.dtype(_F), ('3', '3')),
    'elimination_parent': (np.dtype(np.int64), ('nv',)),
    'axes': (np.dtype(_F), ('nb', '9')), 'origins': (np.dtype(_F), ('nb', '3')),
    'friction': (np.dtype(_F), ('13', 'nv')),
    'addresses': (np.dtype(np.int64), ('4',))}
WORKSPACE_SHAPES: dict[str, tuple[np.dtype, tuple[str, ...]]] = {
    'bodies': (WORK, ('nb+1',)), 'joints': (JOINT, ('nb',)), 'M': (np.dtype(_F), ('nv', 'nv')),
    'rest': (np.dtype(_F), ('nv',)), 'unloaded': (np.dtype(_F), ('nb', '6')),
    'C': (np.dtype(_F), ('nv', 'nv')), 'J': (np.dtype(_F), ('6', 'nv')),
    'Jd': (np.dtype(_F), ('6', 'nv')), 'X': (np.dtype(_F), ('6', 'nv')),
    'b': (np.dtype(_F), ('nv',)), 'task': (np.dtype(_F), ('8', '6')),
    'g': (np.dtype(_F), ('nv',)), 'e': (np.dtype(_F), ('nv',))}


def dimensions(nb: int, nv: int) -> dict[str, int]:
    """Return the values of the symbols that occur in shapes, for a robot of this size."""
    return {'nb': nb, 'nb+1': nb + 1, 'nv': nv, '10nb': 10 * nb, 'pairs': nv * (nv - 1) // 2,
            '1': 1, '3': 3, '4': 4, '6': 6, '8': 8, '13': 13}


def parameters(model: RobotModel) -> ModelData:
    """Return the model as the algorithms take it, in the frames of :mod:`~.frame_assignment`."""
    frames = record_frames(model)
    leaders = set(model.leaders.tolist())
    records = np.zeros(model.nb, BODY)
    for i, (record, R) in enumerate(zip(records, frames.axes, strict=True)):
        parent, slides = model.parent[i], model.body_slides[i]
        com = R.T @ (model.com[i] - frames.origin[i])
        inertia = R.T @ model.inertia[i] @ R
        E = (0.5 * np.trace(inertia) * np.eye(3) - inertia
             + model.mass[i] * np.outer(com, com))
        rotation, shift = frames.rotation[i], model.shift[i]
        record['parent'] = parent if parent >= 0 else model.nb
        record['driver'] = model.driver[i]
        record['slide' if slides else 'turn'] = model.ratio[i]
        record['offset'] = frames.offset[i] + (0.0 if slides else shift)
        # A mimic joint has no motor of its own
        record['armature'] = model.armature[model.driver[i]] if i in leaders else 0.0
        record['rotation'] = rotation.ravel()
        record['origin'] = frames.place[i] + (shift * rotation[:, 2] if slides else 0.0)
        record['mass'], record['first'] = model.mass[i], model.mass[i] * com
        record['second'] = E[0, 0], E[1, 1], E[2, 2], E[0, 1], E[0, 2], E[1, 2]
    origins = -np.einsum('bji,bj->bi', frames.axes, frames.origin)
    robot = ModelData(records, base_at_rest(model), _elimination_tree(model),
                      frames.axes.reshape(-1, 9), origins, friction_parameters(model),
                      np.zeros(len(ADDRESSED_KERNELS), np.int64))
    for array in robot:
        array.setflags(write=False)
    return robot


def friction_parameters(model: RobotModel) -> ndarray:
    """Return the parameters (13, nv) of :func:`.friction.friction`."""
    return np.ascontiguousarray(np.vstack([
        model.viscous_friction, model.coulomb_friction, model.static_friction,
        model.backward_friction, model.friction_velocity, model.stribeck_velocity,
        model.presliding_distance, model.load_friction, model.coupled_friction]))


def base_at_rest(model: RobotModel) -> ndarray:
    """Return angular velocity, its derivative, and acceleration minus gravity, (3, 3) by rows."""
    return np.array([np.zeros(3), np.zeros(3), -model.gravity_vector])


def _elimination_tree(model: RobotModel) -> ndarray:
    """
    Return the parent (nv,) of each joint in the elimination tree of M, nv for none.

    Without mimic joints it is the kinematic tree; a mimic joint couples its own branch with that
    of the joint that drives it.
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
    parent = np.full(n, n)
    for k in range(n - 1, -1, -1):
        if coupled[k]:
            parent[k] = max(coupled[k])
            coupled[parent[k]] |= coupled[k] - {int(parent[k])}
    return parent


def frame_record(model: RobotModel, robot: ModelData, name: str) -> ndarray:
    """
    Return a frame as an array (1,) of FRAME.

    :raises UnknownNameError: the model has no frame of this name.
    """
    frame, record = model.frame(name), np.zeros(1, FRAME)
    R, p = np.eye(3), np.zeros(3)
    if frame.body >= 0:
        R, p = robot.axes[frame.body].reshape(3, 3), robot.origins[frame.body]
    record[0] = (frame.body if frame.body >= 0 else model.nb, (R.T @ frame.rotation).ravel(),
                 R.T @ frame.origin + p)
    record.setflags(write=False)
    return record


def no_frame() -> ndarray:
    """Return an array (1,) of FRAME in place of a frame that is not used: the first body."""
    record = np.zeros(1, FRAME)
    record.setflags(write=False)
    return record


def workspace(model: RobotModel) -> Workspace:
    """Return a workspace for one caller, all zero."""
    size = dimensions(model.nb, model.nv)
    return Workspace(**{name: np.zeros([size[word] for word in shape], dtype)
                        for name, (dtype, shape) in WORKSPACE_SHAPES.items()})
