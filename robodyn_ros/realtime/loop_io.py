# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Operations by which a control loop reaches its surroundings, and the state that it keeps.

:mod:`~.loop` is written over these functions. Python calls the method of the same name of an
object, see :mod:`robodyn_ros.nodes.controller.python_loop`; compiled code calls the function of
the same name in :mod:`robodyn_ros.realtime.native.io` instead.
"""

from typing import Any, Protocol

import numpy as np
from numpy import ndarray

from . import clock_steps
from .loop_settings import LOOP, LoopSettings
from ..control.declare import record_dtype
from ..wire.decoders import DecoderArrays

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
    *clock_steps.STATE,
])


class AnyLoopIO(Protocol):
    """
    Arrays that a loop works in.

    Where Python runs it, the object has the operations below as methods besides.
    """

    @property
    def loop_state(self) -> ndarray:
        """(1,) LOOP_STATE."""

    @property
    def counts(self) -> ndarray:
        """(1,) COUNTS, see :mod:`~.loop_counters`."""

    @property
    def timing(self) -> ndarray:
        """(N,) TIMING, a ring of the latest cycles, see :mod:`~.statistics`."""

    @property
    def cycle_count(self) -> ndarray:
        """(1,) int64, number of cycles that the ring was given."""

    @property
    def seen(self) -> ndarray:
        """(nv,) numbers of the samples that were counted last."""

    @property
    def pose(self) -> ndarray:
        """(nv,) positions [rad | m] that the last cycle had."""

    @property
    def decoder(self) -> DecoderArrays:
        """Memory of the decoder of joint states."""


def steady_ns(io: Any) -> int:
    """Return the steady time [ns], as ``time.monotonic_ns``."""
    return io.steady_ns()


def wall_clock_ns(io: Any) -> int:
    """Return the time of day [ns], as ``time.time_ns``."""
    return io.wall_clock_ns()


def sleep_until(io: Any, deadline: int) -> None:
    """Sleep until a steady time [ns]; a failure is noted in ``loop_state``, or raised."""
    io.sleep_until(deadline)


def wait_until(io: Any, deadline: int) -> bool:
    """Sleep until a message comes (True), or until a steady time [ns] or a wake-up (False)."""
    return io.wait_until(deadline)


def take(io: Any) -> bool:
    """Take the next joint state that waits; return whether there was one."""
    return io.take()


def decode(io: Any, received: float) -> int:
    """Decode the joint state taken last, received at ``received`` [s]; return a decode status."""
    return io.decode(received)


def stamp_taken(io: Any) -> float:
    """Return the header stamp [s] of the joint state taken last, NaN if it is too short."""
    return io.stamp_taken()


def publication_time(io: Any) -> int:
    """Return when the joint state taken last was published [ns, time of day], 0 if not known."""
    return io.publication_time()


def cycle_time(io: Any) -> float:
    """Return the time [s] on the clock of the cycle: steady, or the newest of /clock."""
    return io.cycle_time()


def count_listeners(io: Any) -> int:
    """Return the number of subscribers of the commands."""
    return io.count_listeners()


def advance(io: Any, inputs: Any, now: float, tau: ndarray) -> bool:
    """Run the control cycle; return whether to publish ``tau``."""
    return io.advance(inputs, now, tau)


def publish(io: Any, tau: ndarray) -> None:
    """Publish the efforts (nv,) [N·m | N]; a failure is noted in ``loop_state``, or raised."""
    io.publish(tau)
