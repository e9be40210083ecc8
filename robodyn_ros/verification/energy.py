# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Energy of a law that floats and of friction compensation: neither may drive the arm."""

from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray

from .plant import TICK

if TYPE_CHECKING:
    from .world import World

EVERY = 5               # ticks between two powers
# Energy that is no violation: a share of the largest kinetic energy, which delays of gravity
# compensation may add, and the kinetic energy at so many velocity limits
SHARE, REST = 0.1, 0.02
# Share by which friction compensation may exceed twice the friction
EXCESS = 0.1


class Energy:
    """
    Energy of an arm in a world, in J.

    Of a law without reference, ``supplied`` is the largest work of the drives less that of
    friction since the arm has risen. Hands and errors of the gravity term are left out: these
    move the arm, but within a potential. A passive law, even one with springs, supplies nothing.
    """

    def __init__(self, world: 'World'):
        n = world.plant.q.shape[0]
        self.supplied = self._net = self._kinetic = 0.0
        self._compensated = self._dissipated = self._threshold = 0.0
        self._weight, self._mass = np.zeros(n), np.zeros((n, n))
        self._slow = REST * world.plant.arm.model.velocity_limit

    def add_floating(self, world: 'World') -> None:
        """Add the power of EVERY ticks of a law without reference."""
        plant, weight = world.plant, self._weight
        power = (plant.applied - plant.external) @ plant.qd
        if plant.drives.compensate_gravity:
            plant.dynamics.kernels.gravity(plant.q, weight)
            power -= weight @ plant.qd
        if not world.settings.robot_compensates_gravity:
            world.arm.dynamics.kernels.gravity(plant.q, weight)
            power -= (plant.drives.gain * weight) @ plant.qd
        self._net += EVERY * TICK * float(power)
        self.supplied = max(self.supplied, self._net)
        plant.dynamics.kernels.mass_matrix(plant.q, self._mass)
        self._kinetic = max(self._kinetic, 0.5 * float(plant.qd @ self._mass @ plant.qd))
        self._threshold = 0.5 * float(self._slow @ self._mass @ self._slow)

    def add_compensation(self, world: 'World', friction: ndarray, ticks: int) -> None:
        """Add the power of friction compensation (nv,) [N·m | N] and of friction in some ticks."""
        plant = world.plant
        self._compensated += ticks * TICK * float(friction @ plant.qd)
        self._dissipated += ticks * TICK * float(plant.friction_at(plant.qd) @ plant.qd)

    @property
    def ratio(self) -> float | None:
        """Return compensated over true friction; None without compensation or motion."""
        known = self._compensated > 0.0 and self._dissipated > 0.0
        return self._compensated / self._dissipated if known else None

    def violations(self) -> dict[str, str]:
        """Return a sentence by the name of a broken criterion."""
        found = {}
        if self.supplied > SHARE * self._kinetic + self._threshold:
            found['passive'] = f'the law supplies {self.supplied:.3g} J to an arm that floats'
        if (ratio := self.ratio) is not None and ratio > 2.0 + EXCESS:
            found['friction'] = f'{ratio:.3g} times the friction is compensated'
        return found
