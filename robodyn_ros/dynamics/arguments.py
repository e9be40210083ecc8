# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Arguments and results of :class:`~.api.Dynamics` and its batches: conversion and checks."""

from collections.abc import Mapping, Sequence
from math import isfinite
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .compile import finite
from .kinematics import REFERENCES
from ..errors import ArgumentError, SingularityError, UnknownNameError
from ..model.robot import RobotModel

AXIS_LETTERS = 'xyzrpy'
# Singular value of a scaled Jacobian below which a task is singular: M_x, the inverse of a square,
# has no significant digits there
SINGULAR_RATIO = 1e-7
Wrenches = ArrayLike | Mapping[str, ArrayLike]


class BaseMotion(NamedTuple):
    """
    Motion of the base relative to an inertial frame, in the axes of the base.

    :param acceleration: (3,) [m/s²] of the origin of the base, without gravity.
    :param angular_velocity: (3,) [rad/s].
    :param angular_acceleration: (3,) [rad/s²].
    """

    acceleration: Sequence[float] = (0.0, 0.0, 0.0)
    angular_velocity: Sequence[float] = (0.0, 0.0, 0.0)
    angular_acceleration: Sequence[float] = (0.0, 0.0, 0.0)


def joint_vector(model: RobotModel, name: str, value: ArrayLike) -> ndarray:
    """
    Return ``value`` as a new float64 array (nv,).

    :raises ArgumentError: wrong shape, or an element that is not a finite number.
    """
    array = _array(name, value, [(model.nv,)], 'one number per joint, in the order of joint_names')
    # Several times faster than NumPy's isfinite for short arrays
    if not all(map(isfinite, array.tolist())):
        i = int(np.argmin(np.isfinite(array)))
        raise ArgumentError(f'{name}[{i}], of joint {model.joint_names[i]!r}, is {array[i]}',
                            name=name, value=array[i], remedy='use finite numbers')
    return array


def joint_matrices(model: RobotModel, given: Mapping[str, ArrayLike], *, check_finite: bool = True
                   ) -> list[ndarray]:
    """
    Return the values as float64 arrays (N, nv), one row per state, with the same N.

    :param check_finite: False leaves it to the kernel to notice elements that are not finite.
    :raises ArgumentError: wrong shape, or an element that is not a finite number.
    """
    arrays: list[ndarray] = []
    for name, value in given.items():
        array = numbers(name, value, f'(N, {model.nv})', own=False)
        count = len(arrays[0]) if arrays else len(array) if array.ndim else 0
        if array.shape != (count, model.nv):
            said = f' ({count}, {model.nv})' if arrays else f' (N, {model.nv})'
            raise ArgumentError(f'{name} has shape {array.shape}', name=name, value=array.shape,
                                remedy=f'pass an array of shape{said}: a row for each state')
        if check_finite and not finite()(array.reshape(-1)):
            k, i = np.argwhere(~np.isfinite(array))[0].tolist()
            raise ArgumentError(
                f'{name}[{k}, {i}], of joint {model.joint_names[i]!r}, is {array[k, i]}',
                name=name, value=array[k, i], remedy='use finite numbers')
        arrays.append(array)
    return arrays


def base_rows(base: BaseMotion, at_rest: ndarray) -> ndarray:
    """
    Return the motion of the base (3, 3) as the algorithms take it.

    :param at_rest: (3, 3) that of a base at rest.
    :raises ArgumentError: ``base`` is not a :class:`BaseMotion` of finite vectors (3,).
    """
    try:
        motion = BaseMotion(*base)
    except TypeError as error:
        raise ArgumentError(f'base is {base!r}', name='base', value=base,
                            remedy='pass a BaseMotion') from error
    acceleration, velocity, rate = (
        finite_array(f'base.{name}', value, (3,), None, 'x, y, z in the axes of the base')
        for name, value in motion._asdict().items())
    rows = np.array([velocity, rate, acceleration + at_rest[2]])
    rows.setflags(write=False)
    return rows


def check_options(options: Sequence[Any]) -> None:
    """Raise :class:`ArgumentError` for a frame, reference, axes or damping of the wrong type."""
    for (name, wanted), value in zip((
            ('frame', 'the name of a frame'), ('reference', f'one of {", ".join(REFERENCES)}'),
            ('axes', f'letters of {AXIS_LETTERS!r} as one text')), options):
        if not isinstance(value, str):
            raise ArgumentError(f'{name} is {value!r}', name=name, value=value,
                                remedy=f'use {wanted}')
    for value in options[3:]:
        damping_value(value)


def reference_code(reference: str) -> int:
    """
    Return the code of 'body', 'aligned' or 'world' in :mod:`~.kinematics`.

    :raises UnknownNameError: there is no such reference.
    """
    if not isinstance(reference, str) or reference not in REFERENCES:
        raise UnknownNameError('reference', reference, REFERENCES)
    return REFERENCES[reference]


