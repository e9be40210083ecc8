# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes that answer joint states: that of a tutorial, an echo without ROS, our controller."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, ExitStack
import ctypes
import os
from pathlib import Path
import re
import sys
import time
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from robodyn_ros.nodes.clients.processes import Child, running
from robodyn_ros.realtime.scheduling import scheduled, Scheduling
from robodyn_ros.realtime.statistics import load
from robodyn_ros.realtime.system_checks import REALTIME_PRIORITY

from .plant import GRAVITY, NAMESPACE, POSITIONS, Remote, REST, ROOT

CONFIG = ROOT / 'config' / 'panda.yaml'
READY = 300.0               # s until it answers, at most: where nothing is compiled yet
AT_ONCE = 0.05              # s of states in which an answer is waited for
FOLDER = '{folder}'         # in a command: that of logs and programs
WARM = 0.3                  # s of states, answered, before anything counts

_libc = ctypes.CDLL(None)
_libc.clock_getcpuclockid.argtypes = (ctypes.c_int, ctypes.POINTER(ctypes.c_int))


class Peer(NamedTuple):
    """One way to answer."""

    name: str
    command: tuple[str, ...]    # without what only a run knows
    fifo: bool = False          # asks for SCHED_FIFO
    path: str = ''              # of our controller: what it must have reached
    answer: str = GRAVITY       # to a state
    awake: bool = False         # while it runs, no CPU falls asleep


def _ours(name: str, path: str, trigger: str = 'state', *, fifo: bool = False,
          awake: bool = False, cpu: int | None = None,
          module: str = 'robodyn_ros.nodes.controller') -> Peer:
    words = {'urdf': 'panda', 'autostart': 'true', 'data_path': path, 'trigger': trigger,
             'arming_timeout': '60.0', 'priority': str(REALTIME_PRIORITY if fifo else 0),
             'keep_awake': str(awake).lower(), **({} if cpu is None else {'cpus': f'[{cpu}]'})}
    return Peer(name, ('-m', module, '--ros-args', '-r', f'__ns:={NAMESPACE}', '--params-file',
                       str(CONFIG), *(w for key, value in words.items()
                                      for w in ('-p', f'{key}:={value}'))), fifo, path,
                awake=awake)


def _tutorial(name: str, *words: str, awake: bool = False) -> Peer:
    return Peer(name, ('-m', 'benchmarks.tutorial', *words), awake=awake)


def echo(name: str, mode: str, namespace: str = NAMESPACE, *, awake: bool = False) -> Peer:
    """Return the echo of a namespace."""
    return Peer(name, ('-m', 'benchmarks.echo', FOLDER, mode, namespace), answer=POSITIONS,
                awake=awake)


# Whom the others are measured by, and by whom those that keep the CPUs awake are
NAIVE, NAIVE_TIMER, NAIVE_AWAKE = 'callback', 'timer_hog', 'callback_awake'
ECHO, ECHO_AWAKE = 'echo', 'echo_awake'
PEERS = {
    'timer': _tutorial('rclpy timer, typed messages', 'timer'),
    NAIVE: _tutorial('rclpy callback, typed messages', 'callback'),
    ECHO: echo('echo of Fast DDS, RELIABLE', 'reliable'),
    'echo_best_effort': echo('echo of Fast DDS, best effort', 'best_effort'),
    'executor': _ours('robodyn_ros, executor', 'executor'),
    'python': _ours('robodyn_ros, python', 'python'),
    'native': _ours('robodyn_ros, native', 'native'),
    'native_pinned': _ours('robodyn_ros, native, one CPU', 'native',
                           cpu=max(os.sched_getaffinity(0))),
    'python_fifo': _ours('robodyn_ros, python, FIFO', 'python', fifo=True),
    'native_fifo': _ours('robodyn_ros, native, FIFO', 'native', fifo=True),
    NAIVE_AWAKE: _tutorial('rclpy callback, CPUs kept awake', 'callback', awake=True),
    ECHO_AWAKE: echo('echo, RELIABLE, CPUs kept awake', 'reliable', awake=True),
    'native_awake': _ours('robodyn_ros, native, keep_awake', 'native', awake=True),
}
# Whose wake-ups at 1 kHz are timed; a hog is a thread that keeps the interpreter
HOGGED = 'benchmarks.gil_contention'
WAKE_UPS = {
    'timer_alone': _tutorial('rclpy timer', 'timer'),
    'native_alone': _ours('robodyn_ros, native', 'native', 'timer'),
    NAIVE_TIMER: _tutorial('rclpy timer, busy interpreter', 'timer', '--hog'),
    'native_hog': _ours('robodyn_ros, native, busy interpreter', 'native', 'timer', module=HOGGED),
    'native_hog_fifo': _ours('robodyn_ros, native, busy interpreter, FIFO', 'native', 'timer',
                             fifo=True, module=HOGGED),
}


