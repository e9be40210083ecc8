# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Declarations of control parameters (default, unit, range, doc, record), and value checks.

Steps, laws and inputs declare their own; those of the robot are in :class:`RobotParameters`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, Field, field, fields
from difflib import get_close_matches
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy import ndarray

from ..errors import ParameterError
from ..model.friction_file import RANGES

# Of √(K_ii K_jj), which makes elements of different units comparable: as printed with six digits
ELEMENT_ROUNDING = 1e-6


def as_matrix(values: Sequence[float] | ndarray, size: int) -> ndarray:
    """
    Return a symmetric matrix (size, size) of its diagonal, or of all its elements by rows.

    :param values: ``size`` or ``size``² numbers.
    """
    given = np.asarray(values, float)
    if given.size == size:
        return np.diag(given.ravel())
    full = given.reshape(size, size)
    return 0.5 * (full + full.T)


def refusal(values: Sequence[float] | ndarray, size: int) -> tuple[str, str]:
    """
    Return why numbers are no positive semi-definite matrix, and the remedy; ('', '') if they are.

    :param values: ``size`` numbers, the diagonal, or ``size``², all elements by rows.
    """
    given = np.asarray(values, float)
    if given.size not in (size, size**2):
        return (f'has {given.size} numbers',
                f'use {size} numbers, the diagonal, or {size**2}, all elements by rows')
    full = np.diag(given) if given.size == size else given.reshape(size, size)
    scale = np.sqrt(np.maximum(np.outer(full.diagonal(), full.diagonal()), 0.0))
    differs = abs(full - full.T) > ELEMENT_ROUNDING * scale
    if differs.any():
        i, j = np.argwhere(differs)[0]
        return (f'is not symmetric: {full[i, j]:g} in row {i + 1}, column {j + 1}, and '
                f'{full[j, i]:g} in row {j + 1}, column {i + 1}',
                'use the same number at both places')
    if (along := negative_direction(as_matrix(given, size))) is not None:
        return (f'is not positive semi-definite: negative along ({direction(along)})',
                'use smaller off-diagonal elements, and none below 0 on the diagonal')
    return '', ''


def negative_direction(matrix: ndarray) -> ndarray | None:
    """
    Return a direction x (n,), its largest element ±1, with xᵀ K x < 0, or None.

    :param matrix: (n, n) symmetric.
    """
    diagonal = matrix.diagonal()
    if (diagonal < 0.0).any():
        return np.eye(len(matrix))[int(diagonal.argmin())]
    # An axis with a diagonal element of 0 must have no coupling: the large scale reveals any
    unit = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1e-12 * max(diagonal.max(), 1e-12)))
    values, vectors = np.linalg.eigh(unit[:, None] * matrix * unit)
    if values[0] >= -ELEMENT_ROUNDING:
        return None
    along = unit * vectors[:, 0]
    return along / along[int(abs(along).argmax())]


def square_root(matrix: ndarray) -> ndarray:
    """Return the symmetric square root (n, n) of a positive semi-definite matrix (n, n)."""
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def direction(along: ndarray) -> str:
    """Return the elements of a vector for a message."""
    return ', '.join(f'{x + 0.0:.2g}' for x in np.where(abs(along) < 1e-3, 0.0, along))


PerJoint = Sequence[float] | float

# Where the control cycle reads a field: in the record of all joints, of each joint, or of the task
SETTINGS_RECORD, JOINT_RECORD, TASK_RECORD = 'settings', 'joint', 'task'


def number(default: Any, unit: str, lower: float, upper: float, doc: str, *,
           live: bool = True, record: str = '', unlimited: bool = False, after: str = '') -> Any:
    """
    Declare a number; an integer where the default is one.

    :param lower, upper: inclusive range, in ``unit``.
    :param doc: description for `ros2 param describe`, parameter files and docs/parameters.md.
    :param live: whether the node accepts changes while it is configured.
    :param record: the record of :mod:`.cycle_data` that has a field of this name, '' for none.
    :param unlimited: whether 0 stands for no limit, which is infinite in the record.
    :param after: the parameter that it follows in lists for users; '': the one declared before.
    """
    return field(default=default, metadata={
        'unit': unit, 'lower': lower, 'upper': upper, 'doc': doc, 'live': live, 'record': record,
        'unlimited': unlimited, 'after': after})


