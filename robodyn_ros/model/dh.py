# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Robot models from Denavit-Hartenberg parameters, in both conventions.

standard: the transform from link frame i - 1 to i is Rz(θ) Tz(d) Tx(a) Rx(α), and joint i acts
about or along z of frame i - 1 (Siciliano, Sciavicco, Villani, Oriolo, Robotics (2009), section
2.8.2). modified: it is Rx(α) Tx(a) Rz(θ) Tz(d), and joint i acts about or along z of frame i, with
α and a of row i (Craig, Introduction to Robotics (2005), section 3.4, calls them α_(i-1) and
a_(i-1)).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import isfinite
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .rigid_body import axis_rotation, Inertial
from .robot import finite, Frame, FRICTION_VELOCITY, RobotModel, STRIBECK_VELOCITY
from .urdf_xml import MAX_NAME, name_problem, NAME_REMEDY
from .validate import validated
from ..errors import ArgumentError, UnknownNameError

CONVENTIONS = ('standard', 'modified')
JOINTS = ('revolute', 'prismatic')
X, Z = np.eye(3)[0], np.eye(3)[2]
ORTHONORMAL_TOLERANCE = 1e-9    # of R Rᵀ = 1


@dataclass(frozen=True)
class DhLink:
    """
    Denavit-Hartenberg parameters of one joint, and the inertia of the link that it moves.

    The joint variable plus ``offset`` is added to θ of a revolute joint, to d of a prismatic one.

    :param theta: [rad] rotation about z.
    :param d: [m] translation along z.
    :param a: [m] translation along x.
    :param alpha: [rad] rotation about x.
    :param joint: 'revolute' or 'prismatic'.
    :param offset: [rad | m] of the joint variable.
    :param mass: [kg].
    :param com: (3,) [m] center of mass in the link frame.
    :param inertia: (3, 3), or its diagonal (3,), [kg·m²] about the center of mass, in the axes of
        the link frame; zero for the point masses of textbooks.
    :param armature: [kg·m² | kg] rotor inertia reflected to the joint.
    :param viscous: [N·m·s/rad | N·s/m] viscous friction.
    :param coulomb: [N·m | N] Coulomb friction.
    :param rotor_inertia: [kg·m²] of a geared motor; ``rotor_inertia * gear_ratio**2`` is added to
        ``armature``.
    :param gear_ratio: [1 | rad/m] motor angle per joint position.
    :param static_friction: [N·m | N]; None for the value of ``coulomb``.
    """

    theta: float
    d: float
    a: float
    alpha: float
    joint: Literal['revolute', 'prismatic'] = 'revolute'
    offset: float = 0.0
    mass: float = 0.0
    com: Sequence[float] = (0.0, 0.0, 0.0)
    inertia: ArrayLike = field(default_factory=lambda: np.zeros((3, 3)))
    armature: float = 0.0
    viscous: float = 0.0
    coulomb: float = 0.0
    rotor_inertia: float = 0.0
    gear_ratio: float = 1.0
    static_friction: float | None = None


