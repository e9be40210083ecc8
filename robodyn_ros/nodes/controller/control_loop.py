# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Control thread: state bytes in, one cycle, effort bytes out, without an executor."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
import threading
import time
from typing import Any, TYPE_CHECKING

import numpy as np
from numpy import ndarray

from .transport import DataPath
from ...control.controller.controller import Controller
from ...control.cycle.plain_cycle import Records
from ...control.steps.cycle_data import Cycle
from ...driver import note_age
from ...realtime import loop
from ...realtime.loop_settings import LoopSettings, TIMER, TRIGGERS
from ...realtime.periodic_timer import Grid, sharpen_timers
from ...realtime.scheduling import (
    LOOP_THREAD, middleware_threads, MIN_SLICE, Outcome, scheduled, Scheduling, shared, shortened)
from ...realtime.statistics import Tally
from ...wire.codecs import EffortEncoder, JointStateDecoder
from ...wire.decoders import ACCEPTED, stamp_of

if TYPE_CHECKING:               # the loop itself needs no ROS
    from .transport import DriverStates
    from ..middleware.raw_subscription import ExecutorSubscription, Sample, SerializedSubscription

# Records that Python reads as compiled code does; for mypy they stand in for arrays
FIELDS: Any = Records


class PythonLoop:
    """
    The loop of one controller, for one thread; its operations are those of ``realtime.loop``.

    :param states: where the states come in; others are those of :class:`ControlLoop`.
    """

    def __init__(self, settings: LoopSettings, controller: Controller, decoder: JointStateDecoder,
                 tally: Tally,
                 states: SerializedSubscription | ExecutorSubscription | DriverStates,
                 publish: Callable[[bytes], None], listeners: Callable[[], int],
                 ros_time: Callable[[], float] | None):
        timed = settings.trigger == TRIGGERS[TIMER]
        self._loop: Callable[..., int] = loop.on_grid if timed else loop.on_state
        self._controller, self._decoder = controller, decoder
        self._states, self._publish = states, publish
        self.count_listeners, self.cycle_time = listeners, ros_time or time.monotonic
        self._encoder = EffortEncoder(controller.model.nv)
        self._grid = Grid(settings.period_ns, round(1e9 * settings.spin) if timed else 0)
        self._taken: Sample | None = None
        self.loop_state = FIELDS(loop.initial_state(settings, states.most,
                                                    ros_time is not None))
        self.counts = FIELDS(tally.counts)
        # A ring may be long, and `Records` keeps each record that was read
        self.timing = tally.ring.view(np.recarray)
        self.cycle_count, self.seen, self.pose = tally.cycle_count, tally.seen, tally.pose
        self.decoder = decoder.arrays

    def call(self) -> None:
        """Make the loop come back at its next waking, to see what has changed; any thread may."""
        self.loop_state[0].called = 1
        self._states.wake()

    def run(self, over: Callable[[], bool]) -> None:
        """Run until the loop ends or an operation raises an error."""
        loop.begin(self.loop_state, time.monotonic_ns())
        while True:
            self.loop_state[0].called = 0           # before looking at what it was called for
            if over():
                return
            self._loop(self, with_fields(self._controller.inputs), self._controller.tau)

    # OPERATIONS of the loop

    steady_ns, wall_clock_ns = staticmethod(time.monotonic_ns), staticmethod(time.time_ns)

    def sleep_until(self, deadline: int) -> None:
        """
        Sleep until a steady time [ns].

        :raises OSError: the system refuses.
        """
        self._grid.deadline = int(deadline)
        self._grid.sleep()

    def wait_until(self, deadline: int) -> bool:
        """Sleep until a message comes (True), or until a steady time [ns] or a call (False)."""
        return self._states.wait(int(deadline) - time.monotonic_ns())

    def take(self) -> bool:
        """Take the next joint state; return whether there was one."""
        self._taken = self._states.take()
        return self._taken is not None

    def decode(self, received: float) -> int:
        """Decode the joint state taken last; return a decode status."""
        assert self._taken is not None
        taken, state = self._taken, self._decoder.state
        before = state['received'].copy()
        code = self._decoder.decode(taken.message, received, taken.number)
        if taken.age is not None and code == ACCEPTED:
            note_age(state, before, received, taken.age)
        return code

    def stamp_taken(self) -> float:
        """Return the header stamp [s] of the joint state taken last, NaN if it is too short."""
        assert self._taken is not None
        return stamp_of(self._taken.message)

    def publication_time(self) -> int:
        """Return when the joint state taken last was published [ns, time of day], 0: not known."""
        assert self._taken is not None
        return self._taken.published

    def advance(self, c: Cycle, now: float, tau: ndarray) -> bool:
        """Run the compiled cycle, with what the controller has now."""
        published = self._controller.advance(now)
        if not published:
            self._states.idle()
        return published

    def publish(self, tau: ndarray) -> None:
        """Publish the efforts (nv,) [N·m | N]."""
        self._publish(self._encoder.encode(tau))


