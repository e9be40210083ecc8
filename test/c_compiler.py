# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""C compiler of this machine, or of PyPI."""

from importlib.util import find_spec
import shutil
import subprocess
import sys

import pytest

STRICT = '-std=c99', '-O1', '-Wall', '-Wextra', '-pedantic', '-Werror'
FOUND = next(filter(None, map(shutil.which, ('cc', 'gcc', 'clang'))), None)
COMPILER = [FOUND] if FOUND else (
    [sys.executable, '-m', 'ziglang', 'cc'] if find_spec('ziglang') else [])
needs_compiler = pytest.mark.skipif(not COMPILER, reason='needs a C compiler: install gcc, or '
                                    'pip install ziglang')


def compile_c(folder, *words):
    """Compile without a warning, in a folder."""
    done = subprocess.run([*COMPILER, *STRICT, *words], cwd=folder, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