def process_time(pid: int) -> float:
    """Processor time that a process has taken so far [s]."""
    number = ctypes.c_int()
    if error := _libc.clock_getcpuclockid(pid, ctypes.byref(number)):
        raise OSError(error, f'process {pid} has no clock')
    return time.clock_gettime(number.value)


@contextmanager
def answering(peer: Peer, plant: Remote, folder: Path, env: Mapping[str, str],
              *more: str) -> Iterator[Child]:
    """Start a peer and wait until it answers states; end it on the way out."""
    name = re.sub(r'\W+', '_', peer.name)
    command = [str(folder) if word == FOLDER else word for word in peer.command]
    with ExitStack() as held:
        if peer.awake:                      # by us, because not all of them can
            held.enter_context(scheduled(Scheduling(keep_awake=True)))
        children = held.enter_context(running(
            {name: [sys.executable, *command, *more]}, folder, env))
        child = children[name]
        await_answer(peer, plant, child)
        plant.publish(REST, WARM)
        _check(peer, child.output)
        yield child


def await_answer(peer: Peer, plant: Remote, child: Child) -> None:
    """Wait until a plant is answered, or a fault is logged; RuntimeError if neither is."""
    plant.answer = peer.answer
    end = time.monotonic() + READY
    while np.isnan(plant.publish(REST, AT_ONCE).found.trips).all():
        child.check()
        if 'FAULT ' in child.output:
            return
        if time.monotonic() > end:
            raise RuntimeError(f'{peer.name} does not answer; see {child.log}')


def _check(peer: Peer, log: str) -> None:
    """Raise RuntimeError where our controller does not run as it was to be."""
    if peer.path and not re.search(rf'data path {peer.path}\n', log):
        raise RuntimeError(f'{peer.name}: another data path was reached: {log}')
    if peer.path and peer.awake and 'CPUs kept awake' not in log:
        raise RuntimeError(f'{peer.name}: the CPUs are not kept awake: {log}')
    if peer.fifo and 'control thread: SCHED_FIFO' not in log:
        raise RuntimeError(f'{peer.name}: SCHED_FIFO was not granted: {log}')


def wake_ups(key: str, plant: Remote, folder: Path, env: Mapping[str, str], seconds: float
             ) -> ndarray:
    """Run one of WAKE_UPS for so long; return how late each of its wake-ups was (N,) [s]."""
    peer, file = WAKE_UPS[key], folder / f'{key}.npz'
    file = file if peer.path else file.with_suffix('.npy')
    file.unlink(missing_ok=True)
    more = ('-p', f'timing_file:={file}') if peer.path else ('--late', str(file))
    with answering(peer, plant, folder, env, *more):
        begin = time.monotonic()
        plant.publish(REST, seconds)
        end = time.monotonic()
    if peer.path:
        cycles = load(file).cycles
        woke, late = cycles['woke'], cycles['wake_up']
    else:
        woke, late = np.load(file).T
    return late[(woke >= begin) & (woke < end)]
