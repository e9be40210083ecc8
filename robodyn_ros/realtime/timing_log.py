# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Recordings of a loop's timing: a NumPy .npz file with one value a cycle.

It holds the columns of ``statistics.TIMING`` (N,) [s], oldest first, and the words and numbers of
:class:`About` (``about``, a JSON text).
"""

from dataclasses import asdict, dataclass
import json
from pathlib import Path
import threading
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from .statistics import no_cycles, TIMING
from ..errors import ArgumentError, reading

FORMAT = 'robodyn_ros timing 1'
MAX_CYCLES = 1 << 20    # 17 minutes at 1 kHz, 40 MiB


@dataclass
class About:
    """Metadata of a recording."""

    rate: float                 # Hz, nominal
    trigger: str                # timer | state
    data_path: str
    scheduling: str
    cycles: int                 # since the activation, of which the latest were kept
    overruns: int               # times the loop came too late for a point of its grid
    missed: int                 # points in total
    lost: int                   # samples that were published and never came


class Recording(NamedTuple):
    """A recording as it was read."""

    cycles: ndarray             # (N,) TIMING
    about: About


def save(path: Path, cycles: ndarray, about: About) -> None:
    """
    Write (N,) TIMING; a file that was there is replaced when the new one is complete.

    :raises OSError: it cannot be written.
    """
    part = path.with_name(f'{path.name}.{threading.get_native_id()}.part')
    try:
        with part.open('wb') as out:
            columns: dict[str, Any] = {name: cycles[name] for name in TIMING.names or ()}
            np.savez(out, format=FORMAT, about=json.dumps(asdict(about)), **columns)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def load(path: Path) -> Recording:
    """
    Read a recording.

    :raises ArgumentError: the file cannot be read, or is not a recording.
    """
    remedy = 'give the file that the parameter timing_file of the controller names'
    with reading(path, ArgumentError, 'file', remedy), np.load(path, allow_pickle=False) as file:
        if str(file['format']) != FORMAT:
            raise ValueError('another format')
        columns = [np.asarray(file[name], float) for name in TIMING.names or ()]
        about = About(**json.loads(str(file['about'])))
        cycles = no_cycles(len(columns[0]))
        for name, column in zip(TIMING.names or (), columns):
            cycles[name] = column
        return Recording(cycles, about)
