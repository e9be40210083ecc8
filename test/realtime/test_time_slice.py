# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Time slices of threads, verified with the kernel."""

import os
from pathlib import Path
import platform
import threading

from processes import until
import pytest
from robodyn_ros.realtime import time_slice
from robodyn_ros.realtime.time_slice import MIN_SLICE, shortened

SUPPORTED = (tuple(int(x) for x in platform.release().split('.')[:2]) >= (6, 12)
             and platform.machine() in time_slice.SYSCALL_NUMBERS)
pytestmark = pytest.mark.skipif(not SUPPORTED,
                                reason='the kernel has no time slices of threads')


def test_it_is_in_force_and_undone():
    """Of this thread and of another one; that of a third one stays."""
    threads, done = [threading.Thread(target=lambda: done.wait()) for _ in range(2)], (
        threading.Event())
    for thread in threads:
        thread.start()
    first, second = (thread.native_id for thread in threads)
    before = time_slice.time_slice(0)
    assert before > MIN_SLICE
    with shortened([0, first]) as changed:
        assert changed == [0, first]
        assert [time_slice.time_slice(n) for n in (0, first, second)] == [
            MIN_SLICE, MIN_SLICE, before]
    assert [time_slice.time_slice(n) for n in (0, first, second)] == [before] * 3
    done.set()


def test_a_thread_that_has_ended():
    """It is left out, and undoing is no error either."""
    gone = threading.Thread(target=lambda: None)
    gone.start()
    gone.join()
    # Which outlasts `join`
    until(lambda: not Path(f'/proc/self/task/{gone.native_id}').exists())
    with shortened([gone.native_id]) as changed:
        assert changed == []
    done = threading.Event()
    ends = threading.Thread(target=done.wait)
    ends.start()
    with shortened([ends.native_id]) as changed:
        assert changed == [ends.native_id]
        done.set()
        ends.join()


def test_an_unknown_machine(monkeypatch):
    """Nothing is changed where the numbers of the system calls are not known."""
    monkeypatch.setattr(platform, 'machine', lambda: 'vax')
    with shortened([0]) as changed:
        assert changed == []


def test_nice_stays():
    """Only the slice is set."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with shortened([0]):
        assert os.getpriority(os.PRIO_PROCESS, 0) == before
    assert os.sched_getscheduler(0) == os.SCHED_OTHER
