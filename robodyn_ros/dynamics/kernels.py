# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled functions of one robot for the caller's own compiled code."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from .arguments import check_options
from .signatures import QUANTITIES

Kernel = Callable[..., None]


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
