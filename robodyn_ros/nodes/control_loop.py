# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The control thread: state bytes in, one cycle, effort bytes out; no executor in between."""

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from math import nan

import numpy as np

from ..control import guard
from ..control.controller import Controller
from ..realtime import timing_rules
from ..realtime.loop_counters import Tally
from ..realtime.periodic_timer import Grid, sharpen_timers
from ..realtime.scheduling import Outcome, Scheduling, middleware_threads, scheduled
from ..wire.effort import EffortEncoder
from ..wire.joint_state import ACCEPTED, JointStateDecoder, stamp_of
from .transport import DataPath

NORMAL = Scheduling()


class ControlLoop:
    """
    Runs a controller on its own thread, at a fixed rate or for each joint state.

    :param path: how the states come in; a native one does everything but begin and end.
    :param publish: takes the serialized effort message.
    :param listeners: counts those who hear it.
    :param tally: what is counted and timed.
    :param ros_time: under simulation time, gives it [s], to this thread only; None: the steady
        clock is used. With ``trigger`` state the stamp of the state is the time, so a paused
        simulation holds still.
    :param scheduling: wanted for the thread; what came of it is in ``scheduling`` after the start.
    :param spin: how long before each point of the grid the clock is watched [s].
    """

    def __init__(self, controller: Controller, decoder: JointStateDecoder,
                 path: DataPath, publish: Callable[[bytes], None],
                 listeners: Callable[[], int], tally: Tally, *,
                 ros_time: Callable[[], float] | None, scheduling: Scheduling = NORMAL,
                 spin: float = 0.0):
        self.controller, self.decoder, self.trigger = controller, decoder, path.trigger
        self._listeners, self._count_again = listeners, 0.0
        self.rate = controller.settings.rate
        self.tally, self.data_path, self._native = tally, path.name, path.native
        self.scheduling = Outcome()
        self._wanted, self._scheduled = scheduling, threading.Event()
        self._grid = Grid(round(1e9 / self.rate), round(1e9 * spin))
        self._states, self._publish, self._ros_time = path.states, publish, ros_time
        self._noticed = 0.0         # s, time when states were last missed
        self._published = 0         # ns, when the state that is not answered yet was published
        self._moving = 0            # ns, see `rules.moving`
        self.on_ros_time = ros_time is not None
        self._encoder = EffortEncoder(controller.model.nv)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, anew if it runs; states that waited in the queue are old and dropped."""
        self.stop()                 # no two threads may run one controller
        self._states.drain()
        self.decoder.forget()
        self.tally.clear()
        self.controller.begin()
        outside = self.controller.outside
        outside['simulated_time'], outside['stalled'] = self.on_ros_time, 0.0
        outside['clock_stopped'] = self._moving = 0
        if self._native is not None:
            self.controller.changed = self._native.call
        self._stop.clear()
        self._scheduled.clear()
        self._thread = threading.Thread(target=self._run, name='control_loop', daemon=True)
        self._thread.start()
        self._scheduled.wait()

    def stop(self) -> None:
        """End and wait for the thread; where the arm was still driven, the last word is zero."""
        if self._thread is None:
            return
        self._stop.set()
        if self._native is not None:
            self._native.call()
        else:
            self._states.wake()
        self._thread.join()
        self._thread = None

    @property
    def running(self) -> bool:
        """Whether cycles go on: started, not stopped, and not failed."""
        return self._thread is not None and self._thread.is_alive()

    def now(self) -> float:
        """Time on the clock of the cycle [s]; on ROS time, that of the last cycle."""
        return time.monotonic() if self._ros_time is None else float(
            self.controller.memory['time'][0])

    def look_for_state_publishers(self) -> None:
        """
        Tell the guard of a second publisher of states that message numbers cannot show.

        Fast DDS numbers the messages of each publisher, by which the decoder finds two of the same
        joint. A middleware that does not leaves their count: any second one is one too many. Any
        thread may.
        """
        state = self.decoder.state
        heard = ~np.isnan(state['received'])
        if (heard.any() and np.isnan(state['sequence'][heard]).all()
                and self._states.publisher_count() > 1):
            state['other'] = self.now()

    def _time(self) -> float:
        if self._ros_time is None:
            return time.monotonic()
        return self.decoder.stamp if self.trigger == 'state' else self._ros_time()

    def _run(self) -> None:
        try:
            with scheduled(self._wanted) as self.scheduling, ExitStack() as others:
                # What brings the states must not wait for what the loop does not wait for
                below = Scheduling(priority=max(1, self._wanted.priority - 1))
                for thread in middleware_threads() if self.scheduling.real_time else ():
                    others.enter_context(scheduled(below, thread))
                self._scheduled.set()
                self._drive()
        finally:
            self._scheduled.set()

    def _drive(self) -> None:
        try:
            sharpen_timers()
            if self._native is not None:
                self._native.run(self._stop.is_set)
            elif self.trigger == 'timer':
                self._on_grid()
            else:
                self._on_state()
        finally:
            # A forward controller keeps what it got last, so no exception may be the last word
            if self.controller.memory['publishing'][0]:
                self.controller.tau[:] = 0.0
                self.controller.memory['publishing'] = 0
                self._publish(self._encoder.encode(self.controller.tau))

    def _on_grid(self) -> None:
        grid = self._grid
        grid.start()
        while not self._stop.is_set():
            asked = grid.deadline + grid.period_ns      # whichever points are missed from there on
            self.controller.outside['missed'] = missed = grid.wait()
            self.tally.late(missed)
            woke = time.monotonic_ns()
            self._stalled(asked, woke)
            self._take()
            self._step(woke, now := self._time())
            self._note(woke, 1e-9 * (woke - grid.deadline), now)

    def _on_state(self) -> None:
        stepped = asked = time.monotonic_ns()
        while not self._stop.is_set():
            # Without a good state there is nothing to answer but silence that lasts too long:
            # refused samples, or joints of others, must not keep it from being noticed
            overdue = stepped + round(1e9 * timing_rules.silence(
                self.controller.phase == guard.FAULT, self.on_ros_time, 1.0 / self.rate,
                self.controller.settings.state_timeout))
            self._states.wait(overdue - time.monotonic_ns())
            woke = begun = time.monotonic_ns()
            asked = max(asked, overdue)
            self._stalled(asked, woke)
            accepted, silent = self._take(), woke >= overdue
            now = self._time() if accepted or self._ros_time is None else self._ros_time()
            due = False
            if silent and not accepted:
                due = timing_rules.goes_on(now, self._noticed,
                                           float(self.controller.memory['time'][0]),
                                           self.controller.settings.state_timeout)
                self._noticed = now
            if due and self._ros_time is not None:
                asked = begun = time.monotonic_ns() + timing_rules.GRACE
                if self._states.wait(timing_rules.GRACE):
                    continue            # in lockstep a state follows its clock at once
            if accepted or due:
                self._step(begun, now)
                self._note(woke, nan, now)
            if accepted or silent:
                stepped = time.monotonic_ns()

    def _stalled(self, asked: int, woke: int) -> None:
        """Note for the next cycle how much later [ns] than asked the loop came to something."""
        outside = self.controller.outside
        outside['stalled'] = timing_rules.stall(outside['stalled'][0], asked, woke)

    def _take(self) -> bool:
        """Decode every state that waits, as `rcl.drain` does; whether one was accepted."""
        accepted = False
        for message, number, published in self._states.drain_numbered():
            received = self._time() if self._ros_time is None or self.trigger == 'timer' \
                else stamp_of(message)
            code = self.decoder.decode(message, received, number)
            self.tally.sample(code)
            if code == ACCEPTED:
                accepted, self._published = True, published
        return accepted

    def _step(self, begun: int, now: float) -> None:
        """Run the cycle, which began at ``begun`` [ns], and publish what it says."""
        controller, outside = self.controller, self.controller.outside
        self._moving, outside['clock_stopped'] = timing_rules.moving(
            self.decoder.state['position'], self.tally.pose, now == controller.memory['time'][0],
            self._moving, float(outside['clock_stopped'][0]), begun)
        if (steady := time.monotonic()) >= self._count_again:
            self._count_again = steady + timing_rules.COUNT_INTERVAL
            outside['listeners'] = self._listeners()
        publish = controller.advance(now)
        outside['stalled'] = 0.0
        message = self._encoder.encode(controller.tau)
        before = time.monotonic_ns()
        if publish and not timing_rules.outdated(controller.memory['publishing'][0], begun, before,
                                          controller.settings.state_timeout):
            self._publish(message)
            self.tally.counts['slow_publishes'] += (
                time.monotonic_ns() - before > self._grid.period_ns)
        self._stalled(begun, time.monotonic_ns())

    def _note(self, woke: int, late: float, now: float) -> None:
        took = 1e-9 * (time.monotonic_ns() - woke)
        answer = 1e-9 * (time.time_ns() - self._published) if self._published else nan
        self._published = 0
        age = now - timing_rules.oldest(self.decoder.state['received'])
        self.tally.timing.add(1e-9 * woke, late, took, age, answer)
