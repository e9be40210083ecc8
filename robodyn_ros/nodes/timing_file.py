# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Timing file of a control loop, written after it has ended."""

from pathlib import Path

from rclpy.impl.rcutils_logger import RcutilsLogger

from .control_loop import ControlLoop
from ..realtime.timing_log import About, save


def write(name: str, loop: ControlLoop, log: RcutilsLogger) -> None:
    """Write the timing of a loop that has ended, unless the name is empty; log the result."""
    if not name:
        return
    path, cycles = Path(name).expanduser(), loop.tally.timing.newest()
    try:
        save(path, cycles, About(
            rate=loop.rate, trigger=loop.trigger, data_path=loop.data_path,
            scheduling=str(loop.scheduling), cycles=int(loop.tally.timing.count[0]),
            overruns=loop.tally.overruns, missed=loop.tally.missed, lost=loop.tally.lost))
    except OSError as error:
        log.error(f'timing_file {path} cannot be written: {error.strerror}')
    else:
        log.info(f'timing of {len(cycles)} cycles written: robodyn loop-report {path}')
