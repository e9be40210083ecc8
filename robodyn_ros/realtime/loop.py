# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The control loop: joint states in, one control cycle, efforts out.

Plain functions over OPERATIONS, by which they reach their surroundings: Python calls the method of
the same name of an object, see :mod:`robodyn_ros.nodes.controller.control_loop`; compiled code
calls the function of the same name in :mod:`~.native.io` instead. Common parameters: ``io`` is a
:class:`~.native.io.LoopIO`, or an object with these arrays and the operations; ``c`` is the
:class:`.Cycle`, of which the loop uses the records of the settings, the cycle's input and the
controller's state; ``tau`` (nv,) are the efforts.
"""

import math
from typing import Any, TYPE_CHECKING

import numpy as np
from numpy import ndarray

from . import timing_rules
from .loop_settings import LOOP, LoopSettings, STATE
from ..control.declare import record_dtype, record_value, recorded
from ..control.steps.guard import FAULT
from ..wire.decoders import ACCEPTED, OTHER, POSITION, RECEIVED, SEQUENCE

if TYPE_CHECKING:
    from .native.io import LoopIO
    from ..control.steps.cycle_data import Cycle

# What a loop returns: it was called back, or which operation has failed.
CALLED, TAKING, PUBLISHING, COUNTING, SLEEPING = range(5)

# State of a loop, its own but for `called`: the settings declared for this record, and
LOOP_STATE = np.dtype([
    *record_dtype(LoopSettings, LOOP),
    ('called', np.int64),                       # 1: return at the next waking
    ('max_messages', np.int64),                 # that are taken at a time
    ('period', np.int64),                       # ns
    ('on_ros_time', np.int64),                  # 0: the cycle is on the steady clock
    ('waited', np.int64), ('points_missed', np.int64),  # 1: woken, and the cycle is to come
    ('deadline', np.int64),                     # ns, steady: present point of the grid
    ('answered', np.int64),                     # ns, steady: end of the last answer
    ('asked', np.int64),                        # ns, steady: latest instant to be woken at
    ('moving', np.int64),                       # ns, steady: see `timing_rules.moving`
    ('published', np.int64),                    # ns, of the state not answered yet; 0: not known
    ('noticed', float),                         # s on the clock of the cycle: states were missed
    ('count_again', float),                     # s, steady
    ('failed', np.int64), ('error', np.int64),  # operation that failed, and what it returned
    *timing_rules.STATE,
])


def _operation(name: str) -> Any:
    """Return an operation as Python runs it: the method of this name of an object."""
    def operation(io: Any, *arguments: Any) -> Any:
        return getattr(io, name)(*arguments)
    operation.__name__ = name
    return operation


# Failures of those that sleep and publish are noted in ``loop_state``, or raised
steady_ns = _operation('steady_ns')     # steady time [ns], as `time.monotonic_ns`
wall_clock_ns = _operation('wall_clock_ns')     # time of day [ns], as `time.time_ns`
sleep_until = _operation('sleep_until')     # a steady time [ns]
wait_until = _operation('wait_until')   # a message (True), a steady time [ns] or a wake-up (False)
take = _operation('take')               # the next joint state that waits; whether there was one
decode = _operation('decode')           # that one, received at a time [s]; a decode status
stamp_taken = _operation('stamp_taken')     # its header stamp [s], NaN if it is too short
publication_time = _operation('publication_time')   # of it [ns, time of day], 0 if not known
cycle_time = _operation('cycle_time')   # [s] on the clock of the cycle: steady, or that of /clock
count_listeners = _operation('count_listeners')     # number of subscribers of the commands
advance = _operation('advance')         # the cycle (inputs, time, tau); whether to publish `tau`
publish = _operation('publish')         # the efforts (nv,) [N·m | N]

#: What compiled code replaces by functions of the same name.
OPERATIONS = (steady_ns, wall_clock_ns, sleep_until, wait_until, take, decode, stamp_taken,
              publication_time, cycle_time, count_listeners, advance, publish)


def initial_state(settings: LoopSettings, max_messages: int, on_ros_time: bool) -> ndarray:
    """Return the state (1,) LOOP_STATE that a loop begins with."""
    state = np.zeros(1, LOOP_STATE)
    for f in recorded(LoopSettings, LOOP):
        state[f.name] = record_value(f, getattr(settings, f.name))
    state['max_messages'], state['period'] = max_messages, settings.period_ns
    state['on_ros_time'] = on_ros_time
    return state


def begin(state: ndarray, now: int) -> None:
    """Initialize a loop at the steady time ``now`` [ns]."""
    state['waited'] = state['failed'] = state['published'] = state['moving'] = 0
    state['count_again'] = 0.0
    timing_rules.begin(state)
    state['deadline'] = state['answered'] = state['asked'] = now


def on_grid(io: 'LoopIO', c: 'Cycle', tau: ndarray) -> int:
    """Run a cycle at each point of the grid; return CALLED or the operation that failed."""
    w, given = io.loop_state[0], c.cycle_input
    while True:
        if w.waited == 0:
            w.asked = w.deadline + w.period         # whichever points are missed from there on
            w.deadline, w.points_missed = timing_rules.next_point(
                w.deadline, w.period, steady_ns(io))
            sleep_until(io, w.deadline)
            if w.failed != 0:
                return w.failed
            w.waited = 1
        woke = steady_ns(io)
        if w.called == 1:
            return CALLED
        w.waited = 0
        timing_rules.count_missed(io.counts[0], w.points_missed)
        given.missed = w.points_missed
        given.stalled = timing_rules.stall(given.stalled, w.asked, woke)
        decode_waiting(io, c)
        now = cycle_time(io)
        if w.failed == 0:
            step(io, c, tau, woke, now)
        if w.failed != 0:
            return w.failed
        record_timing(io, woke, (woke - w.deadline) * 1e-9, now)


def on_state(io: 'LoopIO', c: 'Cycle', tau: ndarray) -> int:
    """
    Run a cycle for each joint state, and for silence that lasts too long.

    Return CALLED or the operation that failed.
    """
    w = io.loop_state[0]
    while True:
        if w.waited == 0:
            wait_until(io, overdue_at(io, c))
            w.waited = 1
        if w.called == 1:
            return CALLED
        w.waited = 0
        answer(io, c, tau)
        if w.failed != 0:
            return w.failed


def answer(io: 'LoopIO', c: 'Cycle', tau: ndarray) -> None:
    """
    Run a cycle for what has come in, or for what has stayed away too long.

    Without a good state there is nothing to answer but silence that lasts too long: refused
    samples, or joints of others, must not keep it from being noticed.
    """
    w, given = io.loop_state[0], c.cycle_input
    timeout, last = c.settings.state_timeout, c.controller.time
    woke = begun = steady_ns(io)
    overdue = overdue_at(io, c)
    w.asked = max(w.asked, overdue)
    given.stalled = timing_rules.stall(given.stalled, w.asked, woke)
    accepted, now = decode_waiting(io, c)
    silent = woke >= overdue
    if not accepted or w.on_ros_time == 0:
        now = cycle_time(io)
    due = False
    if silent and not accepted:
        due = timing_rules.goes_on(now, w.noticed, last, timeout)
        w.noticed = now
    if due and w.on_ros_time != 0:
        w.asked = begun = steady_ns(io) + timing_rules.CLOCK_GRACE
        if wait_until(io, w.asked):
            w.waited = 1                # in lockstep a state follows its clock at once
            return
    if w.failed == 0 and (accepted or due):
        step(io, c, tau, begun, now)
        if w.failed == 0:
            record_timing(io, woke, math.nan, now)
    if accepted or silent:
        w.answered = steady_ns(io)


def overdue_at(io: 'LoopIO', c: 'Cycle') -> int:
    """Return the steady time [ns] at which a state has stayed away for too long."""
    w = io.loop_state[0]
    return w.answered + int(1e9 * timing_rules.silence(
        c.controller.phase == FAULT, w.on_ros_time != 0, 1e-9 * w.period,
        c.settings.state_timeout))


def decode_waiting(io: 'LoopIO', c: 'Cycle') -> tuple[bool, float]:
    """
    Decode every joint state that waits; return whether one was accepted, and the newest time [s].

    With a cycle for each state of a simulation, that is the stamp, or the time of its clock where
    there is none. Far from the last cycle, a second publisher may have another time.

    After a stall of the process, waiting states are old but count as received now. The guard
    latches the stall itself in the next cycle.
    """
    w, accepted, last = io.loop_state[0], False, c.controller.time
    newest, stamped = last, w.on_ros_time != 0 and w.trigger == STATE
    for _ in range(w.max_messages):
        if not take(io):
            break
        received = stamp_taken(io) if stamped else 0.0
        if received == 0.0:
            received = cycle_time(io)
        others = timing_rules.newest(io.decoder.state[:, OTHER])
        code = decode(io, received)
        timing_rules.count_sample(io.counts[0], code, io.decoder.state[:, SEQUENCE], io.seen)
        if code == ACCEPTED:
            w.published = publication_time(io)
            accepted = True
            if w.on_ros_time == 0:
                timing_rules.correct_stamps(io.decoder, w, received,
                                           wall_clock_ns(io) - steady_ns(io))
            if (timing_rules.newest(io.decoder.state[:, OTHER]) == others
                    or abs(received - last) <= c.settings.state_timeout):
                newest = received
    return accepted, newest


def step(io: 'LoopIO', c: 'Cycle', tau: ndarray, begun: int, now: float) -> None:
    """Run the cycle of the time ``now`` [s], which began at ``begun`` [ns], and publish."""
    w, given = io.loop_state[0], c.cycle_input
    w.moving, given.clock_stopped = timing_rules.moving(
        io.decoder.state[:, POSITION], io.pose, now == c.controller.time, w.moving,
        given.clock_stopped, begun)
    steady = steady_ns(io)
    # A stall between wake-up and clock reading must not age the state
    given.stalled = timing_rules.stall(given.stalled, begun, steady)
    if steady * 1e-9 >= w.count_again:
        w.count_again = steady * 1e-9 + timing_rules.LISTENER_COUNT_PERIOD
        given.listeners = count_listeners(io)
    publishes = advance(io, c, now, tau)
    given.stalled = 0.0
    before = steady_ns(io)
    if publishes and not timing_rules.outdated(c.controller.publishing == 1, begun, before,
                                               c.settings.state_timeout):
        publish(io, tau)
        if steady_ns(io) - before > w.period:
            io.counts[0].slow_publishes += 1
    given.stalled = timing_rules.stall(given.stalled, begun, steady_ns(io))


def record_timing(io: 'LoopIO', woke: int, late: float, now: float) -> None:
    """
    Record how the cycle that ends now has kept its time.

    :param woke: steady time at which it began [ns]; ``late``: after its point of the grid [s].
    :param now: time of the cycle, on its clock [s].
    """
    w = io.loop_state[0]
    cycle = io.timing[io.cycle_count[0] % io.timing.shape[0]]
    cycle.woke, cycle.wake_up = woke * 1e-9, late
    cycle.cycle = (steady_ns(io) - woke) * 1e-9
    cycle.age = now - timing_rules.oldest(io.decoder.state[:, RECEIVED])
    cycle.answer = math.nan
    if w.published != 0:
        cycle.answer = (wall_clock_ns(io) - w.published) * 1e-9
        w.published = 0
    io.cycle_count[0] += 1
