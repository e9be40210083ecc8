# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The dynamics of a robot: checked calls for people, bare kernels for compiled code, batches."""

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from ..model.robot import RobotModel
from .arguments import joint_matrices, joint_vector
from .bodies import workspace
from .compile import batch, generic
from .kernels import Kernels
from .methods import Methods
from .quantities import QUANTITIES

ALONE = 64          # fewer states than this are not worth a second thread


class Dynamics(Methods):
    """
    Equation of motion of a robot: M(q) q̈ + C(q, q̇) q̇ + g(q) = τ + Σ Jᵀ wrench.

    Vectors are (nv,) in the order of ``model.joint_names``, in rad, m, s, N and N·m. Every method
    accepts anything array-like, returns a new float64 array, and raises :class:`ArgumentError`
    for a wrong shape or a value that is not finite. Rotor inertias (``model.armature``) are
    included, friction is not. Any number of threads may use one object at once; calls release the
    GIL. The first call of a method on a machine compiles, for some seconds; later processes load
    the result.

    ``wrenches`` act *on* the robot: force [N], then moment [N·m]; as (nb, 6), on each moving body,
    or as a mapping from frame names to (6,), on any of ``model.frame_names``
    (:class:`UnknownNameError` otherwise). With ``reference`` 'body' they are at the origin and in
    the axes of that frame, with 'aligned' at its origin and in the axes of the base, with 'world'
    at the origin and in the axes of the base.

    ``base`` tells how a base that is not at rest moves, see :class:`~.arguments.BaseMotion`.
    """

    def __init__(self, model: RobotModel):
        super().__init__(model)
        self._mine = _PerThread(model)

    def __repr__(self) -> str:
        return f'Dynamics({self._model.name!r}, nv={self._model.nv})'

    @cached_property
    def kernels(self) -> Kernels:
        """The same functions bare: for compiled code and for loops that cannot spare a check."""
        return Kernels(self._model, self._robot)

    @cached_property
    def batch(self) -> 'Batch':
        """The same methods over N states at a time."""
        return Batch(self._model)

    def _vectors(self, **arguments: ArrayLike) -> Sequence[ndarray]:
        return [joint_vector(self._model, name, value) for name, value in arguments.items()]

    def _number(self, array: ndarray) -> Any:
        return float(array[0])

    def _ask(self, name: str, options: Sequence[Any], inputs: Sequence[ndarray],
             loads: Sequence[ndarray] = ()) -> list[ndarray]:
        outputs = [np.empty([self._size(word, options) for word in shape])
                   for shape in QUANTITIES[name].outputs.values()]
        generic(name)(self._robot, *options, *inputs, *loads, self._mine.work, *outputs)
        return outputs


class Batch(Methods):
    """
    The methods of :class:`Dynamics` over N states: vectors are (N, nv), results (N, ...).

    Threads share the states; no Python runs per state. Wrenches may be the same for all states or
    have N as their first dimension; the motion of the base is the same for all. Errors name the
    first state that is at fault.

    :param threads: how many to use; None: as many as this process may run at once.
    """

    def __init__(self, model: RobotModel, threads: int | None = None):
        super().__init__(model)
        self.threads = threads or len(os.sched_getaffinity(0))

    def __repr__(self) -> str:
        return f'Batch({self._model.name!r}, nv={self._model.nv}, threads={self.threads})'

    def _vectors(self, **arguments: ArrayLike) -> Sequence[ndarray]:
        return joint_matrices(self._model, arguments)

    def _number(self, array: ndarray) -> Any:
        return array[:, 0]

    def _ask(self, name: str, options: Sequence[Any], inputs: Sequence[ndarray],
             loads: Sequence[ndarray] = ()) -> list[ndarray]:
        count = len(inputs[0])
        outputs = [np.empty([count, *(self._size(word, options) for word in shape)])
                   for shape in QUANTITIES[name].outputs.values()]
        if loads:
            loads = (loads[0].reshape(-1, self._model.nb, 6), *loads[1:])
        compiled = batch(name)

        def run(first: int, last: int) -> None:
            compiled(first, last, self._robot, *options, *inputs, *loads, workspace(self._model),
                     *outputs)

        workers = self.threads if count >= ALONE else 1
        bounds = np.linspace(0, count, workers + 1).astype(int).tolist()
        if workers == 1:
            run(0, count)
        else:
            with ThreadPoolExecutor(workers) as pool:
                for done in [pool.submit(run, *pair) for pair in zip(bounds, bounds[1:])]:
                    done.result()
        return outputs


class _PerThread(threading.local):
    """A workspace that each thread gets anew."""

    def __init__(self, model: RobotModel):
        self.work = workspace(model)
