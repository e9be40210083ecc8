# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Calls of checked kernels from Python, by number of joint vectors.

A checked kernel (:func:`~.compile.generic_checked`, :func:`~.specialize.checked`) tests shape and
finiteness of float64 arrays in compiled code and returns whether it has written its output. All
other arguments (lists, other dtypes, invalid values) go to ``fallback``, whose checks take a few
microseconds, where most kernels take less than one. There is one function for each number of
vectors, since passing ``*vectors`` on costs several percent of a call.
"""

from collections.abc import Callable
from typing import Any

from numpy import empty, ndarray

CheckedKernel = Callable[..., bool]
Evaluator = Callable[..., ndarray]
# Raised by Numba for arrays that are not of float64, after a search for a conversion that takes
# many times as long as a call. Lists are common, and are distinguished before
NOT_FLOATS = TypeError, ValueError


def _of_one(kernel: CheckedKernel, memory: Any, shape: tuple[int, ...], fallback: Evaluator
            ) -> Evaluator:
    def evaluate(q: Any) -> ndarray:
        if type(q) is ndarray:
            out = empty(shape)
            try:
                if kernel(memory.address, q, out):
                    return out
            except NOT_FLOATS:
                pass
        return fallback(q)
    return evaluate


def _of_two(kernel: CheckedKernel, memory: Any, shape: tuple[int, ...], fallback: Evaluator
            ) -> Evaluator:
    def evaluate(q: Any, qd: Any) -> ndarray:
        if type(q) is type(qd) is ndarray:
            out = empty(shape)
            try:
                if kernel(memory.address, q, qd, out):
                    return out
            except NOT_FLOATS:
                pass
        return fallback(q, qd)
    return evaluate


def _of_three(kernel: CheckedKernel, memory: Any, shape: tuple[int, ...], fallback: Evaluator
              ) -> Evaluator:
    def evaluate(q: Any, qd: Any, third: Any) -> ndarray:
        if type(q) is type(qd) is type(third) is ndarray:
            out = empty(shape)
            try:
                if kernel(memory.address, q, qd, third, out):
                    return out
            except NOT_FLOATS:
                pass
        return fallback(q, qd, third)
    return evaluate


#: Evaluator of a checked kernel, by its number of joint vectors. ``memory.address`` is that of
#: the table of :func:`~.compile.memory`; code of one robot ignores it.
EVALUATORS = {1: _of_one, 2: _of_two, 3: _of_three}
