# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Cache of compiled code after power failures, on full and read-only disks, without locks."""

import fcntl
import os
import signal
import subprocess
import sys

import pytest

FUNCTION = """
import entry
from numba import int64
from robodyn_ros.compiler import jit

compiled = jit.compile_function('small', entry.entry, int64(int64), ())
print('result', compiled(1), sum(compiled.stats.cache_misses.values()))
"""
TEXT = """
from robodyn_ros.compiler import jit

module = jit.load('small', '''
from numba import int64, njit


@njit(int64(int64), cache=True)
def entry(x):
    return x + 1
''', ())
print('result', module.entry(1), sum(module.entry.stats.cache_misses.values()))
"""
LOADED, COMPILED, NOT_STORED = '2 0', '2 1', '2 0'      # Numba counts misses of stored code alone
# What the beginning of a script does to the cache: what the process then says
READ_ONLY = """
from robodyn_ros.compiler import cache_directory
def refuse(path):
    raise OSError(30, 'Read-only file system')
cache_directory._check_writable = refuse
"""
PROBLEMS = {
    'read-only': (READ_ONLY, 'Read-only file system'),
    'full disk': ("""
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))
""", 'cannot be written ([Errno 27] File too large)'),
    'nearly full disk': ("""
from robodyn_ros.compiler import cache_directory
cache_directory.MIN_FREE_SPACE = 1 << 60
""", 'MB left on its disk'),
    'no home': ("""
import os
del os.environ['ROBODYN_CACHE_DIR'], os.environ['HOME']
os.environ.pop('XDG_CACHE_HOME', None)
import pwd
def nobody(uid):
    raise KeyError(uid)
pwd.getpwuid = nobody
""", 'this user has no home'),
    'no locks': ("""
import fcntl
def refuse(*_):
    raise OSError(37, 'No locks available')
fcntl.flock = refuse
""", '')}


@pytest.fixture
def run(run, tmp_path):
    """Return what runs a script, after others, and returns its result and what else it printed."""
    (tmp_path / 'entry.py').write_text('def entry(x):\n    return x + 1\n')

    def result_of(script, before=''):
        printed, _, result = run(before + script, PYTHONDONTWRITEBYTECODE='').rpartition('result ')
        return result, printed
    return result_of


def cut(pattern, size=0):
    """Return a function that cuts the files of an entry with a pattern to a size."""
    def damage(folder):
        for path in folder.rglob(pattern):
            os.truncate(path, min(size, path.stat().st_size // 2))
    return damage


def flip(folder):
    path, = folder.glob('*.nbc')
    path.write_bytes(path.read_bytes()[:-9] + b'\0' + path.read_bytes()[-8:])


def remove(pattern):
    """Return a function that removes the file of an entry with a pattern."""
    return lambda folder: next(folder.glob(pattern)).unlink()


@pytest.mark.parametrize(('script', 'damages'), [
    (FUNCTION, {'cut index': cut('*.nbi', 90), 'cut code': cut('*.nbc', 500),
                'changed code': flip, 'empty digests': cut('digests'),
                'missing code': remove('*.nbc'), 'killed process': remove('digests')}),
    (TEXT, {'changed code': flip, 'cut source': cut('*.py', 40), 'other digests': lambda folder: (
        folder / 'digests').write_bytes(b'\xff not digests\n')})], ids=['function', 'text'])
def test_a_damaged_entry_is_compiled_again(run, tmp_path, script, damages):
    """And is sound then: the next damage is noticed, or it is loaded."""
    assert run(script)[0] == COMPILED
    folder, = (path for path in (tmp_path / 'cache').iterdir() if path.is_dir())
    for name, damage in damages.items():
        damage(folder)
        result, printed = run(script)
        assert result == COMPILED, name
        assert ('small' in printed and 'is damaged' in printed) == (
            name != 'killed process'), (name, printed)
    assert run(script) == (LOADED, '')


def test_bytecode_that_is_added_later_is_digested_too(run, tmp_path):
    """Python writes that of a generated module at the first import that may."""
    run(TEXT, 'import sys\nsys.dont_write_bytecode = True\n')
    assert not list((tmp_path / 'cache').rglob('*.pyc'))
    assert run(TEXT) == (LOADED, '')
    bytecode, = (tmp_path / 'cache').rglob('*.pyc')
    os.truncate(bytecode, 20)
    result, printed = run(TEXT)
    assert result == COMPILED and 'is damaged' in printed


@pytest.mark.parametrize(('script', 'problem'), [
    *((FUNCTION, problem) for problem in PROBLEMS), (TEXT, 'read-only'), (TEXT, 'full disk')],
    ids=[*PROBLEMS, 'text, read-only', 'text, full disk'])
def test_a_cache_that_cannot_be_written(run, tmp_path, script, problem):
    """Code is compiled, once, and the process says why it is not kept."""
    before, said = PROBLEMS[problem]
    result, printed = run(script, before)
    assert result in (COMPILED, NOT_STORED)
    assert said in printed and printed.count('\n') == bool(said), printed
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith('~')] == []


def test_a_read_only_cache_is_read(run):
    """As that of a container image."""
    assert run(FUNCTION)[0] == COMPILED
    assert run(FUNCTION, READ_ONLY) == (LOADED, '')


@pytest.mark.parametrize('given_away', [
    lambda path: path.chmod(0o777),
    pytest.param(lambda path: os.chown(path, 12345, -1),
                 marks=pytest.mark.skipif(os.getuid() != 0, reason='only root gives files away'))])
def test_a_cache_that_another_user_may_write_to_is_not_read(run, tmp_path, given_away):
    """Its files are loaded as code."""
    assert run(FUNCTION)[0] == COMPILED
    given_away(tmp_path / 'cache')
    result, printed = run(FUNCTION)
    assert result == COMPILED
    assert 'everyone may write to' in printed or 'belongs to the user 12345' in printed


def test_a_stopped_process_is_not_waited_for(run, tmp_path):
    """Nor does anybody wait in vain for the one that goes on."""
    assert run(FUNCTION)[0] == COMPILED
    folder, = (path for path in (tmp_path / 'cache').iterdir() if path.is_dir())
    (folder / 'digests').unlink()
    holder = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])
    try:
        with open(f'{folder}.lock', 'w') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            lock.write(str(holder.pid))
            lock.flush()
            holder.send_signal(signal.SIGSTOP)
            result, printed = run(FUNCTION)
        assert result == COMPILED
        assert f'process {holder.pid}, which compiles small, does not go on' in printed
    finally:
        holder.kill()
        holder.wait()
