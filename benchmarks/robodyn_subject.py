# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The ways to ask robodyn_ros."""

from collections.abc import Callable, Iterator
from typing import Any

from numba import njit
import numpy as np
from numpy import ndarray
from robodyn_ros import Dynamics, RobotModel
from robodyn_ros.dynamics.api import Batch
from robodyn_ros.dynamics.entry_points import QUANTITIES

from .interleaved_timer import Contestant, from_python, STATES, States, timed

MANY = 1024         # states of a batch


def contestants(model: RobotModel, states: States, names: tuple[str, ...], loops: bool
                ) -> Iterator[tuple[tuple[str, str], Contestant]]:
    """
    Yield (quantity, way) and the contestant of each.

    :param loops: with those that are compared with compiled code only.
    """
    special, generic = Dynamics(model, specialize=True), Dynamics(model)
    one = Batch(model, threads=1, specialize=True)
    for name in names:
        inputs = states.inputs(len(QUANTITIES[name].inputs))
        kernel = getattr(special.kernels, name)
        if loops:
            yield (name, 'loop'), _loop(kernel, inputs, generic, name)
            yield (name, 'generic_loop'), _loop(getattr(generic.kernels, name), inputs, generic,
                                                name)
            yield (name, 'batch'), _batch(getattr(one, name), inputs)
        out = np.empty_like(getattr(generic, name)(*_at(inputs, 0)))
        arguments = dict(zip('qvw', _at(inputs, 0)))
        given = ', '.join(arguments)
        yield (name, 'call'), Contestant(
            from_python(f'f({given}, out)', f=kernel, out=out, **arguments),
            _writing(kernel, inputs, out))
        method = getattr(special, name)
        yield (name, 'checked_call'), Contestant(
            from_python(f'f({given})', f=method, **arguments),
            lambda k, method=method, inputs=inputs: method(*_at(inputs, k)))


def _at(inputs: tuple[ndarray, ...], k: int) -> list[ndarray]:
    return [table[k] for table in inputs]


def _writing(kernel: Callable, inputs: tuple[ndarray, ...], out: ndarray
             ) -> Callable[[int], ndarray]:
    def answer(k: int) -> ndarray:
        kernel(*_at(inputs, k), out)
        return out.copy()
    return answer


def _batch(method: Callable[..., ndarray], inputs: tuple[ndarray, ...]) -> Contestant:
    many = [np.tile(table, (MANY // STATES, 1)) for table in inputs]

    def run(calls: int) -> None:
        for _ in range(calls):
            method(*many)
    return Contestant(timed(run, MANY), lambda k: method(*many)[k])


def _loop(kernel: Any, inputs: tuple[ndarray, ...], dynamics: Dynamics, name: str) -> Contestant:
    """Return a loop of compiled code, as a controller's, that goes through the states."""
    # A row for each state: were there one alone, the compiler could move work out of the loop
    out = np.empty((STATES, *getattr(dynamics, name)(*_at(inputs, 0)).shape))
    if len(inputs) == 1:
        @njit
        def loop(count, q, out):
            s = 0
            for _ in range(count):
                kernel(q[s], out[s])
                s = s + 1 if s + 1 < STATES else 0
    else:
        @njit
        def loop(count, q, v, w, out):
            s = 0
            for _ in range(count):
                kernel(q[s], v[s], w[s], out[s])
                s = s + 1 if s + 1 < STATES else 0
    loop(STATES, *inputs, out)
    return Contestant(timed(lambda count: loop(count, *inputs, out)), lambda k: out[k])
