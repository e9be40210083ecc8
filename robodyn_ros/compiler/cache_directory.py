# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Folder of what this machine has compiled or computed; importing this takes little time."""

import atexit
from functools import cache
import os
from pathlib import Path
import shutil
import tempfile

from platformdirs import user_cache_path


@cache
def cache_directory() -> Path:
    """
    Return the folder of compiled code: $ROBODYN_CACHE_DIR, else the user's cache folder.

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
