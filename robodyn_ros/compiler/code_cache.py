# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Disk cache of compiled code, named by a hash of all inputs of the compilation.

Editing this module does not invalidate the cache.
"""

from collections.abc import Iterator
from contextlib import contextmanager, ExitStack, suppress
from functools import cache
import hashlib
from pathlib import Path
import sys
import time
from types import ModuleType
from typing import Any

import llvmlite
import llvmlite.binding
import numba
from numba.core import caching

from .cache_directory import cache_directory
from .numba_private import available

try:
    import fcntl
except ImportError:             # not a Unix: processes compile side by side
    fcntl = None                # type: ignore[assignment]

MAX_LOCK_TIME, POLL = 300.0, 0.05     # s
# Modules of this package that all compiled code comes from
COMPILER_SOURCES = [Path(__file__).with_name(f'{name}.py') for name in (
    'intrinsics', 'jit', 'linking', 'numba_private', 'tuple_reference')]


def fingerprint(modules: tuple[ModuleType, ...]) -> bytes:
    """Return the digest of all besides the text that decides what machine code comes out."""
    digest = hashlib.sha256(compiler_digest())
    for path in (*COMPILER_SOURCES, *(m.__file__ for m in modules)):
        digest.update(_file_digest(str(path)))
    return digest.digest()


@cache
def compiler_digest() -> bytes:
    """Return the digest of the compiler and of the processor that it compiles for."""
    words = (numba.__version__, llvmlite.__version__, sys.version,
             llvmlite.binding.get_host_cpu_name(),
             llvmlite.binding.get_host_cpu_features().flatten())
    return hashlib.sha256(repr(words).encode()).digest()


@cache
def _file_digest(path: str) -> bytes:
    """Return the digest of a source file at its first use in this process."""
    return hashlib.sha256(Path(path).read_bytes()).digest()


def machine() -> str:
    """Return in words what besides the sources decides which machine code comes out."""
    return (f'Numba {numba.__version__}, Python {sys.version.split()[0]}, '
            f'{llvmlite.binding.get_host_cpu_name()}')


class SourceLocator(getattr(caching, '_CacheLocator', object)):   # type: ignore[misc]
    """
    Place of Numba's cache files for the functions of :func:`.jit.compile_function`.

    The folder is named after a digest of all sources that the machine code comes from, so that a
    change in any of them, or another version side by side, finds another folder.
    """

    def __init__(self, function: Any):
        self.function = function

    def get_cache_path(self) -> str:
        """Return the folder of the cache files of the function."""
        return str(cache_directory() / self.function.cache_folder)

    def ensure_cache_path(self) -> None:
        """Create the folder."""
        Path(self.get_cache_path()).mkdir(parents=True, exist_ok=True)

    def get_source_stamp(self) -> str:
        """Return what Numba compares with the stamp in the folder: its name, with the digest."""
        return str(self.function.cache_folder)

    def get_disambiguator(self) -> str:
        """Return the line of the function, which distinguishes functions of one name."""
        return str(self.function.__code__.co_firstlineno)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> 'SourceLocator | None':
        """Return a locator for a function that `jit.compile_function` has marked, else None."""
        return cls(py_func) if hasattr(py_func, 'cache_folder') else None


def _install_locator() -> None:
    """Make Numba use :class:`SourceLocator` for the functions of this package."""
    if not available('a cache that knows all sources'):
        return
    implementation: Any = caching.CompileResultCacheImpl
    implementation._locator_classes = [SourceLocator, *implementation._locator_classes]
    # Newer versions have an environment variable that replaces the list
    config: Any = numba.config
    if chosen := getattr(config, 'CACHE_LOCATOR_CLASSES', ''):
        config.CACHE_LOCATOR_CLASSES = (
            f'{SourceLocator.__module__}.{SourceLocator.__qualname__},{chosen}')


_install_locator()


@contextmanager
def turn(folder: Path, cached: bool) -> Iterator[None]:
    """Wait up to MAX_LOCK_TIME while another process compiles the same code into the cache."""
    if not cached or fcntl is None or any(folder.glob('*.nbi')):
        yield
        return
    end = time.monotonic() + MAX_LOCK_TIME
    with ExitStack() as stack:
        try:
            file = stack.enter_context(open(folder.parent / f'{folder.name}.lock', 'w'))
        except OSError:                 # no lock: compile at once
            end = 0.0
        while time.monotonic() < end:
            with suppress(OSError):     # another process has the lock
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(POLL)
        yield
