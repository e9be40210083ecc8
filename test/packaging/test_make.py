# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""make.py where something is missing: one clear line, an exit code, no traceback."""

import ast
from collections.abc import Iterator
import os
from pathlib import Path
import platform
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

import pip
from processes import Process
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
NO_OTHER_INDEX = {'PIP_CONFIG_FILE': os.devnull}
pytestmark = [pytest.mark.slow, pytest.mark.skipif(
    (platform.system(), platform.machine()) != ('Linux', 'x86_64'),
    reason='make.py is for Linux on x86_64, and says so elsewhere')]


def fresh_clone(folder: Path) -> Path:
    """Make a folder with what make.py needs, and no .venv."""
    folder.mkdir()
    for name in ('make.py', 'Makefile', 'setup.py', 'setup.cfg', 'package.xml', 'pyproject.toml'):
        shutil.copy(ROOT / name, folder)
    (folder / 'robodyn_ros').mkdir()
    shutil.copy(ROOT / 'robodyn_ros' / 'extras.py', folder / 'robodyn_ros')
    return folder


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder with what make.py needs, and no .venv."""
    return fresh_clone(tmp_path / 'a fresh clone')


@pytest.fixture(scope='module')
def unfinished(tmp_path_factory: pytest.TempPathFactory):
    """
    Return a folder where `make.py demo` found no package index, and what it said.

    Its .venv has pip and nothing else, that of these tests: what comes next does not wait for its
    making, nor does `python -m venv` install one, which takes 4 s.
    """
    folder = tmp_path_factory.mktemp('offline')
    place, packages = fresh_clone(folder / 'a fresh clone'), Path(pip.__path__[0]).parent
    shared = ' '.join(shlex.quote(str(path)) for path in packages.glob('pip*'))
    script(folder / 'python3', f"""case "$2" in
        venv) "{sys.executable}" "$1" "$2" --without-pip "$3" "$4"
              exec /bin/cp -rp {shared} "$4"/lib/python*/site-packages ;;
        *) exec "{sys.executable}" "$@" ;;
        esac""")
    return place, make_without_running_python(
        place, folder, PIP_INDEX_URL='http://127.0.0.1:9/simple', PIP_RETRIES='1',
        **NO_OTHER_INDEX)


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Return an empty folder to be the PATH."""
    folder = tmp_path / 'programs'
    folder.mkdir()
    return folder


@pytest.fixture
def silent_index() -> Iterator[str]:
    """Address of a package index that takes connections and never answers."""
    with socket.create_server(('127.0.0.1', 0)) as server:
        yield f'http://127.0.0.1:{server.getsockname()[1]}/simple'


def script(path: Path, text: str) -> None:
    path.write_text(f'#!/bin/sh\n{text}\n')
    path.chmod(0o755)


def make(place: Path, *arguments: str, before: tuple[str, ...] = (), **env: str):
    done = subprocess.run([*before, sys.executable, str(place / 'make.py'), *arguments],
                          cwd=place.parent, env={**os.environ, **env}, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True)
    assert 'Traceback' not in done.stderr
    return done


def make_without_running_python(place: Path, programs: Path, **env: str):
    """Run `make.py demo` by a Python that does not know itself: it has to search PATH."""
    text = ('import runpy, sys; sys.executable = ""; sys.argv = ["make.py", "demo"]; '
            f'runpy.run_path({str(place / "make.py")!r}, run_name="__main__")')
    done = subprocess.run([sys.executable, '-c', text], text=True, capture_output=True, env={
        **os.environ, 'PATH': str(programs), **env}, stdin=subprocess.DEVNULL)
    assert 'Traceback' not in done.stderr
    return done


def test_an_old_python_can_read_it():
    ast.parse((ROOT / 'make.py').read_text(), feature_version=(3, 6))


