# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Velocities of a partner or a planner, compared with the positions that come with them.

Positions are compared with what came before, velocities act through damping: their noise would
become an oscillating effort.
"""

from collections.abc import Sequence

import numpy as np
from numpy import ndarray

from ...errors import ArgumentError

MAX_ERROR = 3.0    # MAX_EXCESS, of one message: a single one is not enough
RISE_TIME, FALL_TIME = 0.02, 0.2    # s, of the mean
MAX_INTERVAL = 0.1    # s between two messages of one motion
MAX_EXCESS = 0.03    # effort limits; from 0.05 on a reversal is one of guard.EFFORT_OSCILLATES


class VelocityCheck:
    """
    Mean error of velocities, joint by joint.

    It is their difference from what the positions show between two messages, and from a steady
    change over three.

    :param jumps: whether positions may jump, as those of plans do: then velocities may be smaller.
    """

    def __init__(self, *, jumps: bool):
        self._jumps, self._time = jumps, -np.inf
        self._seen = self._excess = np.zeros(0)

    def check(self, joint_names: Sequence[str], position: ndarray, velocity: ndarray,
              time: float, damping: ndarray) -> None:
        """
        Refuse a message if the velocities of the recent ones contradict their positions.

        :param position, velocity: (nv,) [rad | m, per s] of ``time`` [s].
        :param damping: (nv,) effort limits that a unit of velocity causes.
        :raises ArgumentError: they do, by more than MAX_EXCESS; it names the joint.
        """
        elapsed, seen = time - self._time, self._seen
        known = 0.0 < elapsed <= MAX_INTERVAL and len(seen) > 0
        self._time = time
        self._seen = np.array([position, velocity, seen[1] if known else velocity])
        if not known:
            self._excess = np.zeros(len(velocity))
            return
        mean, shown = 0.5 * (seen[1] + velocity), (position - seen[0]) / elapsed
        if self._jumps:
            shown = np.clip(mean, np.minimum(shown, 0.0), np.maximum(shown, 0.0))
        error = np.maximum(abs(mean - shown), 0.25 * abs(velocity - 2.0 * seen[1] + seen[2]))
        change = np.minimum(damping * error, MAX_ERROR * MAX_EXCESS) - self._excess
        self._excess += change * (1.0 - np.exp(-elapsed / np.where(change > 0.0, RISE_TIME,
                                                                   FALL_TIME)))
        i = int(self._excess.argmax())
        if self._excess[i] > MAX_EXCESS:
            raise ArgumentError(
                f'velocity {velocity[i]:.3g} of {joint_names[i]} contradicts the positions',
                name=joint_names[i], value=float(velocity[i]), remedy='send the velocity of the '
                'positions, without noise; what came before stays in force, until it is too old')
