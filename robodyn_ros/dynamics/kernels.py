# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The bare functions of one robot."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from .arguments import check_options
from .default_reference import ALIGNED, chosen
from .signatures import QUANTITIES

Kernel = Callable[..., None]


class Kernels:
    """
    The compiled functions of one robot: nothing is checked, the last arguments are written.

    Each takes what its namesake of :class:`~.api.Dynamics` takes, and then one array for each
    array that this returns: ``gravity(q, tau)``, ``task_space(...)(q, qd, M, V, G)``; an energy is
    an array (1,). Arrays are float64 and C-contiguous; those that are written must not be any of
    the others. Nothing loads the robot, and its base is at rest. They hold no GIL, keep no state
    between calls, and can be called from the caller's own ``@numba.njit`` functions. Numbers that
    are not finite give results without meaning. Each is compiled when it is first asked for, and
    loaded by later processes.

    What concerns a frame is made for that frame: ``pose('tool0')`` is the function of (q, T).

    :param make: returns the compiled function of a quantity with options by name.
    """

    def __init__(self, make: Callable[[str, tuple], Kernel]):
        self._make = cache(make)

    def make(self, name: str, options: tuple) -> Kernel:
        """Return the function of a quantity, the same one for the same options."""
        check_options(options)
        return self._make(name, options)

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *QUANTITIES]

    def __getattr__(self, name: str) -> Kernel:
        """Compile, or load, the function of a quantity that concerns no frame."""
        if name not in QUANTITIES:
            raise AttributeError(f'no kernel {name!r}')
        return self.make(name, ())

    def pose(self, frame: str) -> Kernel:
        """Return ``pose(q, T)`` of a frame."""
        return self.make('pose', (frame,))

    def jacobian(self, frame: str, reference: str = ALIGNED) -> Kernel:
        """Return ``jacobian(q, J)`` of a frame."""
        reference = chosen(reference, 'world', 'kernels.jacobian()')
        return self.make('jacobian', (frame, reference))

    def jacobian_dot(self, frame: str, reference: str = ALIGNED) -> Kernel:
        """Return ``jacobian_dot(q, qd, Jd)`` of a frame."""
        reference = chosen(reference, 'world', 'kernels.jacobian_dot()')
        return self.make('jacobian_dot', (frame, reference))

    def task_space(self, frame: str, axes: str = 'xyzrpy', reference: str = ALIGNED,
                   damping: float = 0.0) -> Kernel:
        """
        Return ``task_space(q, qd, M, V, G)`` of axes of a frame.

        Where the task is singular they are without meaning: not finite, or very large.
        """
        reference = chosen(reference, 'body', 'kernels.task_space()')
        return self.make('task_space', (frame, reference, axes, damping))

    def task_velocity_terms(self, frame: str, axes: str = 'xyzrpy', reference: str = ALIGNED,
                            damping: float = 0.0) -> Kernel:
        """Return ``task_velocity_terms(q, B, C)`` of axes of a frame."""
        reference = chosen(reference, 'body', 'kernels.task_velocity_terms()')
        return self.make('task_velocity_terms', (frame, reference, axes, damping))
