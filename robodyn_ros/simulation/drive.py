# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Drives of the simulated arm: noise, delay, command timeout, brakes."""

from collections import deque
from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .plant import Plant, PlantState
from ..errors import ArgumentError


def nonnegative(name: str, value: Any) -> float:
    """Return a finite number of at least 0; raise :class:`ArgumentError` if it is none."""
    if not isinstance(value, (int, float, np.number)) or not 0.0 <= value < inf:
        raise ArgumentError(f'{name} is {value!r}', name=name, value=value,
                            remedy='use a finite number of at least 0')
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


class Drive:
    """
    Plant with the watchdog and the brakes of hardware.

    The brakes are engaged initially, and released by the first command that arrives or by
    :meth:`release`. After ``timeout`` seconds of the caller's clock without command (counted from
    the release, if there was none) they engage again, and delayed commands are discarded. Brakes
    engaged by a timeout or by :meth:`engage` stay engaged in spite of commands until
    :meth:`release` or :meth:`reset`: a late command was computed for an arm in another state.
    Without ``braking`` there are no brakes: a timeout sets the efforts to zero, and only a plant
    that compensates gravity then holds its pose.

    :param plant: simulated arm.
    :param initial: (nv,) [rad | m] position initially and after a reset.
    :param timeout: [s].
    :param braking: whether the arm has brakes.
    :param delay: [s] command delay in simulation time.
    :param noise: of the sensors; None for no noise.
    :param tell: called with one line of text for each event of interest.
    """

    def __init__(self, plant: Plant, *, initial: ArrayLike, timeout: float, braking: bool = True,
                 delay: float = 0.0, noise: Noise | None = None,
                 tell: Callable[[str], object] = lambda text: None):
        self.plant, self.timeout = plant, timeout
        self._initial, self._braking = initial, braking
        self._delay, self._noise, self._tell = Delay(delay), noise or Noise(), tell
        self._deadline: float | None = None     # for the next command, while some come
        self.reset()

    @property
    def held(self) -> bool:
        """Whether the brakes, engaged on request or by a timeout, stay engaged under commands."""
        return self._held

    @property
    def braking(self) -> bool:
        """Whether the arm has brakes; setting it to False releases them at once."""
        return self._braking

    @braking.setter
    def braking(self, braking: bool) -> None:
        if braking == self._braking:
            return
        self._braking = braking
        if not braking:
            self._held = False
            self._brake(False, 'they are disabled')
        elif self._deadline is None:
            self._brake(True, 'no command is in force')

    def reset(self) -> None:
        """Reset to the initial pose, at rest, with brakes engaged and without commands."""
        self._held = self._refused = False
        self._let_go()
        self.plant.brakes = self._braking
        self.plant.reset(self._initial)

    def command(self, tau: ndarray, now: float) -> None:
        """Accept efforts (nv,) [N·m | N] at ``now`` [s] of the caller's clock."""
        self._delay.send(tau, self.plant.time)
        self._deadline = now + self.timeout
        if self._held and not self._refused:
            self._refused = True
            self._tell('a command came: the brakes stay engaged until ~/reset or '
                       '~/release_brakes of the simulator')

    def watch(self, now: float) -> None:
        """Check the command timeout at ``now`` [s] of the caller's clock."""
        if self._deadline is not None and now > self._deadline:
            self.expire(self.timeout)

    def expire(self, silence: float) -> None:
        """Engage the brakes, or zero the efforts, after ``silence`` [s] without command."""
        self._let_go()
        reason = f'no command for {silence:g} s'
        if not self._braking:
            effect = ('only gravity is compensated' if self.plant.compensates_gravity
                      else 'efforts are zero')
            self._tell(f'{effect}: {reason}')
        elif not self.plant.brakes:
            self._held = True
            self._brake(True, reason)

    def engage(self) -> bool:
        """Engage the brakes on request; return False if the arm has none."""
        if self._braking:
            self._let_go()
            self._held = True
            self._brake(True, 'on request')
        return self._braking

    def release(self, now: float) -> None:
        """Release the brakes on request; without commands they engage again after the timeout."""
        self._held = False
        if self.plant.brakes:
            self._deadline = now + self.timeout
            self._brake(False, 'on request')

    def advance(self, periods: int = 1) -> None:
        """Simulate state periods, each with the newest command that has arrived."""
        for _ in range(periods):
            arrived = self._delay.arrived(self.plant.time)
            if arrived is not None:
                self._tau = arrived     # with engaged brakes too, for the first period after them
                if self.plant.brakes and not self._held:
                    self._brake(False, 'by a command')
            self.plant.step(self._tau)

    def state(self) -> PlantState:
        """Return the state with sensor noise."""
        return self._noise.apply(self.plant.state())

    def _let_go(self) -> None:
        self._tau = np.zeros(self.plant.model.nv)
        self._deadline = None
        self._delay.forget()

    def _brake(self, engaged: bool, reason: str) -> None:
        self.plant.brakes, self._refused = engaged, False
        self._tell(f'brakes {"engaged" if engaged else "released"}: {reason}')
