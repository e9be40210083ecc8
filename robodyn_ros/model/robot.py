# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a robot is: a tree of bodies, each moved by one joint of one degree of freedom."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType

from numpy import ndarray

from ..errors import UnknownNameError


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


@dataclass(frozen=True, eq=False)
class RobotModel:
    """
    A fixed-base tree of ``nv`` moving bodies; everything fixed or locked is already lumped in.

    Body ``i`` is moved by joint ``i``; a parent comes before its children. The frame of body ``i``
    is the URDF frame of the link below joint ``i``: at q = 0 it coincides with the joint's frame.
    Arrays are float64, in the order of ``joint_names``, and read-only.

    :param parent: (nv,) index of the body that carries joint i, -1 for the base.
    :param joint_rotation: (nv, 3, 3) joint frame in the frame of the parent body.
    :param joint_origin: (nv, 3) [m] its origin there.
    :param joint_axis: (nv, 3) unit axis in the joint frame, rotation about it or motion along it.
    :param mass: (nv,) [kg].
    :param com: (nv, 3) [m] centre of mass in the body frame.
    :param inertia: (nv, 3, 3) [kg·m²] about the centre of mass, axes of the body frame.
    :param position_lower: (nv,) [rad | m], -inf where there is no limit; upper likewise.
    :param velocity_limit: (nv,) [rad/s | m/s].
    :param effort_limit: (nv,) [N·m | N].
    :param viscous_friction: (nv,) [N·m·s/rad | N·s/m]; Coulomb and static in [N·m | N].
    :param armature: (nv,) [kg·m² | kg] rotor inertia seen at the joint.
    :param gravity_vector: (3,) [m/s²] in the base frame.
    :param frames: every link of the source by name, see :class:`Frame`.
    :param warnings: sentences about what was accepted but is odd, for a person to read.
    :param implausible_links: moving bodies whose inertia no rigid body has (triangle inequality).
    """

    name: str
    base_link: str
    joint_names: tuple[str, ...]
    joint_types: tuple[str, ...]
    link_names: tuple[str, ...]
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
    armature: ndarray
    gravity_vector: ndarray
    frames: Mapping[str, Frame]
    warnings: tuple[str, ...] = field(default=())
    implausible_links: tuple[str, ...] = field(default=())

    def __post_init__(self):
        for f in fields(self):
            if isinstance(value := getattr(self, f.name), ndarray):
                value.setflags(write=False)
        object.__setattr__(self, 'frames', MappingProxyType(dict(self.frames)))

    @property
    def nv(self) -> int:
        """Number of joints, degrees of freedom and moving bodies."""
        return len(self.joint_names)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Every link of the source, fixed ones too."""
        return tuple(self.frames)

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
