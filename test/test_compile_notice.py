# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Progress messages of slow compilation: a real compiler, on a cold cache."""

import os
from pathlib import Path
import pty
import subprocess
import sys

import pytest

ROOT = Path(__file__).parents[1]
# Compiles twice for longer than the patience, which is shortened so that the test is quick
SCRIPT = """
import sys
from numba import types
from robodyn_ros import compile_notice, jit
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
def command(tmp_path):
    """Return the command of a script, a file as all sources of compiled code are."""
    def command(patience, before=''):
        file = tmp_path / 'script.py'
        file.write_text(before + SCRIPT)
        return [sys.executable, str(file), patience]
    return command


def environment(folder, **more):
    return {**os.environ, 'ROBODYN_CACHE_DIR': str(folder), 'PYTHONPATH': str(ROOT), **more}


def test_one_line_while_it_compiles_and_none_when_it_loads(command, tmp_path):
    def run(patience):
        done = subprocess.run(command(patience), env=environment(tmp_path), check=True,
                              capture_output=True, text=True, timeout=120)
        return done, {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()
                      if path.name.startswith(('square', 'cube'))}
    (compiled, files), (loaded, same) = run('0.01'), run('60')  # where even loading takes its time
    assert compiled.stdout == loaded.stdout == loaded.stderr == ''
    assert files == same != {}
    assert compiled.stderr.count('\n') == 1 and 'compiling square' in compiled.stderr


def test_it_can_be_turned_off(command, tmp_path):
    done = subprocess.run(command('0.01'), check=True, capture_output=True, text=True,
                          env=environment(tmp_path, ROBODYN_PROGRESS='0'), timeout=120)
    assert done.stderr == ''


def test_a_terminal_shows_progress_and_is_left_clean(command, tmp_path):
    ours, theirs = pty.openpty()
    child = subprocess.Popen(command('0.01'), env=environment(tmp_path), stderr=theirs)
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


def test_a_stderr_that_is_closed_stops_nothing(command, tmp_path):
    done = subprocess.run(command('0.01', 'import sys\nsys.stderr.close()\n'),
                          env=environment(tmp_path), timeout=120)
    assert done.returncode == 0


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
