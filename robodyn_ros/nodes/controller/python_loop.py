# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The control loop run by Python: the functions of the compiled one over rclpy's subscriptions."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any, TYPE_CHECKING

import numpy as np
from numpy import ndarray

from ...control.controller.controller import Controller
from ...control.cycle.plain_cycle import Records
from ...control.steps.cycle_data import Cycle
from ...realtime import loop
from ...realtime.loop_counters import Tally
from ...realtime.loop_settings import LoopSettings, TIMER, TRIGGERS
from ...realtime.periodic_timer import Grid
from ...wire.effort import EffortEncoder
from ...wire.joint_state import JointStateDecoder, stamp_of

if TYPE_CHECKING:               # the loop itself needs no ROS
    from .driver_states import DriverStates
    from ..middleware.executor_subscription import ExecutorSubscription
    from ..middleware.raw_subscription import Sample, SerializedSubscription

# Records that Python reads as compiled code does; for mypy they stand in for arrays
FIELDS: Any = Records


class PythonLoop:
    """
    The loop of one controller, for one thread; its operations are those of ``realtime.loop_io``.

    :param states: where the states come in.
    :param publish: takes the serialized effort message.
    :param listeners: returns the number of subscribers.
    :param tally: what is counted and timed.
    :param ros_time: under simulation time, gives it [s]; None: time is the steady clock.
    """

    def __init__(self, settings: LoopSettings, controller: Controller, decoder: JointStateDecoder,
                 tally: Tally,
                 states: SerializedSubscription | ExecutorSubscription | DriverStates,
                 publish: Callable[[bytes], None], listeners: Callable[[], int],
                 ros_time: Callable[[], float] | None):
        timed = settings.trigger == TRIGGERS[TIMER]
        self._loop, self._controller, self._decoder = (
            loop.on_grid if timed else loop.on_state, controller, decoder)
        self._states, self._publish, self._listeners = states, publish, listeners
        self._ros_time, self._encoder = ros_time, EffortEncoder(controller.model.nv)
        self._grid = Grid(settings.period_ns, round(1e9 * settings.spin) if timed else 0)
        self._taken: Sample | None = None
        self.loop_state = FIELDS(loop.initial_state(settings, states.most,
                                                    ros_time is not None))
        self.counts = FIELDS(tally.counts)
        # A ring may be long, and `Records` keeps each record that was read
        self.timing = tally.timing.ring.view(np.recarray)
        self.cycle_count, self.seen, self.pose = tally.timing.count, tally.seen, tally.pose
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

    # Operations of `loop_io`

    def steady_ns(self) -> int:
        """Return the steady time [ns]."""
        return time.monotonic_ns()

    def wall_clock_ns(self) -> int:
        """Return the time of day [ns]."""
        return time.time_ns()

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
        return self._decoder.decode(self._taken.message, received, self._taken.number)

    def stamp_taken(self) -> float:
        """Return the header stamp [s] of the joint state taken last, NaN if it is too short."""
        assert self._taken is not None
        return stamp_of(self._taken.message)

    def publication_time(self) -> int:
        """Return when the joint state taken last was published [ns, time of day], 0: not known."""
        assert self._taken is not None
        return self._taken.published

    def cycle_time(self) -> float:
        """Return the time [s] on the clock of the cycle."""
        return time.monotonic() if self._ros_time is None else self._ros_time()

    def count_listeners(self) -> int:
        """Return the number of subscribers of the commands."""
        return self._listeners()

    def advance(self, c: Cycle, now: float, tau: ndarray) -> bool:
        """Run the compiled cycle, with what the controller has now."""
        return self._controller.advance(now)

    def publish(self, tau: ndarray) -> None:
        """Publish the efforts (nv,) [N·m | N]."""
        self._publish(self._encoder.encode(tau))


def with_fields(c: Cycle) -> Cycle:
    """Return the data of the cycle with records as Python reads their fields."""
    return c._replace(settings=FIELDS(c.settings)[0], cycle_input=FIELDS(c.cycle_input)[0],
                      controller=FIELDS(c.controller)[0])
