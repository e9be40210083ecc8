# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robot model: a kinematic tree of rigid bodies with one degree of freedom a joint."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy import ndarray

from .rigid_body import MOMENTS, offset_inertia
from .shapes import Shape
from ..errors import InertiaError, UnknownNameError

# Defaults of the friction model near rest, see `dynamics/friction.py`
FRICTION_VELOCITY = 0.01        # [rad/s | m/s] width of the sign change of friction
STRIBECK_VELOCITY = 0.1         # [rad/s | m/s] scale of the decrease from static to Coulomb


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