def task_axes(axes: str) -> ndarray:
    """
    Return the rows (k,) of a Jacobian that letters of 'xyzrpy' select.

    x, y, z are translations along the axes, r, p, y rotations about them. A y that follows y, z,
    r or p is the rotation; upper-case R, P, Y are always rotations.

    :raises ArgumentError: another letter, or a repeated axis.
    """
    rows: list[int] = []
    for letter in axes:
        later = letter == 'y' and any(row > 0 for row in rows)
        place = 5 if later else ('xyzrp'.find(letter) if letter.islower()
                                 else AXIS_LETTERS.upper().find(letter, 3))
        rows.append(place)
    if not rows or min(rows) < 0 or len(set(rows)) < len(rows):
        raise ArgumentError(f'axes {axes!r} are not those of a task', name='axes', value=axes,
                            remedy=f'choose letters of {AXIS_LETTERS!r}, each once: motion along '
                                   'x, y, z, rotation about them')
    return np.array(rows, np.int64)


def damping_value(damping: Any) -> float:
    """Return ``damping`` as a float; raise :class:`ArgumentError` unless it is at least 0."""
    if not (isinstance(damping, Real) and 0.0 <= float(damping) < np.inf):
        raise ArgumentError(f'damping is {damping!r}', name='damping', value=damping,
                            remedy='use a number of at least 0, such as 1e-3')
    return float(damping)


def check_rank(jacobian: ndarray, rows: ndarray, axes: str, frame: str,
               damped: bool = False) -> None:
    """
    Raise an error for a task whose rows of a Jacobian (..., 6, nv) are linearly dependent.

    With damping, only for one whose rows are all zero. Linear rows are divided by the length of
    the longest linear column, so that the result does not depend on the size of the robot.

    :raises ArgumentError: there are fewer joints than rows, and no damping.
    :raises SingularityError: the task is singular; of several states, the first is named.
    """
    if jacobian.shape[-1] < len(rows) and not damped:
        raise ArgumentError(f'{len(rows)} axes {axes!r} of {jacobian.shape[-1]} joints',
                            name='axes', value=axes,
                            remedy=f'choose at most {jacobian.shape[-1]} of them, or damping')
    length = np.linalg.norm(jacobian[..., :3, :], axis=-2).max(-1)[..., None, None]
    scale = np.where(rows[:, None] < 3, np.where(length > 0.0, length, 1.0), 1.0)
    left, values, _ = np.linalg.svd(jacobian[..., rows, :] / scale, full_matrices=False)
    bad = values[..., 0 if damped else -1] < SINGULAR_RATIO
    if not bad.any():
        return
    at = tuple(np.argwhere(bad)[0]) if bad.ndim else ()
    lost = left[at][:, -1]
    direction = ' '.join(f'{share:+.2g} {letter}' for letter, share in zip(axes, lost)
                         if abs(share) > 0.01)
    raise SingularityError(
        f'frame {frame!r} cannot move along {direction}' + (f' in state {at[0]}' if at else ''),
        name=frame, value=lost, remedy='choose other axes, or stay away from such poses' if damped
        else 'choose other axes, stay away from such poses, or give damping, such as 1e-3')


def finite_array(name: str, value: Any, shape: tuple[int, ...], count: int | None, meaning: str,
                 rows: Sequence[str] = ()) -> ndarray:
    """
    Return ``value`` as a finite float64 array.

    :param shape: of the array, which may have ``count`` as a leading dimension.
    :param meaning: of the elements, for the message.
    :param rows: names of the rows, for the message.
    :raises ArgumentError: wrong shape, or an element that is not a finite number.
    """
    array = _array(name, value, [shape] if count is None else [shape, (count, *shape)], meaning)
    if not np.isfinite(array).all():
        row = int(np.argwhere(~np.isfinite(array))[0][-2]) if rows else 0
        what, bad = (f'{name} on {rows[row]!r}', array[..., row, :]) if rows else (name, array)
        raise ArgumentError(f'{what} is {bad}', name=name, value=array,
                            remedy='use finite numbers')
    return array


def _array(name: str, value: Any, shapes: list[tuple[int, ...]], meaning: str) -> ndarray:
    """Return ``value`` as an array of one of the shapes, see :func:`finite_array`."""
    array = numbers(name, value, f'{shapes[0]}: {meaning}')
    if array.shape not in shapes:
        raise ArgumentError(f'{name} has shape {array.shape}', name=name, value=array.shape,
                            remedy=f'pass an array of shape {" or ".join(map(str, shapes))}: '
                                   f'{meaning}')
    return array


def numbers(name: str, value: Any, wanted: str, own: bool = True) -> ndarray:
    """
    Return ``value`` as a float64 array of any shape.

    :param wanted: the shape, with its meaning, for the error.
    :param own: whether it has to be a new array.
    :raises ArgumentError: it is not an array of numbers.
    """
    try:
        if isinstance(value, ndarray) and value.dtype.kind == 'c':      # only warned of by NumPy
            raise TypeError('complex numbers')
        # Compiled code takes aligned, writable arrays
        if not own and type(value) is ndarray and value.dtype == float and value.flags.carray:
            return value
        return np.array(value, np.float64, order='C')
    except (TypeError, ValueError) as error:
        raise ArgumentError(f'{name} is not an array of numbers', name=name, value=value,
                            remedy=f'pass an array of shape {wanted}') from error