def numbers(unit: str, lower: float, upper: float, doc: str,
            default: tuple[float, ...] = (), *, live: bool = True, record: str = '',
            unlimited: bool = False, after: str = '',
            implied: Callable[[Any, Any], Any] | None = None) -> Any:
    """
    Declare a list: with a default, of as many numbers; else one a joint, or one for all joints.

    :param lower, upper, doc, live, record, unlimited, after: see :func:`number`.
    :param implied: ``implied(model, settings)`` returns the numbers (nv,) that an empty list
        stands for; None: 0, which is no limit where that is ``unlimited``.
    """
    declared = number(default, unit, lower, upper, doc, live=live, record=record,
                      unlimited=unlimited, after=after)
    return field(default=default, metadata={**declared.metadata, 'implied': implied})


def by_joint_type(rotating: float, sliding: float) -> Callable[[Any, Any], ndarray]:
    """Return an ``implied`` of :func:`numbers`: one number of rotating, one of sliding joints."""
    return lambda model, settings: np.where(model.slides, sliding, rotating)


def matrix(unit: str, most: float, doc: str, default: tuple[float, ...], *,
           record: str = '') -> Any:
    """
    Declare a symmetric, positive semi-definite matrix: its diagonal, or all elements by rows.

    :param unit, doc, record: see :func:`number`; the record has all elements by rows.
    :param most: greatest magnitude of an element.
    :param default: the diagonal.
    """
    return field(default=default, metadata={
        'unit': unit, 'lower': -most, 'upper': most, 'doc': doc, 'live': True, 'record': record,
        'unlimited': False, 'matrix': True})


def gain(unit: str, lower: float, upper: float, doc: str, default: float | None = None) -> Any:
    """
    Declare a gain of a control law: one number a joint, or one for all joints.

    :param lower, upper, doc: see :func:`number`; of each element.
    :param default: value of an empty list, which ``doc`` need not name; None: the law requires
        the gain.
    """
    if default is not None:
        doc += f' Empty: {f"{default:g}" if default and isfinite(default) else "none"}.'
    return field(default=(), metadata={
        'unit': unit, 'lower': lower, 'upper': upper, 'doc': doc, 'live': True, 'record': '',
        'unlimited': False, 'empty': default})


def choice(choices: tuple[str, ...], doc: str, *, live: bool = True, record: str = '',
           places: bool = False, after: str = '') -> Any:
    """
    Declare one of several words, of which the first is the default; a record has its index.

    :param doc, live, record, after: see :func:`number`.
    :param places: whether ``package.module:NAME`` is accepted besides.
    """
    return field(default=choices[0], metadata={
        'choices': choices, 'doc': doc, 'live': live, 'record': record, 'places': places,
        'after': after})


def text(doc: str, *, live: bool = True) -> Any:
    """Declare a text, empty by default; ``doc`` and ``live`` as for :func:`number`."""
    return field(default='', metadata={'doc': doc, 'live': live, 'record': ''})


def flag(doc: str, *, live: bool = True, record: str = '') -> Any:
    """Declare a truth value, False by default; ``doc``, ``live``, ``record``: :func:`number`."""
    return field(default=False, metadata={'doc': doc, 'live': live, 'record': record})


def listed(declaration: Any) -> 'list[Field[Any]]':
    """Return the fields of a dataclass in the order in which users read them."""
    order: list[Field[Any]] = []
    place = 0
    for f in fields(declaration):
        if after := f.metadata.get('after'):
            place = [g.name for g in order].index(after) + 1
        order.insert(place, f)
        place += 1
    return order


def recorded(declaration: Any, record: str) -> 'tuple[Field[Any], ...]':
    """
    Return the fields of a dataclass that a record of :mod:`.cycle_data` has, in their order.

    :param record: SETTINGS_RECORD, JOINT_RECORD or TASK_RECORD.
    """
    return tuple(f for f in fields(declaration) if f.metadata['record'] == record)


def record_dtype(declaration: Any, record: str) -> list[tuple[str, Any]]:
    """
    Return names and types of the fields of a record: integers, choices and flags as int64.

    A list with a default is an array of as many numbers, a matrix one of all its elements; of
    another list, the record has the number of one joint.
    """
    return [(f.name, (float, (len(f.default)**(2 if 'matrix' in f.metadata else 1),))
             if isinstance(f.default, tuple) and f.default
             else float if isinstance(f.default, (float, tuple)) else np.int64)
            for f in recorded(declaration, record)]


def record_value(declared: 'Field[Any]', value: Any) -> Any:
    """Return a checked value as its record holds it: a choice as its index, no limit as inf."""
    if choices := declared.metadata.get('choices'):
        return choices.index(value)
    if declared.metadata.get('unlimited'):
        value = np.asarray(value, float)
        return np.where(value > 0.0, value, np.inf)
    if 'matrix' in declared.metadata:
        return as_matrix(value, len(declared.default)).ravel()      # type: ignore[arg-type]
    return value


