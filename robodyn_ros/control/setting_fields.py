# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Fields of the settings: type, unit and range, declared beside the default, and their check."""

from dataclasses import Field, field
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np

from ..errors import ParameterError


def number(default: float, unit: str, lower: float, upper: float) -> Any:
    """Declare a number; an integer where the default is one."""
    return field(default=default, metadata={'unit': unit, 'lower': lower, 'upper': upper})


def numbers(unit: str, lower: float, upper: float, default: tuple[float, ...] = ()) -> Any:
    """Declare a list: with a default, of as many numbers; else one a joint, or one for all."""
    return field(default=default, metadata={'unit': unit, 'lower': lower, 'upper': upper})


def choice(*choices: str) -> Any:
    """Declare one of several words, of which the first is the default."""
    return field(default=choices[0], metadata={'choices': choices})


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
        if not isinstance(value, str) or (choices and value not in choices):
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