def from_dh(links: Sequence[DhLink | Mapping[str, Any]], convention: str = 'standard',
            base: ArrayLike | None = None, tool: ArrayLike | None = None,
            gravity: Sequence[float] = (0, 0, -9.81), *, name: str = 'dh') -> RobotModel:
    """
    Return the serial robot with these Denavit-Hartenberg parameters.

    Its joints are joint1, joint2, ..., without limits; its frames are base, link1, link2, ...
    (those of the rows) and, with ``tool``, tool. The conventions are those of Siciliano et al.
    2009, section 2.8.2 (standard) and Craig 2005, section 3.4 (modified).

    :param links: one :class:`DhLink` per joint, or a mapping with its fields.
    :param convention: 'standard' or 'modified'.
    :param base: pose of frame 0 of the rows in the frame base, (4, 4) homogeneous or (3,) [m] for
        a translation; None for the identity.
    :param tool: pose of the tool frame in the frame of the last link; None for no tool.
    :param gravity: (3,) [m/s²] in the frame base.
    :param name: of the robot.
    :return: the model, with read-only arrays.
    :raises ArgumentError: a parameter is invalid; the message names its row.
    :raises UnknownNameError: a mapping has a field that :class:`DhLink` does not have.
    :raises InertiaError: the inertia of a link is invalid, or M(q) is not positive definite.

    >>> from robodyn_ros import DhLink, from_dh
    >>> model = from_dh([DhLink(theta=0, d=0, a=0.5, alpha=0, mass=2)], gravity=(0, -9.81, 0))
    >>> model.joint_names, model.frame_names
    (('joint1',), ('base', 'link1'))
    """
    if convention not in CONVENTIONS:
        raise ArgumentError(f'no DH convention {convention!r}', name='convention',
                            value=convention, remedy=f'choose one of {", ".join(CONVENTIONS)}')
    if not links:
        raise ArgumentError('there are no rows', name='links', remedy='pass one for each joint')
    if not name.strip() or name_problem(name):
        raise ArgumentError(f'the name {name[:MAX_NAME]!r} cannot be shown', name='name',
                            value=name, remedy=NAME_REMEDY)
    rows = [link if isinstance(link, DhLink) else _row(link, i) for i, link in enumerate(links)]
    for i, link in enumerate(rows):
        _check(link, i)
    n, standard = len(rows), convention == 'standard'
    frames = {'base': Frame(-1, np.eye(3), np.zeros(3))}
    rotations, origins, bodies = [], [], []
    # Placement of the next joint in the previous body: the part of its row that follows its joint
    R, p = _transform('base', base)
    for i, link in enumerate(rows):
        turn, slide = link.theta, link.d
        if link.joint == 'revolute':
            turn += link.offset
        else:
            slide += link.offset
        along = axis_rotation(X, link.alpha), np.array([link.a, 0.0, 0.0])
        before, after = ((np.eye(3), np.zeros(3)), along) if standard else (
            along, (np.eye(3), np.zeros(3)))
        R, p = R @ before[0], p + R @ before[1]
        rotations.append(R @ axis_rotation(Z, turn))
        origins.append(p + R @ (slide * Z))
        bodies.append(Inertial(link.mass, np.asarray(link.com, float),
                               _inertia(link, i)).placed(*after))
        frames[f'link{i + 1}'] = Frame(i, *after)
        R, p = after
    if tool is not None:
        T, t = _transform('tool', tool)
        frames['tool'] = Frame(n - 1, R @ T, p + R @ t)
    unlimited, names = np.full(n, np.inf), tuple(f'joint{i + 1}' for i in range(n))
    viscous = np.array([link.viscous for link in rows], float)
    coulomb = np.array([link.coulomb for link in rows], float)
    static = np.array([link.coulomb if link.static_friction is None else link.static_friction
                       for link in rows], float)
    return validated(RobotModel(
        name=name, base_link='base', joint_names=names,
        link_names=tuple(f'link{i + 1}' for i in range(n)), body_joint_names=names,
        body_joint_types=tuple('continuous' if link.joint == 'revolute' else 'prismatic'
                               for link in rows),
        driver=np.arange(n), ratio=np.ones(n), shift=np.zeros(n), parent=np.arange(n) - 1,
        joint_rotation=np.array(rotations), joint_origin=np.array(origins),
        joint_axis=np.tile(Z, (n, 1)), mass=np.array([b.mass for b in bodies], float),
        com=np.array([b.com for b in bodies]), inertia=np.array([b.inertia for b in bodies]),
        position_lower=-unlimited, position_upper=unlimited.copy(),
        velocity_limit=unlimited.copy(), effort_limit=unlimited.copy(),
        viscous_friction=viscous, coulomb_friction=coulomb, static_friction=static,
        backward_friction=np.array([viscous, coulomb, static]),
        friction_velocity=np.full(n, FRICTION_VELOCITY),
        stribeck_velocity=np.full(n, STRIBECK_VELOCITY),
        presliding_distance=np.zeros(n), load_friction=np.zeros(n),
        coupled_friction=np.zeros((3, n)),
        armature=np.array([_armature(link) for link in rows], float),
        gravity_vector=finite('gravity', gravity, (3,)), frames=frames))


