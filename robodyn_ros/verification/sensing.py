# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Channel of joint states from the arm to the controller: noise, loss, latency, rate."""

from dataclasses import dataclass

import numpy as np
from numpy import ndarray

from .plant import Plant, TICK

BLOCK = 256             # samples whose random numbers are drawn at once


@dataclass
class Sample:
    """A joint state on its way."""

    position: ndarray
    velocity: ndarray
    effort: ndarray
    stamp: float                # s, header stamp
    arrives: float              # s, time of the world
    lost: bool = False
    foreign: bool = False       # sent by a second publisher
    malformed: str = ''         # kind of a message that no decoder may accept; nodes only


@dataclass(frozen=True)
class Conditions:
    """Quality of the connection between arm and controller."""

    rate: float = 1000.0            # Hz, of the states
    latency: float = 0.0            # s, from measurement to receipt
    jitter: float = 0.0             # s, of the latency: up to so much more
    delay: float = 0.0              # s, from publishing to effect
    loss: float = 0.0               # share of the samples
    position_noise: float = 0.0     # rad | m, standard deviation
    velocity_noise: float = 0.0     # rad/s | m/s
    friction: bool = False          # of gears
    renewal: float = 1000.0         # Hz, of the readings, which are repeated in between
    resolution: float = 0.0         # rad | m, of positions


class Channel:
    """Samples on their way to the controller."""

    def __init__(self, conditions: Conditions, random: np.random.Generator):
        self.conditions, self._random = conditions, random
        self._every = max(1, round(1.0 / conditions.rate / TICK))
        self._renewed_every = max(1, round(1.0 / conditions.renewal / TICK))
        self._reading: tuple[ndarray, ndarray] | None = None
        self._under_way: list[Sample] = []
        self._normal: list[ndarray] = []
        self._uniform: list[list[float]] = []

    def measure(self, plant: Plant, tick: int, time: float, stamp: float) -> Sample | None:
        """Return the sample of this tick, if one is due; what is lost is marked so."""
        if tick % self._every:
            return None
        c, random, n = self.conditions, self._random, plant.q.shape[0]
        if self._reading is None or tick % self._renewed_every == 0:
            self._reading = self._read(plant)
        position, velocity = self._reading
        if not self._normal:
            self._normal = list(random.standard_normal((BLOCK, 2, n)))
            self._uniform = random.uniform(size=(BLOCK, 2)).tolist()
        (noise, rate_noise), (late, lost) = self._normal.pop(), self._uniform.pop()
        arrives = time + c.latency + c.jitter * late
        return Sample(position + c.position_noise * noise,
                      velocity + c.velocity_noise * rate_noise,
                      plant.measured_effort(time).copy(), stamp, arrives,
                      lost=lost < c.loss)

    def _read(self, plant: Plant) -> tuple[ndarray, ndarray]:
        """Return positions and velocities (nv,) as the encoders show them, without noise."""
        step, q = self.conditions.resolution, plant.q.copy()
        return step * np.round(q / step) if step else q, plant.qd.copy()

    def send(self, sample: Sample) -> None:
        """Take a sample over."""
        if not sample.lost:
            self._under_way.append(sample)

    def arrivals(self, time: float) -> list[Sample]:
        """Take what has arrived, oldest first."""
        there = [s for s in self._under_way if s.arrives <= time + 1e-9]
        if there:
            self._under_way = [s for s in self._under_way if s.arrives > time + 1e-9]
            there.sort(key=lambda s: s.arrives)
        return there
