# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Properties of a single link or joint of a URDF, with checks of their values."""

from math import inf, nan
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from urdf_parser_py.urdf import Joint, Link, Pose

from .rigid_body import axis_rotation, Inertial, rpy_rotation, ZERO_INERTIA
from .robot import finite
from .urdf_extension import JointExtension, LIMITS
from .urdf_xml import MAX_NUMBER
from ..errors import ArgumentError, InertiaError, UrdfError

MAX_CONTINUOUS_RANGE = 12.56    # [rad]; wider limits of a continuous joint mean no limit
MOVING = ('revolute', 'continuous', 'prismatic')
SEMIDEFINITE_TOLERANCE = 1e-6    # of moments, relative: URDFs have few digits
AXIS_TOLERANCE = 1e-6    # of the length of an axis, without warning
AXIS_ROUNDING = 1e-15    # of the length of an axis, without normalization
ROTATION_TOLERANCE = 1e-8    # of the base of DH rows


def placement(origin: Pose | None) -> tuple[ndarray, ndarray]:
    """Return rotation (3, 3) and origin (3,) [m] of an <origin>, the identity for None."""
    if origin is None:
        return np.eye(3), np.zeros(3)
    return rpy_rotation(origin.rpy), np.array(origin.xyz, float)


def joint_placement(joint: Joint, extra: JointExtension) -> tuple[ndarray, ndarray]:
    """
    Return rotation (3, 3) and origin (3,) [m] of a joint, exact if <robodyn> has the rotation.

    :raises UrdfError: the rotations of <robodyn> and <origin> differ.
    """
    rotation, origin = placement(joint.origin)
    if extra.rotation is None:
        return rotation, origin
    if abs(extra.rotation - rotation).max() > ROTATION_TOLERANCE:
        raise UrdfError(f'joint {joint.name!r}: the rotation in <robodyn> is not that of <origin>',
                        name=joint.name, value=extra.rotation,
                        remedy='remove the attribute rotation: rpy is enough')
    return extra.rotation, origin


def inertial(link: Link, moving: bool) -> Inertial | None:
    """
    Return the inertial properties of a link in the link frame, None without <inertial>.

    :param moving: whether the link moves; the inertia of one that does not is not checked.
    :raises InertiaError: the mass is negative, or the inertia is not positive semidefinite.
    """
    if link.inertial is None:
        return None
    mass = link.inertial.mass
    if mass < 0:
        raise InertiaError(f'link {link.name!r}: mass is {mass}', name=link.name, value=mass,
                           remedy='give it a mass that is not negative')
    inertia = np.array(link.inertial.inertia.to_matrix(), float)
    moments = np.linalg.eigvalsh(inertia)
    if moving and moments[0] < -SEMIDEFINITE_TOLERANCE * abs(moments).max() - ZERO_INERTIA:
        raise InertiaError(
            f'link {link.name!r}: inertia has the principal moments '
            f'{", ".join(f"{m:.3g}" for m in moments)}', name=link.name, value=inertia,
            remedy='none may be negative: check the signs of ixy, ixz, iyz, or run `robodyn '
                   'inspect FILE --repair NEW`')
    return Inertial(mass, np.zeros(3), inertia).placed(*placement(link.inertial.origin))


class JointData(NamedTuple):
    """Properties of a movable joint that the model keeps; names and units of ``RobotModel``."""

    axis: ndarray
    kind: str
    position_lower: float
    position_upper: float
    velocity_limit: float
    effort_limit: float
    viscous_friction: float
    coulomb_friction: float
    static_friction: float
    backward_friction: tuple[float, float, float]
    friction_velocity: float
    stribeck_velocity: float
    presliding_distance: float
    load_friction: float
    coupled_friction: tuple[float, float, float]
    armature: float

    @property
    def forward_friction(self) -> tuple[float, float, float]:
        """Viscous, Coulomb and static friction for positive velocity."""
        return self.viscous_friction, self.coulomb_friction, self.static_friction

    def motion(self, kind: str, q: float) -> tuple[ndarray, ndarray]:
        """Return rotation (3, 3) and origin (3,) [m] of the child in the joint frame, at q."""
        if kind == 'prismatic':
            return np.eye(3), self.axis * q
        return axis_rotation(self.axis, q), np.zeros(3)


JOINT_COLUMNS = JointData._fields[2:]       # each an array of ``RobotModel``
FRICTION_COLUMNS = JOINT_COLUMNS[4:]        # with the armature


