# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Dynamics of a robot, of one state or of many."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
import os
import threading
from types import SimpleNamespace
from typing import Any, NamedTuple

from numpy import ndarray
from numpy.typing import ArrayLike

from .arguments import joint_matrices, joint_vector
from .compile import address_table, batch, generic, generic_checked
from .entry_points import QUANTITIES
from .evaluation import EVALUATORS, Loads
from .llvm_code import SIMD_LANES
from .model_data import ModelData, workspace
from .queries import Queries
from .specialize import checked, simd_batch, state_loop
from ..errors import ArgumentError
from ..model.robot import RobotModel

# Fewer states than this are not worth waking a second thread, which takes some 30 µs
MIN_THREADED_STATES, MIN_THREADED_SIMD_STATES = 64, 2048


class StateLoop(NamedTuple):
    """Compiled code of one robot for a range of states."""

    kernel: Callable[..., bool | None]
    notices_non_finite: bool        # returns whether all inputs are finite


class Dynamics(Queries):
    """
    Equation of motion of a robot: M(q) q̈ + C(q, q̇) q̇ + g(q) = τ + Σ Jᵀ w.

    Vectors are (nv,) in the order of ``model.joint_names``, in rad, m, s, N and N·m. All methods
    accept array-likes, return new float64 arrays, and raise :class:`ArgumentError` for a wrong
    shape or a number that is not finite. Rotor inertias (``model.armature``) are included,
    friction is not. If no inertia resists some joint (``model.massless_joints``), methods that
    need M⁻¹ raise :class:`InertiaError`. Any number of threads may use one object at once; calls
    release the GIL. The first call of a method on a machine compiles for some seconds; later
    processes load the result.

    External wrenches w act *on* the robot: force [N], then moment [N·m]. They are given as an
    array (nb, 6), one row per moving body, or as a mapping from names in ``model.frame_names`` to
    (6,); other names raise :class:`UnknownNameError`. The argument ``reference`` of wrenches,
    Jacobians and tasks selects point and axes: 'aligned', the default, the origin of the frame
    and the axes of the base; 'body' the origin and the axes of the frame; 'world' the origin and
    the axes of the base. With the same reference, ``jacobian(q, frame).T @ wrench`` is what
    ``wrenches={frame: wrench}`` subtracts from the efforts.

    The argument ``base`` is the motion of a base that is not at rest, see
    :class:`~.arguments.BaseMotion`.

    :param model: the robot.
    :param specialize: whether to compile code for this robot, which is several times faster, but
        takes seconds per quantity the first time on a machine. Quantities that are too large for
        that (a warning is logged), calls with wrenches, and calls with a moving base use generic
        code. ``robodyn check-machine --compile`` does so ahead.

    >>> from robodyn_ros import Dynamics, load_urdf
    >>> dynamics = Dynamics(load_urdf('two_link'))
    >>> dynamics
    Dynamics('two_link', nv=2)
    >>> dynamics.mass_matrix([0.3, 0.5]).shape
    (2, 2)
    """

    def __init__(self, model: RobotModel, specialize: bool = False):
        super().__init__(model, specialize)
        self._memory = _PerThread(model, self._robot)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the arguments: copies have their own workspace and load the code again."""
        return type(self), (self._model, self._specialize)

    def __repr__(self) -> str:
        special = ', specialize=True' if self._specialize else ''
        return f'Dynamics({self._model.name!r}, nv={self._model.nv}{special})'

    @cached_property
    def batch(self) -> Batch:
        """Return the same methods for N states at a time, in parallel."""
        return Batch(self._model, specialize=self._specialize)

    def _number(self, array: ndarray) -> Any:
        return float(array[0])

    def _compute(self, name: str, vectors: tuple[ArrayLike, ...], options: tuple = (),
                 loads: Loads | None = None) -> list[ndarray]:
        self._check_inverse(name)
        values = self._values(options)
        outputs = self._empty(name, values)
        inputs = [joint_vector(self._model, key, value)
                  for key, value in zip(QUANTITIES[name].inputs, vectors)]
        if self._has_own_kernel(options, loads):
            self.kernels.make(name, options)(*inputs, *outputs)
        else:
            external = self._load_arguments(name, inputs[0], loads)
            generic(name)(self._robot, *values, *inputs, *external, self._memory.work, *outputs)
        return outputs

    def _evaluator(self, name: str) -> Callable[..., ndarray]:
        """
        Return a function of joint vectors with little Python around the kernel.

        See :data:`~.evaluation.EVALUATORS`.
        """
        self._check_inverse(name)
        (shape,) = (array.shape for array in self._empty(name, ()))
        checked_kernel = checked(name, self._model.nv, self.kernels.make(name, ())) \
            if self._specialize else generic_checked(name)
        memory = SimpleNamespace(address=0) if self._specialize else self._memory
        return EVALUATORS[len(QUANTITIES[name].inputs)](checked_kernel, memory, shape,
                                                        super()._evaluator(name))


class Batch(Queries):
    """
    Methods of :class:`Dynamics` for N states at a time: vectors are (N, nv), results (N, ...).

    The states are divided among threads that run compiled code only. With ``specialize``, four
    states at a time are computed in vector registers and the rest one by one, so that the last
    bits of a result may depend on N. Wrenches have N as their first dimension, or are the same for
    all states; the base motion is the same for all. Errors name the first state that caused them.

    :param model: the robot.
    :param threads: number of threads; None for the number of available CPUs.
    :param specialize: as in :class:`Dynamics`.
    :raises ArgumentError: ``threads`` is less than 1.

    >>> from robodyn_ros import Dynamics, load_urdf
    >>> batch = Dynamics(load_urdf('two_link')).batch
    >>> batch.gravity([[0.0, 0.0], [0.3, 0.5], [0.6, 1.0]]).shape
    (3, 2)
    """

    def __init__(self, model: RobotModel, threads: int | None = None, specialize: bool = False):
        super().__init__(model, specialize)
        if threads is not None and threads < 1:
            raise ArgumentError(f'threads is {threads!r}', name='threads', value=threads,
                                remedy='use at least 1, or None for one per available CPU')
        self.threads = threads or cpus()
        self._state_loop = cache(self._make_state_loop)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the arguments, as :class:`Dynamics` does."""
        return type(self), (self._model, self.threads, self._specialize)

    def __repr__(self) -> str:
        return f'Batch({self._model.name!r}, nv={self._model.nv}, threads={self.threads})'

    def _number(self, array: ndarray) -> Any:
        return array[:, 0]

    def _compute(self, name: str, vectors: tuple[ArrayLike, ...], options: tuple = (),
                 loads: Loads | None = None) -> list[ndarray]:
        self._check_inverse(name)
        values = self._values(options)
        own = self._state_loop(name, options) if self._has_own_kernel(options, loads) else None
        given = dict(zip(QUANTITIES[name].inputs, vectors))
        inputs = joint_matrices(self._model, given,
                                check_finite=not (own and own.notices_non_finite))
        count = len(inputs[0])
        outputs = self._empty(name, values, (count,))
        if own:
            def run(first: int, last: int) -> bool | None:
                return own.kernel(first, last, *inputs, *outputs)
        else:
            kernel, external = batch(name), self._load_arguments(name, inputs[0], loads)
            if external:
                external = external[0].reshape(-1, self._model.nb, 6), external[1]

            def run(first: int, last: int) -> bool | None:
                return kernel(first, last, self._robot, *values, *inputs, *external,
                              workspace(self._model), *outputs)
        fewest = MIN_THREADED_SIMD_STATES if own and own.notices_non_finite else (
            MIN_THREADED_STATES)
        if not divided(run, count, self.threads if count >= fewest else 1):
            joint_matrices(self._model, given)      # which names the element
        return outputs

    def _make_state_loop(self, name: str, options: tuple) -> StateLoop:
        kernel = self.kernels.make(name, options)
        if simd := simd_batch(name, self._robot, self._built_in(name, options), kernel):
            return StateLoop(simd, True)
        return StateLoop(state_loop(name, kernel), False)


