# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Results of stages on disk, keyed by the content of all that they depend on.

A run with another option finds what it shares with earlier ones: the motion, the model and the
parameters that are selected decide, not the command. Sources of this package and versions of
libraries are part of the key.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
import hashlib
import os
from pathlib import Path, PurePath
import pickle
import tempfile
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy import ndarray
import scipy

from ..compiler.cache_directory import cache_directory

Result = TypeVar('Result')

VARIABLE = 'ROBODYN_STAGE_CACHE'    # 0: nothing is kept
FOLDER, MOST = 'identification', 2000       # files that are kept, the newest

_DIGESTS: WeakKeyDictionary[Any, bytes] = WeakKeyDictionary()


def remembered(stage: str, inputs: tuple[Any, ...], compute: Callable[[], Result]) -> Result:
    """
    Return the result of a stage, from an earlier run where its inputs were the same.

    :param stage: name, part of the key.
    :param inputs: everything that decides the result: numbers, texts, arrays, data classes, and
        sequences and mappings of them.
    """
    if os.environ.get(VARIABLE, '1') == '0':
        return compute()
    key = hashlib.sha256(_sources() + stage.encode() + digest(inputs)).hexdigest()
    path = cache_directory() / FOLDER / f'{stage}_{key[:32]}.pickle'
    with suppress(OSError, EOFError, pickle.UnpicklingError, AttributeError, ImportError,
                  ValueError, IndexError):
        found: Result = pickle.loads(path.read_bytes())
        return found
    found = compute()
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            pickle.dump(found, file)
        os.replace(file.name, path)         # whole, whoever reads it meanwhile
        _prune(path.parent)
    return found


def digest(value: Any) -> bytes:
    """
    Return the hash of a value by its content.

    :raises TypeError: it is none of the kinds that :func:`remembered` takes.
    """
    if is_dataclass(value) and not isinstance(value, type):
        single = type(value).__hash__ is object.__hash__    # equal to itself alone
        found = _DIGESTS.get(value) if single else None
        if found is None:
            found = _hash(type(value).__name__, *(digest(getattr(value, f.name))
                                                  for f in fields(value)))
        if single:
            _DIGESTS[value] = found
        return found
    if isinstance(value, ndarray):
        return _hash('array', value.dtype.str, value.shape, np.ascontiguousarray(value).tobytes())
    if isinstance(value, Mapping):
        return _hash('map', *(part for pair in value.items() for part in map(digest, pair)))
    if isinstance(value, tuple | list):
        return _hash('sequence', *map(digest, value))
    if value is None or isinstance(value, str | bool | int | float | np.generic):
        return _hash(type(value).__name__, repr(value))
    if isinstance(value, PurePath):     # of the meshes of a model
        return _hash('path', str(value))
    raise TypeError(f'{type(value).__name__} has no digest')


def _hash(*parts: Any) -> bytes:
    found = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else repr(part).encode()
        found.update(len(data).to_bytes(8, 'little') + data)
    return found.digest()


@cache
def _sources() -> bytes:
    """Return the hash of the sources that compute results, and of the libraries' versions."""
    package = Path(__file__).parent.parent
    files = [path for room in ('identification', 'dynamics', 'model')
             for path in sorted((package / room).rglob('*.py'))]
    return _hash(np.__version__, scipy.__version__, *(path.read_bytes() for path in files))


def _prune(folder: Path) -> None:
    """Delete the oldest files beyond MOST."""
    files = list(folder.glob('*.pickle'))
    if len(files) > MOST:
        files.sort(key=lambda path: path.stat().st_mtime)
        for path in files[:len(files) - MOST]:
            path.unlink(missing_ok=True)