def _armature(link: DhLink) -> float:
    """Return the rotor inertia reflected to the joint [kg·m² | kg]."""
    return link.armature + link.rotor_inertia * link.gear_ratio * link.gear_ratio


def _check(link: DhLink, i: int) -> None:
    """Raise :class:`ArgumentError` for an invalid parameter of row ``i``."""
    def refuse(key: str, remedy: str) -> None:
        raise ArgumentError(f'row {i + 1} has {key} {getattr(link, key)!r}', name=key,
                            value=getattr(link, key), remedy=remedy)
    if link.joint not in JOINTS:
        refuse('joint', f'choose one of {", ".join(JOINTS)}')
    for key in ('theta', 'd', 'a', 'alpha', 'offset'):
        if not _is_number(getattr(link, key)):
            refuse(key, 'use a finite number')
    for key in ('mass', 'armature', 'viscous', 'coulomb', 'rotor_inertia', 'static_friction'):
        value = getattr(link, key)
        unknown = value is None and key == 'static_friction'
        if not unknown and not (_is_number(value) and value >= 0.0):
            refuse(key, 'use a finite number of at least 0')
    if not (_is_number(link.gear_ratio) and link.gear_ratio > 0.0 and _armature(link) < np.inf):
        refuse('gear_ratio', 'use a finite number above 0 whose square times rotor_inertia is '
                             'finite as well')
    finite(f'com of row {i + 1}', link.com, (3,))
    inertia = _inertia(link, i)
    if not np.allclose(inertia, inertia.T, rtol=1e-9, atol=0.0):
        refuse('inertia', 'use a symmetric matrix')
    if np.linalg.eigvalsh(inertia)[0] < -1e-12 * np.trace(inertia):
        refuse('inertia', 'use one without negative principal moments')


def _row(given: Any, i: int) -> DhLink:
    """Return the row with the fields of a mapping."""
    names = [f.name for f in fields(DhLink)]
    if not isinstance(given, Mapping):
        raise ArgumentError(f'row {i + 1} is {given!r}', name='links', value=given,
                            remedy='pass a DhLink, or a mapping with its fields')
    for key in given:
        if key not in names:
            raise UnknownNameError(f'field of row {i + 1} called', str(key), names)
    for key in names[:4]:
        if key not in given:
            raise ArgumentError(f'row {i + 1} has no {key}', name=key,
                                remedy='add it, 0 where it is zero')
    return DhLink(**given)


def _inertia(link: DhLink, i: int) -> ndarray:
    """Return the inertia (3, 3) of a row, which may be given as its diagonal."""
    what = f'inertia of row {i + 1}'
    if isinstance(link.inertia, Sequence | ndarray) and len(link.inertia) == 3 \
            and all(np.ndim(entry) == 0 for entry in link.inertia):
        return np.diag(finite(what, link.inertia, (3,)))
    return finite(what, link.inertia, (3, 3), 'or three, its diagonal')


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and isfinite(value)


def _transform(what: str, given: ArrayLike | None) -> tuple[ndarray, ndarray]:
    """Return rotation and origin of a homogeneous transform, the identity for None."""
    T = np.eye(4)
    if isinstance(given, Sequence | ndarray) and len(given) == 3:
        T[:3, 3] = finite(what, given, (3,))
    elif given is not None:
        T = finite(what, given, (4, 4), 'or three, a translation [m]')
    R = T[:3, :3]
    if (not np.allclose(R @ R.T, np.eye(3), atol=ORTHONORMAL_TOLERANCE) or np.linalg.det(R) < 0.0
            or (T[3] != [0.0, 0.0, 0.0, 1.0]).any()):
        raise ArgumentError(f'{what} is not a homogeneous transform', name=what, value=given,
                            remedy='pass a rotation, a translation, and 0 0 0 1 below them')
    return R, T[:3, 3]
