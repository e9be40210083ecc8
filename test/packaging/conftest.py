# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Scratch copies of the repository, in a folder whose name has a space."""

from collections.abc import Callable
import os
from pathlib import Path
import shutil

import pytest

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = shutil.ignore_patterns('.git', '.venv*', 'venv', 'build', 'install', 'log', '*.egg-info',
                                 '__pycache__', '.*_cache', '.hypothesis')


@pytest.fixture(scope='session')
def copy(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Return what copies the repository as it is now, without what was built."""
    def copy() -> Path:
        path = tmp_path_factory.mktemp('a workspace') / 'src' / 'robodyn_ros'
        shutil.copytree(ROOT, path, ignore=WRITTEN)
        return path
    return copy


@pytest.fixture(scope='session')
def clean() -> dict[str, str]:
    """Return the environment of the tests, less what leads to another copy of this package."""
    def elsewhere(paths: str, mark: str) -> str:
        return os.pathsep.join(p for p in paths.split(os.pathsep)
                               if p and not Path(p, mark).exists())
    return {**os.environ,
            'PYTHONPATH': elsewhere(os.environ.get('PYTHONPATH', ''), 'robodyn_ros'),
            'AMENT_PREFIX_PATH': elsewhere(os.environ.get('AMENT_PREFIX_PATH', ''),
                                           'share/robodyn_ros')}
