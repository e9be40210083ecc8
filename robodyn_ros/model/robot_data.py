# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Data of a kinematic tree of rigid bodies, each moved by one joint of one degree of freedom."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy import ndarray

from .rigid_body import offset_inertia
from .shapes import Shape
from ..errors import InertiaError, UnknownNameError


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


# Defaults of the friction model near rest, see `dynamics/friction.py`
FRICTION_VELOCITY = 0.01        # [rad/s | m/s] width of the sign change of friction
STRIBECK_VELOCITY = 0.1         # [rad/s | m/s] scale of the decrease from static to Coulomb


@dataclass(frozen=True, eq=False, repr=False)
class RobotData:
    """Fields, derived quantities and look-ups of :class:`~.robot.RobotModel`, documented there."""

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
        rows, columns = [0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]
        return np.column_stack([self.mass, first, inertia[:, rows, columns]]).ravel()

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
