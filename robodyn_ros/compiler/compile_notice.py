# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Notice on stderr while code is compiled for the first time, which may take a minute.

It appears after a second: on a terminal as a line that is removed at the end, otherwise as a
single line per process. The environment variable ROBODYN_PROGRESS=0 disables it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
import os
import sys
from threading import Event, Lock, Thread
from time import monotonic

VARIABLE = 'ROBODYN_PROGRESS'
DELAY, REFRESH_PERIOD = 1.0, 0.25   # [s]

_lock = Lock()
_names: list[str] = []              # of what is being compiled, the innermost last
_printed = False                    # the single line of this process, without terminal


@contextmanager
def compiling(name: str) -> Iterator[None]:
    """Show a notice that ``name`` is being compiled, if it takes long; contexts can be nested."""
    with _lock:
        _names.append(name)
        outermost = len(_names) == 1 and os.environ.get(VARIABLE) != '0'
    done = Event()
    thread = Thread(target=_show, args=(done,), daemon=True, name='compile notice')
    if outermost:
        thread.start()
    try:
        yield
    finally:
        with _lock:
            _names.remove(name)
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
                print(f'robodyn_ros: compiling {_current()} for this machine, once; later starts '
                      f'load it ({VARIABLE}=0 hides this line)', file=stream, flush=True)
            return
        while not done.wait(REFRESH_PERIOD):
            seconds = int(monotonic() - begin)
            print(f'\r\x1b[Kcompiling {_current()}, once on this machine: {seconds} s', end='',
                  file=stream, flush=True)
        print('\r\x1b[K', end='', file=stream, flush=True)
    except (OSError, ValueError):           # stderr is closed
        pass


def _current() -> str:
    with _lock:
        return _names[-1] if _names else 'code'