def divided(run: Callable[[int, int], bool | None], count: int, workers: int) -> bool:
    """
    Divide N states among threads, of which this is one; return whether all went well.

    :param run: takes the first state and the end of a range; False: it did not go well.
    """
    if workers == 1:
        return run(0, count) is not False
    # Whole groups of SIMD lanes, but for the last
    bounds = [count * i // workers // SIMD_LANES * SIMD_LANES for i in range(workers)]
    pairs = [*zip(bounds, [*bounds[1:], count])]
    others = [_pool(workers, os.getpid()).submit(run, *pair) for pair in pairs[1:]]
    return all([run(*pairs[0]) is not False, *(done.result() is not False for done in others)])


@cache
def _pool(workers: int, process: int) -> ThreadPoolExecutor:
    """Return threads that wait for parts of batches; those of a process end in a forked one."""
    return ThreadPoolExecutor(workers, 'batch')


def cpus() -> int:
    """Return the number of CPUs that this process may use."""
    if hasattr(os, 'sched_getaffinity'):        # Linux only
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _PerThread(threading.local):
    """Workspace of each thread, and the address of its table (:func:`~.compile.address_table`)."""

    def __init__(self, model: RobotModel, robot: ModelData):
        self.work = workspace(model)
        self._table = address_table(robot, self.work)
        self.address = self._table.ctypes.data
