# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a control loop leaves behind of its timing, once it has ended."""

from pathlib import Path

from rclpy.impl.rcutils_logger import RcutilsLogger

from ..realtime.recording import About, save
from .control_loop import ControlLoop
from .diagnostics import DATA_PATH


def write(name: str, loop: ControlLoop, log: RcutilsLogger) -> None:
    """Write the timing of a loop that has ended; say where, or why not. Empty name: nothing."""
    if not name:
        return
    path, cycles = Path(name).expanduser(), loop.timing.newest()
    try:
        save(path, cycles, About(
            rate=loop.rate, trigger=loop.trigger, data_path=DATA_PATH,
            scheduling=str(loop.scheduling), cycles=int(loop.timing.count[0]),
            overruns=loop.overruns, missed=loop.missed, lost=loop.lost.count))
    except OSError as error:
        log.error(f'timing_file {path} cannot be written: {error.strerror}')
    else:
        log.info(f'timing of {len(cycles)} cycles written: robodyn loop-report {path}')
