# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Progress messages of slow compilation: a real compiler, on a cold cache."""

import os
from pathlib import Path
import pty
import shutil
import subprocess
import sys

import pytest

ROOT = Path(__file__).parents[2]
# Compiles twice for longer than the patience, which is shortened so that the test is quick
SCRIPT = """
import sys
from numba import types
from robodyn_ros.compiler import compile_notice, jit
compile_notice.DELAY = compile_notice.REFRESH_PERIOD = float(sys.argv[1])

def square(x):
    return x * x

def cube(x):
    return x * x * x

for function in (square, cube):
    compiled = jit.compile_function(function.__name__, function, types.float64(types.float64), ())
assert compiled(2.0) == 8.0
"""


@pytest.fixture
def begin(compiler_server, tmp_path):
    """Return what starts the script, a file as all sources of compiled code are."""
    def begin(patience, output, before='', **more):
        file = tmp_path / 'script.py'
        file.write_text(before + SCRIPT)
        return compiler_server.fork([sys.executable, str(file), patience], output,
                           {**os.environ, 'ROBODYN_CACHE_DIR': str(tmp_path / 'cache'), **more})
    return begin


def test_one_line_while_it_compiles_and_none_when_it_loads(begin, tmp_path):
    def run(patience):
        output = tmp_path / f'{patience}.txt'
        assert begin(patience, output).wait(120.0) == 0
        return output.read_text(), {
            path: path.stat().st_mtime_ns for path in (tmp_path / 'cache').iterdir()
            if path.name.startswith(('square', 'cube'))}
    # Where even loading takes its time
    (compiled, files), (loaded, same) = run('0.01'), run('60')
    assert loaded == ''
    assert files == same != {}
    assert compiled.count('\n') == 1 and 'compiling square' in compiled


def test_it_can_be_turned_off_and_goes_to_stderr(begin, tmp_path):
    """Both streams of the forked script are one, but for the one that it has redirected."""
    apart = f'import sys\nsys.stderr = open({str(tmp_path / "stderr.txt")!r}, "w")\n'
    output = tmp_path / 'stdout.txt'
    assert begin('0.01', output, ROBODYN_PROGRESS='0').wait(120.0) == 0
    assert output.read_text() == ''
    shutil.rmtree(tmp_path / 'cache')
    assert begin('0.01', output, apart).wait(120.0) == 0
    assert output.read_text() == ''
    assert 'compiling square' in (tmp_path / 'stderr.txt').read_text()


def test_a_terminal_shows_progress_and_is_left_clean(tmp_path):
    (tmp_path / 'script.py').write_text(SCRIPT)
    ours, theirs = pty.openpty()
    child = subprocess.Popen([sys.executable, str(tmp_path / 'script.py'), '0.01'], stderr=theirs,
                             env={**os.environ, 'ROBODYN_CACHE_DIR': str(tmp_path / 'cache'),
                                  'PYTHONPATH': str(ROOT)})
    os.close(theirs)
    shown = b''
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:                 # the child has ended
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert child.wait(timeout=120) == 0
    assert b'compiling square' in shown and b'compiling cube' in shown
    assert shown.endswith(b'\r\x1b[K')


def test_a_stderr_that_is_closed_stops_nothing(begin, tmp_path):
    assert begin('0.01', tmp_path / 'output.txt', 'import sys\nsys.stderr.close()\n'
                 ).wait(120.0) == 0


# What Linux alone has: the library is to run wherever Numba does
ELSEWHERE = """
import os, sys
for name in [n for n in dir(os) if n.startswith('sched_')]:
    delattr(os, name)
for name in ('fcntl', 'resource', 'termios', 'grp', 'pwd'):
    sys.modules[name] = None
import numpy as np
from robodyn_ros import Controller, Dynamics, Settings, load_urdf, simulate
dynamics = Dynamics(load_urdf('two_link'))
assert dynamics.batch.threads >= 1
assert dynamics.batch.gravity(np.zeros((200, 2))).shape == (200, 2)
Controller(dynamics.model, Settings(), specialize=False).step(0.0)
"""


def test_the_library_needs_nothing_of_linux_alone():
    pytest.importorskip('mujoco')
    subprocess.run([sys.executable, '-c', ELSEWHERE], check=True, timeout=300,
                   env={**os.environ, 'PYTHONPATH': str(ROOT)})