def checked(declared: 'Field[Any]', value: Any) -> Any:
    """
    Return a value of a field in the field's own type: a list becomes a tuple, a number too.

    :raises ParameterError: naming the field, and the range or the choices.
    """
    name, about, default = declared.name, declared.metadata, declared.default

    def refuse(remedy: str) -> None:
        raise ParameterError(f'parameter {name} = {value!r} is refused', name=name, value=value,
                             remedy=remedy)

    if isinstance(default, str):
        choices = about.get('choices', ())
        if not isinstance(value, str) or (choices and value not in choices and not (
                about.get('places') and ':' in value)):
            close = get_close_matches(str(value), choices, n=1)
            refuse((f'did you mean {close[0]}? ' if close else '')
                   + (f'choose one of {", ".join(choices)}' if choices else 'use a text'))
        return value
    if isinstance(default, bool):
        if not isinstance(value, (bool, np.bool_)):
            refuse('use True or False')
        return bool(value)
    lower, upper, unit = about['lower'], about['upper'], about['unit']
    wanted = f'number in [{lower:g}, {upper:g}]' + (f' {unit}' if unit else '')
    if isinstance(default, tuple):
        if (found := _numbers(value, lower, upper)) is None:
            refuse(f'every element must be a finite {wanted}')
        elif 'matrix' in about:
            problem, remedy = refusal(found, len(default))
            if problem:
                raise ParameterError(f'parameter {name} {problem}', name=name, value=value,
                                     remedy=remedy)
        elif default and len(found) != len(default):
            refuse(f'use {len(default)} numbers')
        return found
    kind = Integral if isinstance(default, int) else Real
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, kind) or not (
            lower <= value <= upper):       # type: ignore[operator]
        refuse(f'it must be {"an integer" if kind is Integral else "a finite number"} '
               + wanted.removeprefix('number '))
    return int(value) if kind is Integral else float(value)


def _numbers(value: Any, lower: float, upper: float) -> tuple[float, ...] | None:
    """Return a number or a flat list of them as a tuple; None where one is not in the range."""
    try:
        array = np.atleast_1d(np.asarray(value))
        if array.size and array.dtype.kind not in 'iuf':
            return None
        found = tuple(array.astype(float).tolist())
    except (TypeError, ValueError):         # ragged
        return None
    good = array.ndim == 1 and all(lower <= x <= upper for x in found)      # nor is NaN
    return found if good else None