def with_fields(c: Cycle) -> Cycle:
    """Return the data of the cycle with records as Python reads their fields."""
    return c._replace(settings=FIELDS(c.settings)[0], cycle_input=FIELDS(c.cycle_input)[0],
                      controller=FIELDS(c.controller)[0])


class ControlLoop:
    """
    Runs a controller on its own thread, at a fixed rate or for each joint state.

    :param settings: their scheduling is that wanted; ``scheduling`` is what came of it at the
        start.
    :param tally: what is counted and timed.
    :param path: how the states come in; a native one does everything but begin and end.
    :param publish: takes the serialized effort message.
    :param listeners: returns the number of subscribers.
    :param ros_time: under simulation time, gives it [s], to this thread only; None: the steady
        clock is used. With ``trigger`` state the stamp of the state is the time, so a paused
        simulation holds still.
    """

    def __init__(self, settings: LoopSettings, controller: Controller, decoder: JointStateDecoder,
                 tally: Tally, path: DataPath, publish: Callable[[bytes], None],
                 listeners: Callable[[], int], ros_time: Callable[[], float] | None):
        self.settings, self.controller, self.decoder = settings, controller, decoder
        self.tally, self.data_path = tally, path.name
        self.scheduling, self._scheduled = Outcome(), threading.Event()
        self._states, self._publish, self.on_ros_time = path.states, publish, ros_time is not None
        self._loop = path.native or PythonLoop(
            settings, controller, decoder, tally, path.states, publish, listeners, ros_time)
        nv = controller.model.nv
        self._zero = EffortEncoder(nv).encode(np.zeros(nv))
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start or restart; drop old states in the queue."""
        self.stop()                 # no two threads may run one controller
        self._states.drain()
        self.decoder.forget()
        self.tally.clear()
        self.controller.begin()
        cycle_input = self.controller.cycle_input
        cycle_input['simulated_time'], cycle_input['stalled'] = self.on_ros_time, 0.0
        cycle_input['clock_stopped'] = 0
        self.controller.changed = self._loop.call
        self._stop.clear()
        self._scheduled.clear()
        self._thread = threading.Thread(target=self._run, name=LOOP_THREAD, daemon=True)
        self._thread.start()
        self._scheduled.wait()

    def stop(self) -> None:
        """End and wait for the thread; where the arm was still driven, the last word is zero."""
        if self._thread is None:
            return
        self._stop.set()
        self._loop.call()
        self._thread.join()
        self._thread = None

    @property
    def running(self) -> bool:
        """Whether cycles run: started, neither stopped nor failed."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def resting(self) -> bool:
        """Whether efforts have ended, and drives still damp an arm without brakes."""
        return self._states.resting and self.controller.drives_damp

    @property
    def refused_states(self) -> str:
        """Why joint states have been refused, '' if none was."""
        reasons = ', '.join(self.tally.refused)
        joints = ', '.join(self.decoder.not_finite)
        return f'{reasons} ({joints})' if joints else reasons

    def now(self) -> float:
        """Time on the clock of the cycle [s]; on ROS time, that of the last cycle."""
        return float(self.controller.memory['time'][0]) if self.on_ros_time else time.monotonic()

    def look_for_state_publishers(self) -> None:
        """
        Report a second publisher of states that sequence numbers cannot show to the guard.

        Fast DDS numbers the messages of each publisher, by which the decoder finds two of the same
        joint. A middleware that does not leaves their count: any second one is one too many. Any
        thread may.
        """
        state = self.decoder.state
        if (not np.isnan(state['received']).all() and np.isnan(state['sequence']).all()
                and self._states.publisher_count() > 1):
            state['other'] = self.now()

    def _run(self) -> None:
        try:
            with scheduled(self.settings) as self.scheduling, ExitStack() as others:
                # What brings the states must not wait for what the loop does not wait for, nor run
                # where others do
                priority = max(1, self.settings.priority - 1) if self.scheduling.real_time else 0
                below = Scheduling(priority=priority, cpus=self.settings.cpus)
                for thread in middleware_threads():         # of all loops of this process
                    if below != Scheduling():
                        others.enter_context(
                            shared(('scheduling', thread), partial(scheduled, below, thread)))
                    if not self.scheduling.real_time:
                        others.enter_context(
                            shared(('slice', thread), partial(shortened, [thread])))
                if not self.scheduling.real_time and others.enter_context(shortened([0])):
                    self.scheduling.granted.append(f'time slice {1e-6 * MIN_SLICE:g} ms')
                self._scheduled.set()
                self._drive()
        finally:
            self._scheduled.set()

    def _drive(self) -> None:
        try:
            sharpen_timers()
            self._loop.run(self._stop.is_set)
        finally:
            # A forward controller keeps what it got last, so no exception may be the last word
            if self.controller.memory['publishing'][0]:
                self.controller.tau[:] = 0.0
                self.controller.memory['publishing'] = 0
                self._publish(self._zero)
