# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Declarations of control parameters (default, unit, range, doc, record), and value checks."""

from collections.abc import Callable, Sequence
from dataclasses import Field, field, fields
from difflib import get_close_matches
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy import ndarray

from .semidefinite import as_matrix, refusal
from ...errors import ParameterError

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
                   + (f'choose one of {", ".join(choices)}' if choices else 'give a text'))
        return value
    if isinstance(default, bool):
        if not isinstance(value, (bool, np.bool_)):
            refuse('give True or False')
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
            refuse(f'give {len(default)} numbers')
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
