# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robot model, a kinematic tree of rigid bodies; its payload, and default poses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .rigid_body import can_exist, Inertial, joined, MOMENTS, offset_inertia
from .shapes import Shape
from ..errors import ArgumentError, InertiaError, ParameterError, UnknownNameError

# Defaults of the friction model near rest, see `dynamics/friction.py`
FRICTION_VELOCITY = 0.01        # [rad/s | m/s] width of the sign change of friction
STRIBECK_VELOCITY = 0.1         # [rad/s | m/s] scale of the decrease from static to Coulomb
MIN_MARGIN = 0.1    # distance to a limit, relative to the range, of a pose with room to move
MAX_LIMIT = 10.    # [rad | m]; larger limits count as absent


@dataclass(frozen=True, eq=False)
class Frame:
    """
    Coordinate frame of a link of the source, rigidly attached to a body.

    :param body: index of the body in ``link_names`` of the model, -1 for the base.
    :param rotation: (3, 3) axes of the frame in the frame of the body.
    :param origin: (3,) [m] in the frame of the body.
    """

    body: int
    rotation: ndarray
    origin: ndarray

    def __post_init__(self):
        self.rotation.setflags(write=False)
        self.origin.setflags(write=False)


@dataclass(frozen=True, eq=False, repr=False)
class RobotModel:
    """
    Fixed-base tree of ``nb`` moving bodies with ``nv`` degrees of freedom.

    Links that are fixed to each other are lumped into one body. Above each body is one joint, and
    a parent comes before its children. The frame of a body is that of the link below its joint; at
    joint position zero it coincides with the joint frame. Most joints are independent; a mimic
    joint adds a body, but no degree of freedom. Arrays are float64 and read-only, (nv,) ones in
    the order of ``joint_names``, (nb,) ones in the order of ``link_names``; without mimic joints
    the two orders agree. Models come from :func:`~robodyn_ros.load_urdf`,
    :func:`~robodyn_ros.load_dh` and :func:`~robodyn_ros.from_dh`.

    :param name: of the robot.
    :param base_link: link whose frame is the base frame.
    :param joint_names: (nv,) independent joints.
    :param link_names: (nb,) links below the joints.
    :param body_joint_names: (nb,) all moving joints, mimic joints included.
    :param body_joint_types: (nb,) 'revolute', 'continuous' or 'prismatic'.
    :param driver: (nb,) index into ``joint_names``: the position of the joint above body i is
        ``ratio[i] * q[driver[i]] + shift[i]``.
    :param ratio: (nb,) 1 for an independent joint.
    :param shift: (nb,) [rad | m] 0 for an independent joint.
    :param parent: (nb,) index of the body that carries the joint, -1 for the base.
    :param joint_rotation: (nb, 3, 3) rotation of the joint frame in the frame of the parent body.
    :param joint_origin: (nb, 3) [m] origin of the joint frame in the frame of the parent body.
    :param joint_axis: (nb, 3) unit axis of rotation or translation, in the joint frame.
    :param mass: (nb,) [kg].
    :param com: (nb, 3) [m] center of mass in the body frame.
    :param inertia: (nb, 3, 3) [kg·m²] about the center of mass, axes of the body frame.
    :param position_lower: (nv,) [rad | m] lower limit, -inf where there is none.
    :param position_upper: (nv,) [rad | m] upper limit, inf where there is none.
    :param velocity_limit: (nv,) [rad/s | m/s], inf where there is none.
    :param effort_limit: (nv,) [N·m | N], inf where there is none.
    :param viscous_friction: (nv,) [N·m·s/rad | N·s/m] for positive velocity.
    :param coulomb_friction: (nv,) [N·m | N] for positive velocity.
    :param static_friction: (nv,) [N·m | N] for positive velocity.
    :param backward_friction: (3, nv) viscous, Coulomb and static friction for negative velocity.
    :param friction_velocity: (nv,) [rad/s | m/s] width of the sign change of friction at rest.
    :param stribeck_velocity: (nv,) [rad/s | m/s] scale of the decrease from static to Coulomb
        friction.
    :param presliding_distance: (nv,) [rad | m] of motion after a reversal, over which 63 % of the
        change of sign of dry friction are done; 0: it depends on the velocity alone.
    :param load_friction: (nv,) increase of Coulomb and static friction, as a share of the
        magnitude of the effort of gravity.
    :param coupled_friction: (3, nv) of a motor that turns with a joint and the next one: ratio of
        the next one's motion, 0 for none, viscous and Coulomb friction.
    :param armature: (nv,) [kg·m² | kg] rotor inertia reflected to the joint: that of a geared
        motor times the square of the gear ratio.
    :param gravity_vector: (3,) [m/s²] in the base frame.
    :param frames: :class:`Frame` of every link of the source, by name.
    :param warnings: sentences about accepted oddities of the source.
    :param implausible_links: moving bodies whose inertia violates the triangle inequality by more
        than 2 %.
    :param massless_joints: joints that no inertia resists, of a model loaded with
        ``massless='warn'``: M(q) is singular.
    :param shapes: collision shapes of the links, each in the frame of its link.
    :param shape_problems: sentences about collision shapes that cannot be read, such as meshes
        whose files are missing.

    >>> from robodyn_ros import load_urdf
    >>> model = load_urdf('two_link')
    >>> model.nv, model.joint_names
    (2, ('joint1', 'joint2'))
    """

    name: str
    base_link: str
    joint_names: tuple[str, ...]
    link_names: tuple[str, ...]
    body_joint_names: tuple[str, ...]
    body_joint_types: tuple[str, ...]
    driver: ndarray
    ratio: ndarray
    shift: ndarray
    parent: ndarray
    joint_rotation: ndarray
    joint_origin: ndarray
    joint_axis: ndarray
    mass: ndarray
    com: ndarray
    inertia: ndarray
    position_lower: ndarray
    position_upper: ndarray
    velocity_limit: ndarray
    effort_limit: ndarray
    viscous_friction: ndarray
    coulomb_friction: ndarray
    static_friction: ndarray
    backward_friction: ndarray
    friction_velocity: ndarray
    stribeck_velocity: ndarray
    presliding_distance: ndarray
    load_friction: ndarray
    coupled_friction: ndarray
    armature: ndarray
    gravity_vector: ndarray
    frames: Mapping[str, Frame]
    warnings: tuple[str, ...] = field(default=())
    implausible_links: tuple[str, ...] = field(default=())
    massless_joints: tuple[str, ...] = field(default=())
    shapes: tuple[Shape, ...] = field(default=())
    shape_problems: tuple[str, ...] = field(default=())

    def __post_init__(self):
        for f in fields(self):
            if isinstance(value := getattr(self, f.name), ndarray):
                value.setflags(write=False)
        object.__setattr__(self, 'frames', MappingProxyType(dict(self.frames)))

    def __repr__(self) -> str:
        """Return name, size and joint names; the arrays would fill a screen."""
        names = self.joint_names if self.nv <= 8 else (*self.joint_names[:3], '...',
                                                       *self.joint_names[-2:])
        more = f', warnings={len(self.warnings)}' if self.warnings else ''
        return (f'RobotModel({self.name!r}, nv={self.nv}, nb={self.nb}, '
                f'base_link={self.base_link!r}, joint_names=[{", ".join(names)}], '
                f'mass={self.mass.sum():.4g} kg{more})')

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for copies and pickles, which do not support a mapping proxy."""
        return vars(self) | {'frames': dict(self.frames)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state, with read-only arrays."""
        vars(self).update(state)
        for frame in self.frames.values():
            frame.__post_init__()
        self.__post_init__()

    @property
    def nv(self) -> int:
        """Return the number of degrees of freedom, which is that of the independent joints."""
        return len(self.joint_names)

    @property
    def nb(self) -> int:
        """Return the number of moving bodies: ``nv`` plus the number of mimic joints."""
        return len(self.link_names)

    @property
    def leaders(self) -> ndarray:
        """Return the indices (nv,) of the bodies below the independent joints."""
        return np.array([self.body_joint_names.index(name) for name in self.joint_names])

    @property
    def followers(self) -> ndarray:
        """Return the indices (nb - nv,) of the bodies below mimic joints."""
        return np.array([i for i, name in enumerate(self.body_joint_names)
                         if name not in self.joint_names], int)

    @property
    def joint_types(self) -> tuple[str, ...]:
        """Types (nv,) of the independent joints: 'revolute', 'continuous' or 'prismatic'."""
        return tuple(self.body_joint_types[i] for i in self.leaders)

    @property
    def slides(self) -> ndarray:
        """Bools (nv,): whether the joint moves in metres and newtons, not in radians."""
        return self.body_slides[self.leaders]

    @property
    def body_slides(self) -> ndarray:
        """Bools (nb,): the same of the joint above each body."""
        return np.array([kind == 'prismatic' for kind in self.body_joint_types])

    @property
    def periodic(self) -> ndarray:
        """Bools (nv,): whether a full turn of the joint leads back to the same pose."""
        unmimicked = np.bincount(self.driver, minlength=self.nv) == 1
        return unmimicked & (np.array(self.joint_types) == 'continuous')

    def nearest_turn(self, position: ndarray, to: ndarray) -> ndarray:
        """Return positions (..., nv), those of continuous joints in the turn nearest to ``to``."""
        turns = np.where(self.periodic, np.floor((to - position) / (2.0 * np.pi) + 0.5), 0.0)
        return np.asarray(position + 2.0 * np.pi * turns)

    @property
    def inertial_parameters(self) -> ndarray:
        """
        Inertial parameters (10 nb,), in which the equation of motion is linear.

        Per body: mass [kg], first moment of mass (3) [kg·m], and Ixx, Ixy, Iyy, Ixz, Iyz, Izz
        [kg·m²] about the origin of the body frame, in its axes. The columns of
        :meth:`robodyn_ros.Dynamics.regressor` have the same order.
        """
        first = self.mass[:, None] * self.com
        inertia = self.inertia + np.array([offset_inertia(m, r)
                                           for m, r in zip(self.mass, self.com)])
        return np.column_stack([self.mass, first, inertia[:, MOMENTS[0], MOMENTS[1]]]).ravel()

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Names of all links of the source, fixed ones included."""
        return tuple(self.frames)

    def require_inertia(self, purpose: str) -> None:
        """
        Raise an error if the mass matrix has no inverse.

        :param purpose: quantity that needs the inverse, for the message.
        :raises InertiaError: no inertia resists some joints, which the message names.
        """
        if self.massless_joints:
            names = ', '.join(map(repr, self.massless_joints))
            raise InertiaError(
                f'{purpose} needs the inverse of the mass matrix, but no inertia resists joint'
                f'{"s" * (len(self.massless_joints) > 1)} {names}', name=self.massless_joints[0],
                value=self.massless_joints, remedy='give what they move mass and inertia, or the '
                'joints an armature in <robodyn>')

    def joint_index(self, name: str) -> int:
        """
        Return the index of a joint in ``joint_names``.

        :raises UnknownNameError: the model has no independent joint of this name.
        """
        if name not in self.joint_names:
            raise UnknownNameError('joint', name, self.joint_names)
        return self.joint_names.index(name)

    def frame(self, name: str) -> Frame:
        """
        Return the frame of a link of the source.

        :raises UnknownNameError: the source has no link of this name.
        """
        if name not in self.frames:
            raise UnknownNameError('frame', name, self.frame_names)
        return self.frames[name]

    def to_urdf(self) -> str:
        """
        Return the model as URDF text; :func:`~robodyn_ros.load_urdf` of it gives the same model.

        It has no shapes. Fixed and locked joints stay lumped. What URDF cannot express (armature,
        friction beyond two numbers, absent limits, gravity) is in the element <robodyn>, which
        other readers of URDF ignore; they find 1e9 in place of an absent limit.

        :raises UrdfError: a number is not finite, or XML cannot hold a name.
        """
        from .to_urdf import to_urdf  # which writes robots

        return to_urdf(self)


def finite(what: str, given: Any, shape: tuple[int, ...], meaning: str = '') -> ndarray:
    """
    Return ``given`` as a new float64 array of this shape.

    :param what: description for the message; its first word is the name of the argument.
    :param meaning: unit and frame, for the remedy.
    :raises ArgumentError: it has another shape, or an element is not a finite real number.
    """
    try:
        array = np.array(given)
        if array.shape == shape and array.dtype.kind in 'biufO':
            array = array.astype(float)
            if np.isfinite(array).all():
                return array
    except (TypeError, ValueError):         # ragged, or objects that are not numbers
        pass
    wanted = f'finite numbers of shape {shape}' if shape else 'a finite number'
    raise ArgumentError(f'{what} is {given!r}', name=what.split()[0], value=given,
                        remedy=f'use {wanted}' + (f' {meaning}' if meaning else ''))


def with_payload(model: RobotModel, frame: str, mass: float, com: Sequence[float] = (0, 0, 0),
                 inertia: ArrayLike | None = None) -> RobotModel:
    """
    Return the model with a body fixed to one of its frames.

    :param frame: one of ``model.frame_names``.
    :param mass: [kg].
    :param com: (3,) [m] in the axes of the frame.
    :param inertia: (3, 3) [kg·m²] about the center of mass, in the axes of the frame; None for a
        point mass.
    :raises UnknownNameError: there is no such frame.
    :raises ArgumentError: the frame does not move, or mass, center or inertia are invalid.
    """
    place = model.frame(frame)
    if place.body < 0:
        raise ArgumentError(f'frame {frame!r} belongs to the base, which does not move',
                            name=frame, remedy='name the frame that holds the payload')
    center = finite('com', com, (3,), '[m] in the axes of the frame')
    moments = np.zeros((3, 3)) if inertia is None else finite('inertia', inertia, (3, 3),
                                                              '[kg·m²] about the center of mass')
    mass = float(finite('mass', mass, (), '[kg]'))
    if not (mass >= 0.0 and (moments == moments.T).all() and can_exist(moments)):
        raise ArgumentError('mass or inertia of the payload are invalid', name='payload',
                            value=(mass, center.tolist(), moments.tolist()),
                            remedy='use a mass of at least 0, three coordinates of its center, '
                                   'and a symmetric inertia about it without negative principal '
                                   'moments, each at most the sum of the other two')
    if mass == 0.0 and not moments.any():
        return model
    b = place.body
    whole = joined([Inertial(model.mass[b], model.com[b], model.inertia[b]),
                    Inertial(mass, center, moments).placed(place.rotation, place.origin)])
    masses, coms, inertias = model.mass.copy(), model.com.copy(), model.inertia.copy()
    masses[b], coms[b], inertias[b] = whole
    return replace(model, mass=masses, com=coms, inertia=inertias)


def initial_position(model: RobotModel, given: Sequence[float] = ()) -> ndarray:
    """
    Return the initial pose (nv,) [rad | m].

    The default of a joint is zero, or the middle of its limits if these exclude zero; of a range
    wider than twice ``MAX_LIMIT``, it is at that distance from the nearer limit.

    :param given: pose to check and return instead, empty for the default.
    :raises ParameterError: ``given`` has the wrong length or is outside the limits.
    """
    lower, upper = model.position_lower, model.position_upper
    if not len(given):
        half = np.minimum(upper / 2 - lower / 2, MAX_LIMIT)
        return np.where(lower > 0, lower + half, np.where(upper < 0, upper - half, 0))
    return checked_pose(model, given, 'the initial position', 'initial_position')


def checked_pose(model: RobotModel, given: Sequence[float], what: str, parameter: str) -> ndarray:
    """
    Return a pose as an array (nv,) [rad | m].

    :param what: the pose in words, for errors; ``parameter``: of which it is the value.
    :raises ParameterError: it has the wrong length or is outside the limits.
    """
    pose = np.array(given, float)
    if pose.shape != (model.nv,):
        raise ParameterError(f'{what} has {len(pose)} elements', name=parameter, value=given,
                             remedy=f'pass one for each of {", ".join(model.joint_names)}')
    for name, low, q, high in zip(model.joint_names, model.position_lower, pose,
                                  model.position_upper):
        if not low <= q <= high:
            raise ParameterError(f'{what} of joint {name} is {q:g}', name=name, value=q,
                                 remedy=f'choose one in its limits [{low:g}, {high:g}]')
    return pose


def roomy_position(model: RobotModel) -> ndarray:
    """
    Return a pose (nv,) [rad | m] from which every joint can move in both directions.

    It is that of :func:`initial_position`, or the middle of the range for a joint that would be
    nearer to a limit than ``MIN_MARGIN`` times the range.
    """
    pose = initial_position(model)
    lower = np.maximum(model.position_lower, pose - MAX_LIMIT)
    upper = np.minimum(model.position_upper, pose + MAX_LIMIT)
    tight = np.minimum(pose - lower, upper - pose) < MIN_MARGIN * (upper - lower)
    return np.where(tight, (lower + upper) / 2, pose)


def spread(model: RobotModel, count: int) -> ndarray:
    """
    Return poses (count, nv) [rad | m] spread over the position limits, the first the initial one.

    Joints without limits are within ±π. The poses are always the same: the additive recurrence of
    Roberts (2018), whose steps are the powers of 1/φ with φ^(nv + 1) = φ + 1.
    """
    lower = np.maximum(model.position_lower, -np.pi)
    upper = np.maximum(np.minimum(model.position_upper, np.pi), lower)
    phi = 2.0
    for _ in range(40):
        phi = (1.0 + phi)**(1.0 / (model.nv + 1))
    share = (0.5 + np.outer(np.arange(count), phi**-np.arange(1.0, model.nv + 1.0))) % 1.0
    poses = lower + (upper - lower) * share
    poses[0] = initial_position(model)
    return poses


def units(model: RobotModel, prefix: str = '') -> tuple[str, str]:
    """
    Return the units of positions and of efforts; of both kinds where a robot has both joints.

    :param prefix: of the unit of positions, e.g. 'm' for thousandths.
    """
    rotary, sliding = f'{prefix}rad', f'{prefix}m'
    if model.slides.all():
        return sliding, 'N'
    return (f'{rotary} | {sliding}', 'N·m | N') if model.slides.any() else (rotary, 'N·m')
