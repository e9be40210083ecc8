# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Real-time scheduling, CPU affinity and memory locking of a thread; remedies where refused.

Nothing here stops a loop: what the kernel does not grant becomes a sentence, and on it goes.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, ExitStack, suppress
import ctypes
from dataclasses import dataclass, field
import os
from pathlib import Path
import resource
import struct
from typing import Any

from .shared_context import shared
from ..control.declare.setting_fields import flag, number, numbers

DMA_LATENCY = Path('/dev/cpu_dma_latency')
MCL_CURRENT, MCL_FUTURE = 1, 2                  # asm-generic/mman.h
CAP_IPC_LOCK = 14                               # linux/capability.h
DDS_THREAD_PREFIX = 'dds.'    # of the names of Fast DDS threads
LOOP_THREAD = 'control_loop'
LIMITS_FILE = '/etc/security/limits.d/99-realtime.conf'
GROUP_REMEDY = 'sudo groupadd -f realtime; sudo usermod -aG realtime $USER; then log in again'

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Scheduling:
    """
    Requested scheduling; by default unchanged.

    ``cpus`` are those of the thread; memory is that of the whole process, and the idle states are
    those of the whole machine.
    """

    priority: int = number(0, '', 0, 99, 'SCHED_FIFO priority of the control thread; 0: none.',
                           live=False)
    cpus: tuple[int, ...] = numbers('', 0, 1023, 'CPUs of the control and middleware threads '
                                    'while active. Empty: all.', live=False)
    lock_memory: bool = flag('Lock the memory of the process in RAM (mlockall) while active.',
                             live=False)
    keep_awake: bool = flag('Prevent deep idle states while active (/dev/cpu_dma_latency): less '
                            'latency, more power.', live=False)


@dataclass
class Outcome:
    """Granted requests, and a sentence with a remedy for each refused one."""

    granted: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    real_time: bool = False         # whether the priority is granted

    def __str__(self) -> str:
        return ', '.join(self.granted if self.real_time
                         else ['no real-time priority', *self.granted])


@contextmanager
def scheduled(wanted: Scheduling, thread: int = 0) -> Iterator[Outcome]:
    """
    Run a thread like this for as long as the block lasts; undone afterwards.

    :param thread: number that the kernel has for it; 0: the calling one.
    """
    outcome = Outcome()
    with ExitStack() as undo:
        if wanted.lock_memory:
            _lock_memory(outcome, undo)
        if wanted.keep_awake:
            _keep_awake(outcome, undo)
        if wanted.cpus:
            _pin(wanted.cpus, thread, outcome, undo)
        if wanted.priority:     # last: what stands above takes its time
            _raise(wanted.priority, thread, outcome, undo)
        yield outcome


def middleware_threads() -> list[int]:
    """Return the kernel's numbers of the threads of Fast DDS in this process."""
    threads = []
    for task in Path('/proc/self/task').iterdir():
        with suppress(OSError):         # it has just ended
            if (task / 'comm').read_text().startswith(DDS_THREAD_PREFIX):
                threads.append(int(task.name))
    return threads


def _refuse(outcome: Outcome, what: str, error: OSError, remedy: str) -> None:
    outcome.refused.append(f'{what} is not granted ({error.strerror}): {remedy}')


def _restore(function: Callable[..., None], *arguments: Any) -> None:
    with suppress(ProcessLookupError):      # a thread that has ended
        function(*arguments)


def _raise(priority: int, thread: int, outcome: Outcome, undo: ExitStack) -> None:
    try:
        before = os.sched_getscheduler(thread), os.sched_getparam(thread)
        os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(priority))
    except ProcessLookupError:      # a thread that has ended
        return
    except OSError as error:
        allowed = resource.getrlimit(resource.RLIMIT_RTPRIO)[0]
        _refuse(outcome, f'SCHED_FIFO priority {priority}', error,
                f'up to {allowed} is allowed; echo "@realtime - rtprio 98" | sudo tee -a '
                f'{LIMITS_FILE}; {GROUP_REMEDY}; in a container, --cap-add=sys_nice')
        return
    undo.callback(_restore, os.sched_setscheduler, thread, *before)
    outcome.granted.append(f'SCHED_FIFO {priority}')
    outcome.real_time = True


