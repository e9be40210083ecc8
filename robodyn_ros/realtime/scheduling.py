# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Scheduling of threads: real-time priority, CPUs, locked memory, time slices; remedies.

Nothing here stops a loop: what the kernel does not grant becomes a sentence, and on it goes.

What a control loop changes of its process or of the middleware's threads belongs to all loops of
the process; the end of one must not undo it for the others (:func:`shared`).

A thread of the EEVDF scheduler (Linux 6.12 and later) that wakes up preempts the running one if
its virtual deadline is earlier, and the deadline is one time slice away. A short slice
(:func:`shortened`) lets a thread that runs for some ten microseconds run at once, where it would
else wait for the end of another's slice of 3 ms. It takes no privilege, because its share of the
processor stays the same (Stoica and Abdel-Wahab, "Earliest Eligible Virtual Deadline First", Old
Dominion University TR-95-22, 1995).
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, ExitStack, suppress
import ctypes
from dataclasses import dataclass, field
import os
from pathlib import Path
import platform
import resource
import struct
import sys
import threading
from typing import Any, TypeVar

from ..control.declare import flag, number, numbers

DMA_LATENCY = Path('/dev/cpu_dma_latency')
MCL_CURRENT, MCL_FUTURE = 1, 2                  # asm-generic/mman.h
CAP_IPC_LOCK = 14                               # linux/capability.h
DDS_THREAD_PREFIX = 'dds.'    # of the names of Fast DDS threads
LOOP_THREAD = 'control_loop'
LIMITS_FILE = '/etc/security/limits.d/99-realtime.conf'
UDEV_FILE = '/etc/udev/rules.d/99-cpu-dma-latency.rules'
UDEV_RULE = 'KERNEL=="cpu_dma_latency", GROUP="realtime", MODE="0660"'
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
                else f"echo '{UDEV_RULE}' | sudo tee {UDEV_FILE}; sudo udevadm control --reload; "
                     f'sudo udevadm trigger --name-match=cpu_dma_latency; {GROUP_REMEDY}')
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


Value = TypeVar('Value')


@dataclass
class _Held:
    users: int = 0
    stack: ExitStack = field(default_factory=ExitStack)
    value: Any = None


_held: dict[Hashable, _Held] = {}
_lock = threading.RLock()           # one shared context may enter another


@contextmanager
def shared(key: Hashable, make: Callable[[], AbstractContextManager[Value]]) -> Iterator[Value]:
    """
    Enter a context that all threads of this process share.

    Entering and leaving it are serialised with those of all other shared contexts.

    :param key: what is shared.
    :param make: makes the context manager; called by the first user only, and what it raises is
        raised.
    :returns: the value of the context, shared by all its users.
    """
    with _lock:
        held = _held.setdefault(key, _Held())
        if not held.users:
            try:
                held.value = held.stack.enter_context(make())
            except BaseException:
                del _held[key]
                raise
        held.users += 1
    try:
        yield held.value
    finally:
        with _lock:
            held.users -= 1
            if not held.users:
                del _held[key]
                held.stack.close()


SWITCH_INTERVAL = 1e-4     # s for which a thread keeps the GIL that another waits for


@contextmanager
def prompt_switches() -> Iterator[None]:
    """
    Give the GIL to a thread that waits for it within the block after 0.1 ms instead of 5.

    A control loop would miss cycles whenever another thread computes in Python.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, SWITCH_INTERVAL))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


MIN_SLICE = 100_000    # [ns] that the kernel accepts
# Numbers of the system calls sched_setattr and sched_getattr, linux/unistd.h
SYSCALL_NUMBERS = {'x86_64': (314, 315), 'aarch64': (274, 275), 'riscv64': (274, 275)}
# size, policy, flags, nice, priority, runtime, deadline, period: linux/sched/types.h
SCHED_ATTR = struct.Struct('=IIQiIQQQ')
RUNTIME_INDEX = 5    # of the time slice in SCHED_ATTR


@contextmanager
def shortened(threads: Iterable[int]) -> Iterator[list[int]]:
    """
    Give threads the time slice MIN_SLICE within the block.

    :param threads: numbers that the kernel has for them; 0: the calling one.
    :returns: the changed threads: none on other kernels, and none that has a real-time priority or
        has ended.
    """
    with ExitStack() as undo:
        changed = []
        for thread in threads:
            before = time_slice(thread)
            if before > MIN_SLICE and set_time_slice(thread, MIN_SLICE):
                undo.callback(set_time_slice, thread, before)
                changed.append(thread)
        yield changed


def time_slice(thread: int) -> int:
    """Return the time slice of a thread [ns], 0 if unknown."""
    attributes = _attributes(thread)
    return attributes[RUNTIME_INDEX] if attributes and attributes[1] == os.SCHED_OTHER else 0


def set_time_slice(thread: int, nanoseconds: int) -> bool:
    """Set the time slice of a thread of SCHED_OTHER; return whether the kernel has done so."""
    attributes = _attributes(thread)
    if not attributes or attributes[1] != os.SCHED_OTHER:
        return False
    attributes[RUNTIME_INDEX] = nanoseconds
    call = SYSCALL_NUMBERS[platform.machine()][0]
    if _libc.syscall(call, thread, ctypes.create_string_buffer(SCHED_ATTR.pack(*attributes)), 0):
        return False
    return time_slice(thread) == nanoseconds


def _attributes(thread: int) -> list[int]:
    """Return the scheduling attributes of a thread, [] if unknown."""
    call = SYSCALL_NUMBERS.get(platform.machine(), (0, 0))[1]
    buffer = ctypes.create_string_buffer(SCHED_ATTR.size)
    if not call or _libc.syscall(call, thread, buffer, SCHED_ATTR.size, 0):
        return []
    return list(SCHED_ATTR.unpack(buffer.raw))
