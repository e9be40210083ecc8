# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Parallel compilation in a second process, on a machine without cached code.

Numba compiles on one thread, with the GIL. A second process therefore compiles the slowest part
into the cache. If it fails, the code is compiled where it is needed.
"""

from collections.abc import Callable
from contextlib import suppress
import os
from pathlib import Path
import subprocess
import sys
import time

from .cache_directory import all_cache_directories
from .cache_directory import VARIABLE as CACHE
from .compile_notice import VARIABLE, waiting

MAX_WAIT, POLL_PERIOD = 300.0, 0.05    # [s]
# Statements at the begin of a process. The working directory, which Python would search first,
# comes last: a module there must not hide one of the same name elsewhere
SAFE_PATH = 'import sys; sys.path.sort(key=bool, reverse=True); '
# It ends with its parent, which holds the other end of the pipe
END_WITH_PARENT = ('import os, threading; threading.Thread('
                   'target=lambda: (os.read(0, 1), os._exit(1)), daemon=True).start(); ')

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
    end = time.monotonic() + MAX_WAIT
    with waiting(f'process {_processes[name].pid}, which compiles {name}'):
        while running(name) and not until() and time.monotonic() < end:
            time.sleep(POLL_PERIOD)
