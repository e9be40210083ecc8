# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Writer of flight recordings: saves the ring buffer of the controller after a fault."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timezone
import errno
from functools import partial
from hashlib import sha256
import os
from pathlib import Path
import re
import socket
import threading
import time

from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.logging import get_logging_directory
from rclpy.node import Node

from .control_loop import ControlLoop
from ...control.controller.controller import Controller
from ...control.controller.history import Snapshot
from ...control.cycle import ring_buffer
from ...control.laws import registry
from ...control.steps import payload_transition
from ...errors import ParameterError, RobodynError
from ...extras import pip_install
from ...flight_recorder import file
from ...flight_recorder.arrays import About
from ...flight_recorder.replay import last_fault, latched
from ...realtime.statistics import save, TimingAbout

DISK_TIMEOUT = 2.0    # [s] that anything waits for a disk


class DiskThread:
    """
    Thread that writes files one after the other; for use by one thread.

    :param what: is written, for the log.
    """

    def __init__(self, what: str, log: RcutilsLogger):
        self._what, self._log = what, log
        self._thread: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        """Whether a file is being written."""
        return self._thread is not None and self._thread.is_alive()

    def begin(self, write: Callable[[], None]) -> None:
        """Call ``write`` in the thread, after what is being written."""
        before = self._thread

        def run() -> None:
            if before is not None:
                before.join()
            write()
        # A daemon: what hangs does not keep the process from ending
        self._thread = threading.Thread(target=run, name=self._what, daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Wait until everything is written, for DISK_TIMEOUT at most."""
        if self._thread is not None:
            self._thread.join(DISK_TIMEOUT)
            if self.busy:
                self._log.error(f'the {self._what} has not been written within '
                                f'{DISK_TIMEOUT:g} s and is given up: the disk is full, slow or '
                                'gone')
            self._thread = None


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
        cycles = loop.tally.newest()
        about = TimingAbout(
            rate=loop.settings.rate, trigger=loop.settings.trigger, data_path=loop.data_path,
            scheduling=str(loop.scheduling), cycles=int(loop.tally.cycle_count[0]),
            overruns=loop.tally.overruns, missed=loop.tally.missed, lost=loop.tally.lost)

        def write() -> None:
            try:
                save(path, cycles, about)
            except OSError as error:
                log.error(f'timing_file {path} cannot be written: {error.strerror}')
            else:
                log.info(f'timing of {len(cycles)} cycles written: `robodyn check-machine '
                         f'--timing {path}`')
        disk = DiskThread('timing_file', log)
        disk.begin(write)
        disk.join()


RECORDED_AFTER_FAULT = 0.5    # [s]
MAX_FILES = 20    # of a node; older ones are deleted


class FlightRecorder:
    """
    Writer of flight recordings, for use by one thread.

    The ring is copied at once; the copy is written by a :class:`.DiskThread`.
    """

    def __init__(self, node: Node):
        self._log = node.get_logger()
        self._node = node.get_fully_qualified_name().strip('/')
        self._seen, self._due = 0, 0.0          # faults; s on the steady clock, 0: nothing to do
        self._disk = DiskThread('flight recording', self._log)

    def cycles(self, seconds: float, rate: float, nv: int) -> int:
        """Return how many cycles to keep: ``seconds`` at ``rate`` [Hz], 0 without MCAP."""
        if not seconds:
            return 0
        if not file.available():
            self._log.warning('flight_recorder is off: the library mcap is missing '
                              f'({pip_install("mcap")})')
            return 0
        asked = round(seconds * rate)
        rows = registry.most_rows(nv) + payload_transition.rows(nv, nv)
        most = ring_buffer.MAX_RING_BYTES // ring_buffer.bytes_a_cycle(nv, rows)
        if asked > most:
            self._log.warning(f'flight_recorder keeps {most} cycles, not {asked}: its buffer is '
                              f'limited to {ring_buffer.MAX_RING_BYTES >> 20} MiB')
        return asked

    def begin(self) -> None:
        """Reset the count of faults, as the loop does at its start."""
        self._seen, self._due = 0, 0.0

    def look(self, loop: ControlLoop, folder: str, *, at_once: bool = False) -> None:
        """Write a recording RECORDED_AFTER_FAULT after a fault, or ``at_once``."""
        controller, now = loop.controller, time.monotonic()
        if (faults := _faults(loop)) > self._seen:
            self._seen = faults
            self._due = self._due or now + RECORDED_AFTER_FAULT
        if not self._due or not (at_once or now >= self._due):
            return
        if self._disk.busy and not at_once:
            return                              # later: the ring keeps it for a while
        self._due = 0.0
        snapshot = controller.history.take()
        if not len(snapshot.cycles):            # off
            return
        self._disk.begin(partial(self._write, folder, controller, snapshot,
                                 *_fault(controller, snapshot), loop))

    def waits(self, loop: ControlLoop) -> bool:
        """Return whether :meth:`look` has work; thread-safe."""
        return _faults(loop) > self._seen or 0.0 < self._due <= time.monotonic()

    def join(self) -> None:
        """Wait until a recording under way is written, for a bounded time."""
        self._disk.join()

    def _write(self, folder: str, controller: Controller, snapshot: Snapshot, reason: str,
               sentence: str, loop: ControlLoop) -> None:
        noticed = datetime.now(timezone.utc)
        about = About(
            self._node, reason, sentence, f'{noticed:%Y-%m-%dT%H:%M:%S.%fZ}', loop.data_path,
            loop.settings.trigger, 'ros' if loop.on_ros_time else 'steady',
            0.0 if loop.on_ros_time else time.time() - time.monotonic())
        stem = f'flight_{self._node.replace("/", ".")}_'
        try:
            where = Path(folder or get_logging_directory()).expanduser()
            where.mkdir(parents=True, exist_ok=True)
            path = where / f'{stem}{noticed:%Y%m%dT%H%M%S_%f}_{reason}.mcap'
            file.write(path, controller.model, snapshot, about)
        except (OSError, RobodynError) as error:
            self._log.error(f'no flight recording of the fault: {error}')
            return
        self._log.info(f'flight recording of {len(snapshot.cycles)} cycles: robodyn replay {path}')
        ours = re.compile(re.escape(stem) + r'\d{8}T\d{6}_\d{6}_[A-Z_]+\.mcap')
        files = sorted(p for p in where.iterdir() if ours.fullmatch(p.name))
        for old in files[:-MAX_FILES]:
            with suppress(OSError):
                old.unlink()


def _faults(loop: ControlLoop) -> int:
    return int(loop.controller.memory['faults'][0])


def _fault(controller: Controller, snapshot: Snapshot) -> tuple[str, str]:
    """Return the code of the latest fault in the snapshot, and the reason in words."""
    if not len(latched(snapshot)):
        return controller.reason_code, controller.reason
    return last_fault(controller.model.joint_names, snapshot)
