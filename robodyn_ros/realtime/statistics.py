# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Figures over the latest samples of a loop, cheap to feed from inside of it."""

from collections.abc import Sequence

import numpy as np
from numpy import ndarray

from ..errors import ArgumentError


class Window:
    """
    The latest ``size`` samples of a quantity; one thread adds, any may ask.

    A question asked while samples come in sees each of them whole, some old, some new.
    """

    def __init__(self, size: int):
        if size < 1:
            raise ArgumentError(f'a window of {size} samples', name='size', value=size,
                                remedy='give a positive number')
        self._ring = np.zeros(size)
        self._size, self._next, self._full = size, 0, False

    def __len__(self) -> int:
        return self._size if self._full else self._next

    def add(self, x: float) -> None:
        """Take in a sample; the oldest one of a full window leaves."""
        self._ring[self._next] = x
        if self._next + 1 == self._size:
            self._full, self._next = True, 0
        else:
            self._next += 1

    def percentiles(self, percent: Sequence[float]) -> ndarray:
        """Return these percentiles [0..100], linearly interpolated; NaN without any sample."""
        if not len(self):
            return np.full(len(percent), np.nan)
        return np.percentile(self._ring[:len(self)], percent)

    def max(self) -> float:
        """Return the largest sample; NaN without any sample."""
        return float(self._ring[:len(self)].max()) if len(self) else float('nan')
