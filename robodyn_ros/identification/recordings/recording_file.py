# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Atomic writing of a recording to a file that :func:`~.read.read` reads."""

from collections.abc import Callable
import csv
from io import TextIOWrapper
import os
from pathlib import Path
import tempfile
from typing import Any, BinaryIO

import numpy as np

from .recording import QUANTITIES, Recording
from ...errors import Argument, RecordingError, Remedy


def check_target(path: Path, force: bool) -> None:
    """
    Check before a recording is made that its file can be written.

    :param force: whether an existing file may be replaced.
    :raises RecordingError: the suffix is unknown, the file exists, or the folder is not writable.
    """
    if path.suffix.lower() not in WRITERS:
        _refuse(path, 'is no kind of file that is written', f'end it in {" or ".join(WRITERS)}')
    if path.exists() and not force:
        _refuse(path, 'is there already', ('give another name, or ', Argument('force', True)))
    if not path.parent.is_dir():
        _refuse(path, 'would be in a folder that is not there', f'make {path.parent}')
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        _refuse(path, 'cannot be written there', 'give a path where you may write')


def write(path: Path, recording: Recording) -> None:
    """
    Write .npz (arrays joint_names, time, position, ...) or .csv (time, position_NAME, ...).

    The file is written next to the target and then renamed.

    :raises RecordingError: writing failed; the remedy names the file where the recording was saved
        instead.
    """
    try:
        _write(path, recording)
    except OSError as error:
        remedy = 'make room'
        try:
            rescued = Path(tempfile.mkdtemp(prefix='robodyn_')) / path.name
            _write(rescued, recording)
            remedy = f'it is in {rescued}: move it from there'
        except OSError as other:
            remedy = f'it could not be kept elsewhere either ({other})'
        _refuse(path, f'cannot be written ({error})', remedy)


def _write(path: Path, recording: Recording) -> None:
    beside = path.with_name(f'.{path.name}.{os.getpid()}')
    try:
        with beside.open('wb') as file:
            WRITERS[path.suffix.lower()](file, recording)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def _arrays(recording: Recording) -> dict[str, Any]:
    return {name: array for name in QUANTITIES if (array := getattr(recording, name)) is not None}


def _npz(file: BinaryIO, recording: Recording) -> None:
    np.savez_compressed(file, joint_names=np.array(recording.joint_names), time=recording.time,
                        **_arrays(recording))


def _csv(file: BinaryIO, recording: Recording) -> None:
    arrays = _arrays(recording)
    text = TextIOWrapper(file, encoding='utf-8', newline='')
    out = csv.writer(text)
    out.writerow(['time', *(f'{quantity}_{name}' for quantity in arrays
                            for name in recording.joint_names)])
    out.writerows(np.column_stack([recording.time, *arrays.values()]).tolist())
    text.flush()
    text.detach()


WRITERS: dict[str, Callable[[BinaryIO, Recording], None]] = {'.npz': _npz, '.csv': _csv}


def _refuse(path: Path, problem: str, remedy: Remedy) -> None:
    raise RecordingError(f'{path} {problem}', name=str(path), remedy=remedy)
