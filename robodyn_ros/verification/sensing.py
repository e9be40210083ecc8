# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Channel of joint states from the arm to the controller: noise, loss, latency, rate.

``w`` is the :class:`~.world_data.WorldData`, of which ``m`` are the numbers. All functions are
compiled, see :mod:`.tick`.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from .plant_step import braked, TICK
from ..dynamics.entry_points import gravity

MALFORMED = '', 'names', 'lengths', 'cut'       # kinds of messages that no decoder may accept
BLOCK = 256         # samples whose random numbers are drawn at once
UNDER_WAY = 4096    # samples that may be under way
INBOX = 10    # samples that the middleware keeps
HEARING_TIME = 0.01    # s without a sample after which what the arm does is not the controller's

# A joint state on its way; `malformed` is an index of MALFORMED
SAMPLE = np.dtype([('arrives', float), ('stamp', float), ('foreign', int), ('malformed', int)])
NUMBERS = [
    ('every', int),                 # ticks between two samples, and between two new readings
    ('renewed_every', int),
    ('latency', float),
    ('jitter', float),
    ('loss', float),
    ('position_noise', float),
    ('velocity_noise', float),
    ('resolution', float),
    ('no_effort', int),             # 1: states carry no measured efforts
    ('read', int),                  # 1: there is a reading
    ('noise_left', int),            # samples whose random numbers are drawn
    ('sampled', int),               # 1: a sample was taken in this tick, and is not lost
    ('arrived', int),               # samples that have arrived in this tick
    ('under_way', int),             # number of samples under way, and place of the first one
    ('first_under_way', int),
    ('inbox', int),                 # samples that the controller has not taken yet
    ('halted', int),                # 1: the controller is suspended
    ('heard', float),               # s: newest sample the controller got, and that before
    ('heard_before', float),
    ('deaf', float)]                # s: when it was without samples last


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

    def __init__(self, conditions: Conditions, data: Any, random: np.random.Generator):
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


class SensingVectors(NamedTuple):
    """Newest reading of the encoders, and the sample of this tick, (nv,) each."""

    read_position: ndarray
    read_velocity: ndarray
    position: ndarray
    velocity: ndarray
    effort: ndarray


def measure(w: Any, time: float, now: float) -> None:
    """Take the sample of this tick, if one is due."""
    m, s, p = w.numbers, w.sensing, w.plant
    m.sampled = 0
    if m.ticks % m.every:
        return
    n = p.q.shape[0]
    if not m.read or m.ticks % m.renewed_every == 0:
        m.read = 1
        for i in range(n):
            s.read_velocity[i], s.read_position[i] = p.qd[i], p.q[i]
            if m.resolution > 0.0:
                s.read_position[i] = m.resolution * np.rint(p.q[i] / m.resolution)
    m.noise_left -= 1
    k = m.noise_left
    still = braked(w, time)
    if still or m.compensates:
        gravity(w.robot, p.q, w.workspace, p.weight)
    for i in range(n):
        s.position[i] = s.read_position[i] + m.position_noise * w.normal[k, 0, i]
        s.velocity[i] = s.read_velocity[i] + m.velocity_noise * w.normal[k, 1, i]
        s.effort[i] = 0.0 if still else p.command[i]
        if still or m.compensates:
            s.effort[i] += p.weight[i]
        if m.no_effort:
            s.effort[i] = np.nan
    sample = w.sample[0]
    sample.arrives = time + m.latency + m.jitter * w.uniform[k, 0]
    sample.stamp, sample.foreign, sample.malformed = now, 0, 0
    m.sampled = not w.uniform[k, 1] < m.loss


def copy_sample(to: Any, to_rows: ndarray, sample: Any, rows: ndarray) -> None:
    """Copy a record ``SAMPLE`` and its rows (3, nv)."""
    to.arrives, to.stamp = sample.arrives, sample.stamp
    to.foreign, to.malformed = sample.foreign, sample.malformed
    for j in range(3):
        for i in range(rows.shape[1]):
            to_rows[j, i] = rows[j, i]


def send(w: Any) -> bool:
    """Let the sample of this tick be under way, in the order of arrival; False: too many are."""
    m, s, at = w.numbers, w.sensing, w.under_way
    if m.under_way == UNDER_WAY:
        return False
    k = m.under_way
    m.under_way += 1
    place = (m.first_under_way + k) % UNDER_WAY
    while k > 0:
        before = (m.first_under_way + k - 1) % UNDER_WAY
        if at[before].arrives <= w.sample[0].arrives:
            break
        copy_sample(at[place], w.under_way_rows[place], at[before], w.under_way_rows[before])
        place, k = before, k - 1
    rows = w.under_way_rows[place]
    copy_sample(at[place], rows, w.sample[0], rows)
    for i in range(s.position.shape[0]):
        rows[0, i], rows[1, i], rows[2, i] = s.position[i], s.velocity[i], s.effort[i]
    return True


def receive(w: Any, time: float) -> bool:
    """Put what has arrived into the inbox, oldest first; return False if too much is under way."""
    m, at = w.numbers, w.under_way
    if m.sampled and not send(w):
        return False
    m.arrived = 0
    while m.under_way > 0 and at[m.first_under_way].arrives <= time + 1e-9:
        if m.inbox == INBOX:            # the oldest one is lost
            for k in range(INBOX - 1):
                copy_sample(w.inbox[k], w.inbox_rows[k], w.inbox[k + 1], w.inbox_rows[k + 1])
            m.inbox -= 1
        place = m.first_under_way
        copy_sample(w.inbox[m.inbox], w.inbox_rows[m.inbox], at[place], w.under_way_rows[place])
        m.first_under_way = (place + 1) % UNDER_WAY
        m.under_way -= 1
        m.inbox += 1
        m.arrived += 1
    if m.arrived > 0 and not m.halted and time >= m.stalled_until:
        m.heard_before, m.heard = m.heard, time
    if time - m.heard > HEARING_TIME:
        m.deaf = time
    return True
