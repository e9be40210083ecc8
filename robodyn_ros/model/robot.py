# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a robot is: a tree of bodies, each moved by one joint of one degree of freedom."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy import ndarray

from ..errors import InertiaError, UnknownNameError
from .rigid import offset_inertia


@dataclass(frozen=True, eq=False)
class Frame:
    """
    A frame rigidly attached to a body: a link of the source, moving or lumped.

    ``body`` is the index of the joint that moves it, or -1 for the base; ``rotation`` (3, 3) and
    ``origin`` (3,) [m] place the frame in the frame of that body (of the base, for -1).
    """

    body: int
    rotation: ndarray
    origin: ndarray

    def __post_init__(self):
        self.rotation.setflags(write=False)
        self.origin.setflags(write=False)


# Friction near rest, where nothing else is known of it, see `dynamics/friction.py`
FRICTION_VELOCITY = 0.01        # [rad/s | m/s] below it friction is a steep slope, not a step
STRIBECK_VELOCITY = 0.1         # [rad/s | m/s] on this scale static friction becomes Coulomb's


@dataclass(frozen=True, eq=False, repr=False)
class RobotModel:
    """
    A fixed-base tree of ``nb`` moving bodies that ``nv`` joints move; what is fixed is lumped in.

    Above each body is one joint, and a parent comes before its children. The frame of a body is
    that of the link below its joint: where the joint is at zero it coincides with the joint's
    frame. Most joints move on their own; one that mimics another adds a body, no degree of
    freedom. Arrays are float64 and read-only, (nv,) ones in the order of ``joint_names``, (nb,)
    ones in that of ``link_names``; without mimic joints the two orders are one.

    :param joint_names: (nv,) joints that move on their own.
    :param link_names: (nb,) links below the joints.
    :param body_joint_names: (nb,) every joint that moves, those that mimic another among them.
    :param body_joint_types: (nb,) 'revolute', 'continuous' or 'prismatic'.
    :param driver: (nb,) index into ``joint_names``: the joint above body i is at
        ``ratio[i] * q[driver[i]] + shift[i]``; one that mimics none has ratio 1 and no shift.
    :param parent: (nb,) index of the body that carries the joint, -1 for the base.
    :param joint_rotation: (nb, 3, 3) joint frame in the frame of the parent body.
    :param joint_origin: (nb, 3) [m] its origin there.
    :param joint_axis: (nb, 3) unit axis in the joint frame, rotation about it or motion along it.
    :param mass: (nb,) [kg].
    :param com: (nb, 3) [m] centre of mass in the body frame.
    :param inertia: (nb, 3, 3) [kg·m²] about the centre of mass, axes of the body frame.
    :param position_lower: (nv,) [rad | m], -inf where there is no limit; upper likewise.
    :param velocity_limit: (nv,) [rad/s | m/s].
    :param effort_limit: (nv,) [N·m | N].
    :param viscous_friction: (nv,) [N·m·s/rad | N·s/m] of motion in the positive direction;
        Coulomb and static in [N·m | N].
    :param backward_friction: (3, nv) viscous, Coulomb and static of motion in the negative
        direction.
    :param friction_velocity: (nv,) [rad/s | m/s] on this scale friction passes through zero;
        ``stribeck_velocity``: on this one it falls from static to Coulomb friction.
    :param armature: (nv,) [kg·m² | kg] rotor inertia seen at the joint, that of a geared motor
        times the square of the gear ratio.
    :param gravity_vector: (3,) [m/s²] in the base frame.
    :param frames: every link of the source by name, see :class:`Frame`.
    :param warnings: sentences about what was accepted but is odd, for a person to read.
    :param implausible_links: moving bodies whose inertia no rigid body has: the triangle
        inequality is off by more than 2 %.
    :param massless_joints: joints that no inertia resists, of a model loaded with
        ``massless='warn'``: M(q) has no inverse.
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
    armature: ndarray
    gravity_vector: ndarray
    frames: Mapping[str, Frame]
    warnings: tuple[str, ...] = field(default=())
    implausible_links: tuple[str, ...] = field(default=())
    massless_joints: tuple[str, ...] = field(default=())

    def __post_init__(self):
        for f in fields(self):
            if isinstance(value := getattr(self, f.name), ndarray):
                value.setflags(write=False)
        object.__setattr__(self, 'frames', MappingProxyType(dict(self.frames)))

    def __repr__(self) -> str:
        """Name, size and the ends of the chain: the arrays are a screen full."""
        names = self.joint_names if self.nv <= 8 else (*self.joint_names[:3], '...',
                                                       *self.joint_names[-2:])
        more = f', warnings={len(self.warnings)}' if self.warnings else ''
        return (f'RobotModel({self.name!r}, nv={self.nv}, nb={self.nb}, '
                f'base_link={self.base_link!r}, joint_names=[{", ".join(names)}], '
                f'mass={self.mass.sum():.4g} kg{more})')

    def __getstate__(self) -> dict[str, Any]:
        """Return what copies and other processes take: they know no read-only mapping."""
        return vars(self) | {'frames': dict(self.frames)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Become the model again, read-only as ever."""
        vars(self).update(state)
        for frame in self.frames.values():
            frame.__post_init__()
        self.__post_init__()

    @property
    def nv(self) -> int:
        """Number of degrees of freedom: of joints that move on their own."""
        return len(self.joint_names)

    @property
    def nb(self) -> int:
        """Number of moving bodies: more than ``nv`` where joints mimic others."""
        return len(self.link_names)

    @property
    def leaders(self) -> ndarray:
        """(nv,) index of the body below each joint of ``joint_names``."""
        return np.array([self.body_joint_names.index(name) for name in self.joint_names])

    @property
    def followers(self) -> ndarray:
        """(nb - nv,) indices of the bodies below joints that mimic another."""
        return np.array([i for i, name in enumerate(self.body_joint_names)
                         if name not in self.joint_names], int)

    @property
    def joint_types(self) -> tuple[str, ...]:
        """(nv,) 'revolute', 'continuous' or 'prismatic'."""
        return tuple(self.body_joint_types[i] for i in self.leaders)

    @property
    def periodic(self) -> ndarray:
        """(nv,) bool: a full turn of the joint leads back to the same pose of the robot."""
        alone = np.bincount(self.driver, minlength=self.nv) == 1     # no joint mimics it
        return alone & (np.array(self.joint_types) == 'continuous')

    @property
    def inertial_parameters(self) -> ndarray:
        """
        (10 nb,) what the dynamics is linear in, ten numbers a body.

        Mass [kg], first moment (3) [kg·m], and Ixx, Ixy, Iyy, Ixz, Iyz, Izz [kg·m²] about the
        origin of the body's frame, in its axes.
        """
        first = self.mass[:, None] * self.com
        inertia = self.inertia + np.array([offset_inertia(m, r)
                                           for m, r in zip(self.mass, self.com)])
        rows, columns = [0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]
        return np.column_stack([self.mass, first, inertia[:, rows, columns]]).ravel()

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Every link of the source, fixed ones too."""
        return tuple(self.frames)

    def to_urdf(self) -> str:
        """
        Return the model as URDF text, from which ``load_urdf`` makes the same model again.

        Fixed and locked joints stay lumped. What URDF has no words for (armature, friction beyond
        two numbers, absent limits, gravity) is in the element <robodyn>, which other readers of
        URDF pass over; where a limit is absent they find 1e9 instead.

        :raises UrdfError: a number is not finite, or XML cannot hold a name.
        """
        from .to_urdf import to_urdf
        return to_urdf(self)

    def require_inertia(self, purpose: str) -> None:
        """
        Refuse what needs the inverse of the mass matrix, where there is none.

        :param purpose: what needs it, for the message.
        :raises InertiaError: no inertia resists some joint; it names all of them.
        """
        if self.massless_joints:
            names = ', '.join(map(repr, self.massless_joints))
            raise InertiaError(
                f'{purpose} needs the inverse of the mass matrix, but no inertia resists joint'
                f'{"s" * (len(self.massless_joints) > 1)} {names}', name=self.massless_joints[0],
                value=self.massless_joints, remedy='give what they move mass and inertia, or the '
                'joints an armature in <robodyn>')

    def joint_index(self, name: str) -> int:
        """Place of a joint in the model's order; :class:`UnknownNameError` if it has none."""
        if name not in self.joint_names:
            raise UnknownNameError('joint', name, self.joint_names)
        return self.joint_names.index(name)

    def frame(self, name: str) -> Frame:
        """Return the frame of a link of the source; :class:`UnknownNameError` if it has none."""
        if name not in self.frames:
            raise UnknownNameError('frame', name, self.frame_names)
        return self.frames[name]
