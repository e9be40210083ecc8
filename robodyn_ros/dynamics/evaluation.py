# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Evaluation of the quantities of a robot: arguments, options and external loads of kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy import empty, ndarray
from numpy.typing import ArrayLike

from .arguments import (
    base_rows, BaseMotion, check_options, damping_value, link_wrenches, reference_code, task_axes,
    Wrenches)
from .entry_points import QUANTITIES
from .kinematics import BODY
from .model_data import dimensions, frame_record, ModelData, parameters
from .specialize import bind
from ..model.robot import RobotModel

Kernel = Callable[..., None]
CheckedKernel = Callable[..., bool]
Evaluator = Callable[..., ndarray]
# Raised by Numba for arrays that are not of float64, after a search for a conversion that takes
# many times as long as a call. Lists are common, and are distinguished before
NOT_FLOATS = TypeError, ValueError
# Conversion of the options that are names to arguments of compiled functions, in their order
RESOLVE: tuple[Callable[[RobotModel, ModelData, Any], Any], ...] = (
    frame_record, lambda _, __, reference: reference_code(reference),
    lambda _, __, axes: task_axes(axes))


class Kernels:
    """
    Compiled functions of one robot, which write into their last arguments and check nothing.

    Each takes the joint vectors of the method of :class:`~.api.Dynamics` of the same name, then
    one output array for each array that the method returns: ``gravity(q, tau)``,
    ``task_space(...)(q, qd, M, V, G)``; an energy is an array (1,). Arrays are float64 and
    C-contiguous, with the shapes and units of the method; outputs must not overlap other
    arguments. There are no external wrenches, and the base is at rest. The functions release the
    GIL, keep no state between calls, and can be called from ``@numba.njit`` functions. Input that
    is not finite gives undefined results. Each function is compiled on first access; later
    processes load it.

    A function that concerns a frame is made for that frame: ``pose('tool0')`` is a function of
    (q, T).

    :param make: returns the compiled function of a quantity, given its name and options.

    >>> import numpy as np
    >>> from robodyn_ros import Dynamics, load_urdf
    >>> gravity = Dynamics(load_urdf('two_link')).kernels.gravity
    >>> tau = np.empty(2)
    >>> gravity(np.zeros(2), tau)
    """

    def __init__(self, make: Callable[[str, tuple], Kernel]):
        self._make = cache(make)

    def make(self, name: str, options: tuple) -> Kernel:
        """
        Return the function of a quantity, the same one for the same options.

        :param name: of the quantity.
        :param options: frame, reference, axes and damping, as far as the quantity has them.
        :raises ArgumentError: an option has the wrong type.
        :raises UnknownNameError: the model has no such frame, or there is no such reference.
        :raises InertiaError: the quantity needs M⁻¹, and no inertia resists some joint.
        """
        check_options(options)
        return self._make(name, options)

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *QUANTITIES]

    def __getattr__(self, name: str) -> Kernel:
        """Return the function of a quantity without options."""
        if name not in QUANTITIES:
            raise AttributeError(f'no kernel {name!r}')
        return self.make(name, ())

    def pose(self, frame: str) -> Kernel:
        """Return the function (q, T) of the pose of a frame, T (4, 4)."""
        return self.make('pose', (frame,))

    def jacobian(self, frame: str, reference: str = 'aligned') -> Kernel:
        """Return the function (q, J) of the Jacobian of a frame, J (6, nv)."""
        return self.make('jacobian', (frame, reference))

    def jacobian_dot(self, frame: str, reference: str = 'aligned') -> Kernel:
        """Return the function (q, qd, Jd) of the Jacobian's rate of a frame, Jd (6, nv)."""
        return self.make('jacobian_dot', (frame, reference))

    def task_space(self, frame: str, axes: str = 'xyzrpy', reference: str = 'aligned',
                   damping: float = 0.0) -> Kernel:
        """
        Return the function (q, qd, M, V, G) of k axes of a frame: M (k, k), V (k,), G (k,).

        In a singular pose the results are undefined: not finite, or very large.
        """
        return self.make('task_space', (frame, reference, axes, damping))

    def task_velocity_terms(self, frame: str, axes: str = 'xyzrpy', reference: str = 'aligned',
                            damping: float = 0.0) -> Kernel:
        """Return the function (q, B, C) of k axes: B (k, nv (nv - 1) / 2), C (k, nv)."""
        return self.make('task_velocity_terms', (frame, reference, axes, damping))


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


class Loads(NamedTuple):
    """External loads: wrenches, the reference in which they are given, and the base motion."""

    wrenches: Wrenches | None
    reference: str
    base: BaseMotion | None


def external_loads(wrenches: Wrenches | None, reference: str, base: BaseMotion | None
                   ) -> Loads | None:
    """Return the loads of a call; None without wrenches on a base at rest."""
    if wrenches is None:
        return None if base is None else Loads(None, 'body', base)
    return Loads(wrenches, reference, base)


