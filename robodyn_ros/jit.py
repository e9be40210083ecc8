# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The one way plain functions become machine code: named entry points, compiled once, cached on disk.

Algorithms stay undecorated functions that any Python can run and read. :func:`load` takes the text
of a small module whose functions call them, compiles it ahead of use and keeps the machine code
under a name that is a hash of the text, of the sources it calls, and of Numba, Python and CPU.
Numba's own cache looks at one file only and would miss a changed helper.
"""

import atexit
import hashlib
import importlib.util
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from threading import RLock
from types import FunctionType, ModuleType

import llvmlite
import llvmlite.binding
import numba
from numba.extending import register_jitable
from platformdirs import user_cache_path

from .compile_notice import compiling

# 'nnan' and 'ninf' stay out: with them the compiler may delete the checks for NaN.
FASTMATH = {'contract', 'nsz', 'arcp', 'afn'}
OPTIONS = {'fastmath': FASTMATH, 'error_model': 'numpy', 'nogil': True}


@cache
def jitable(module: ModuleType, *, inline: bool = False) -> ModuleType:
    """
    Let compiled code call the plain functions that ``module`` defines; they stay plain.

    Asking again changes nothing.

    :param inline: merge them into their callers: for helpers of a few operations.
    """
    force = {'forceinline': True} if inline else {}
    for f in list(vars(module).values()):
        if isinstance(f, FunctionType) and f.__module__ == module.__name__:
            register_jitable(fastmath=FASTMATH, error_model='numpy', **force)(f)
    return module


def _fingerprint(modules: tuple[ModuleType, ...]) -> bytes:
    """Everything besides the text that decides what machine code comes out."""
    digest = hashlib.sha256()
    for path in (__file__, *(m.__file__ for m in modules)):
        digest.update(hashlib.sha256(Path(str(path)).read_bytes()).digest())
    for word in (numba.__version__, llvmlite.__version__, sys.version,
                 llvmlite.binding.get_host_cpu_name(),
                 llvmlite.binding.get_host_cpu_features().flatten()):
        digest.update(word.encode())
    return digest.digest()


def machine() -> str:
    """Return in words what besides the sources decides which machine code comes out."""
    return (f'Numba {numba.__version__}, Python {sys.version.split()[0]}, '
            f'{llvmlite.binding.get_host_cpu_name()}')


@cache
def cache_directory() -> Path:
    """
    Where compiled code is kept: $ROBODYN_CACHE_DIR, else the user's cache folder.

    A folder that cannot be written (read-only home) is replaced by one of this process alone:
    everything works, and compiles again at the next start.
    """
    chosen = os.environ.get('ROBODYN_CACHE_DIR')
    path = Path(chosen) if chosen else user_cache_path('robodyn_ros')
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError:
        own = tempfile.mkdtemp(prefix='robodyn_ros_')
        atexit.register(shutil.rmtree, own, ignore_errors=True)
        return Path(own)


def load(name: str, text: str, modules: tuple[ModuleType, ...]) -> ModuleType:
    """
    Import the module ``text``, from the cache where this machine has compiled it before.

    Compiling that takes longer than a second is told of (:mod:`~.compile_notice`).

    :param name: what the module holds, for file names and tracebacks.
    :param text: Python source whose ``@njit(..., cache=True)`` functions are compiled on import.
    :param modules: every module whose functions the text calls, directly or through others: a
        change in one of them means another name, so nothing stale is ever loaded.
    """
    with _loading:
        return _load(name, text, modules)


# Reentrant: the text of one module may load another.
_loading = RLock()


@cache
def _load(name: str, text: str, modules: tuple[ModuleType, ...]) -> ModuleType:
    digest = hashlib.sha256(text.encode() + _fingerprint(modules)).hexdigest()[:20]
    path = cache_directory() / f'{name}_{digest}.py'
    if not path.exists():
        part = path.with_suffix(f'.{os.getpid()}.part')
        part.write_text(text)
        part.replace(path)          # atomic: two nodes may start together
    spec = importlib.util.spec_from_file_location(f'robodyn_ros_compiled.{path.stem}', path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    with compiling(name):
        spec.loader.exec_module(module)
    return module