def joint_data(joint: Joint, extra: JointExtension, warnings: list[str],
               driven: bool = True) -> JointData:
    """
    Return the properties of a revolute, continuous or prismatic joint.

    :param extra: properties of the joint in <robodyn>.
    :param warnings: list to which sentences about accepted oddities are appended.
    :param driven: whether the joint has a drive, so that its effort limit matters.
    :raises UrdfError: the type is not supported, or axis, limits or friction are invalid.
    """
    where = f'joint {joint.name!r}'

    def refuse(problem: str, remedy: str, value: object = None) -> None:
        raise UrdfError(f'{where}: {problem}', name=joint.name, value=value, remedy=remedy)

    if joint.type not in MOVING:
        refuse(f'type {joint.type!r} is not supported',
               f'use {", ".join(MOVING)} or fixed, or load the part below it with '
               f'root={joint.child!r} and gravity=(x, y, z) in its frame', joint.type)
    axis = np.array([1, 0, 0] if joint.axis is None else joint.axis, float)
    length = np.linalg.norm(axis)
    if length < 1e-9:
        refuse('axis has no direction', 'add <axis xyz="..."/> of length 1', joint.axis)
    if abs(length - 1) > AXIS_TOLERANCE:
        warnings.append(f'{where}: axis has length {length:.6g} and is taken as 1')

    lower, upper, velocity, effort = -inf, inf, inf, inf
    if joint.limit is None and joint.type != 'continuous':
        refuse('there is no <limit>', f'a {joint.type} joint needs '
                                      '<limit lower upper effort velocity/>')
    if joint.limit is None:
        warnings.append(f'{where}: no <limit>, so effort and velocity have no bound')
    else:
        limit = {key: float(getattr(joint.limit, key)) for key in LIMITS} | {
            key: -inf if key == 'lower' else inf for key in extra.unlimited}
        velocity, effort = limit['velocity'], limit['effort']
        for quantity, value in (('velocity', velocity), ('effort', effort)):
            if value < 0:
                refuse(f'{quantity} limit is {value}', 'use one that is not negative', value)
            if value == 0 and (driven or quantity != 'effort'):
                warnings.append(f'{where}: {quantity} limit is zero')
        if joint.type == 'continuous':
            if 0.0 < limit['upper'] - limit['lower'] < MAX_CONTINUOUS_RANGE:
                warnings.append(f'{where}: position limits [{limit["lower"]:g}, '
                                f'{limit["upper"]:g}] are not read, a continuous joint has none: '
                                'write type="revolute" if they are real')
        else:
            lower, upper = limit['lower'], limit['upper']
            if lower > upper:
                refuse(f'lower limit {lower} is above the upper limit {upper}', 'exchange them',
                       (lower, upper))
            if max(lower, -upper) > MAX_NUMBER:
                refuse(f'no position in [{lower}, {upper}] can be computed with',
                       f'use limits in rad or m, up to {MAX_NUMBER:g}', (lower, upper))
            if lower == upper:
                warnings.append(f'{where}: lower and upper limit are both {lower}, so that it '
                                'cannot move: write its range, or type="continuous" or "fixed"')

    damping = (joint.dynamics and joint.dynamics.damping) or 0.
    friction = (joint.dynamics and joint.dynamics.friction) or 0.
    for quantity, value in (('damping', damping), ('friction', friction)):
        if value < 0:
            refuse(f'{quantity} is {value}', 'use one that is not negative', value)
    if abs(length - 1) > AXIS_ROUNDING:
        axis = axis / length
    static = friction if extra.static_friction is None else extra.static_friction
    viscous, coulomb, sticking = extra.backward
    if sticking is None:
        sticking = static if coulomb is None else coulomb
    backward = (damping if viscous is None else viscous,
                friction if coulomb is None else coulomb, sticking)
    return JointData(axis, 'continuous' if extra.continuous else joint.type, lower, upper,
                     velocity, effort, damping, friction, static, backward,
                     extra.friction_velocity, extra.stribeck_velocity,
                     extra.presliding_distance, extra.load_friction, (
                         extra.coupling_ratio, extra.coupled_damping, extra.coupled_friction),
                     extra.armature)


def locked_position(joint: Joint, data: JointData, q: float) -> float:
    """
    Return ``q`` [rad | m] as a float if ``joint`` can be locked there.

    :raises ArgumentError: it is outside the limits, or not a finite number.
    """
    low, high = data.position_lower, data.position_upper
    try:
        position = float(finite(joint.name, q, ()))
    except ArgumentError:
        position = nan
    if not low - 1e-9 <= position <= high + 1e-9:
        raise ArgumentError(f'joint {joint.name!r} cannot be locked at {q}', name=joint.name,
                            value=q, remedy=f'use a position in [{low}, {high}]')
    return position
