# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled code on disk: made once, never stale, and no hindrance where nothing can be written."""

import os
from pathlib import Path
import subprocess
import sys
import threading

import pytest
from robodyn_ros.compiler import jit

pytestmark = pytest.mark.slow

HELPER = 'def step(x):\n    return x + {}\n'
ENTRY = 'import helper\n\n\ndef entry(x):\n    return helper.step(x)\n'
TEXT = 'from numba import int64, njit\n' + ENTRY.replace(
    'def entry', '@njit(int64(int64), cache=True)\ndef entry')
IMPORTS = """
import sys
import entry
import helper
import numba
from numba import float64, int64
import numpy as np
from robodyn_ros.compiler import jit, linking

small = 'small', entry.entry, int64(int64), (helper,)
"""
JITABLE = f'{IMPORTS}\njit.jitable(helper)\n'

# Prints where the code went, what it gives, and how many functions were compiled, not loaded.
SCRIPT = f"""{JITABLE}
module = jit.load('small', {TEXT!r}, (helper,))
print(module.__file__, module.entry(1), sum(module.entry.stats.cache_misses.values()), sep='|')
"""
# The same of a function that stands in a module.
FUNCTION = f"""{JITABLE}
compiled = jit.compile_function(*small)
print(compiled.stats.cache_path, compiled(1), sum(compiled.stats.cache_misses.values()), sep='|')
"""
# That of several helpers, each in a process that has only imported Numba
IN_TURN = f"""
import os, sys, numba
file, *texts = sys.argv[1:]
for text in texts:
    with open(file, 'w') as helper:
        helper.write(text)
    if not os.fork():
        exec({FUNCTION!r})
        sys.stdout.flush()
        os._exit(0)
    os.wait()
"""
each_kind = pytest.mark.parametrize('script', [SCRIPT, FUNCTION], ids=['text', 'function'])
CALLBACK = f"""{JITABLE}
import ctypes

compiled = jit.compile_callback(*small)
call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(compiled.address)
print(call(1), compiled.cache_hits)
"""
SUBSTITUTED = f"""{IMPORTS}
jit.substitute(helper.step, lambda x: 2 * x)
print(jit.compile_function(*small)(5), entry.entry(5))
"""
LINKED = f"""{JITABLE}
linking.link('apart_of_test', jit.compile_callback(*small).address)
call = linking.linked('apart_of_test', int64(int64))
print(numba.njit(lambda x: call((x,)) * 2)(1))
"""
DEFERRED = f"""{JITABLE}
deferred = linking.DeferredFunction(*small)
caller = numba.njit('int64(int64)')(lambda x: entry.entry(x) * 2 if x != 0 else 0)
print(caller(0), deferred.is_cached(), end=' ')
deferred.load()
print(caller(1), deferred.is_cached())
"""
SIGNED = f"""{JITABLE}
for signature in (int64(int64), float64(float64)):
    known = 'small', entry.entry, signature, (helper,)
    print(jit.is_cached(*known), jit.compile_callback(*known).cache_hits, end=' ')
"""
LINEAR_ALGEBRA = f"""{JITABLE}
compiled = jit.compile_function(*small[:2], float64(float64[::1]), small[3])
print(compiled.stats.cache_hits != {{}}, 'scipy.linalg.cython_blas' in sys.modules)
"""


@pytest.fixture(autouse=True)
def helper(tmp_path):
    """Return a folder with helper.py, a module of compiled code, and entry.py, which calls it."""
    (tmp_path / 'helper.py').write_text(HELPER.format(1))
    (tmp_path / 'entry.py').write_text(ENTRY)
    return tmp_path


@each_kind
def test_a_changed_helper_means_another_name(helper, run, script):
    first, result, misses = run(script).split('|')
    assert (result, misses) == ('2', '1')
    assert run(script) == f'{first}|2|0'
    (helper / 'helper.py').write_text(HELPER.format(100))
    second, result, _ = run(script).split('|')
    assert result == '101'
    assert first != second


def test_another_list_of_locators_hides_no_change(helper):
    """
    Newer Numbas take their cache locators from the environment, if it names some.

    They do so when they are imported: no fork of what has imported Numba before.
    """
    done = subprocess.run(
        [sys.executable, '-c', IN_TURN, helper / 'helper.py', *map(HELPER.format, (1, 100))],
        text=True, capture_output=True, check=True, env={
            **os.environ, 'ROBODYN_CACHE_DIR': str(helper / 'cache'), 'PYTHONPATH':
            os.pathsep.join(map(str, (helper, Path(jit.__file__).parents[2]))),
            'NUMBA_CACHE_LOCATOR_CLASSES': 'InTreeCacheLocator'})
    answers = [line.split('|')[1:] for line in done.stdout.splitlines()]
    assert answers == [['2', '1'], ['101', '1']], done.stderr


def test_a_callback_is_loaded_likewise(helper, run):
    assert run(CALLBACK) == '2 0'
    assert run(CALLBACK) == '2 1'
    (helper / 'helper.py').write_text(HELPER.format(100))
    assert run(CALLBACK) == '101 0'


def test_each_signature_has_an_entry(helper, run):
    """The layout of a record that another module declares is part of it."""
    assert run(SIGNED) == 'False 0 False 0'
    assert run(SIGNED) == 'True 1 True 1'


def test_linear_algebra_is_there_before_it_is_called_first(helper, run):
    """SciPy is not imported by the first cycle of a law that calls it, which would be late."""
    (helper / 'entry.py').write_text(
        'import helper\nimport numpy as np\n\n\ndef entry(x):\n'
        '    return np.dot(x, x) + helper.step(1)\n')
    assert [run(LINEAR_ALGEBRA) for _ in range(2)] == ['False True', 'True True']


def test_functions_of_users_are_cached_as_by_numba(helper, run):
    """Those without a module, too."""
    assert run("""
import numba, robodyn_ros.compiler.jit, helper
names = {}
exec(compile(open(helper.__file__).read(), helper.__file__, 'exec'), names)
assert names['step'].__module__ is None
print(numba.njit(cache=True)(names['step'])(1))
""", NUMBA_CACHE_DIR=str(helper)) == '2'
    assert [*helper.glob('*/*.nbi')]


@pytest.mark.parametrize(('script', 'said'), [
    (SUBSTITUTED, '10 6'), (LINKED, '4'), (DEFERRED, '0 False 4 True')],
    ids=['compiled code calls the substitute and Python does not',
         'code that is compiled on its own is linked by its name',
         'code runs before what it does not call yet is compiled'])
def test_calls(run, script, said):
    assert run(script) == said


@each_kind
def test_folders_and_processes_of_a_cold_cache(helper, run, script, begin):
    blocked = helper / 'helper.py'
    place, result, misses = run(script, cache=blocked / 'cache').split('|')
    assert (result, misses) == ('2', '1')
    assert not Path(place).parent.exists()
    # Of a function, one of them compiles, the other waits and loads what it has left.
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
