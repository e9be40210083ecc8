# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The control thread: state bytes in, one cycle, effort bytes out; no executor in between."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from math import nan

from ..control import guard
from ..control.controller import Controller
from ..realtime.grid import Grid, sharpen_timers
from ..realtime.scheduling import Outcome, Scheduling, scheduled
from ..realtime.statistics import LostSamples, Timing
from ..wire.effort import EffortEncoder
from ..wire.joint_state import ACCEPTED, REASONS, JointStateDecoder, stamp_of
from .serialized import SerializedSubscription

COUNT_INTERVAL = 0.05       # s between two counts of the listeners
NORMAL = Scheduling()
GRACE = 2_000_000           # ns that a state may come after the clock of its time


class ControlLoop:
    """
    Runs a controller on its own thread, at a fixed rate or for each joint state.

    :param publish: takes the serialized effort message.
    :param listeners: counts those who hear it.
    :param ros_time: under simulation time, gives it [s], to this thread only; None: the steady
        clock is used. With ``trigger`` state the stamp of the state is the time, so a paused
        simulation holds still.
    :param scheduling: wanted for the thread; what came of it is in ``scheduling`` after the start.
    :param spin: how long before each point of the grid the clock is watched [s].
    :param keep: how many cycles ``timing`` holds.
    """

    def __init__(self, controller: Controller, decoder: JointStateDecoder,
                 states: SerializedSubscription, publish: Callable[[bytes], None],
                 listeners: Callable[[], int], *, trigger: str,
                 ros_time: Callable[[], float] | None, scheduling: Scheduling = NORMAL,
                 spin: float = 0.0, keep: int = 2048):
        self.controller, self.decoder, self.trigger = controller, decoder, trigger
        self._listeners, self._count_again = listeners, 0.0
        self.rate = controller.settings.rate
        self.missed = self.overruns = 0
        self.refused: Counter[str] = Counter()
        self.accepted = 0
        self.timing, self.lost = Timing(keep), LostSamples(decoder.state['sequence'])
        self.scheduling = Outcome()
        self._wanted, self._scheduled = scheduling, threading.Event()
        self._grid = Grid(round(1e9 / self.rate), round(1e9 * spin))
        self._states, self._publish, self._ros_time = states, publish, ros_time
        self._noticed = 0.0         # s, time when states were last missed
        self.on_ros_time = ros_time is not None
        self._encoder = EffortEncoder(controller.model.nv)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, anew if it runs; states that waited in the queue are old and dropped."""
        self.stop()                 # no two threads may run one controller
        self._states.drain()
        self.decoder.forget()
        self.lost, self.missed, self.overruns = LostSamples(self.decoder.state['sequence']), 0, 0
        self.timing.clear()
        self.controller.begin()
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

    def _time(self) -> float:
        if self._ros_time is None:
            return time.monotonic()
        return self.decoder.stamp if self.trigger == 'state' else self._ros_time()

    def _run(self) -> None:
        try:
            with scheduled(self._wanted) as self.scheduling:
                self._scheduled.set()
                self._drive()
        finally:
            self._scheduled.set()

    def _drive(self) -> None:
        try:
            if self.trigger == 'timer':
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
        sharpen_timers()
        grid = self._grid
        grid.start()
        while not self._stop.is_set():
            missed = grid.wait()
            self.missed += missed
            self.overruns += missed > 0
            self.controller.outside['missed'] = missed
            woke = time.monotonic()
            self._take()
            self._step(now := self._time())
            self._note(woke, woke - grid.deadline * 1e-9, now)

    def _on_state(self) -> None:
        sharpen_timers()
        stepped = time.monotonic()
        while not self._stop.is_set():
            # Without a good state there is nothing to answer but silence that lasts too long:
            # refused samples, or joints of others, must not keep it from being noticed
            patient = self.controller.phase != guard.FAULT
            silence = self.controller.settings.state_timeout if patient else 1.0 / self.rate
            self._states.wait(round(1e9 * (stepped + silence - time.monotonic())))
            woke = time.monotonic()
            accepted, silent = self._take(), woke - stepped >= silence
            now = self._time() if accepted or self._ros_time is None else self._ros_time()
            due = silent and not accepted and self._goes_on(now)
            if due and self._ros_time is not None and self._states.wait(GRACE):
                continue                # in lockstep a state follows its clock at once
            if accepted or due:
                self._step(now)
                self._note(woke, nan, now)
            if accepted or silent:
                stepped = time.monotonic()

    def _goes_on(self, now: float) -> bool:
        """
        Whether time has gone on without a state.

        A paused simulation holds the output, and a clock a little behind the states, or one that
        is not heard at all, says nothing; one that has begun anew does.
        """
        new, self._noticed = now != self._noticed, now
        last = float(self.controller.memory['time'][0])
        return new and (now > last or last - now > self.controller.settings.state_timeout)

    def _take(self) -> bool:
        """Decode every state that waits; whether one was accepted."""
        accepted = False
        for message, sequence in self._states.drain_numbered():
            received = self._time() if self._ros_time is None or self.trigger == 'timer' \
                else stamp_of(message)
            code = self.decoder.decode(message, received, sequence)
            if code == ACCEPTED:
                self.accepted += 1
                self.lost.look()
                accepted = True
            else:
                self.refused[REASONS[code]] += 1
        return accepted

    def _step(self, now: float) -> None:
        if (steady := time.monotonic()) >= self._count_again:
            self._count_again = steady + COUNT_INTERVAL
            self.controller.outside['listeners'] = self._listeners()
        if self.controller.step(now):
            self._publish(self._encoder.encode(self.controller.tau))

    def _note(self, woke: float, late: float, now: float) -> None:
        age = now - float(self.decoder.state['received'].min())
        self.timing.add(woke, late, time.monotonic() - woke, age)
