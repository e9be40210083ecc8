# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Sensor noise, resolution of encoders, and command delay."""

from collections import deque
from math import inf
from typing import Any

import numpy as np
from numpy import ndarray

from .plant import PlantState
from ..errors import ArgumentError


def nonnegative(name: str, value: Any) -> float:
    """Return a finite number of at least 0; raise :class:`ArgumentError` if it is none."""
    if not isinstance(value, (int, float, np.number)) or not 0.0 <= value < inf:
        raise ArgumentError(f'{name} is {value!r}', name=name, value=value,
                            remedy='give a finite number of at least 0')
    return float(value)


class Noise:
    """
    Gaussian noise, independent for each joint and sample, and reproducible.

    :param position: [rad | m] standard deviation.
    :param velocity: [rad/s | m/s] standard deviation.
    :param effort: [N·m | N] standard deviation.
    :param seed: of the random generator.
    :param resolution: step of the encoders, to which positions are rounded [rad | m]; 0: none.
    :raises ArgumentError: one of them is negative or not finite.
    """

    def __init__(self, position: float = 0.0, velocity: float = 0.0, effort: float = 0.0,
                 seed: int = 0, resolution: float = 0.0):
        self._deviations = {name: nonnegative(name, value) for name, value in (
            ('position', position), ('velocity', velocity), ('effort', effort))}
        self._random = np.random.default_rng(seed)
        self._resolution = nonnegative('resolution', resolution)

    def apply(self, state: PlantState) -> PlantState:
        """Return the state with noise."""
        noisy = state._replace(**{
            name: getattr(state, name) + self._random.normal(0.0, deviation, state.position.shape)
            for name, deviation in self._deviations.items() if deviation})
        if self._resolution:
            noisy = noisy._replace(
                position=self._resolution * np.round(noisy.position / self._resolution))
        return noisy


class Delay:
    """Queue of commands, each of which arrives ``delay`` [s] of simulation time after sending."""

    def __init__(self, delay: float = 0.0):
        self.delay = nonnegative('delay', delay)
        self._under_way: deque[tuple[float, ndarray]] = deque()

    def send(self, tau: ndarray, time: float) -> None:
        """Send a command at ``time`` [s]."""
        self._under_way.append((time + self.delay, tau))

    def arrived(self, time: float) -> ndarray | None:
        """Return the newest command that has arrived by ``time`` [s], None if none is new."""
        newest = None
        # Times are sums of periods: a rounding error must not delay by a whole period
        while self._under_way and self._under_way[0][0] <= time + 1e-9:
            newest = self._under_way.popleft()[1]
        return newest

    def forget(self) -> None:
        """Discard all commands that have not arrived."""
        self._under_way.clear()
