# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The dynamics of a robot: checked calls for people, bare kernels for compiled code, batches."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property, wraps
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from ..errors import ArgumentError
from ..model.robot import RobotModel
from .arguments import joint_matrices, joint_vector
from .bodies import Robot, workspace
from .compile import batch, generic, generic_checked, memory
from .methods import Loads, Methods
from .quantities import QUANTITIES
from .specialise import checked, states, together

ALONE = 64          # fewer states than this are not worth a second thread
# Quantities of one array that concern no frame, and whose method looks at nothing but its inputs
DIRECT = tuple(name for name, quantity in QUANTITIES.items()
               if len(quantity.outputs) == 1 and not quantity.options
               and ('1',) not in quantity.outputs.values() and name != 'center_of_mass')


class Dynamics(Methods):
    """
    Equation of motion of a robot: M(q) q̈ + C(q, q̇) q̇ + g(q) = τ + Σ Jᵀ wrench.

    Vectors are (nv,) in the order of ``model.joint_names``, in rad, m, s, N and N·m. Every method
    accepts anything array-like, returns a new float64 array, and raises :class:`ArgumentError`
    for a wrong shape or a value that is not finite. Rotor inertias (``model.armature``) are
    included, friction is not. Where no inertia resists some joint (``model.massless_joints``),
    what needs M⁻¹ raises :class:`InertiaError`. Any number of threads may use one object at once;
    calls release the GIL. The first call of a method on a machine compiles, for some seconds;
    later processes load the result.

    ``wrenches`` act *on* the robot: force [N], then moment [N·m]; as (nb, 6), on each moving body,
    or as a mapping from frame names to (6,), on any of ``model.frame_names``
    (:class:`UnknownNameError` otherwise). ``reference``, of wrenches, Jacobians and task space
    alike, says at which point and in which axes: 'aligned', the default, at the origin of the
    frame in the axes of the base; 'body' at the origin and in the axes of the frame; 'world' at
    the origin and in the axes of the base. So ``jacobian(q, frame).T @ wrench`` is what
    ``wrenches={frame: wrench}`` takes from the efforts. Earlier releases had other defaults: a
    FutureWarning tells who relies on one.

    ``base`` tells how a base that is not at rest moves, see :class:`~.arguments.BaseMotion`.

    :param specialize: compile code for this robot alone: several times faster, but each quantity
        takes seconds the first time that it is asked of this robot on a machine. What is too large
        for that, and says so in the log, is computed by the code for any robot; so are calls with
        wrenches or a base that moves. ``robodyn warmup`` compiles ahead of use.
    """

    def __init__(self, model: RobotModel, specialize: bool = False):
        super().__init__(model, specialize)
        self._mine = _PerThread(model, self._robot)
        for name in DIRECT:
            if (getattr(type(self), name) is getattr(Methods, name)     # no class overrides it
                    and not (model.massless_joints and QUANTITIES[name].inverts)):
                setattr(self, name, self._direct(name))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies, and other processes, make their own memory and load the code again."""
        return type(self), (self._model, self._specialize)

    def __repr__(self) -> str:
        special = ', specialize=True' if self._specialize else ''
        return f'Dynamics({self._model.name!r}, nv={self._model.nv}{special})'

    @cached_property
    def batch(self) -> Batch:
        """The same methods over N states at a time."""
        return Batch(self._model, specialize=self._specialize)

    def _number(self, array: ndarray) -> Any:
        return float(array[0])

    def _ask(self, name: str, given: tuple[ArrayLike, ...], options: tuple = (),
             loads: Loads | None = None) -> list[ndarray]:
        self._check_inverse(name)
        values = self._values(options)
        outputs = self._empty(name, values)
        inputs = [joint_vector(self._model, key, value)
                  for key, value in zip(QUANTITIES[name].inputs, given)]
        if self._has_code(options, loads):
            self.kernels.make(name, options)(*inputs, *outputs)
        else:
            generic(name)(self._robot, *values, *inputs, *self._loads(name, inputs[0], loads),
                          self._mine.work, *outputs)
        return outputs

    def _direct(self, name: str) -> Callable[..., ndarray]:
        """
        Return a method as the shortest way from Python to the compiled code.

        A few microseconds of Python around less than one of computing would be most of the time.
        So the compiled function looks at arrays itself; for all else there is the method.
        """
        method, empty = getattr(super(), name), np.empty
        (shape,) = (array.shape for array in self._empty(name, ()))
        function: Callable[..., bool] | None = None
        mine = SimpleNamespace(address=0) if self._specialize else self._mine

        @wraps(method)
        def direct(*given: Any, **named: Any) -> ndarray:
            nonlocal function
            if not named:
                if function is None:
                    function = checked(name, self._model.nv, self.kernels.make(name, ())) \
                        if self._specialize else generic_checked(name)
                out = empty(shape)
                try:
                    if function(mine.address, *given, out):
                        return out
                except TypeError:       # something else than float64 arrays of the inputs alone
                    pass
            return method(*given, **named)
        return direct


class Batch(Methods):
    """
    The methods of :class:`Dynamics` over N states: vectors are (N, nv), results (N, ...).

    Threads share the states; no Python runs per state. Wrenches may be the same for all states or
    have N as their first dimension; the motion of the base is the same for all. Errors name the
    first state that is at fault.

    :param threads: how many to use; None: as many as this process may run at once.
    :param specialize: as :class:`Dynamics` takes it.
    """

    def __init__(self, model: RobotModel, threads: int | None = None, specialize: bool = False):
        super().__init__(model, specialize)
        if threads is not None and threads < 1:
            raise ArgumentError(f'threads is {threads!r}', name='threads', value=threads,
                                remedy='give at least 1, or None for all that may run')
        self.threads = threads or _cpus()
        self._states = cache(self._make_states)

    def __reduce__(self) -> tuple[Any, ...]:
        """As :class:`Dynamics`."""
        return type(self), (self._model, self.threads, self._specialize)

    def __repr__(self) -> str:
        return f'Batch({self._model.name!r}, nv={self._model.nv}, threads={self.threads})'

    def _number(self, array: ndarray) -> Any:
        return array[:, 0]

    def _ask(self, name: str, given: tuple[ArrayLike, ...], options: tuple = (),
             loads: Loads | None = None) -> list[ndarray]:
        self._check_inverse(name)
        values = self._values(options)
        inputs = joint_matrices(self._model, dict(zip(QUANTITIES[name].inputs, given)))
        count = len(inputs[0])
        outputs = self._empty(name, values, (count,))
        if self._has_code(options, loads):
            of_one = self._states(name, options)

            def run(first: int, last: int) -> None:
                of_one(first, last, *inputs, *outputs)
        else:
            of_any, more = batch(name), self._loads(name, inputs[0], loads)
            if more:
                more = more[0].reshape(-1, self._model.nb, 6), more[1]

            def run(first: int, last: int) -> None:
                of_any(first, last, self._robot, *values, *inputs, *more, workspace(self._model),
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

    def _make_states(self, name: str, options: tuple) -> Callable[..., None]:
        return (together(name, self._robot, self._built_in(name, options))
                or states(name, self.kernels.make(name, options)))


def _cpus() -> int:
    """Return how many threads of this process may run at once."""
    if hasattr(os, 'sched_getaffinity'):        # Linux alone: others let any CPU be used
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _PerThread(threading.local):
    """A workspace that each thread gets anew."""

    def __init__(self, model: RobotModel, robot: Robot):
        self.work = workspace(model)
        self._table = memory(robot, self.work)
        self.address = self._table.ctypes.data
