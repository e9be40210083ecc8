# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Scheduling requests and time slices, verified with the kernel; contexts that threads share."""

from contextlib import contextmanager
import ctypes
import json
import os
from pathlib import Path
import platform
import resource
import subprocess
import sys
import threading
import time

from processes import until
import pytest
from robodyn_ros.realtime import scheduling
from robodyn_ros.realtime.scheduling import (
    listed, MIN_SLICE, scheduled, Scheduling, shared, shortened)

# Gives all privileges up, takes limits, asks, and tells what it got and what the kernel says
ASK = """
import json, os, resource, sys, threading
from pathlib import Path
from robodyn_ros.realtime.scheduling import DMA_LATENCY, Scheduling, scheduled

def state():
    me = threading.get_native_id()
    status = Path(f'/proc/self/task/{me}/status').read_text().splitlines()
    locked = next(int(l.split()[1]) for l in status if l.startswith('VmLck'))
    held = [os.readlink(f'/proc/self/fd/{f}') for f in os.listdir('/proc/self/fd')
            if os.path.islink(f'/proc/self/fd/{f}')]
    return {'policy': os.sched_getscheduler(0), 'priority': os.sched_getparam(0).sched_priority,
            'cpus': sorted(os.sched_getaffinity(0)), 'locked': locked,
            'device': str(DMA_LATENCY) in held}

wanted, rtprio, memlock, humble = json.loads(sys.argv[1])
if rtprio is not None:
    resource.setrlimit(resource.RLIMIT_RTPRIO, (rtprio, rtprio))
if memlock is not None:
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (memlock, memlock))
if humble and os.geteuid() == 0:
    os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
wanted['cpus'] = tuple(wanted.get('cpus', ()))
found = {'before': state()}
with scheduled(Scheduling(**wanted)) as outcome:
    found['inside'] = state()
found.update(after=state(), granted=outcome.granted, refused=outcome.refused)
print(json.dumps(found))
"""
PR_CAPBSET_DROP, CAP_IPC_LOCK, CAP_SYS_NICE, CAP_SYS_RESOURCE = 24, 14, 23, 24
_prctl = ctypes.CDLL(None).prctl
EVERYTHING = {'priority': 40, 'lock_memory': True, 'keep_awake': True}


def has(*capabilities):
    word = next(line.split()[1] for line in Path('/proc/self/status').read_text().splitlines()
                if line.startswith('CapEff'))
    return os.geteuid() == 0 and all(int(word, 16) >> c & 1 for c in capabilities)


raises_limits = pytest.mark.skipif(not has(CAP_SYS_RESOURCE),
                                   reason='needs a root who may raise limits')


def ask(wanted, *, rtprio=None, memlock=None, humble=False, without=None):
    """In a process of its own; ``without`` this capability, which exec then cannot give back."""
    def drop():
        if without is not None:
            _prctl(PR_CAPBSET_DROP, without, 0, 0, 0)
    done = subprocess.run([sys.executable, '-c', ASK,
                           json.dumps([wanted, rtprio, memlock, humble])],
                          capture_output=True, text=True, timeout=60, preexec_fn=drop)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_nothing_is_left_behind():
    found = ask({})
    assert found['before'] == found['inside'] == found['after']
    assert found['granted'] == found['refused'] == []
    before = os.sched_getaffinity(0)
    with pytest.raises(ZeroDivisionError), scheduled(Scheduling(cpus=(min(before),))):
        assert os.sched_getaffinity(0) == {min(before)}
        raise ZeroDivisionError
    assert os.sched_getaffinity(0) == before


def test_without_privilege_each_refusal_is_a_line_and_the_loop_goes_on():
    found = ask(EVERYTHING, rtprio=0, memlock=65536, humble=True)
    assert found['before'] == found['inside'] == found['after'] and found['granted'] == []
    memory, awake, priority = found['refused']
    assert all('\n' not in line for line in found['refused'])
    assert 'SCHED_FIFO priority 40' in priority and '@realtime - rtprio 98' in priority
    assert '0.0625 MiB is allowed' in memory and '@realtime - memlock unlimited' in memory
    if Path('/dev/cpu_dma_latency').exists():
        assert 'KERNEL=="cpu_dma_latency"' in awake
    else:
        assert 'no such device' in awake


def test_what_is_granted_is_in_force_and_undone():
    """As the user who runs the tests; for root that is everything, for others what they may."""
    found = ask(EVERYTHING)
    inside, granted = found['inside'], found['granted']
    assert len(granted) + len(found['refused']) == len(EVERYTHING)
    assert (inside['policy'] == os.SCHED_FIFO and inside['priority'] == 40) == (
        'SCHED_FIFO 40' in granted)
    assert (inside['locked'] > 0) == any('memory locked' in word for word in granted)
    assert inside['device'] == ('CPUs kept awake' in granted)
    assert found['before'] == found['after']


