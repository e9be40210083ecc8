# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Cache of compiled code after power failures, on full and read-only disks, without locks."""

import fcntl
import os
from pathlib import Path
import signal
import subprocess
import sys
import tempfile
import time

import pytest
from robodyn_ros.compiler import jit, second_process

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
each_kind = pytest.mark.parametrize('script', [FUNCTION, TEXT], ids=['function', 'text'])
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
def run(compiler_server, tmp_path):
    """Return what runs a script, after others, and returns its result and what else it printed."""
    (tmp_path / 'entry.py').write_text('def entry(x):\n    return x + 1\n')

    def run(script, before=''):
        output = Path(tempfile.mkstemp(dir=tmp_path)[1])
        path = os.pathsep.join([str(tmp_path), str(Path(jit.__file__).parents[2])])
        process = compiler_server.fork([sys.executable, '-c', before + script], output, {
            **os.environ, 'ROBODYN_CACHE_DIR': str(tmp_path / 'cache'), 'ROBODYN_PROGRESS': '0',
            'PYTHONPATH': path, 'PYTHONDONTWRITEBYTECODE': ''}, tmp_path)
        assert process.wait(120.0) == 0, output.read_text()
        printed, _, result = output.read_text().rpartition('result ')
        return result.strip(), printed
    return run


def cut(pattern, size=0):
    """Return a function that cuts the files of an entry with a pattern to a size."""
    def damage(folder):
        for path in folder.rglob(pattern):
            os.truncate(path, min(size, path.stat().st_size // 2))
    return damage


def flip(folder):
    path, = folder.glob('*.nbc')
    path.write_bytes(path.read_bytes()[:-9] + b'\0' + path.read_bytes()[-8:])


@each_kind
@pytest.mark.parametrize(('damage', 'noticed'), [
    (cut('*.nbi'), True), (cut('*.nbi', 90), True), (cut('*.nbc'), True),
    (cut('*.nbc', 500), True), (flip, True), (cut('*.py', 40), True),
    (cut('digests'), True), (lambda folder: (folder / 'digests').unlink(), False),
    (lambda folder: (folder / 'digests').write_bytes(b'\xff not digests\n'), True),
    (lambda folder: next(folder.glob('*.nbc')).unlink(), True)],
    ids=['empty index', 'cut index', 'no code', 'cut code', 'changed code', 'cut source',
         'empty digests', 'killed process', 'other digests', 'missing code'])
def test_a_damaged_entry_is_compiled_again(run, tmp_path, script, damage, noticed):
    assert run(script)[0] == COMPILED
    folder, = (path for path in (tmp_path / 'cache').iterdir() if path.is_dir())

    def contents():
        return {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    before = contents()
    damage(folder)
    damaged = before != contents()
    result, printed = run(script)
    assert result == (COMPILED if damaged else LOADED)
    assert ('small' in printed and 'is damaged' in printed) == (noticed and damaged), printed
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


@each_kind
@pytest.mark.parametrize('problem', PROBLEMS)
def test_a_cache_that_cannot_be_written(run, tmp_path, script, problem):
    """Code is compiled, once, and the process says why it is not kept."""
    before, said = PROBLEMS[problem]
    result, printed = run(script, before)
    assert result in (COMPILED, NOT_STORED)
    assert said in printed and printed.count('\n') == bool(said), printed
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith('~')] == []


@each_kind
def test_a_read_only_cache_is_read(run, script):
    """As that of a container image."""
    assert run(script)[0] == COMPILED
    assert run(script, READ_ONLY) == (LOADED, '')


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


def test_a_second_process_runs_no_file_of_the_working_directory(tmp_path, monkeypatch):
    """The folder of a user may hold an inspect.py, or random.py."""
    (tmp_path / 'random.py').write_text(f'open({str(tmp_path / "executed")!r}, "w")')
    (tmp_path / 'of_the_user.py').write_text('')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(second_process, '_processes', {})
    monkeypatch.setattr(second_process.os, 'cpu_count', lambda: 2)
    second_process.begin('imports', 'import random, of_the_user')
    process = second_process._processes['imports']
    assert process.wait(60.0) == 0
    assert not (tmp_path / 'executed').exists()


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
