# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Flight recording of one world, for `robodyn replay`."""

from datetime import datetime, timezone
from pathlib import Path

from .trial import Case, Outcome, Player
from ..compiler.code_cache import machine
from ..control.cycle.compile import compiled
from ..errors import writing
from ..flight_recorder import file
from ..flight_recorder.arrays import About
from ..model.resources import package_version

RISING = 10.0           # s that are recorded besides the motion


def record(case: Case, index: int, path: Path | None) -> Outcome:
    """
    Play one world and write its cycles.

    :param path: of the MCAP file; None to write none.
    :raises RobodynError: the controller refuses the settings, or the file cannot be written.
    """
    cycles = round((case.seconds + RISING) * case.settings.rate) if path else 0
    player = Player(case, recorded=cycles)
    outcome = player.play(index)
    if path is not None:
        controller = player.controller
        about = About('robodyn verify', controller.reason_code, controller.reason,
                      f'{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%S.%fZ}', 'simulation',
                      case.trigger, 'ros', 0.0, package_version(), compiled().code, machine())
        with writing(path, '--output'):
            path.parent.mkdir(parents=True, exist_ok=True)
            file.write(path, controller.model, controller.history.take(), about)
    return outcome
