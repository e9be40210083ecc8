# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Time of a fault, from the flight recording that the controller has written."""

from pathlib import Path
from typing import NamedTuple

from ..flight_recorder.file import read
from ..flight_recorder.replay import latched


class Detection(NamedTuple):
    """The latest fault of a recording."""

    time: float             # s, wall clock, of the cycle that latched it
    reason: str             # code


def detection(path: Path) -> Detection:
    """
    Return when the latest fault of a flight recording was latched.

    :raises RobodynError: the file cannot be read, or holds no fault.
    """
    flown = read(path)
    cycle = int(latched(flown.snapshot)[-1])
    return Detection(float(flown.snapshot.cycles['now'][cycle]) + flown.about.offset,
                     flown.about.reason)
