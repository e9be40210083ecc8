# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of learned efforts: a NumPy .npz that is valid for one robot, law and trajectory only."""

import hashlib
import json
import os
from pathlib import Path
from typing import NoReturn
import zipfile
import zlib

import numpy as np
from numpy import ndarray

from .iterative_learning import IterativeLearning
from ..settings.friction import CURVE_PARAMETERS
from ..settings.settings import Settings
from ...errors import TrajectoryError
from ...model.to_urdf import to_urdf

FILE_FORMAT = 'robodyn_ros learned efforts 1'
MAX_FILE_BYTES = 1 << 26
# Exceptions that reading damaged or foreign bytes may raise
READ_ERRORS = (EOFError, KeyError, RecursionError, TypeError, ValueError, zipfile.BadZipFile,
               zlib.error)


def subject(learning: IterativeLearning) -> dict[str, str]:
    """Return what the efforts depend on, in words or as hashes; other efforts fit where it is."""
    s, motion = learning.settings, learning.motion
    arrays = (motion.times, motion.positions, motion.velocities, motion.accelerations)
    friction = [getattr(s, name) for name in (
        *CURVE_PARAMETERS, 'friction_offset', 'friction_compensation', 'armature')]
    return {
        'robot': f'{learning.model.name} {_hash(to_urdf(learning.model).encode())}',
        'control law': s.mode,
        'gains': _hash(s.gain_rows(learning.model).tobytes()),
        'payload': _payload(s),
        'friction': _hash(repr([tuple(np.atleast_1d(f).tolist()) for f in friction]).encode()),
        'gravity compensation': 'of the robot' if s.robot_compensates_gravity else 'of the law',
        'trajectory': _hash(repr(tuple(motion.joint_names)).encode(), *(
            b'none' if a is None else np.ascontiguousarray(a, float).tobytes() for a in arrays)),
        'sampling': repr([len(learning.times), float(learning.times[-1])])}


def _payload(s: Settings) -> str:
    if not s.payload_mass:
        return 'none'
    inertia = f', {list(s.payload_inertia)} kg·m²' if any(s.payload_inertia) else ''
    return f'{s.payload_mass:g} kg at {list(s.payload_com)} of {s.payload_frame!r}{inertia}'


def write(path: Path, learning: IterativeLearning) -> None:
    """
    Write the efforts of the best repeat to ``path``, where they appear when they are complete.

    :raises TrajectoryError: the file cannot be written.
    """
    text = json.dumps({'format': FILE_FORMAT, 'subject': subject(learning)}, ensure_ascii=False)
    part = path.with_name(f'{path.name}.{os.getpid()}.part')
    try:
        with part.open('wb') as stream:
            np.savez_compressed(stream, text=np.frombuffer(text.encode(), np.uint8),
                                times=learning.times, efforts=learning.best_efforts,
                                history=np.array(learning.history))
        part.replace(path)
    except OSError as error:
        _refuse(path, f'cannot be written ({error.strerror or error})', 'give another file')
    finally:
        part.unlink(missing_ok=True)


def restore(path: Path, learning: IterativeLearning) -> None:
    """
    Begin with the efforts of a file.

    :raises TrajectoryError: it cannot be read, or was learned for another robot, law, payload or
        trajectory; it says which.
    """
    try:
        text, efforts = _read(path)
        found = json.loads(text)
        if found['format'] != FILE_FORMAT:
            raise ValueError(f'format {found["format"]!r}')
        theirs = {str(k): str(v) for k, v in found['subject'].items()}
    except OSError as error:
        _refuse(path, f'cannot be read ({error.strerror or error})', 'give another file')
    except READ_ERRORS as error:
        _refuse(path, f'has no learned efforts ({error})', 'give another file, or learn again')
    for name, ours in subject(learning).items():
        if (other := theirs.get(name)) != ours:
            _refuse(path, f'was learned for another {name} ({other}, not {ours})',
                    'learn again into another file')
    learning.restore(efforts)


def _read(path: Path) -> tuple[bytes, ndarray]:
    with zipfile.ZipFile(path) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > MAX_FILE_BYTES:
            raise ValueError('more than 64 MiB')
    with np.load(path, allow_pickle=False) as file:
        return file['text'].tobytes(), np.asarray(file['efforts'], float)


def _hash(*parts: bytes) -> str:
    """Return a short name of bytes, which depends on where each part ends."""
    out = hashlib.sha256()
    for part in parts:
        out.update(len(part).to_bytes(8, 'little') + part)
    return out.hexdigest()[:16]


def _refuse(path: Path, problem: str, remedy: str) -> NoReturn:
    raise TrajectoryError(f'{path} {problem}', name=str(path), remedy=remedy)