class _Evaluators(dict[str, Callable[..., ndarray]]):
    """Functions of joint vectors by name of the quantity, each made when it is first used."""

    def __init__(self, make: Callable[[str], Callable[..., ndarray]]):
        super().__init__()
        self._make = make

    def __missing__(self, name: str) -> Callable[..., ndarray]:
        evaluator = self[name] = self._make(name)
        return evaluator


class Evaluation:
    """
    Evaluation of quantities by compiled kernels, for :class:`~.api.Dynamics` and its batches.

    :param specialize: whether to compile kernels for this robot, see :class:`~.api.Dynamics`.
    """

    def __init__(self, model: RobotModel, specialize: bool):
        self._model, self._specialize = model, specialize
        self._robot = parameters(model)
        self._sizes = dimensions(model.nb, model.nv)
        self._axes = self._robot.axes.reshape(-1, 3, 3)
        self._options: dict[tuple, list[Any]] = {}
        self._unloaded = np.zeros((model.nb, 6))
        self._evaluate = _Evaluators(self._evaluator)

    @property
    def model(self) -> RobotModel:
        """Return the robot model."""
        return self._model

    @cached_property
    def kernels(self) -> Kernels:
        """Compiled functions of this robot for the caller's own compiled code, unchecked."""
        def make(name: str, options: tuple) -> Callable[..., None]:
            self._check_inverse(name)
            return bind(name, self._robot, self._specialize, self._built_in(name, options))
        return Kernels(make)

    def _compute(self, name: str, vectors: tuple[ArrayLike, ...], options: tuple = (),
                 loads: Loads | None = None) -> list[ndarray]:
        """Return the outputs of a quantity, with options as the public methods take them."""
        raise NotImplementedError

    def _evaluator(self, name: str) -> Callable[..., ndarray]:
        """Return the function of joint vectors that computes a quantity of one array."""
        return lambda *vectors: self._compute(name, vectors)[0]

    def _number(self, array: ndarray) -> Any:
        """Return an output of shape (1,) as a number, one per state."""
        raise NotImplementedError

    def _check_inverse(self, name: str) -> None:
        """Raise :class:`InertiaError` if a quantity needs M⁻¹, and M has no inverse."""
        if QUANTITIES[name].inverts_mass_matrix:
            self._model.require_inertia(name)

    def _built_in(self, name: str, options: tuple) -> dict[str, Any]:
        return dict(zip(QUANTITIES[name].options, self._values(options)))

    def _values(self, options: tuple) -> list[Any]:
        """Return options as arguments of compiled functions."""
        # Damping may differ in each call: caching it would fill the memory
        named, numbers = options[:3], options[3:]
        try:
            known = self._options[named]
        except (KeyError, TypeError):       # TypeError: an unhashable object instead of a name
            check_options(options)
            known = self._options[named] = [resolve(self._model, self._robot, value)
                                            for resolve, value in zip(RESOLVE, named)]
        return known + [damping_value(value) for value in numbers]

    def _has_own_kernel(self, options: tuple, loads: Loads | None) -> bool:
        """
        Return whether a call can use a kernel of this robot.

        Those are without loads, and would have to be compiled for each value of damping.
        """
        return self._specialize and loads is None and not any(options[3:])

    def _empty(self, name: str, options: Sequence[Any], first: tuple[int, ...] = ()
               ) -> list[ndarray]:
        """Return new arrays for the outputs of a quantity."""
        size = self._sizes | {'k': len(options[2])} if len(options) > 2 else self._sizes
        return [np.empty(first + tuple(size[word] for word in shape))
                for shape in QUANTITIES[name].outputs.values()]

    def _load_arguments(self, name: str, q: ndarray, loads: Loads | None) -> tuple[ndarray, ...]:
        """Return wrenches (..., nb, 6) in the axes of the records, and the motion of the base."""
        if not QUANTITIES[name].takes_external_wrench:
            return ()
        wrenches, reference, base = loads or Loads(None, 'body', None)
        base_motion = self._robot.base if base is None else base_rows(base, self._robot.base)
        if wrenches is None:
            return self._unloaded, base_motion
        named = wrenches if isinstance(wrenches, Mapping) else self._model.link_names
        poses = {name: self._compute('pose', (q,), (name,))[0] for name in named
                 } if reference_code(reference) != BODY else {}
        on_links = link_wrenches(self._model, wrenches, poses, reference,
                                 len(q) if q.ndim > 1 else None)
        w = on_links.reshape(*on_links.shape[:-1], 2, 3) @ self._axes
        w[..., 1, :] += np.cross(self._robot.origins, w[..., 0, :])
        return np.ascontiguousarray(w.reshape(on_links.shape)), base_motion
