# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The bare functions of one robot."""

from collections.abc import Callable, Iterable

import numpy as np

from ..model.robot import RobotModel
from .arguments import damping_value, reference_code, task_axes
from .bodies import Robot, frame_record
from .compile import bind
from .quantities import QUANTITIES

Kernel = Callable[..., None]


class Kernels:
    """
    The compiled functions of one robot: nothing is checked, the last arguments are written.

    Each takes what its namesake of :class:`~.api.Dynamics` takes, and then one array for each
    array that this returns: ``gravity(q, tau)``, ``task_space(...)(q, qd, M, V, G)``; an energy is
    an array (1,). Arrays are float64 and C-contiguous; those that are written must not be any of
    the others. Nothing loads the robot, and its base is at rest. They hold no GIL, keep no state
    between calls, and can be called from the caller's own ``@numba.njit`` functions. Numbers that
    are not finite give results without meaning. Each is compiled, for a second or so, when it is
    first asked for, and loaded by later processes.

    What concerns a frame is made for that frame: ``pose('tool0')`` is the function of (q, T).
    """

    def __init__(self, model: RobotModel, robot: Robot):
        self._model, self._robot = model, robot

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *QUANTITIES]

    def __getattr__(self, name: str) -> Kernel:
        """Compile, or load, the function of a quantity that concerns no frame."""
        if name not in QUANTITIES:
            raise AttributeError(f'no kernel {name!r}')
        kernel = bind(name, self._robot)
        setattr(self, name, kernel)
        return kernel

    def pose(self, frame: str) -> Kernel:
        """Return ``pose(q, T)`` of a frame."""
        return bind('pose', self._robot, frame=frame_record(self._model, self._robot, frame))

    def jacobian(self, frame: str, reference: str = 'world') -> Kernel:
        """Return ``jacobian(q, J)`` of a frame."""
        return self._at('jacobian', frame, reference)

    def jacobian_dot(self, frame: str, reference: str = 'world') -> Kernel:
        """Return ``jacobian_dot(q, qd, Jd)`` of a frame."""
        return self._at('jacobian_dot', frame, reference)

    def task_space(self, frame: str, axes: str = 'xyzrpy', reference: str = 'body',
                   damping: float = 0.0) -> Kernel:
        """Return ``task_space(q, qd, M, V, G)`` of axes of a frame; not finite where singular."""
        return self._at('task_space', frame, reference, axes=task_axes(axes),
                        damping=damping_value(damping))

    def task_velocity_terms(self, frame: str, axes: str = 'xyzrpy', reference: str = 'body',
                            damping: float = 0.0) -> Kernel:
        """Return ``task_velocity_terms(q, B, C)`` of axes of a frame."""
        return self._at('task_velocity_terms', frame, reference, axes=task_axes(axes),
                        damping=damping_value(damping))

    def _at(self, name: str, frame: str, reference: str, **more: np.ndarray | float) -> Kernel:
        return bind(name, self._robot, frame=frame_record(self._model, self._robot, frame),
                    reference=reference_code(reference), **more)