def link_wrenches(model: RobotModel, wrenches: Wrenches,
                  poses: Mapping[str, ndarray], reference: str, count: int | None = None,
                  ) -> ndarray:
    """
    Return external wrenches (..., nb, 6) at the origin of each body, in its axes.

    :param wrenches: (nb, 6), force [N] and moment [N·m] on each body, or a mapping from names of
        frames to (6,); with N states, N may be the leading dimension. Wrenches on the base have no
        effect.
    :param poses: (..., 4, 4) of the named frames, or of all links, unless ``reference`` is 'body'.
    :param reference: 'aligned', 'body' or 'world', point and axes of the given wrenches.
    :param count: number of states of a batch, None for a single state.
    :raises ArgumentError: wrong shape, or a number that is not finite.
    :raises UnknownNameError: the model has no such frame.
    """
    if not isinstance(wrenches, Mapping):
        array = finite_array('wrenches', wrenches, (model.nb, 6), count,
                             'force and moment on each moving body', model.link_names)
        if reference == 'body':
            return array
        return np.stack([in_frame(array[..., i, :], reference, poses[name])
                         for i, name in enumerate(model.link_names)], -2)
    total: list[Any] = [np.zeros(6)] * model.nb
    for name, value in wrenches.items():
        frame = model.frame(name)
        wrench = finite_array(f'wrenches[{name!r}]', value, (6,), count,
                              'force (3) and moment (3)')
        if frame.body < 0:
            continue
        if reference != 'body':
            wrench = in_frame(wrench, reference, poses[name])
        force = wrench[..., :3] @ frame.rotation.T
        moment = wrench[..., 3:] @ frame.rotation.T + np.cross(frame.origin, force)
        total[frame.body] = total[frame.body] + np.concatenate([force, moment], -1)
    return np.stack(np.broadcast_arrays(*total), -2)


def in_frame(wrench: ndarray, reference: str, pose: ndarray) -> ndarray:
    """Return a wrench at the origin and in the axes of a frame, given in axes of the base."""
    force, moment = wrench[..., :3], wrench[..., 3:]
    if reference == 'world':
        moment = moment - np.cross(pose[..., :3, 3], force)
    into = np.swapaxes(pose[..., :3, :3], -1, -2)
    force, moment = ((into @ v[..., None])[..., 0] for v in (force, moment))
    return np.concatenate([force, moment], -1)


def effort_slopes(jacobian: ndarray, wrench: ndarray, reference: str) -> ndarray:
    """
    Return the difference of ∂τ/∂q between constant wrenches in ``reference`` and in body axes.

    The efforts are τ = ... - Jᵀ w, with J and w in the axes of the frame ('body'). At unit rate of
    joint k, the frame rotates at ω and its origin moves at v, the columns k of J. The components
    of a wrench that is constant in the axes of the base then change at -ω × f and -ω × n; the
    moment of one at the origin of the base changes at -v × f in addition. -Jᵀ times these rates is
    added to ∂τ/∂q.

    :param jacobian: (..., 6, nv) of the frame, 'body'.
    :param wrench: (..., 6) on the frame, 'body'.
    :param reference: 'body', 'aligned' or 'world', in which the wrench is constant.
    :return: (..., nv, nv).
    """
    v, w = jacobian[..., :3, :], jacobian[..., 3:, :]
    f, n = wrench[..., :3, None], wrench[..., 3:, None]
    if reference == 'body':
        return np.zeros((*jacobian.shape[:-2], *2 * jacobian.shape[-1:]))
    turned = np.cross(w, n, axis=-2)
    if reference == 'world':
        turned = turned + np.cross(v, f, axis=-2)
    return np.swapaxes(jacobian, -1, -2) @ np.concatenate([np.cross(w, f, axis=-2), turned], -2)


class InverseDerivatives(NamedTuple):
    """Partial derivatives of inverse dynamics, (nv, nv) each; row i is that of τ[i]."""

    dtau_dq: ndarray
    dtau_dqd: ndarray
    mass_matrix: ndarray


class ForwardDerivatives(NamedTuple):
    """Partial derivatives of forward dynamics, (nv, nv) each; row i is that of q̈[i]."""

    dqdd_dq: ndarray
    dqdd_dqd: ndarray
    dqdd_dtau: ndarray


class TaskSpace(NamedTuple):
    """M_x (k, k), V_x (k,) and G_x (k,) of τ = Jᵀ (M_x ẍ + V_x + G_x), J the rows of the task."""

    inertia: ndarray
    velocity: ndarray
    gravity: ndarray


class VelocityTerms(NamedTuple):
    """
    Velocity term as ``coriolis @ products + centrifugal @ qd**2``.

    ``products``: q̇₁q̇₂, q̇₁q̇₃, ..., q̇₂q̇₃, ..., ``np.outer(qd, qd)[np.triu_indices(nv, 1)]``.
    """

    coriolis: ndarray
    centrifugal: ndarray
