# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Packages that messages and pages name are found; the oldest and the newest Numba work."""

import ast
from importlib.metadata import PackageNotFoundError, version
import os
from pathlib import Path
import re
import shlex
import subprocess
import sys

from packaging.requirements import Requirement
import pytest
from robodyn_ros import extras
from robodyn_ros.extras import EXTRAS, install_ros, pip_install, pip_install_extra
from thorough import seeds

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [ROOT / 'make.py', ROOT / 'README.md', *(ROOT / 'docs').glob('*.md'),
           *(ROOT / 'robodyn_ros').rglob('*.py'), *(ROOT / 'benchmarks').rglob('*.py'),
           *(ROOT / 'test' / 'fuzz').rglob('*.py'), *(ROOT / 'launch').glob('*.py')]
WRITTEN = re.compile(r'pip install ((?:--\S+ )*(?:\'[^\']+\'|"[^"]+"|[a-z][\w.-]+)'
                     r'(?: (?:\'[^\']+\'|"[^"]+"|[a-z]+-[\w.-]+))*)')
BUILT_WITH = ast.literal_eval(re.search(r'^requires = (.*)', (ROOT / 'pyproject.toml').read_text(),
                                        re.MULTILINE)[1])
OFFLINE = ('Retrying', 'connection error', 'ConnectionError', 'Temporary failure in name')


def written() -> set[str]:
    """Every argument of `pip install` in the sources and pages."""
    return {match[1] for path in SOURCES if path.name != 'extras.py'
            for match in WRITTEN.finditer(path.read_text())}


def is_installed(text: str) -> bool:
    """Return whether a requirement is met by a package of this environment: an index has it."""
    requirement = Requirement(text)
    try:
        return requirement.specifier.contains(version(requirement.name), prereleases=True)
    except PackageNotFoundError:
        return False


def test_packages_that_texts_and_extras_name_are_found():
    """
    By pip, which builds this checkout for `pip install '.[sim]'`; offline is a skip.

    One call of pip for all that are not installed here, and for what builds this package; it names
    what it does not find.
    """
    named = {word for text in written() for word in shlex.split(text)
             if not word.startswith(('.', '--'))}
    assert {'example-robot-data', 'mcap', 'rosbags'} <= named
    for extra in ('cluster', 'derive', 'identify', 'ik', 'sim', 'view', 'docs', 'bench', 'ros'):
        command = shlex.split(pip_install_extra(extra))
        assert command[:2] == ['pip', 'install'] and len(command) - 2 == len(EXTRAS[extra])
        if extra != 'ros' or 'pip install' in install_ros():    # wheels for few platforms
            named |= {*command[2:]}
    done = subprocess.run([sys.executable, '-m', 'pip', 'install', '--dry-run', '--no-deps',
                           '--ignore-installed', '--no-build-isolation', '--retries', '1',
                           '.[sim]', *BUILT_WITH, *sorted(
                               name for name in named if not is_installed(name))], cwd=ROOT,
                          text=True, capture_output=True, timeout=300)
    if done.returncode and any(word in done.stderr for word in OFFLINE):
        pytest.skip('no package index can be reached')
    assert done.returncode == 0, done.stderr


def test_extras_and_versions_of_texts():
    named = {extra.strip() for text in written() for word in shlex.split(text)
             if word.startswith('.[') for extra in word[2:-1].split(',')}
    assert {'identify', 'sim'} <= named <= set(EXTRAS)
    # This package is in no index: `pip install robodyn_ros` would fail.
    for path in SOURCES:
        if path.name != 'extras.py':
            assert not re.search(r'pip install [\'"]?robodyn', path.read_text()), path
    assert pip_install('mujoco', 'mcap', 'PyYAML') == "pip install 'mujoco>=3.14' mcap PyYAML"


def test_a_managed_python_needs_one_word_more(monkeypatch, tmp_path):
    (tmp_path / 'EXTERNALLY-MANAGED').touch()
    monkeypatch.setattr(extras.sysconfig, 'get_path', lambda name: tmp_path)
    monkeypatch.setattr(extras.sys, 'base_prefix', sys.prefix)
    assert pip_install('mcap') == 'pip install --break-system-packages mcap'


LOWEST, BELOW = re.search(r"'numba>=([\d.]+),<([\d.]+)'", (ROOT / 'setup.py').read_text()).groups()
SMOKE = ROOT / 'test' / 'numba_smoke.py'


def smoke(python):
    """Run the script with a Python, with an empty cache; return what it prints at the end."""
    done = subprocess.run([python, SMOKE], text=True, capture_output=True, cwd=ROOT, env={
        **os.environ, 'PYTHONPATH': str(ROOT)}, timeout=900)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(seeds(0, 1) == 0, reason='compiles everything anew: only ROBODYN_THOROUGH=1')
def test_the_installed_version():
    """Minutes: all machine code of a controller is compiled for it."""
    assert 'passed with Numba' in smoke(sys.executable)


@pytest.mark.skipif(seeds(0, 1) == 0, reason='installs two versions: only ROBODYN_THOROUGH=1')
@pytest.mark.parametrize('version', [f'=={LOWEST}.*', f'<{BELOW}'])
def test_the_lowest_and_the_newest_version(tmp_path, version):
    """Minutes, too; an old Numba has no wheels for a new Python."""
    python = tmp_path / 'bin' / 'python'
    subprocess.run([sys.executable, '-m', 'venv', tmp_path], check=True)
    installed = subprocess.run([python, '-m', 'pip', 'install', '--prefer-binary', '--quiet',
                                f'numba{version}', f'{ROOT}[ros]'], text=True, capture_output=True)
    if installed.returncode:
        pytest.skip(f'numba{version} is not to be had here: {installed.stderr[-200:]}')
    assert 'passed with Numba' in smoke(python)
