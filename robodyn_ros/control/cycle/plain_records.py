# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Structured arrays whose records plain Python reads as compiled code does, ``records[i].field``.

As :class:`numpy.recarray`, in a fifth of its time: the views of the fields are made once.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy import ndarray


class Records:
    """
    Records of a structured array, which they share.

    :param array: of any shape; of one dimension if single records are read.
    """

    def __init__(self, array: ndarray):
        self._array, self._type = array, _record_type(array.dtype)
        self._records: list[Any] = [None] * len(array)
        self.shape = array.shape

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self._records)

    def __getitem__(self, index: Any) -> Any:
        """Return a record; for a slice or a field, an array."""
        if type(index) is not int and not isinstance(index, np.integer):
            return self._array[index]
        if (record := self._records[index]) is None:
            record = self._records[index] = self._type(self._array[index, ...])
        return record

    def __setitem__(self, index: Any, value: Any) -> None:
        """Write a record."""
        self._array[index] = value._array if isinstance(value, _Record) else value


class _Record:
    __slots__ = ('_array',)
    _array: ndarray


@cache
def _record_type(dtype: np.dtype) -> Any:
    """Return the class of a record: attributes for arrays, properties for numbers."""
    names = dtype.names or ()
    scalars = [name for name in names if not dtype[name].shape]

    def __init__(self: Any, array: ndarray) -> None:
        self._array = array
        for name in names:
            setattr(self, '_' + name if name in scalars else name, array[name])

    def number(name: str) -> property:
        slot = '_' + name

        def read(self: Any) -> Any:
            return getattr(self, slot)[()]

        def write(self: Any, value: Any) -> None:
            getattr(self, slot)[()] = value
        return property(read, write)
    slots = tuple('_' + name if name in scalars else name for name in names)
    return type('Record', (_Record,), {
        '__slots__': slots, '__init__': __init__,
        **{name: number(name) for name in scalars}})
