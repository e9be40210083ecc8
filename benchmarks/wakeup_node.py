# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
A compiled loop that only sleeps, beside a controller: what is late in both is the machine's doing.

`python -m benchmarks.wakeup_node CPU PRIORITY FILE` sleeps until SIGINT and leaves (2, N) there:
when it woke [s], CLOCK_MONOTONIC, and how much later than its point of the grid [s].
"""

import signal
import sys
import threading
import time

import numpy as np
from robodyn_ros.realtime.periodic_timer import sharpen_timers
from robodyn_ros.realtime.scheduling import scheduled, Scheduling

from .lateness import compiled_lateness

PERIOD = 1_000_000          # ns
AT_ONCE = 1000              # wake-ups, then it looks whether it is over
ASLEEP = 'asleep'           # what it says when it has begun


def sleep(over: threading.Event, wanted: Scheduling, found: list[np.ndarray]) -> None:
    """Sleep until it is over, in the calling thread."""
    run, timespec = compiled_lateness(), np.zeros(2, np.int64)
    with scheduled(wanted):
        sharpen_timers()
        print(ASLEEP, flush=True)
        while not over.is_set():
            late, begin = np.zeros(AT_ONCE, np.int64), time.monotonic_ns()
            late = late[:run(PERIOD, 0, timespec, late)]
            # A point of the grid that is over is left out, as `lateness` does
            missed = np.concatenate(([0], np.cumsum(late // PERIOD)[:-1]))
            woke = begin + PERIOD * (1 + np.arange(len(late)) + missed) + late
            found.append(np.array([woke, late]) * 1e-9)


def main() -> None:
    """Run it in a thread that no signal interrupts."""
    cpu, priority, file = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    over, found = threading.Event(), list[np.ndarray]()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    thread = threading.Thread(target=sleep, args=(over, Scheduling(priority, (cpu,)), found))
    thread.start()
    over.wait()
    thread.join()
    np.save(file, np.concatenate(found, axis=1))


if __name__ == '__main__':
    main()
