# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Every `pip install` that an error message or a page gives finds its packages."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
import re
import shlex
import subprocess
import sys

from packaging.requirements import Requirement
import pytest
from robodyn_ros import extras
from robodyn_ros.extras import EXTRAS, install_ros, pip_install, pip_install_extra

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [ROOT / 'make.py', ROOT / 'README.md', *(ROOT / 'docs').glob('*.md'),
           *(ROOT / 'robodyn_ros').rglob('*.py'), *(ROOT / 'benchmarks').rglob('*.py'),
           *(ROOT / 'test' / 'fuzz').rglob('*.py'), *(ROOT / 'launch').glob('*.py')]
WRITTEN = re.compile(r'pip install ((?:--\S+ )*(?:\'[^\']+\'|"[^"]+"|[a-z][\w.-]+)'
                     r'(?: (?:\'[^\']+\'|"[^"]+"|[a-z]+-[\w.-]+))*)')
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
    By pip, which builds this checkout apart for `pip install '.[sim]'`; offline is a skip.

    One call of pip for all that are not installed here; it names what it does not find.
    """
    named = {word for text in written() for word in shlex.split(text)
             if not word.startswith(('.', '--'))}
    assert {'example-robot-data', 'mcap', 'rosbags'} <= named
    for extra in ('cluster', 'derive', 'identify', 'ik', 'sim', 'view', 'docs',
                  'bench', 'ros'):
        command = shlex.split(pip_install_extra(extra))
        assert command[:2] == ['pip', 'install'] and len(command) - 2 == len(EXTRAS[extra])
        if extra != 'ros' or 'pip install' in install_ros():    # wheels for few platforms
            named |= {*command[2:]}
    done = subprocess.run([sys.executable, '-m', 'pip', 'install', '--dry-run', '--no-deps',
                           '--ignore-installed', '--retries', '1', '.[sim]', *sorted(
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
