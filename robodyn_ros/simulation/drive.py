# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The drives of the simulated arm: they take commands, watch that more come, and brake."""

from collections.abc import Callable

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .imperfections import Delay, Noise
from .plant import Plant, PlantState


class Drive:
    """
    A plant with the watchdog and the brakes that hardware has.

    Brakes hold from the start. The first command that arrives releases them, or :meth:`release`.
    When no command has come for ``timeout`` seconds of the caller's clock (counted from the
    release, if none came at all) they engage again and commands under way are forgotten. Brakes
    engaged so, or by :meth:`engage`, stay, whatever is commanded, until :meth:`release` or
    :meth:`reset`: a command that comes late was computed for an arm that is elsewhere by now.
    With ``braking`` False nothing ever brakes: the timeout makes the commands zero, and only a
    plant that compensates gravity holds its pose then.

    :param initial: (nv,) position at the start and after a reset [rad | m].
    :param timeout: [s].
    :param delay: command delay [s] of simulation time.
    :param tell: gets one line for each thing that a person should know.
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
        """Whether brakes engaged by hand, or after a timeout, hold against commands."""
        return self._held

    @property
    def braking(self) -> bool:
        """Whether the arm has brakes at all; taking them away lets it go at once."""
        return self._braking

    @braking.setter
    def braking(self, braking: bool) -> None:
        if braking == self._braking:
            return
        self._braking = braking
        if not braking:
            self._held = False
            self._brake(False, 'there are none any more')
        elif self._deadline is None:
            self._brake(True, 'no command is in force')

    def reset(self) -> None:
        """Go back to the initial pose, at rest; braked if there are brakes, without commands."""
        self._held = self._refused = False
        self._let_go()
        self.plant.brakes = self._braking
        self.plant.reset(self._initial)

    def command(self, tau: ndarray, now: float) -> None:
        """Take a command (nv,) [N·m | N] at ``now`` [s] of the caller's clock."""
        self._delay.send(tau, self.plant.time)
        self._deadline = now + self.timeout
        if self._held and not self._refused:
            self._refused = True
            self._tell('a command came: the brakes stay engaged until they are released on '
                       'request')

    def watch(self, now: float) -> None:
        """Act if no command has come for too long."""
        if self._deadline is not None and now > self._deadline:
            self.expire(self.timeout)

    def expire(self, silence: float) -> None:
        """Do what is done after ``silence`` seconds without a command."""
        self._let_go()
        reason = f'no command for {silence:g} s'
        if not self._braking:
            left = ('gravity alone is held' if self.plant.compensates_gravity
                    else 'efforts are zero')
            self._tell(f'{left}: {reason}')
        elif not self.plant.brakes:
            self._held = True
            self._brake(True, reason)

    def engage(self) -> bool:
        """Brake by hand; False if the arm has no brakes."""
        if self._braking:
            self._let_go()
            self._held = True
            self._brake(True, 'on request')
        return self._braking

    def release(self, now: float) -> None:
        """Release the brakes by hand; without commands they engage again after the timeout."""
        self._held = False
        if self.plant.brakes:
            self._deadline = now + self.timeout
            self._brake(False, 'on request')

    def advance(self, periods: int = 1) -> None:
        """Let state periods pass; each takes the newest command that has arrived by then."""
        for _ in range(periods):
            arrived = self._delay.arrived(self.plant.time)
            if arrived is not None:
                self._tau = arrived     # under brakes too, so that on release no period is without
                if self.plant.brakes and not self._held:
                    self._brake(False, 'by a command')
            self.plant.step(self._tau)

    def state(self) -> PlantState:
        """Return what the sensors see."""
        return self._noise.apply(self.plant.state())

    def _let_go(self) -> None:
        self._tau = np.zeros(self.plant.model.nv)
        self._deadline = None
        self._delay.forget()

    def _brake(self, engaged: bool, reason: str) -> None:
        self.plant.brakes, self._refused = engaged, False
        self._tell(f'brakes {"engaged" if engaged else "released"}: {reason}')
