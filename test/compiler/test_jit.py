# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled code on disk: made once, never stale, and no hindrance where nothing can be written."""

import importlib
import os
from pathlib import Path
import subprocess
import sys
import tempfile
import threading

import pytest
from robodyn_ros.compiler import jit
from robodyn_ros.compiler.cache_directory import cache_folders

TEXT = """
from numba import int64, njit

import helper


@njit(int64(int64), cache=True)
def entry(x):
    return helper.step(x)
"""
HELPER = 'def step(x):\n    return x + {}\n'

# Prints where the code went, what it gives, and how many functions were compiled, not loaded.
SCRIPT = f"""
import helper
from robodyn_ros.compiler import jit

module = jit.load('small', {TEXT!r}, (jit.jitable(helper),))
print(module.__file__, module.entry(1), sum(module.entry.stats.cache_misses.values()), sep='|')
"""
ENTRY = 'import helper\n\n\ndef entry(x):\n    return helper.step(x)\n'

# The same of a function that stands in a module.
FUNCTION = """
import entry
import helper
from numba import int64
from robodyn_ros.compiler import jit

compiled = jit.compile_function('small', entry.entry, int64(int64), (jit.jitable(helper),))
print(compiled.stats.cache_path, compiled(1), sum(compiled.stats.cache_misses.values()), sep='|')
"""
each_kind = pytest.mark.parametrize('script', [SCRIPT, FUNCTION], ids=['text', 'function'])
CALLBACK = """
import ctypes

import entry
import helper
from numba import int64
from robodyn_ros.compiler import jit

compiled = jit.compile_callback('small', entry.entry, int64(int64), (jit.jitable(helper),))
call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(compiled.address)
print(call(1), compiled.cache_hits)
"""
SUBSTITUTED = """
import entry
import helper
from numba import int64
from robodyn_ros.compiler import jit


def twice(x):
    return 2 * x


jit.substitute(helper.step, twice)
print(jit.compile_function('small', entry.entry, int64(int64), (helper,))(5), entry.entry(5))
"""
LINKED = """
import entry as apart
import helper
import numba
from numba import int64
from robodyn_ros.compiler import jit, linking


compiled = jit.compile_callback('apart', apart.entry, int64(int64), (jit.jitable(helper),))
linking.link('apart_of_test', compiled.address)
call = linking.linked('apart_of_test', int64(int64))


@numba.njit
def entry(x):
    return call((x,)) * 2


print(entry(1))
"""
DEFERRED = """
import entry as apart
import helper
import numba
from numba import int64
from robodyn_ros.compiler import jit, linking

deferred = linking.DeferredFunction('apart', apart.entry, int64(int64), (jit.jitable(helper),))


@numba.njit('int64(int64)')
def entry(x):
    return apart.entry(x) * 2 if x != 0 else 0


print(entry(0), deferred.is_cached(), end=' ')
deferred.load()
print(entry(1), deferred.is_cached())
"""
DYNAMICS = """
from robodyn_ros.dynamics.compile import generic

stats = generic('gravity').stats
print(len(stats.cache_misses), len(stats.cache_hits))
"""


@pytest.fixture
def helper(tmp_path):
    """Return a folder with helper.py, a module of compiled code, and entry.py, which calls it."""
    (tmp_path / 'helper.py').write_text(HELPER.format(1))
    (tmp_path / 'entry.py').write_text(ENTRY)
    return tmp_path


@pytest.fixture
def begin(compiler_server, helper, tmp_path):
    """Return what starts a script, and returns a function that waits for what it has printed."""
    def begin(script, cache_directory=None):
        output = Path(tempfile.mkstemp(dir=tmp_path)[1])
        process = compiler_server.fork([sys.executable, '-c', script], output,
                              environment(helper, cache_directory or helper / 'cache'))

        def printed():
            assert process.wait(120.0) == 0, output.read_text()
            return output.read_text().strip()
        return printed
    return begin


@pytest.fixture
def run(begin):
    """Return what runs a script and returns what it has printed."""
    return lambda *given: begin(*given)()


def environment(helper, cache_directory):
    root = Path(jit.__file__).parents[2]
    return {**os.environ, 'ROBODYN_CACHE_DIR': str(cache_directory), 'ROBODYN_PROGRESS': '0',
            'PYTHONPATH': os.pathsep.join(map(str, (helper, root)))}


def test_a_second_process_compiles_nothing(run):
    assert run(DYNAMICS) == '1 0'
    assert run(DYNAMICS) == '0 1'


@each_kind
def test_a_changed_helper_means_another_name(helper, run, script):
    first, result, misses = run(script).split('|')
    assert (result, misses) == ('2', '1')
    assert run(script) == f'{first}|2|0'
    (helper / 'helper.py').write_text(HELPER.format(100))
    second, result, _ = run(script).split('|')
    assert result == '101'
    assert first != second