def test_pre_commit_runs_the_linters():
    """The list of make.py, so that a commit that passes locally passes there."""
    hooks = yaml.safe_load((ROOT / '.pre-commit-config.yaml').read_text())['repos'][0]['hooks']
    [linters] = [ast.literal_eval(node.value) for node in ast.parse(
        (ROOT / 'make.py').read_text()).body if isinstance(node, ast.Assign)
        and getattr(node.targets[0], 'id', '') == 'LINTERS']
    assert [hook['entry'] for hook in hooks] == [
        ' '.join(['.venv/bin/' + name, *options]) for name, *options in linters]


def test_help_and_unknown_targets(place):
    shown = make(place).stdout
    assert 'demo [ROBOT]' in shown == make(place, 'help').stdout
    unknown = make(place, 'dmeo')
    assert (unknown.returncode, unknown.stderr.count('\n')) == (1, 1)
    assert "'dmeo' is not one of" in unknown.stderr
    for target in ('demo', 'test', 'quick', 'lint', 'coverage', 'prove', 'fuzz', 'bench', 'soak',
                   'docs', 'clean', 'help'):
        assert f'\n  {target} ' in shown and target in unknown.stderr


@pytest.mark.skipif(not shutil.which('setarch'), reason='needs setarch of util-linux')
def test_another_architecture(place):
    done = make(place, 'demo', before=('setarch', 'i686'))
    assert (done.returncode, done.stderr.count('\n')) == (1, 1)
    assert 'needs Linux on x86_64' in done.stderr and 'i686' in done.stderr


def test_what_is_missing_is_named(place, programs):
    script(programs / 'python3.12', 'echo "pyenv: python3.12: command not found" >&2; exit 127')
    done = make_without_running_python(place, programs)
    assert (done.returncode, done.stderr.count('\n')) == (1, 1)
    assert done.stderr.startswith('No Python 3.10-3.13')
    script(programs / 'python3', f'case "$2" in venv|virtualenv) exit 1; esac\n'
                                 f'exec "{sys.executable}" "$@"')
    done = make_without_running_python(place, programs)
    assert done.returncode == 1
    assert 'sudo apt install python3-venv' in done.stderr.splitlines()[-1]
    assert not (place / '.venv').exists()


def test_no_network(unfinished):
    place, done = unfinished
    assert done.returncode == 1
    assert 'check the network' in done.stderr.splitlines()[-1]
    assert 'ERROR' in (place / 'build' / 'pip.log').read_text()
    # Half an environment must not be taken for a whole one
    assert not (place / '.venv' / 'robodyn_ros.stamp').exists()


@pytest.fixture
def installing(unfinished, start, silent_index) -> Process:
    """Return `make.py demo` while it waits for an answer of the package index."""
    place, _ = unfinished
    process: Process = start([sys.executable, str(place / 'make.py')], 'demo',
                             env={'PIP_INDEX_URL': silent_index, **NO_OTHER_INDEX})
    process.wait_for_line('Installing ROS 2')
    return process


def test_interrupted_while_installing(installing):
    assert installing.interrupt(everyone=True) == 128 + signal.SIGINT
    assert installing.text.endswith('Interrupted.\n')
    assert 'Traceback' not in installing.text


def test_terminated_while_installing(installing):
    assert installing.interrupt(by=signal.SIGTERM) == 128 + signal.SIGTERM
    with pytest.raises(ProcessLookupError):     # pip is not left behind; it may take a moment
        for _ in range(100):
            os.killpg(installing.popen.pid, 0)
            time.sleep(0.05)


@pytest.mark.skipif(not shutil.which('make'), reason='needs make')
def test_makefile_finds_no_python(place, programs):
    for name in ('sh', 'test', 'make'):
        (programs / name).symlink_to(shutil.which(name))
    done = subprocess.run(['make', 'demo'], cwd=place, text=True, capture_output=True,
                          env={**os.environ, 'PATH': str(programs), 'MAKEFLAGS': ''})
    assert done.returncode != 0
    assert done.stderr.startswith('No Python found: ')
