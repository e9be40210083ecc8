# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Relay of the output of a process, so that a suspended reader cannot block it.

A full pipe, socket or terminal blocks its writer: a log whose reader is suspended would keep a
node from bringing the arm to rest. rclpy logs from C to file descriptor 2, so the relay works on
file descriptors: the process writes to a pipe that never blocks and is emptied by one thread;
another thread, which may block, writes to the reader. The reader's descriptor itself is not set to
O_NONBLOCK, because other processes share it.
"""

from collections.abc import Iterator
from contextlib import contextmanager, ExitStack, suppress
import fcntl
import os
import stat
import sys
import threading
import time

PIPE_BYTES = 1 << 20    # more than is written before the relay thread runs
MAX_BACKLOG_BYTES = 1 << 18    # kept for a slow reader; older lines are dropped
FLUSH_TIMEOUT = 1.0    # [s] at exit
CHUNK_BYTES = 4096


class Relay:
    """
    Relay of file descriptors; output that is not read is dropped, counted and reported.

    :param descriptors: of one open file, e.g. (1, 2); redirected until the relay is closed.
    """

    def __init__(self, descriptors: tuple[int, ...]):
        self._descriptors = descriptors
        self._reader = os.dup(descriptors[0])
        self._ours, theirs = os.pipe()
        with suppress(OSError):                 # pipes of a user may be limited in all
            fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        os.set_blocking(theirs, False)          # even if the relay threads are stopped
        for descriptor in descriptors:
            os.dup2(theirs, descriptor)
        os.close(theirs)
        self._backlog, self._changed = bytearray(), threading.Condition()
        self._dropped, self._over, self._broken = 0, False, False
        self._threads = [threading.Thread(target=run, name=name, daemon=True) for run, name in (
            (self._take, 'log_relay_in'), (self._give, 'log_relay_out'))]
        for thread in self._threads:
            thread.start()

    def _take(self) -> None:
        """Empty the pipe until all its writers are gone."""
        while data := os.read(self._ours, 1 << 16):
            with self._changed:
                self._backlog += data
                if (excess := len(self._backlog) - MAX_BACKLOG_BYTES) > 0:
                    cut = self._backlog.find(b'\n', excess) + 1 or len(self._backlog)
                    del self._backlog[:cut]
                    self._dropped += cut
                self._changed.notify()
        with self._changed:
            self._over = True
            self._changed.notify()

    def _give(self) -> None:
        """Write the backlog to the reader, however long that takes."""
        new_line = True
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._backlog or self._over)
                chunk = bytes(self._backlog[:CHUNK_BYTES])
                del self._backlog[:CHUNK_BYTES]
                dropped, self._dropped = self._dropped, 0
            if not chunk:
                return
            if dropped:
                chunk = (b'' if new_line else b'\n') + (
                    f'[log] {dropped} bytes dropped: not read in time\n').encode() + chunk
            new_line = chunk.endswith(b'\n')
            try:
                while chunk:
                    chunk = chunk[os.write(self._reader, chunk):]
            except OSError:             # the reader is gone
                self._broken = True
                with self._changed:
                    self._backlog.clear()

    def close(self) -> None:
        """Restore the descriptors, or redirect them to /dev/null if the reader does not read."""
        null = os.open(os.devnull, os.O_WRONLY)
        for descriptor in self._descriptors:
            os.dup2(null, descriptor)           # ends the pipe, unless a child has it
        deadline = time.monotonic() + FLUSH_TIMEOUT
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        if not self._broken and not any(thread.is_alive() for thread in self._threads):
            for descriptor in self._descriptors:
                os.dup2(self._reader, descriptor)
        os.close(null)


@contextmanager
def unblocked_output() -> Iterator[None]:
    """Relay standard output and error while the context is entered, if they could block."""
    if able_to_block(2) and os.isatty(2):       # rcutils will see a pipe
        os.environ.setdefault('RCUTILS_COLORIZED_OUTPUT', '1')
    with ExitStack() as stack:
        if able_to_block(1) and able_to_block(2) and _file(1) == _file(2):
            stack.callback(Relay((1, 2)).close)             # in one order
        else:
            for descriptor in (1, 2):
                if able_to_block(descriptor):
                    stack.callback(Relay((descriptor,)).close)
        try:
            yield
        finally:
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError):
                    stream.flush()


def able_to_block(descriptor: int) -> bool:
    """Return whether writing to a descriptor may block: not for a regular file."""
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:                             # closed
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


def _file(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino
