# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Progress messages of slow compilation: a real compiler, on a cold cache."""

import os
import pty
import shutil

import pytest

pytestmark = [pytest.mark.process, pytest.mark.slow]

# A module, as all sources of compiled code are: compiles two functions, each for longer than the
# patience, which is shortened so that the test is quick
MODULE = """
import sys
from numba import types
from robodyn_ros.compiler import jit, second_process
second_process.DELAY = second_process.REFRESH_PERIOD = float(sys.argv[1])

def square(x):
    return x * x

def cube(x):
    return x * x * x

for function in (square, cube):
    compiled = jit.compile_function(function.__name__, function, types.float64(types.float64), ())
assert compiled(2.0) == 8.0
"""


@pytest.fixture
def compiling(run, tmp_path):
    """Return what compiles after a line of Python, and returns what is printed."""
    (tmp_path / 'two_functions.py').write_text(MODULE)
    return lambda patience, before='pass', **more: run(
        f'import sys; {before}; import two_functions', patience,
        **{'ROBODYN_PROGRESS': '1', **more})


def test_one_line_or_none(compiling, tmp_path):
    def files():
        return {path: path.stat().st_mtime_ns for path in (tmp_path / 'cache').rglob('*.nb?')}
    said = compiling('0.01')
    assert said.count('\n') == 0 and 'compiling square' in said
    compiled = files()
    # Where even loading takes its time
    assert compiling('60') == '' and files() == compiled != {}
    # Both streams of a forked script are one, but for the one that it has redirected.
    assert compiling('0.01', ROBODYN_PROGRESS='0') == ''
    shutil.rmtree(tmp_path / 'cache')
    file = tmp_path / 'stderr.txt'
    assert compiling('0.01', f'sys.stderr = open({str(file)!r}, "w")') == ''
    assert 'compiling square' in file.read_text()


def test_terminals_and_closed_streams(compiling):
    ours, theirs = pty.openpty()
    compiling('0.01', output=os.ttyname(theirs))
    shown = os.read(ours, 1 << 16)
    os.close(theirs)
    os.close(ours)
    assert b'compiling square' in shown and b'compiling cube' in shown
    assert shown.endswith(b'\r\x1b[K')
    assert compiling('0.01', 'sys.stderr.close()') == ''


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


def test_the_library_needs_nothing_of_linux_alone(run):
    pytest.importorskip('mujoco')
    run(ELSEWHERE, cache=os.environ.get('ROBODYN_CACHE_DIR', ''))
