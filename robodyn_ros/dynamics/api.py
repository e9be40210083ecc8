# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The dynamics of a robot: checked calls for people, bare kernels for compiled code."""

import threading
from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from ..model.robot import RobotModel
from .arguments import joint_vector, link_wrenches
from .bodies import Robot, axes, parameters, workspace
from .compile import bind, generic

Wrenches = ArrayLike | Mapping[str, ArrayLike]


class Dynamics:
    """
    Equation of motion of a robot: M(q) q̈ + C(q, q̇) q̇ + g(q) = τ + Σ Jᵀ wrench.

    Vectors are (nv,) in the order of ``model.joint_names``, in rad, m, s, N and N·m. Every method
    accepts anything array-like, returns a new float64 array, and raises :class:`ArgumentError`
    for a wrong shape or a value that is not finite. Rotor inertias (``model.armature``) are
    included, friction is not. Any number of threads may use one object at once; calls release the
    GIL. The first call on a machine compiles, for some seconds; later processes load the result.

    ``wrenches`` act *on* the robot: force [N], then moment [N·m]; as (nv, 6), at the origin and in
    the axes of each moving body's frame, or as a mapping from frame names to (6,), at the origin
    and in the axes of that frame, which may be any of ``model.frame_names``
    (:class:`UnknownNameError` otherwise).
    """

    def __init__(self, model: RobotModel):
        self._model = model
        self._robot = parameters(model)
        self._axes = axes(model)
        self._mine = _PerThread(model)
        self._unloaded = np.zeros((model.nv, 6))

    def __repr__(self) -> str:
        return f'Dynamics({self._model.name!r}, nv={self._model.nv})'

    @property
    def model(self) -> RobotModel:
        """The robot."""
        return self._model

    @cached_property
    def kernels(self) -> 'Kernels':
        """The same functions bare: for compiled code and for loops that cannot spare a check."""
        return Kernels(self._robot)

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                         wrenches: Wrenches | None = None) -> ndarray:
        """Return the joint efforts (nv,) [N·m | N] of a motion (:mod:`~.rnea`)."""
        q, qd, qdd = self._vectors(q=q, qd=qd, qdd=qdd)
        tau, loads = np.empty(self._model.nv), self._loads(wrenches)
        generic().inverse_dynamics(self._robot, q, qd, qdd, loads, self._mine.work, tau)
        return tau

    def gravity(self, q: ArrayLike) -> ndarray:
        """Return g(q) (nv,) [N·m | N]: the efforts that hold the robot still."""
        (q,) = self._vectors(q=q)
        tau = np.empty(self._model.nv)
        generic().gravity(self._robot, q, self._mine.work, tau)
        return tau

    def bias(self, q: ArrayLike, qd: ArrayLike) -> ndarray:
        """Return C(q, q̇)q̇ + g(q) (nv,) [N·m | N]: the efforts of motion without acceleration."""
        q, qd = self._vectors(q=q, qd=qd)
        tau = np.empty(self._model.nv)
        generic().bias(self._robot, q, qd, self._mine.work, tau)
        return tau

    def mass_matrix(self, q: ArrayLike) -> ndarray:
        """Return M(q) (nv, nv) [kg·m² | kg·m | kg], symmetric and positive (:mod:`~.crba`)."""
        (q,) = self._vectors(q=q)
        M = np.empty((self._model.nv, self._model.nv))
        generic().mass_matrix(self._robot, q, self._mine.work, M)
        return M

    def forward_dynamics(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike,
                         wrenches: Wrenches | None = None) -> ndarray:
        """Return the accelerations q̈ (nv,) [rad/s² | m/s²] efforts cause (:mod:`~.forward`)."""
        q, qd, tau = self._vectors(q=q, qd=qd, tau=tau)
        qdd, loads = np.empty(self._model.nv), self._loads(wrenches)
        generic().forward_dynamics(self._robot, q, qd, tau, loads, self._mine.work, qdd)
        return qdd

    def _vectors(self, **arguments: ArrayLike) -> list[ndarray]:
        return [joint_vector(self._model, name, value) for name, value in arguments.items()]

    def _loads(self, wrenches: Wrenches | None) -> ndarray:
        """Wrenches in the axes of the records."""
        if wrenches is None:
            return self._unloaded
        w = link_wrenches(self._model, wrenches).reshape(-1, 2, 3)
        return (w @ self._axes).reshape(-1, 6)


class Kernels:
    """
    The compiled functions of one robot: arrays in, the last argument is written, nothing checked.

    Arrays are float64, C-contiguous, (nv,), the mass matrix (nv, nv); the one that is written must
    not be one of the others. They hold no GIL, keep no state between calls, and can be called from
    the caller's own ``@numba.njit`` functions. Numbers that are not finite give results without
    meaning. Each is compiled, for under a second, when it is first asked for, and loaded by later
    processes.
    """

    def __init__(self, robot: Robot):
        self._robot = robot

    @cached_property
    def inverse_dynamics(self) -> Callable[[ndarray, ndarray, ndarray, ndarray], None]:
        """``inverse_dynamics(q, qd, qdd, tau)``."""
        return bind('inverse_dynamics', self._robot)

    @cached_property
    def gravity(self) -> Callable[[ndarray, ndarray], None]:
        """``gravity(q, tau)``."""
        return bind('gravity', self._robot)

    @cached_property
    def bias(self) -> Callable[[ndarray, ndarray, ndarray], None]:
        """``bias(q, qd, tau)``."""
        return bind('bias', self._robot)

    @cached_property
    def mass_matrix(self) -> Callable[[ndarray, ndarray], None]:
        """``mass_matrix(q, M)``."""
        return bind('mass_matrix', self._robot)

    @cached_property
    def forward_dynamics(self) -> Callable[[ndarray, ndarray, ndarray, ndarray], None]:
        """``forward_dynamics(q, qd, tau, qdd)``."""
        return bind('forward_dynamics', self._robot)


class _PerThread(threading.local):
    """A workspace that each thread gets anew."""

    def __init__(self, model: RobotModel):
        self.work = workspace(model)