def _pin(cpus: tuple[int, ...], thread: int, outcome: Outcome, undo: ExitStack) -> None:
    asked = listed(cpus)
    try:
        before = os.sched_getaffinity(thread)
    except ProcessLookupError:      # a thread that has ended
        return
    try:
        os.sched_setaffinity(thread, cpus)
        # The kernel leaves out those that are not there, as long as one is
        if (got := os.sched_getaffinity(thread)) != set(cpus):
            os.sched_setaffinity(thread, before)
            raise OSError(0, f'there is only {listed(got)} of it')
    except OSError as error:
        _refuse(outcome, f'running on CPU {asked}', error,
                f'this process may use {listed(before)}; name some of those')
        return
    undo.callback(_restore, os.sched_setaffinity, thread, before)
    outcome.granted.append(f'CPU {asked}')


def _lock_memory(outcome: Outcome, undo: ExitStack) -> None:
    # Under a limit, MCL_FUTURE would let an allocation fail later, and the process with it
    flags = MCL_CURRENT | (MCL_FUTURE if unlimited_memory() else 0)
    if _libc.mlockall(flags):
        number = ctypes.get_errno()
        _refuse(outcome, 'locked memory', OSError(number, os.strerror(number)),
                f'{memory_limit()} is allowed; echo "@realtime - memlock unlimited" | sudo tee -a '
                f'{LIMITS_FILE}; {GROUP_REMEDY}; in a container, --ulimit memlock=-1')
        return
    undo.enter_context(shared('locked memory', _unlocked_by_the_last))
    outcome.granted.append('memory locked' if flags & MCL_FUTURE else 'present memory locked')


@contextmanager
def _unlocked_by_the_last() -> Iterator[None]:
    try:
        yield
    finally:
        _libc.munlockall()


def _keep_awake(outcome: Outcome, undo: ExitStack) -> None:
    try:
        device = os.open(DMA_LATENCY, os.O_WRONLY | os.O_CLOEXEC)
    except OSError as error:
        _refuse(outcome, 'keeping CPUs awake', error,
                'the kernel, or the container, has no such device' if not DMA_LATENCY.exists()
                else 'echo \'KERNEL=="cpu_dma_latency", GROUP="realtime", MODE="0660"\' | '
                     'sudo tee /etc/udev/rules.d/99-cpu-dma-latency.rules; sudo udevadm control '
                     '--reload; sudo udevadm trigger --name-match=cpu_dma_latency; '
                     '' + GROUP_REMEDY)
        return
    undo.callback(os.close, device)     # which takes the request back
    try:
        os.write(device, struct.pack('i', 0))       # µs
    except OSError as error:
        _refuse(outcome, 'keeping CPUs awake', error, f'see whether {DMA_LATENCY} is the device')
        return
    outcome.granted.append('CPUs kept awake')


def unlimited_memory() -> bool:
    """Return whether this process may lock all its memory."""
    if resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] == resource.RLIM_INFINITY:
        return True
    with suppress(StopIteration):
        status = Path('/proc/thread-self/status').read_text().splitlines()
        word = next(line.split()[1] for line in status if line.startswith('CapEff'))
        return bool(int(word, 16) >> CAP_IPC_LOCK & 1)
    return False


def memory_limit() -> str:
    """Return the limit of locked memory without privileges, as text."""
    limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    return 'all' if limit == resource.RLIM_INFINITY else f'{limit / 2**20:.3g} MiB'


def listed(cpus: Iterable[int]) -> str:
    """Return CPUs as the kernel lists them: 0-3,6."""
    ranges: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if ranges and cpu == ranges[-1][-1] + 1:
            ranges[-1][1:] = [cpu]
        else:
            ranges.append([cpu])
    return ','.join('-'.join(map(str, r)) for r in ranges)
