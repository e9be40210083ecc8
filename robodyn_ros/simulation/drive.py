# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Drives of the simulated arm, with command timeout and brakes."""

from collections.abc import Callable

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .imperfections import Delay, Noise
from .plant import Plant, PlantState


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
