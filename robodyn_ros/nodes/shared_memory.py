# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Removal of shared-memory ports that killed processes have left unfinished.

Fast DDS opens its ports, files in /dev/shm, with Boost.Interprocess: whoever creates one sets its
size, writes its content and marks it as initialised, which takes microseconds. Others wait for
the mark, without a limit. Where the creator was killed in between, every later process that needs
the port hangs in the creation of its node and says nothing.

The mutex of a port, ``sem.fastdds_port*_mutex``, is left alone: where a killed process holds it,
Fast DDS waits two seconds and makes a new one (3.2.3, tried with a held mutex).
"""

from contextlib import suppress
import os
from pathlib import Path
import re
import struct
import sys
import time

FOLDER = Path('/dev/shm')
PORT = re.compile(r'fast(dds|rtps)_port.*[0-9]')    # Fast DDS 3, 2; not their lock files
INITIALISED = 2         # boost/interprocess/detail/managed_open_or_create_impl.hpp
PATIENCE = 1.0          # s, after which nobody is still initialising a port
POLL = 0.05             # s


def remove_unfinished_ports(folder: Path = FOLDER) -> list[Path]:
    """
    Remove ports of Fast DDS that are not initialised and that nobody initialises any more.

    To be called before ``rclpy.init``. Waits up to a second for a port that is new.

    :param folder: where shared memory is.
    :returns: the files that were removed; each is reported on stderr.
    """
    removed: list[Path] = []
    try:
        names = os.listdir(folder)
    except FileNotFoundError:               # no Linux
        return removed
    pending = [folder / name for name in names if PORT.fullmatch(name)]
    while pending := [path for path in pending if _hinders(path)]:
        for path in pending:
            with suppress(FileNotFoundError):
                if abs(time.time() - path.stat().st_mtime) > PATIENCE:
                    path.unlink()
                    removed.append(path)
                    print(f'removed {path}, which a killed process had left unfinished: Fast DDS '
                          'would have waited for it forever', file=sys.stderr)
        time.sleep(POLL)
    return removed


def _hinders(path: Path) -> bool:
    """Whether a port is not initialised; one that is gone, or of another user, is left alone."""
    try:
        with path.open('r+b') as file:
            head = file.read(4)
    except OSError:
        return False
    return len(head) < 4 or struct.unpack('=I', head)[0] != INITIALISED
