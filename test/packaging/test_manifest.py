# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""package.xml: what ROS tools read, and the one place of the version."""

from fnmatch import fnmatch
from pathlib import Path
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
VERSION = ElementTree.parse(ROOT / 'package.xml').findtext('version')


def test_colcon_takes_it_for_a_ros_package(clean, tmp_path):
    pytest.importorskip('colcon_core', reason='needs pip install colcon-common-extensions')
    # A slip in package.xml is only a warning: the package would be built as plain Python
    listed = subprocess.run([sys.executable, '-m', 'colcon', 'list', '--base-paths', ROOT],
                            cwd=tmp_path, env=clean, text=True, capture_output=True,
                            check=True)
    assert '(ros.ament_python)' in listed.stdout
    assert 'package.xml' not in listed.stderr


def test_the_version_is_said_once(clean):
    shown = subprocess.run([sys.executable, 'setup.py', '--version'], cwd=ROOT, env=clean,
                           text=True, capture_output=True, check=True)
    assert shown.stdout.split()[-1] == VERSION
    headings = re.findall(r'^(\S+)(?: \(.*\))?\n-{3,}$', (ROOT / 'CHANGELOG.rst').read_text(),
                          re.MULTILINE)
    assert headings[0] in (VERSION, 'Forthcoming')
    # Version and date of CITATION.cff are those of the newest release in the changelog.
    released = dict(re.findall(r'^(\S+) \((.*)\)\n-{3,}$', (ROOT / 'CHANGELOG.rst').read_text(),
                               re.MULTILINE))
    citation = (ROOT / 'CITATION.cff').read_text()
    assert f'\nversion: {VERSION}\ndate-released: {released[VERSION]}\n' in citation
    elsewhere = [p for pattern in ('*.py', '*.cfg', '*.toml', 'robodyn_ros/**/*.py')
                 for p in ROOT.glob(pattern) if f"'{VERSION}'" in p.read_text()]
    assert elsewhere == []


def test_rosdep_finds_each_key_in_the_system():
    """`rosdep install`, and the packages of the build farm, take none that only pip has."""
    keys = [element.text for element in ElementTree.parse(ROOT / 'package.xml').getroot()
            if element.tag.endswith('depend')]
    assert keys and not [key for key in keys if key.endswith('-pip')]


def test_colcon_test_runs_what_says_that_an_installation_works(pytestconfig):
    """Not everything, which takes far longer: colcon calls pytest without arguments."""
    paths = [ROOT / path for path in pytestconfig.getini('testpaths')]
    files = {file.relative_to(ROOT).as_posix() for path in paths
             for file in (path.rglob('test_*.py') if path.is_dir() else [path])}
    assert pytestconfig.inipath == ROOT / 'pyproject.toml' and all(p.exists() for p in paths)
    assert 'test/nodes/test_controller_life.py' in files and 4 < len(files) < 10, files


def test_codespell_skips_what_git_ignores():
    """As `venv/` of the README; the other linters read .gitignore, or name what they check."""
    (skipped,) = re.findall("^skip = '(.*)'$", (ROOT / 'pyproject.toml').read_text(), re.MULTILINE)
    ignored = [line.strip('/') for line in (ROOT / '.gitignore').read_text().splitlines()
               if line and line[0] != '#' and line.strip('/')[0] not in '._']
    assert 'venv' in ignored
    assert not [name for name in ignored
                if not any(fnmatch(name, pattern) for pattern in skipped.split(','))]