def test_another_list_of_locators_hides_no_change(helper, monkeypatch):
    """
    Newer Numbas take their cache locators from the environment, if it names some.

    They do so when they are imported: no fork of what has imported Numba before.
    """
    monkeypatch.setenv('NUMBA_CACHE_LOCATOR_CLASSES', 'InTreeCacheLocator')
    answers = []
    for added in (1, 100):
        (helper / 'helper.py').write_text(HELPER.format(added))
        answers.append(subprocess.run(
            [sys.executable, '-c', FUNCTION], env=environment(helper, helper / 'cache'), text=True,
            capture_output=True, check=True, timeout=120).stdout.strip().split('|')[1:])
    assert answers == [['2', '1'], ['101', '1']]


def test_a_callback_is_loaded_likewise(helper, run):
    assert run(CALLBACK) == '2 0'
    assert run(CALLBACK) == '2 1'
    (helper / 'helper.py').write_text(HELPER.format(100))
    assert run(CALLBACK) == '101 0'


LINEAR_ALGEBRA = """
import sys
import numpy as np
import entry
import helper
from numba import float64
from robodyn_ros.compiler import jit


compiled = jit.compile_function('small', entry.entry, float64(float64[::1]),
                                (jit.jitable(helper),))
print(compiled.stats.cache_hits != {}, 'scipy.linalg.cython_blas' in sys.modules)
"""


def fresh(helper, script):
    """Return what a script prints in a process that is no fork of what has compiled before."""
    return subprocess.run(
        [sys.executable, '-c', script], env=environment(helper, helper / 'cache'), text=True,
        capture_output=True, check=True, timeout=120).stdout.split()


def test_linear_algebra_is_there_before_it_is_called_first(helper):
    """SciPy is not imported by the first cycle of a law that calls it, which would be late."""
    (helper / 'entry.py').write_text(
        'import helper\nimport numpy as np\n\n\ndef entry(x):\n'
        '    return np.dot(x, x) + helper.step(1)\n')
    assert fresh(helper, LINEAR_ALGEBRA) == ['False', 'True']
    assert fresh(helper, LINEAR_ALGEBRA) == ['True', 'True']


def test_functions_of_users_are_cached_as_by_numba(helper, tmp_path):
    """Those without a module, too."""
    (tmp_path / 'one.py').write_text('def f(x):\n    return x + 1\n')
    assert fresh(helper, f"""
import os, numba
os.environ['NUMBA_CACHE_DIR'] = {str(tmp_path)!r}
import robodyn_ros.compiler.jit
path, names = {str(tmp_path / 'one.py')!r}, {{}}
exec(compile(open(path).read(), path, 'exec'), names)
assert names['f'].__module__ is None
print(numba.njit(cache=True)(names['f'])(1))
""") == ['2']


def test_compiled_code_calls_the_substitute_and_python_does_not(run):
    assert run(SUBSTITUTED) == '10 6'


def test_code_is_linked_by_name(run):
    """What is compiled on its own is called, and not merged."""
    assert run(LINKED) == '4'


def test_code_runs_before_what_it_does_not_call_yet_is_compiled(run):
    assert run(DEFERRED) == '0 False 4 True'


def test_the_name_is_told_by_text_and_every_module(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    modules = []
    for name in ('one_helper', 'other_helper'):
        (tmp_path / f'{name}.py').write_text('')
        modules.append(importlib.import_module(name))

    def file(text, used):
        return jit.load('empty', text, tuple(used)).__file__

    monkeypatch.setenv('ROBODYN_CACHE_DIR', str(tmp_path / 'cache'))
    cache_folders.cache_clear()
    try:
        names = {file('', []), file('', modules[:1]), file('', modules), file('x = 1', modules)}
        assert len(names) == 4
        assert {Path(name).parents[1] for name in names} == {tmp_path / 'cache'}
    finally:
        cache_folders.cache_clear()


@each_kind
def test_a_folder_that_cannot_be_written_is_replaced_for_this_process(helper, run, script):
    blocked = helper / 'file'
    blocked.write_text('')
    place, result, misses = run(script, blocked / 'cache').split('|')
    assert (result, misses) == ('2', '1')
    assert not Path(place).parent.exists()


@each_kind
def test_processes_that_start_together_share_a_cold_cache(helper, begin, script):
    """Of a function, one of them compiles, the other waits and loads what it has left."""
    answers = [printed().split('|') for printed in [begin(script), begin(script)]]
    assert answers[0][:2] == answers[1][:2]
    if script is FUNCTION:
        assert sorted(misses for *_, misses in answers) == ['0', '1']
    assert not list((helper / 'cache').glob('*.part'))


def test_threads_that_load_at_once_get_one_module():
    loaded = []
    threads = [threading.Thread(target=lambda: loaded.append(jit.load('empty', 'y = 2', ())))
               for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loaded) == 8
    assert len(set(map(id, loaded))) == 1
