# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Channel of joint states from the arm to the controller: noise, loss, latency, rate."""

from dataclasses import dataclass

import numpy as np
from numpy import ndarray

from .plant_step import TICK
from .world_data import BLOCK, WorldData

MALFORMED = '', 'names', 'lengths', 'cut'       # kinds of messages that no decoder may accept


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
    malformed: str = ''         # one of MALFORMED; nodes only


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
    measures_effort: bool = True


class Channel:
    """Samples on their way to the controller, in the memory of a world."""

    def __init__(self, conditions: Conditions, data: WorldData, random: np.random.Generator):
        self._data, self._random = data, random
        m = data.numbers
        m['every'] = max(1, round(1.0 / conditions.rate / TICK))
        m['renewed_every'] = max(1, round(1.0 / conditions.renewal / TICK))
        for name in ('latency', 'jitter', 'loss', 'position_noise', 'velocity_noise',
                     'resolution'):
            m[name] = getattr(conditions, name)
        m['no_effort'] = not conditions.measures_effort

    def ticks(self) -> int:
        """Draw random numbers where none are left; return for how many ticks they last."""
        data, m = self._data, self._data.numbers
        every = int(m['every'][0])
        if m['noise_left'][0] == 0 and m['ticks'][0] % every == 0:
            data.normal[:] = self._random.standard_normal(data.normal.shape)
            data.uniform[:] = self._random.uniform(size=data.uniform.shape)
            m['noise_left'] = BLOCK
        return int(m['noise_left'][0]) * every + -int(m['ticks'][0]) % every

    def measured(self) -> Sample | None:
        """Return the sample of this tick, for :meth:`edit`; None if there is none."""
        s, m = self._data.sensing, self._data.numbers
        if not m['sampled'][0]:
            return None
        sample = self._data.sample[0]
        return Sample(s.position, s.velocity, s.effort, float(sample['stamp']),
                      float(sample['arrives']))

    def edit(self, sample: Sample) -> None:
        """Take over what has been changed of the sample of this tick."""
        self._data.sample[0] = (sample.arrives, sample.stamp, sample.foreign,
                                MALFORMED.index(sample.malformed))
        self._data.numbers['sampled'] = not sample.lost

    def arrivals(self) -> list[Sample]:
        """Take what has arrived, oldest first."""
        data = self._data
        count = int(data.numbers['inbox'][0])
        data.numbers['inbox'] = 0
        rows = data.inbox_rows.copy()
        return [Sample(rows[k, 0], rows[k, 1], rows[k, 2], float(one['stamp']),
                       float(one['arrives']), foreign=bool(one['foreign']),
                       malformed=MALFORMED[one['malformed']])
                for k, one in enumerate(data.inbox[:count])]
