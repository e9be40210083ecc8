# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Energy that a law and its friction compensation supply to the arm."""

from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray

from .plant import TICK

if TYPE_CHECKING:
    from .world import World

# Energy that is no violation: a share of the largest kinetic energy, which noise and delays may
# add, and the kinetic energy at so many velocity limits
SHARE, REST = 0.1, 0.02
# Share by which friction compensation may exceed twice the friction
EXCESS = 0.1


class Energy:
    """
    Energy of an arm in a world, in J.

    ``supplied`` is the largest work of the law and of friction since the arm has risen. A passive
    law, even one with springs, supplies nothing. Gravity compensation is left out: its errors move
    the arm, but within a potential.
    """

    def __init__(self, world: 'World'):
        n = world.plant.q.shape[0]
        self.supplied = self._net = self._kinetic = 0.0
        self._compensated = self._dissipated = self._threshold = 0.0
        self._mass, self._slow = np.zeros((n, n)), REST * world.plant.arm.model.velocity_limit

    def add(self, world: 'World', law: ndarray, compensation: ndarray, ticks: int) -> None:
        """
        Add the power in some ticks.

        :param law: (nv,) commanded efforts but gravity compensation [N·m | N].
        :param compensation: (nv,) part of them that compensates friction.
        """
        plant, seconds = world.plant, ticks * TICK
        dissipated = seconds * float(plant.friction_at(plant.qd) @ plant.qd)
        self._compensated += seconds * float((plant.drives.gain * compensation) @ plant.qd)
        self._dissipated += dissipated
        self._net += seconds * float((plant.drives.gain * law) @ plant.qd) - dissipated
        self.supplied = max(self.supplied, self._net)
        plant.dynamics.kernels.mass_matrix(plant.q, self._mass)
        self._kinetic = max(self._kinetic, 0.5 * float(plant.qd @ self._mass @ plant.qd))
        self._threshold = 0.5 * float(self._slow @ self._mass @ self._slow)

    @property
    def ratio(self) -> float | None:
        """Return compensated over true friction; None without compensation or motion."""
        known = self._compensated > 0.0 and self._dissipated > 0.0
        return self._compensated / self._dissipated if known else None

    def violations(self, floats: bool) -> dict[str, str]:
        """Return a sentence by the name of a broken criterion, for a law that floats or follows."""
        found = {}
        if floats and self.supplied > SHARE * self._kinetic + self._threshold:
            found['passive'] = f'the law supplies {self.supplied:.3g} J to an arm that floats'
        if (ratio := self.ratio) is not None and ratio > 2.0 + EXCESS:
            found['friction'] = f'{ratio:.3g} times the friction is compensated'
        return found
