# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Channel of joint states from the arm to the controller, and the loop around the control cycle.

``w`` is the :class:`~.plant.WorldData`, of which ``m`` are the numbers; ``c`` is the
:class:`~..control.steps.cycle_data.Cycle` of the controller. All functions are compiled, see
:func:`.plant.run`.
"""

from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from .plant_step import braked, TICK
from ..control.steps.guard import FAULT, RUNNING
from ..dynamics.entry_points import gravity

MALFORMED = '', 'names', 'lengths', 'cut'       # kinds of messages that no decoder may accept
BLOCK = 256         # samples whose random numbers are drawn at once
UNDER_WAY = 4096    # samples that may be under way
INBOX = 10    # samples that the middleware keeps
RELEASE_TICKS = 50    # in which what has braked a joint is let go again
OBSERVED_TICKS = 20    # between two looks at the reference
NO_CYCLE, DUE, DONE = range(3)
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
    ('motor_encoders', int),        # 1: encoders are on the motors
    ('differences', int),           # 1: velocities are differences of positions
    ('unstamped', int),             # 1: time stamps are zero
    ('stamp_error', float),         # s, by which time stamps are ahead
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
    ('deaf', float),                # s: when it was without samples last
    ('on_timer', int),              # 1: cycles on a grid, 0: for a state, or its absence
    ('period_ticks', int),
    ('missing', int),               # points of the grid that each cycle on a timer misses
    ('rate', float),                # Hz
    ('state_timeout', float),       # s
    ('stalled_until', float),       # s: the loop stands still until then
    ('stall', float),               # s: duration of the stall that has just ended
    ('stepped', float),             # s: time of the last cycle
    ('sequence', float),            # number of samples
    ('due', int),                   # NO_CYCLE, DUE, or DONE where plain Python has run it
    ('published', int),             # 1: `tau` is published in this tick
    ('limited', int),               # cycles so far in which joint limits have changed the efforts
    ('released', int),              # ticks until that is over
    ('phase', int),                 # after this tick, with the reason
    ('reason', int),
    ('observed', int),              # 1: the motion is observed
    ('observed_mode', int),         # number of the mode whose reference counts
    ('late_from', float),           # s: time from which on the arm should rest
    ('late_speed', float)]          # largest speed since then, in velocity limits


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
    motor_encoders: bool = True     # behind an elastic transmission
    differences: bool = False       # velocities are differences of positions
    stamped: bool = True
    stamp_error: float = 0.0        # s, by which time stamps are ahead
    loop_rate: float = np.inf       # Hz, of a cycle on a timer that does not reach its rate


class Channel:
    """Samples on their way to the controller, in the memory of a world."""

    def __init__(self, conditions: Conditions, data: Any, random: np.random.Generator):
        self._data, self._random = data, random
        m = data.numbers
        m['every'] = max(1, round(1.0 / conditions.rate / TICK))
        m['renewed_every'] = max(1, round(1.0 / conditions.renewal / TICK))
        for name in ('latency', 'jitter', 'loss', 'position_noise', 'velocity_noise',
                     'resolution', 'motor_encoders', 'differences', 'stamp_error'):
            m[name] = getattr(conditions, name)
        m['no_effort'] = not conditions.measures_effort
        m['unstamped'] = not conditions.stamped

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
    position_before: ndarray
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
    first = not m.read
    if first or m.ticks % m.renewed_every == 0:
        m.read = 1
        for i in range(n):
            position, velocity = p.q[i], p.qd[i]
            if m.motor_encoders and p.transmission[i] > 0.0:
                position, velocity = p.motor_q[i], p.motor_qd[i]
            s.read_velocity[i], s.read_position[i] = velocity, position
            if m.resolution > 0.0:
                s.read_position[i] = m.resolution * np.rint(position / m.resolution)
    m.noise_left -= 1
    k = m.noise_left
    still = braked(w, time)
    if still or m.compensates:
        gravity(w.robot, w.motion.q, w.workspace, w.motion.weight)
    for i in range(n):
        before = s.position_before[i]
        s.position[i] = s.read_position[i] + m.position_noise * w.normal[k, 0, i]
        s.position_before[i] = s.position[i]
        s.velocity[i] = s.read_velocity[i] + m.velocity_noise * w.normal[k, 1, i]
        if m.differences:
            s.velocity[i] = 0.0 if first else (s.position[i] - before) / (m.every * TICK)
        s.effort[i] = 0.0 if still else p.command[i]
        if still or m.compensates:
            s.effort[i] += w.motion.weight[m.base + i]
        if m.no_effort:
            s.effort[i] = np.nan
    sample = w.sample[0]
    sample.arrives = time + m.latency + m.jitter * w.uniform[k, 0]
    sample.stamp = 0.0 if m.unstamped else now + m.stamp_error
    sample.foreign = sample.malformed = 0
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


class ObservedVectors(NamedTuple):
    """How each joint has followed its reference (nv,)."""

    lower: ndarray              # rad | m: smallest and largest position of the reference
    upper: ndarray
    error: ndarray              # rad | m: largest distance from the reference, at `time` [s]
    time: ndarray
    requested: ndarray          # N·m | N: effort of the law then, and what limits withheld of it
    withheld: ndarray


def take(w: Any, c: Any, time: float, now: float) -> None:
    """Write the samples of the inbox as the decoder would, and decide whether a cycle runs."""
    m = w.numbers
    m.due = m.published = 0
    if time < m.stalled_until:
        return
    m.stall = 0.0
    if m.stalled_until > -inf:
        m.stall, m.stalled_until = time - m.stepped, -inf
    accepted = False
    for k in range(min(m.inbox, INBOX)):
        accepted |= take_sample(w, c, k, now)
    m.inbox = 0
    if m.on_timer:
        due = m.ticks % m.period_ticks == 0
    else:
        silence = 1.0 / m.rate if c.controller.phase == FAULT else m.state_timeout
        due = accepted or time - m.stepped > silence + 1e-9
    if not due:
        return
    m.due = DUE
    if m.stall > 0.0:
        c.cycle_input.stalled = m.stall
        c.cycle_input.missed = int(m.stall * m.rate) - 1 if m.on_timer else 0
    elif m.missing > 0:
        c.cycle_input.missed = m.missing
    m.stepped, m.limited = time, c.controller.joint_limited


def take_sample(w: Any, c: Any, k: int, now: float) -> bool:
    """Write a sample; return False if it is refused."""
    m, state, rows, n = w.numbers, c.state, w.inbox_rows[k], w.inbox_rows.shape[2]
    if w.inbox[k].foreign:
        for i in range(n):
            state[i].other = now
    for i in range(n):
        if not abs(rows[0, i]) < inf:
            return False
    m.sequence += 1.0
    stamp = w.inbox[k].stamp
    for i in range(n):
        state[i].position, state[i].velocity, state[i].effort = rows[0, i], rows[1, i], rows[2, i]
        state[i].received, state[i].sequence = now, m.sequence
        state[i].stamp = stamp if stamp != 0.0 else np.nan
    return True


def after_cycle(w: Any, c: Any) -> None:
    """Note what a cycle has done."""
    m = w.numbers
    if c.controller.joint_limited != m.limited:
        m.released = RELEASE_TICKS
    m.released = max(0, m.released - 1)
    if m.stall > 0.0:
        c.cycle_input.stalled, c.cycle_input.missed = 0.0, 0


def observe(w: Any, c: Any, time: float) -> None:
    """Observe the distance from the reference, and whether the arm rests after its motion."""
    m, q, o = w.numbers, w.plant.q, w.observed
    if not m.observed or c.controller.phase != RUNNING:
        return
    if m.ticks % OBSERVED_TICKS == 0 and c.controller.mode == m.observed_mode:
        for i in range(q.shape[0]):
            target = c.vectors.target[i]
            o.lower[i], o.upper[i] = min(o.lower[i], target), max(o.upper[i], target)
            if abs(q[i] - target) > o.error[i]:
                o.error[i], o.time[i] = abs(q[i] - target), time
                o.requested[i], o.withheld[i] = c.vectors.requested[i], c.vectors.withheld[i]
    if time > m.late_from:
        m.late_speed = max(m.late_speed, m.speed)
