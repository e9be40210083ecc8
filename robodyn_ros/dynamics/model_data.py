# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Records of robot and workspace on which the algorithms operate, as NumPy arrays.

While an algorithm is traced, a record is an object with the same attributes, whose numbers are
symbolic.

The body frames are chosen with as many zero coordinates as the robot allows, which decides on the
number of operations, in such a way that every joint axis is exactly z, and x is the common normal
with the axis of the child that carries most bodies: the modified Denavit-Hartenberg convention for
trees (Khalil and Kleinfinger 1986). Joint efforts, mass matrix and accelerations do not depend on
them; quantities given or requested in the frame of a link are converted with ``axes`` and
``origins``.
"""

from collections.abc import Sized
from typing import Annotated, get_type_hints, NamedTuple, Protocol

import numpy as np
from numpy import ndarray

from ..model.robot import RobotModel

Vector3 = tuple[float, float, float]
Matrix3 = tuple[Vector3, Vector3, Vector3]      # rows
# Entries xx, yy, zz, xy, xz, yz of a symmetric matrix, or nine by rows: a field or a tuple
Entries = ndarray | tuple[float, ...]


class BodyRecord(Protocol):
    """
    Body: its place in the tree, placement in the parent frame at q = 0, and inertia.

    The joint above it turns or slides by ``turn`` or ``slide`` times q[driver], one of which is 0
    and the other 1, or the ratio of a mimic joint.
    """

    parent: int                         # index, nb for the base
    driver: int                         # index of a joint
    turn: float                         # rotation about z
    slide: float                        # translation along z
    offset: float                       # [rad] constant angle about z before that of the joint
    armature: float                     # [kg·m² | kg] rotor inertia at the joint
    rotation: Annotated[ndarray, 9]     # by rows
    origin: Annotated[ndarray, 3]       # [m]
    mass: float                         # [kg]
    first: Annotated[ndarray, 3]        # [kg·m] first moment m c about the origin
    second: Annotated[ndarray, 6]       # [kg·m²] ∫ r rᵀ dm: xx, yy, zz, xy, xz, yz


class JointRecord(Protocol):
    """Joint transform: cosine and sine of the angle about z, displacement along z [m]."""

    cos: float
    sin: float
    slide: float


class WorkRecord(Protocol):
    """Intermediate results of a body, in its axes, and of the composite that it carries."""

    w: Annotated[ndarray, 3]            # angular velocity
    dw: Annotated[ndarray, 3]           # and acceleration
    v: Annotated[ndarray, 3]            # velocity of the origin
    a: Annotated[ndarray, 3]            # and acceleration
    f: Annotated[ndarray, 3]            # force
    n: Annotated[ndarray, 3]            # moment
    mass: float                         # of the composite, as all that follows
    first: Annotated[ndarray, 3]        # moment about the origin
    second: Annotated[ndarray, 6]       # moment
    momentum: Annotated[ndarray, 3]     # ∫ u dm with the velocities u
    momentum_moment: Annotated[ndarray, 9]      # ∫ r uᵀ dm by rows


class FrameRecord(Protocol):
    """Frame: index of its body (nb for the base) and placement in the frame of the body."""

    body: int
    rotation: Annotated[ndarray, 9]     # by rows
    origin: Annotated[ndarray, 3]


def dtype(record: type) -> np.dtype:
    """Return the dtype of a record: 64 bits a number, arrays of the length that is stated."""
    return np.dtype([(name, np.int64 if kind is int else np.float64,
                      getattr(kind, '__metadata__', ()))
                     for name, kind in get_type_hints(record, include_extras=True).items()],
                    align=True)


Z_AXIS = np.array([0.0, 0.0, 1.0])
# Entries this small are rounding errors and set to zero. Larger ones are kept: right angles that a
# URDF gives with few digits are taken as they are.
ANGLE_ROUNDING = 1e-14
# Sine of the angle between two axes: up to PARALLEL they are parallel; up to NEARLY_PARALLEL the
# normal may be far away, which would lose digits, and the frames are left as they are.
PARALLEL, NEARLY_PARALLEL = 1e-9, 0.1
BODY, JOINT, WORK, FRAME = map(dtype, (BodyRecord, JointRecord, WorkRecord, FrameRecord))
FLOAT, INTEGER = np.dtype(np.float64), np.dtype(np.int64)
# Kernels that other compiled code may call through `ModelData.addresses`, in this order
ADDRESSED_KERNELS = ('gravity', 'mass_matrix', 'inverse_dynamics', 'factored_forward_dynamics')


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


class ModelData(NamedTuple):
    """
    Robot model as the algorithms take it: read-only arrays, which threads may share.

    Of each array the element type and the shape are stated, see :func:`dimensions`.
    """

    bodies: Annotated[ndarray, BODY, 'nb']
    # Angular velocity, its derivative, acceleration minus gravity
    base: Annotated[ndarray, FLOAT, '3', '3']
    # Parents in the elimination tree of M, nv for none
    elimination_parent: Annotated[ndarray, INTEGER, 'nv']
    # Axes of the record frames in the link frames, by rows
    axes: Annotated[ndarray, FLOAT, 'nb', '9']
    # [m] origins of the link frames in the record frames
    origins: Annotated[ndarray, FLOAT, 'nb', '3']
    # As `friction.friction` takes it
    friction: Annotated[ndarray, FLOAT, '13', 'nv']
    # Of kernels of this robot, see `specialize.with_kernels`, or 0
    addresses: Annotated[ndarray, INTEGER, '4']


class Workspace(NamedTuple):
    """Workspace of one call at a time; ``rest`` and ``unloaded`` are always zero."""

    bodies: Annotated[ndarray, WORK, 'nb+1']        # the last one is the base
    joints: Annotated[ndarray, JOINT, 'nb']
    M: Annotated[ndarray, FLOAT, 'nv', 'nv']
    rest: Annotated[ndarray, FLOAT, 'nv']           # zero velocity or acceleration
    unloaded: Annotated[ndarray, FLOAT, 'nb', '6']  # no external wrenches
    C: Annotated[ndarray, FLOAT, 'nv', 'nv']
    J: Annotated[ndarray, FLOAT, '6', 'nv']
    Jd: Annotated[ndarray, FLOAT, '6', 'nv']
    X: Annotated[ndarray, FLOAT, '6', 'nv']
    b: Annotated[ndarray, FLOAT, 'nv']
    task: Annotated[ndarray, FLOAT, '8', '6']
    g: Annotated[ndarray, FLOAT, 'nv']
    e: Annotated[ndarray, FLOAT, 'nv']


# Element type and symbolic shape of each array
MODEL_DATA_SHAPES, WORKSPACE_SHAPES = (
    {name: (kind.__metadata__[0], kind.__metadata__[1:])
     for name, kind in get_type_hints(record, include_extras=True).items()}
    for record in (ModelData, Workspace))


def dimensions(nb: int, nv: int, axes: Sized = ()) -> dict[str, int]:
    """Return the values of the symbols in shapes, for a robot of this size and axes of a task."""
    return {'nb': nb, 'nb+1': nb + 1, 'nv': nv, '10nb': 10 * nb, 'pairs': nv * (nv - 1) // 2,
            'k': len(axes), '1': 1, '3': 3, '4': 4, '6': 6, '8': 8, '13': 13}


def parameters(model: RobotModel) -> ModelData:
    """Return the model as the algorithms take it, in the frames of :mod:`~.model_data`."""
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
