# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Evaluation of the quantities of a robot: arguments, options and external loads of kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .arguments import (
    base_rows,
    BaseMotion,
    check_options,
    damping_value,
    reference_code,
    task_axes,
)
from .kernels import Kernels
from .kinematics import BODY
from .model_data import dimensions, frame_record, ModelData, parameters
from .signatures import QUANTITIES
from .specialize import bind
from .wrenches import link_wrenches, Wrenches
from ..model.robot import RobotModel

# Conversion of the options that are names to arguments of compiled functions, in their order
RESOLVE: tuple[Callable[[RobotModel, ModelData, Any], Any], ...] = (
    frame_record, lambda _, __, reference: reference_code(reference),
    lambda _, __, axes: task_axes(axes))


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