@pytest.mark.skipif(not has(CAP_SYS_NICE, CAP_IPC_LOCK), reason='needs a privileged root')
def test_one_privilege_does_not_stand_for_another():
    found = ask(EVERYTHING, rtprio=0, memlock=65536, without=CAP_SYS_NICE)
    assert found['granted'][0] == 'memory locked' and found['inside']['locked'] > 0
    assert len(found['refused']) == 1 + (not found['inside']['device'])
    assert 'SCHED_FIFO priority 40' in found['refused'][-1]
    assert found['inside']['policy'] == os.SCHED_OTHER
    found = ask(EVERYTHING, rtprio=0, memlock=65536, without=CAP_IPC_LOCK)
    assert 'SCHED_FIFO 40' in found['granted'] and found['inside']['priority'] == 40
    assert 'locked memory' in found['refused'][0] and found['inside']['locked'] == 0
    assert found['before'] == found['after']


@raises_limits
def test_limits_are_enough_without_any_capability():
    infinite = resource.RLIM_INFINITY
    found = ask({'priority': 40, 'lock_memory': True}, rtprio=40, memlock=infinite, humble=True)
    assert found['granted'] == ['memory locked', 'SCHED_FIFO 40'] and found['refused'] == []
    assert found['inside']['priority'] == 40 and found['inside']['locked'] > 0
    assert found['before'] == found['after']
    found = ask({'priority': 41}, rtprio=40, humble=True)
    assert found['granted'] == [] and 'up to 40 is allowed' in found['refused'][0]


@raises_limits
def test_under_a_finite_limit_later_allocations_are_not_locked():
    """They would fail when the limit is reached, and the process with them."""
    found = ask({'lock_memory': True}, memlock=1 << 36, humble=True)
    assert found['granted'] == ['present memory locked'] and found['inside']['locked'] > 0


def test_a_thread_is_pinned_and_others_are_not():
    mine = os.sched_getaffinity(0)
    seen = []

    def pinned():
        with scheduled(Scheduling(cpus=(max(mine),))) as outcome:
            seen.extend((os.sched_getaffinity(0), str(outcome)))
        seen.append(os.sched_getaffinity(0))
    thread = threading.Thread(target=pinned)
    thread.start()
    thread.join()
    assert seen == [{max(mine)}, f'no real-time priority, CPU {max(mine)}', mine]
    assert os.sched_getaffinity(0) == mine


@pytest.mark.parametrize('others', [(), (min(os.sched_getaffinity(0)),)])
def test_a_cpu_that_is_not_there_is_refused_whole(others):
    mine = os.sched_getaffinity(0)
    with scheduled(Scheduling(cpus=(*others, 900))) as outcome:
        assert os.sched_getaffinity(0) == mine
    assert outcome.granted == [] and str(outcome) == 'no real-time priority'
    assert '900' in outcome.refused[0] and f'may use {listed(mine)}' in outcome.refused[0]


def test_cpus_are_listed_as_the_kernel_does():
    assert listed([3, 1, 2, 6, 8, 7, 10]) == '1-3,6-8,10'
    assert listed(os.sched_getaffinity(0)) == next(
        line.split()[1] for line in Path('/proc/self/status').read_text().splitlines()
        if line.startswith('Cpus_allowed_list'))


SUPPORTED = (tuple(int(x) for x in platform.release().split('.')[:2]) >= (6, 12)
             and platform.machine() in scheduling.SYSCALL_NUMBERS)
has_slices = pytest.mark.skipif(not SUPPORTED, reason='the kernel has no time slices of threads')


@has_slices
def test_it_is_in_force_and_undone():
    """Of this thread and of another one; that of a third one stays."""
    threads, done = [threading.Thread(target=lambda: done.wait()) for _ in range(2)], (
        threading.Event())
    for thread in threads:
        thread.start()
    first, second = (thread.native_id for thread in threads)
    before = scheduling.time_slice(0)
    assert before > MIN_SLICE
    with shortened([0, first]) as changed:
        assert changed == [0, first]
        assert [scheduling.time_slice(n) for n in (0, first, second)] == [
            MIN_SLICE, MIN_SLICE, before]
    assert [scheduling.time_slice(n) for n in (0, first, second)] == [before] * 3
    done.set()


@has_slices
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


@has_slices
def test_an_unknown_machine(monkeypatch):
    """Nothing is changed where the numbers of the system calls are not known."""
    monkeypatch.setattr(platform, 'machine', lambda: 'vax')
    with shortened([0]) as changed:
        assert changed == []


@has_slices
def test_nice_stays():
    """Only the slice is set."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with shortened([0]):
        assert os.getpriority(os.PRIO_PROCESS, 0) == before
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


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
    assert happened == ['in', 'in', 'out', 'out'] and not scheduling._held
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
    assert not scheduling._held


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
    assert made == [0] and left == [4] and len(over) == 4 and not scheduling._held


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
