# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compilation in a second process, missed by nobody; progress messages of slow compilation."""

import os
from pathlib import Path
import pty
import shutil
import subprocess
import sys
import time

import pytest
from robodyn_ros.compiler import cache_directory, second_process
from robodyn_ros.control.cycle import compile, compile_ahead  # noqa: A004

pytestmark = [pytest.mark.process, pytest.mark.slow]


@pytest.fixture(autouse=True)
def none_yet(monkeypatch):
    monkeypatch.setattr(second_process, '_processes', {})
    monkeypatch.setattr(second_process.os, 'cpu_count', lambda: 2)


def test_it_imports_this_package_and_has_the_same_cache(tmp_path, monkeypatch):
    """It runs no file of the working directory: a user may have an inspect.py, or random.py."""
    (tmp_path / 'random.py').write_text(f'open({str(tmp_path / "executed")!r}, "w")')
    (tmp_path / 'of_the_user.py').write_text('')
    monkeypatch.chdir(tmp_path)
    second_process.begin('told', 'import pathlib, random, of_the_user; '
                         'import robodyn_ros.compiler.cache_directory as code; '
                         'pathlib.Path("told").write_text('
                         'f"{code.__file__} {code.cache_directory()}")')
    second_process.wait('told')
    told = (tmp_path / 'told').read_text()
    assert told == f'{cache_directory.__file__} {cache_directory.cache_directory()}'
    assert not (tmp_path / 'executed').exists()


def test_it_is_started_once_and_missed_by_nobody(tmp_path, monkeypatch):
    monkeypatch.setattr(second_process.os, 'cpu_count', lambda: 1)
    assert not second_process.begin('none', 'raise SystemExit')
    second_process.wait('none')
    assert not second_process._processes
    monkeypatch.setattr(second_process.os, 'cpu_count', lambda: 2)
    for _ in range(2):
        second_process.begin('once', f'open({str(tmp_path / "lines")!r}, "a").write("a line")')
        second_process.wait('once')
    assert (tmp_path / 'lines').read_text() == 'a line'
    second_process.begin('failing', 'raise SystemExit(1)')
    second_process.wait('failing')


def test_what_nobody_waits_for_is_nice(tmp_path):
    """It leaves the CPU to the others; whoever needs a part of it does not wait for the end."""
    told = tmp_path / 'told'
    assert second_process.begin('nice', 'import os, pathlib, time; '
                                f'pathlib.Path({str(told)!r}).write_text(str(os.nice(0))); '
                                'time.sleep(600)', nice=7)
    second_process.wait('nice', lambda: told.exists() and told.read_text())
    process = second_process._processes['nice']
    assert process.poll() is None
    assert int(told.read_text()) == min(19, os.nice(0) + 7)
    process.kill()
    process.wait()


@pytest.mark.skipif(compile_ahead.plain(), reason='nothing is compiled')
@pytest.mark.parametrize('compiled', [[], ['control_of_another_version'], ['control_step_0']])
def test_the_cycle_is_begun_before_the_imports_on_a_new_machine(compiled, tmp_path, monkeypatch):
    """And what begins there is what a controller waits for."""
    for name in compiled:
        (tmp_path / name).mkdir()
    begun = []
    monkeypatch.setattr(compile_ahead, 'all_cache_directories', lambda: [tmp_path])
    monkeypatch.setattr(second_process, 'begin', lambda *what: begun.append(what))
    compile_ahead.begin_on_a_new_machine()
    assert begun == ([] if compiled
                     else [(compile_ahead.CODE_NAME, compile_ahead.COMPILE_STATEMENT)])
    names: dict[str, object] = {}
    exec(compile_ahead.COMPILE_STATEMENT.partition(';')[0], names)
    assert names['compile_cycle'] is compile.compile_cycle


def test_a_second_process_ends_with_its_parent(tmp_path):
    told = tmp_path / 'pid'
    parent = subprocess.Popen([sys.executable, '-c', (
        'from robodyn_ros.compiler import second_process as s; s.os.cpu_count = lambda: 2; '
        's.begin("sleeps", "import os, time; '
        f'open({str(told)!r}, \'w\').write(str(os.getpid())); time.sleep(600)"); '
        'import time; time.sleep(600)')], env=second_process.environment())
    try:
        while not (told.exists() and told.read_text()):
            assert parent.poll() is None
            time.sleep(0.01)
    finally:
        parent.kill()
        parent.wait()
    while Path(f'/proc/{told.read_text()}/cmdline').exists() and (
            Path(f'/proc/{told.read_text()}/cmdline').read_bytes()):
        time.sleep(0.01)


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