@dataclass(frozen=True)
class RobotParameters:
    """Limits, friction, payload and references of the robot, beyond its URDF."""

    effort_limit: PerJoint = numbers(
        'N·m or N', 0.0, 1e6, 'Effort limit, at most that of the URDF. Empty: from the URDF.',
        live=False, record=JOINT_RECORD, implied=lambda model, settings: model.effort_limit)
    effort_rate_limit: PerJoint = numbers(
        'N·m/s or N/s', 0.0, 1e8, 'Maximum rate of the effort, without gravity compensation. '
        'Empty: ten effort limits per second.', record=JOINT_RECORD,
        implied=lambda model, settings: 10.0 * settings.per_joint(model, 'effort_limit'))
    velocity_limit: PerJoint = numbers(
        'rad/s or m/s', 0.0, 1e3, 'Velocity limit, at most that of the URDF. Empty: from the '
        'URDF.', live=False, record=JOINT_RECORD,
        implied=lambda model, settings: model.velocity_limit)
    loop_delay: float = number(
        0.002, 's', 0.0, 0.1, 'Longest time from the measurement of a state to the effect of its '
        'efforts.', live=False, record=SETTINGS_RECORD)
    armature: PerJoint = numbers(
        'kg·m² or kg', *RANGES['armature'],
        'Rotor inertia reflected to the joints. Empty: from the URDF.',
        live=False)
    viscous_friction: PerJoint = numbers(
        'N·m·s/rad or N·s/m', *RANGES['viscous_friction'],
        'Viscous friction, forwards. Empty: from the URDF.')
    coulomb_friction: PerJoint = numbers(
        'N·m or N', *RANGES['coulomb_friction'],
        'Coulomb friction, forwards. Empty: from the URDF.')
    static_friction: PerJoint = numbers(
        'N·m or N', *RANGES['static_friction'],
        'Friction near rest. Empty: `coulomb_friction`, else from the URDF.')
    backward_viscous_friction: PerJoint = numbers(
        'N·m·s/rad or N·s/m', *RANGES['backward_viscous_friction'],
        'Viscous friction, backwards. Empty: as forwards.')
    backward_coulomb_friction: PerJoint = numbers(
        'N·m or N', *RANGES['backward_coulomb_friction'],
        'Coulomb friction, backwards. Empty: as forwards.')
    backward_static_friction: PerJoint = numbers(
        'N·m or N', *RANGES['backward_static_friction'],
        'Friction near rest, backwards. Empty: `backward_coulomb_friction`, '
        'else as forwards.')
    friction_velocity: PerJoint = numbers(
        'rad/s or m/s', *RANGES['friction_velocity'],
        'Velocity scale of the sign change; in gravity_compensation '
        'above the velocity noise.')
    stribeck_velocity: PerJoint = numbers(
        'rad/s or m/s', *RANGES['stribeck_velocity'],
        'Velocity scale of the decay from static to Coulomb friction.')
    presliding_distance: PerJoint = numbers(
        'rad or m', *RANGES['presliding_distance'],
        'Distance after a reversal over which friction changes sign; 0: '
        'none. Empty: from the URDF.')
    load_friction: PerJoint = numbers(
        '', *RANGES['load_friction'],
        'Increase of Coulomb and static friction as a share of |g(q)|. Empty: from '
        'the URDF.')
    coupling_ratio: PerJoint = numbers(
        '', *RANGES['coupling_ratio'],
        'Ratio of a motor that also turns the next joint; 0: none. Empty: from '
        'the URDF.')
    coupled_viscous_friction: PerJoint = numbers(
        'N·m·s/rad or N·s/m', *RANGES['coupled_viscous_friction'],
        'Viscous friction of such a motor. Empty: from the URDF.')
    coupled_coulomb_friction: PerJoint = numbers(
        'N·m or N', *RANGES['coupled_coulomb_friction'],
        'Coulomb friction of such a motor. Empty: from the URDF.')
    friction_offset: PerJoint = numbers(
        'N·m or N', *RANGES['friction_offset'],
        'Constant effort in addition to gravity and friction.',
        record=JOINT_RECORD)
    friction_compensation: PerJoint = numbers(
        '', 0.0, 1.0, 'Compensated share of friction and offset; in gravity_compensation up to '
        '0.8. Empty: none.', record=JOINT_RECORD)
    robot_compensates_gravity: bool = flag(
        'Whether the robot adds g(q) itself (Franka, UR). Required for robots not in this '
        'package.', live=False, record=SETTINGS_RECORD)
    payload_frame: str = text(
        'Link of the payload, in adaptive of the learned one (empty: that of the last joint).')
    payload_mass: float = number(
        0.0, 'kg', 0.0, 1000.0, 'Mass of the payload; 0: no payload.')
    payload_com: Sequence[float] = numbers(
        'm', -10.0, 10.0, 'Center of mass of the payload in `payload_frame`.', (0.0, 0.0, 0.0))
    payload_inertia: Sequence[float] = numbers(
        'kg·m²', -1e3, 1e3, 'Inertia about the center of mass in the axes of `payload_frame`: '
        'ixx, ixy, ixz, iyy, iyz, izz.', (0.0,) * 6)
    acceleration_limit: PerJoint = numbers(
        'rad/s² or m/s²', 1e-3, 1e5, 'Acceleration limit of stops and targets. Empty: velocity '
        'limit within 0.25 s.')
    jerk_limit: PerJoint = numbers(
        'rad/s³ or m/s³', 1e-3, 1e7, 'Jerk limit of the same motions. Empty: acceleration limit '
        'within 0.1 s.')
    feedforward_limit: float = number(
        0.5, '', 0.0, 1.0, 'Largest effort of waypoints, as a share of the effort limit.')
    trajectory_start_tolerance: PerJoint = numbers(
        'rad or m', 1e-6, 1e3, 'Largest distance from the reference to the start of a trajectory.',
        (0.05,))
    allow_nonzero_velocity_at_trajectory_end: bool = flag(
        'Decelerate past a trajectory that ends with a velocity (MoveIt Servo).')
    goal_tolerance: PerJoint = numbers(
        'rad or m', 0.0, 1e3, 'Default `goal_tolerance` of `~/follow_joint_trajectory`. Empty: '
        '0.05 rad or 0.01 m; 0: unlimited.', implied=by_joint_type(0.05, 0.01))
    goal_time_tolerance: float = number(
        2.0, 's', 0.0, 3600.0, 'Default `goal_time_tolerance` of `~/follow_joint_trajectory`. 0: '
        'unlimited.')
