# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Control cycle in plain Python, in which a debugger can stop: slow, and the same.

Plain Python reads the records of :class:`Records` as compiled code does, ``records[i].field``, in
a fifth of the time of :class:`numpy.recarray`: the views of the fields are made once.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from numpy import ndarray

from .ring_buffer import recorded_cycle
from ..steps.cycle_data import Cycle


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


def prepared(c: Cycle) -> Callable[[float, ndarray], bool]:
    """
    Return a function of ``now`` and ``tau``.

    It is equivalent to the compiled :func:`.recorded_cycle`.
    """
    return partial(recorded_cycle, fields_readable(c))


def fields_readable(c: Cycle) -> Cycle:
    """Return the data with fields that Python reads as compiled code does, and no kernels."""
    c = _readable(c)
    return c._replace(
        robot=c.robot._replace(addresses=np.zeros_like(c.robot.addresses)),
        task=c.task._replace(kernel=np.zeros_like(c.task.kernel)), settings=c.settings[0],
        cycle_input=c.cycle_input[0], controller=c.controller[0])


def _readable(value: Any) -> Any:
    """Return a tuple, and the tuples in it, with all structured arrays as :class:`.Records`."""
    if isinstance(value, tuple):
        return type(value)(*map(_readable, value))      # type: ignore[arg-type]
    return Records(value) if value.dtype.names else value
