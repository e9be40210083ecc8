# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Contexts that several threads are in: the first enters, the last leaves."""

from contextlib import contextmanager
import threading
import time

import pytest
from robodyn_ros.realtime import scheduling, shared_context
from robodyn_ros.realtime.shared_context import shared


@pytest.fixture
def log():
    """Return what has happened, and a maker of contexts that write it down."""
    happened = []

    @contextmanager
    def make():
        happened.append('in')
        yield len(happened)
        happened.append('out')
    return happened, make


def test_the_first_enters_and_the_last_leaves(log):
    """In whatever order they leave; afterwards all begins anew."""
    happened, make = log
    first, second, other = shared('key', make), shared('key', make), shared('other', make)
    assert first.__enter__() == second.__enter__() == 1
    assert other.__enter__() == 2
    first.__exit__(None, None, None)
    assert happened == ['in', 'in']
    second.__exit__(None, None, None)
    other.__exit__(None, None, None)
    assert happened == ['in', 'in', 'out', 'out'] and not shared_context._held
    with shared('key', make) as value:
        assert value == 5


def test_a_context_that_cannot_be_entered_is_not_held(log):
    _, make = log

    @contextmanager
    def refused():
        raise OSError('not here')
        yield
    with pytest.raises(OSError, match='not here'), shared('key', refused):
        pass
    with shared('key', make):
        pass
    assert not shared_context._held


def test_of_many_threads():
    """All are in it at a time, whoever comes first; nobody is in it before it is made."""
    inside, made, over, left = threading.Barrier(4), [], [], []

    @contextmanager
    def make():
        time.sleep(0.05)                # in which the others come
        made.append(len(over))
        yield made
        left.append(len(over))

    def use():
        with shared('key', make) as value:
            assert value == [0]
            inside.wait(10.0)
            over.append(0)
    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [0] and left == [4] and len(over) == 4 and not shared_context._held


def test_memory_is_unlocked_by_the_last(monkeypatch):
    """Each locks, for what has been allocated since; only the last one's end unlocks."""
    calls = []

    class Kernel:
        def mlockall(self, flags):  # noqa: CNL100
            calls.append('lock')
            return 0

        def munlockall(self):
            calls.append('unlock')
    monkeypatch.setattr(scheduling, '_libc', Kernel())
    wanted = scheduling.Scheduling(lock_memory=True)
    with scheduling.scheduled(wanted) as first, scheduling.scheduled(wanted) as second:
        assert first.granted == second.granted != []
        assert calls == ['lock', 'lock']
    assert calls == ['lock', 'lock', 'unlock']
