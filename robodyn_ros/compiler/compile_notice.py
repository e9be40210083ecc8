# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Notice on stderr while code is compiled for the first time, which may take a minute.

It appears after a second: on a terminal as a line that is removed at the end, otherwise as a
single line per process. The environment variable ROBODYN_PROGRESS=0 disables it.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
import os
import sys
from threading import Event, Lock, Thread
from time import monotonic

VARIABLE = 'ROBODYN_PROGRESS'
DELAY, REFRESH_PERIOD = 1.0, 0.25   # [s]

_lock = Lock()
_activities: list[str] = []         # the innermost last
_printed = False                    # the single line of this process, without terminal


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
