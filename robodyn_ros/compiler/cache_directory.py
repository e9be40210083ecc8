# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Folders of what this machine has compiled or computed; importing this takes little time."""

import atexit
from functools import cache
import logging
import os
from pathlib import Path
import shutil
import stat
import tempfile
from typing import NamedTuple

from platformdirs import user_cache_path

VARIABLE = 'ROBODYN_CACHE_DIR'
MIN_FREE_SPACE = 64 << 20       # bytes


class CacheFolders(NamedTuple):
    """Folder of new files, folders that are only read, and why the first one is temporary."""

    written: Path
    read: tuple[Path, ...]
    problem: str


@cache
def cache_folders() -> CacheFolders:
    """
    Return the folders of $ROBODYN_CACHE_DIR, separated as in $PATH, else that of the user.

    Files are written into the first one, unless it is not writable: a read-only file system, a
    full disk, no home. Then it is only read, and a temporary folder of this process is written.
    Folders that another user may write to are not even read: they hold code that is run.
    """
    folders: list[Path] = []
    try:
        given = _chosen() or [_of_user()]
        folders = [path for path in given if not _foreign(path)]
        if problem := _foreign(given[0]):
            raise OSError(problem)
        _check_writable(folders[0])
    except OSError as error:
        own = Path(tempfile.mkdtemp(prefix='robodyn_ros_'))
        atexit.register(shutil.rmtree, own, ignore_errors=True)
        return CacheFolders(own, tuple(folders), f'{error.strerror or error}')
    return CacheFolders(folders[0], tuple(folders[1:]), '')


def _chosen() -> list[Path]:
    names = os.environ.get(VARIABLE, '').split(os.pathsep)
    return [Path(name).absolute() for name in names if name]


def _of_user() -> Path:
    try:
        path = user_cache_path('robodyn_ros')
    except RuntimeError as error:
        raise OSError('this user has no home') from error
    if not path.is_absolute():          # older versions of platformdirs
        raise OSError('this user has no home')
    return path


def _foreign(path: Path) -> str:
    """Return why another user may write to a folder; '' if none may, or it is not there."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return ''
    if found.st_uid not in (getattr(os, 'getuid', int)(), 0):
        return f'{path} belongs to the user {found.st_uid}'
    return f'everyone may write to {path}' if found.st_mode & stat.S_IWOTH else ''


def _check_writable(path: Path) -> None:
    path.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=path):
        pass
    if shutil.disk_usage(path).free < MIN_FREE_SPACE:
        raise OSError(f'less than {MIN_FREE_SPACE >> 20} MB left on its disk')


def cache_directory() -> Path:
    """Return the folder of new files; see :func:`cache_folders`."""
    return cache_folders().written


def all_cache_directories() -> list[Path]:
    """Return the folder of new files, and those that are only read."""
    folders = cache_folders()
    return [folders.written, *folders.read]


@cache
def warn_of_temporary_cache() -> None:
    """Log, once, that compiled code is not kept."""
    if problem := cache_folders().problem:
        logging.getLogger(__name__).warning(
            'robodyn_ros: compiled code is kept for this process only, since the cache cannot be '
            'used (%s); $%s chooses another folder', problem, VARIABLE)
