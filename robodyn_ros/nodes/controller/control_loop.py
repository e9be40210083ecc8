# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Control thread: state bytes in, one cycle, effort bytes out; no executor in between."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
import threading
import time

import numpy as np

from .python_loop import PythonLoop
from .transport import DataPath
from ...control.controller.controller import Controller
from ...realtime.loop_counters import Tally
from ...realtime.loop_settings import LoopSettings
from ...realtime.periodic_timer import sharpen_timers
from ...realtime.scheduling import (
    LOOP_THREAD,
    middleware_threads,
    MIN_SLICE,
    Outcome,
    scheduled,
    Scheduling,
    shared,
    shortened,
)
from ...wire.effort import EffortEncoder
from ...wire.joint_state import JointStateDecoder


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
