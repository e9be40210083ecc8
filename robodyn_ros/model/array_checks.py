# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of arrays from callers and files: finite, real, and of the expected shape."""

from typing import Any

import numpy as np
from numpy import ndarray

from ..errors import ArgumentError


def finite(what: str, given: Any, shape: tuple[int, ...], meaning: str = '') -> ndarray:
    """
    Return ``given`` as a new float64 array of this shape.

    :param what: description for the message; its first word is the name of the argument.
    :param meaning: unit and frame, for the remedy.
    :raises ArgumentError: it has another shape, or an element is not a finite real number.
    """
    try:
        array = np.array(given)
        if array.shape == shape and array.dtype.kind in 'biufO':
            array = array.astype(float)
            if np.isfinite(array).all():
                return array
    except (TypeError, ValueError):         # ragged, or objects that are not numbers
        pass
    wanted = f'finite numbers of shape {shape}' if shape else 'a finite number'
    raise ArgumentError(f'{what} is {given!r}', name=what.split()[0], value=given,
                        remedy=f'give {wanted}' + (f' {meaning}' if meaning else ''))
