# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Scripts that compile, in processes that know nothing of this package yet."""

from collections.abc import Callable, Iterator
import os
from pathlib import Path
import sys
import tempfile

import forked
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope='session')
def compiler_server() -> Iterator[forked.Server]:
    """Yield a server that forks processes with Numba, and without this package."""
    server = forked.Server('prepare_compiler')
    yield server
    server.close()


@pytest.fixture
def begin(compiler_server, tmp_path) -> Callable[..., Callable[[], str]]:
    """
    Return what starts a script, and returns a function that waits for what it has printed.

    It finds modules in ``tmp_path``, and caches in ``cache`` there; ``output`` may be a terminal.
    """
    def begin(script, *words, cache=tmp_path / 'cache', output='', **env):
        output = output or tempfile.mkstemp(dir=tmp_path)[1]
        process = compiler_server.fork([sys.executable, '-c', script, *words], output, {
            **os.environ, 'ROBODYN_CACHE_DIR': str(cache), 'ROBODYN_PROGRESS': '0',
            'PYTHONPATH': os.pathsep.join(map(str, (tmp_path, ROOT))), **env})

        def printed():
            code = process.wait(120.0)
            said = Path(output).read_text() if Path(output).is_file() else ''
            assert code == 0, said
            return said.strip()
        return printed
    return begin


@pytest.fixture
def run(begin) -> Callable[..., str]:
    """Return what runs a script and returns what it has printed."""
    return lambda *words, **more: begin(*words, **more)()
