# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Timing file of a control loop, written after it has ended."""

import errno
from hashlib import sha256
import os
from pathlib import Path
import socket

from rclpy.impl.rcutils_logger import RcutilsLogger

from .control_loop import ControlLoop
from .disk_thread import DiskThread
from ...errors import ParameterError
from ...realtime.timing_log import About, save


class TimingFile:
    """
    The file of one controller, which no other controller may write meanwhile.

    A bound abstract socket stands for the path: the kernel gives it once, to one process or to
    another, and takes it back from one that was killed. Containers with a network of their own do
    not see each other's. Where sockets are not allowed, nothing is claimed.
    """

    def __init__(self) -> None:
        self._path: Path | None = None
        self._claim: socket.socket | None = None

    def claim(self, name: str) -> None:
        """
        Claim a path in place of the previous one.

        :param name: value of the parameter; empty: no file.
        :raises ParameterError: another controller writes this file.
        """
        self.release()
        if not name:
            return
        self._path = Path(name).expanduser()
        try:
            claim = socket.socket(socket.AF_UNIX)
        except OSError:
            return
        try:
            claim.bind('\0robodyn_ros.timing_file.'
                       + sha256(os.path.realpath(self._path).encode()).hexdigest())
        except OSError as error:
            claim.close()
            if error.errno != errno.EADDRINUSE:
                return
            raise ParameterError(
                f'timing_file {self._path} is that of another controller, which would replace it',
                name='timing_file', value=name, remedy='give each controller a file of its own, '
                'in the section of its full name: /left/controller, /right/controller'
            ) from error
        self._claim = claim

    def release(self) -> None:
        """Leave the path to others."""
        self._path = None
        if self._claim is not None:
            self._claim.close()
            self._claim = None

    def write(self, loop: ControlLoop, log: RcutilsLogger) -> None:
        """Write the timing of a loop that has ended, if there is a path; log the result."""
        if (path := self._path) is None:
            return
        cycles = loop.tally.timing.newest()
        about = About(
            rate=loop.settings.rate, trigger=loop.settings.trigger, data_path=loop.data_path,
            scheduling=str(loop.scheduling), cycles=int(loop.tally.timing.count[0]),
            overruns=loop.tally.overruns, missed=loop.tally.missed, lost=loop.tally.lost)

        def write() -> None:
            try:
                save(path, cycles, about)
            except OSError as error:
                log.error(f'timing_file {path} cannot be written: {error.strerror}')
            else:
                log.info(f'timing of {len(cycles)} cycles written: robodyn loop-report {path}')
        disk = DiskThread('timing_file', log)
        disk.begin(write)
        disk.join()
