# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
A word on stderr while code is compiled for the first time, which may take a minute.

After a second: on a terminal a line that goes away when it is done, elsewhere one line in all. The
environment variable ROBODYN_PROGRESS=0 turns it off.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from time import monotonic

VARIABLE = 'ROBODYN_PROGRESS'
AFTER, REFRESH = 1.0, 0.25          # s

_lock = Lock()
_names: list[str] = []              # of what is being compiled, the innermost last
_told = False                       # the one line of this process that is no terminal's


@contextmanager
def compiling(name: str) -> Iterator[None]:
    """Tell that ``name`` is being compiled, if it takes long; inside another such, as its part."""
    with _lock:
        _names.append(name)
        outermost = len(_names) == 1 and os.environ.get(VARIABLE) != '0'
    done = Event()
    teller = Thread(target=_tell, args=(done,), daemon=True, name='compile notice')
    if outermost:
        teller.start()
    try:
        yield
    finally:
        with _lock:
            _names.remove(name)
        if outermost:
            done.set()
            teller.join(AFTER)      # no longer: nobody may be reading stderr


def _tell(done: Event) -> None:
    global _told
    begin = monotonic()
    if done.wait(AFTER) or (stream := sys.stderr) is None:
        return
    try:
        if not stream.isatty():
            if not _told:
                _told = True
                print(f'robodyn_ros: compiling {_current()} for this machine, once; later starts '
                      f'load it ({VARIABLE}=0 hides this line)', file=stream, flush=True)
            return
        while not done.wait(REFRESH):
            seconds = int(monotonic() - begin)
            print(f'\r\x1b[Kcompiling {_current()}, once on this machine: {seconds} s', end='',
                  file=stream, flush=True)
        print('\r\x1b[K', end='', file=stream, flush=True)
    except (OSError, ValueError):           # stderr is closed
        pass


def _current() -> str:
    with _lock:
        return _names[-1] if _names else 'code'
