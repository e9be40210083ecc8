# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Compilation that takes long, on a machine without cached code: a notice, and a second process.

The notice appears on stderr after a second: on a terminal as a line that is removed at the end,
otherwise as a single line per process. The environment variable ROBODYN_PROGRESS=0 disables it.

Numba compiles on one thread, with the GIL. A second process therefore compiles the slowest part
into the cache. If it fails, the code is compiled where it is needed.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
import os
from pathlib import Path
import subprocess
import sys
from threading import Event, Lock, Thread
from time import monotonic, sleep

from .cache_directory import all_cache_directories, VARIABLE as CACHE

VARIABLE = 'ROBODYN_PROGRESS'
DELAY, REFRESH_PERIOD = 1.0, 0.25   # [s]

_lock = Lock()
_activities: list[str] = []         # the innermost last
_printed = False                    # the single line of this process, without terminal
MAX_WAIT, POLL_PERIOD = 300.0, 0.05    # [s]
# Statements at the begin of a process. The working directory, which Python would search first,
# comes last: a module there must not hide one of the same name elsewhere
SAFE_PATH = 'import sys; sys.path.sort(key=bool, reverse=True); '
# It ends with its parent, which holds the other end of the pipe
END_WITH_PARENT = ('import os, threading; threading.Thread('
                   'target=lambda: (os.read(0, 1), os._exit(1)), daemon=True).start(); ')


def compiling(name: str) -> AbstractContextManager[None]:
    """Show a notice that ``name`` is being compiled, if it takes long; contexts can be nested."""
    return _notice(f'compiling {name}')


def waiting(what: str) -> AbstractContextManager[None]:
    """Show likewise what is waited for until code has been compiled."""
    return _notice(f'waiting for {what}')


@contextmanager
def _notice(activity: str) -> Iterator[None]:
    with _lock:
        _activities.append(activity)
        outermost = len(_activities) == 1 and os.environ.get(VARIABLE) != '0'
    done = Event()
    thread = Thread(target=_show, args=(done,), daemon=True, name='compile notice')
    if outermost:
        thread.start()
    try:
        yield
    finally:
        with _lock:
            _activities.remove(activity)
        if outermost:
            done.set()
            thread.join(DELAY)      # bounded, since stderr may be a pipe that is not read


def _show(done: Event) -> None:
    global _printed
    begin = monotonic()
    if done.wait(DELAY) or (stream := sys.stderr) is None:
        return
    try:
        if not stream.isatty():
            if not _printed:
                _printed = True
                print(f'robodyn_ros: {activity()} for this machine, once; later starts load '
                      f'it ({VARIABLE}=0 hides this line)', file=stream, flush=True)
            return
        while not done.wait(REFRESH_PERIOD):
            seconds = int(monotonic() - begin)
            print(f'\r\x1b[K{activity()}, once on this machine: {seconds} s', end='',
                  file=stream, flush=True)
        print('\r\x1b[K', end='', file=stream, flush=True)
    except (OSError, ValueError):           # stderr is closed
        pass


def activity() -> str:
    """Return what is going on, e.g. ``compiling control``; '' if nothing is compiled."""
    with _lock:
        return _activities[-1] if _activities else ''


_processes: dict[str, subprocess.Popen] = {}


def environment() -> dict[str, str]:
    """Return an environment in which a process can import this package, with the same cache."""
    package = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (package, os.environ.get('PYTHONPATH'))))
    caches = os.pathsep.join(map(str, all_cache_directories()))
    return {**os.environ, 'PYTHONPATH': path, CACHE: caches}


def begin(name: str, statement: str, *, nice: int = 0) -> bool:
    """
    Start a process that executes a statement, once in this process; return whether it runs.

    :param name: of what it compiles, for :func:`wait`.
    :param statement: Python text; this package is on the path.
    :param nice: added to the nice value, for background work.
    """
    if name in _processes:
        return running(name)
    if not sys.executable or (os.cpu_count() or 1) < 2:
        return False
    with suppress(OSError):
        _processes[name] = subprocess.Popen(
            [sys.executable, '-c',
             f'{SAFE_PATH}{END_WITH_PARENT}os.nice({nice}); {statement}'],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, env={**environment(), VARIABLE: '0'})
    return name in _processes


def running(name: str) -> bool:
    """Return whether the process was started and has not ended."""
    return name in _processes and _processes[name].poll() is None


def failed(name: str) -> bool:
    """Return whether the process was started and has ended without having compiled everything."""
    return name in _processes and _processes[name].poll() not in (None, 0)


def wait(name: str, until: Callable[[], bool] = lambda: False) -> None:
    """Wait until the process has ended, if it was started, or until the condition holds."""
    if not running(name) or until():
        return
    end = monotonic() + MAX_WAIT
    with waiting(f'process {_processes[name].pid}, which compiles {name}'):
        while running(name) and not until() and monotonic() < end:
            sleep(POLL_PERIOD)
