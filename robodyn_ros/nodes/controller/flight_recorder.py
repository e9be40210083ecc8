# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Writer of flight recordings: saves the ring buffer of the controller after a fault."""

from contextlib import suppress
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
import re
import time

from rclpy.logging import get_logging_directory
from rclpy.node import Node

from .control_loop import ControlLoop
from .disk_thread import DiskThread
from ...compiler.code_cache import machine
from ...control.controller.controller import Controller
from ...control.controller.history import Snapshot
from ...control.cycle import ring_buffer
from ...control.cycle.compile import compiled
from ...control.laws import registry
from ...control.steps import guard, payload_transition
from ...errors import RobodynError
from ...extras import pip_install
from ...flight_recorder import file
from ...flight_recorder.arrays import About
from ...flight_recorder.replay import latched
from ...model.resources import package_version

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
            0.0 if loop.on_ros_time else time.time() - time.monotonic(), package_version(),
            compiled().code, machine())
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
    if not len(faults := latched(snapshot)):
        return controller.reason_code, controller.reason
    after = snapshot.memory[faults[-1] + 1]
    code, joint = guard.CODES[after['reason']], int(after['joint'])
    return code, guard.REASONS[code] + (
        f' ({controller.model.joint_names[joint]})' if joint >= 0 else '')
