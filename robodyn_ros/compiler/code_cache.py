# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Disk cache of compiled code, named by a hash of all inputs of the compilation.

Editing this module does not invalidate the cache.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, ExitStack, suppress
from functools import cache
import hashlib
import logging
import os
from pathlib import Path
import shutil
import sys
import time
from types import ModuleType
from typing import Any, TextIO, TypeVar

import llvmlite
import llvmlite.binding
import numba
from numba.core import caching

from .cache_directory import all_cache_directories, cache_directory, warn_of_temporary_cache
from .numba_private import available
from .second_process import compiling, waiting

try:
    import fcntl
except ImportError:             # not a Unix: processes compile side by side
    fcntl = None                # type: ignore[assignment]

MAX_LOCK_TIME, POLL = 300.0, 0.05     # s
GENERATED = 'robodyn_ros_compiled.'     # prefix of the names of generated modules
SEAL = 'digests'        # file of an entry with the digests of the others, written last
# Modules of this package that all compiled code comes from
COMPILER_SOURCES = [Path(__file__).with_name(f'{name}.py') for name in (
    'jit', 'linking', 'numba_private', 'tuple_reference')]

T = TypeVar('T')
_log = logging.getLogger(__name__)


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
    Place of Numba's files of a function: the entry of the cache that holds it (:func:`stored`).

    The entry is named after a digest of all sources that the machine code comes from, so that a
    change in any of them, or another version side by side, finds another one.
    """

    def __init__(self, function: Any, folder: Path):
        self._folder, self._line = folder, function.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        """Return the folder of the cache files of the function."""
        return str(self._folder)

    def ensure_cache_path(self) -> None:
        """Create the folder."""
        self._folder.mkdir(parents=True, exist_ok=True)

    def get_source_stamp(self) -> str:
        """Return what Numba compares with the stamp in the folder: its name, with the digest."""
        return self._folder.name

    def get_disambiguator(self) -> str:
        """Return the line of the function, which distinguishes functions of one name."""
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> 'SourceLocator | None':
        """Return a locator for a function that `jit` compiles into an entry, else None."""
        folder = getattr(py_func, 'cache_path', None)
        if folder is None and (py_func.__module__ or '').startswith(GENERATED):
            folder = Path(py_file).parent
        return None if folder is None else cls(py_func, folder)


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


def stored(entry: str, name: str, make: Callable[[Path | None], T]) -> T:
    """
    Return what an entry of the cache holds; where it is missing or damaged, compile it.

    When an entry is complete, the digests of its files are written. Files that differ, after a
    power failure for example, are thrown away.

    :param entry: name of the folder; ``name``: what it holds, for messages.
    :param make: loads what is in the folder, and compiles into it what is not. With None it
        stores nothing.
    """
    for folder in (parent / entry for parent in all_cache_directories()):
        if _is_sound(folder):
            made = make(folder)
            if _others(folder):     # bytecode of Python, which another process has not written
                with suppress(OSError):
                    _seal(folder)
            return made
    warn_of_temporary_cache()
    folder = cache_directory() / entry
    with _turn(folder, name):
        if _is_sound(folder):
            return make(folder)
        if (folder / SEAL).exists():
            _log.warning('robodyn_ros: %s is damaged: compiling it again', folder)
        shutil.rmtree(folder, ignore_errors=True)
        with compiling(name):
            try:
                folder.mkdir(parents=True)
                made = make(folder)
                _seal(folder)
            except OSError as error:
                _log.warning('robodyn_ros: compiled code of %s is kept for this process only, '
                             'since %s cannot be written (%s)', name, folder, error)
                made = make(None)
    return made


def is_stored(entry: str) -> bool:
    """Return whether an entry is complete."""
    return any((parent / entry / SEAL).exists() for parent in all_cache_directories())


def _files(folder: Path) -> list[str]:
    """Return the relative paths of all files of an entry except the seal."""
    prefix = len(f'{folder}/')
    return sorted(f'{parent}/{name}'[prefix:] for parent, _, names in os.walk(folder)
                  for name in names if name != SEAL)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _seal(folder: Path) -> None:
    """Write the digests of the files of an entry."""
    part = folder / f'{SEAL}.{os.getpid()}.part'
    part.write_text(''.join(f'{_digest(folder / file)} {file}\n' for file in _files(folder)
                            if not file.endswith('.part')))
    part.replace(folder / SEAL)


def _sealed(folder: Path) -> dict[str, str]:
    """Return the digests of the files of an entry; {} if it has no seal."""
    try:
        lines = (folder / SEAL).read_text(errors='replace').splitlines()
    except OSError:
        return {}
    return {file: digest for digest, _, file in (line.partition(' ') for line in lines)}


def _others(folder: Path) -> list[Path]:
    """Return the files that have been added to an entry since it was sealed."""
    sealed = _sealed(folder)
    return [folder / file for file in _files(folder)
            if file not in sealed and not file.endswith('.part')]


def _is_sound(folder: Path) -> bool:
    """Return whether the files of an entry are as they were written; remove unsealed ones."""
    try:
        sealed = _sealed(folder)
        if not sealed or any(_digest(folder / file) != sealed[file] for file in sealed):
            return False
        for path in _others(folder):
            path.unlink()
    except OSError:
        return False
    return True


@contextmanager
def _turn(folder: Path, name: str) -> Iterator[None]:
    """Let one process after the other compile an entry; without locks, all at once."""
    with ExitStack() as stack:
        with suppress(OSError):
            lock = stack.enter_context(open(folder.with_name(f'{folder.name}.lock'), 'a+'))
            _take(lock, name)
        yield


def _take(lock: TextIO, name: str) -> None:
    """
    Take the lock of an entry; wait MAX_LOCK_TIME at most, and not for a stopped process.

    :raises OSError: there are no locks on this file system.
    """
    end, shown = time.monotonic() + MAX_LOCK_TIME, False
    with ExitStack() as notice:
        while fcntl is not None:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.seek(0)
                holder = lock.read()
            else:
                lock.truncate(0)
                lock.write(str(os.getpid()))
                lock.flush()
                return
            if _is_stopped(holder) or time.monotonic() > end:
                _log.warning('robodyn_ros: process %s, which compiles %s, does not go on: '
                             'compiling it here', holder, name)
                return
            if not shown:
                notice.enter_context(waiting(f'process {holder}, which compiles {name}'))
                shown = True
            time.sleep(POLL)


def _is_stopped(pid: str) -> bool:
    """Return whether Linux says that a process of this machine is stopped."""
    try:
        return Path(f'/proc/{int(pid)}/stat').read_text().rpartition(')')[2].split()[0] in 'Tt'
    except (OSError, ValueError, IndexError):
        return False
