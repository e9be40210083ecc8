# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""package.xml: what ROS tools read, and the one place of the version."""

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

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


def test_setup_reads_the_version(clean):
    shown = subprocess.run([sys.executable, 'setup.py', '--version'], cwd=ROOT, env=clean,
                           text=True, capture_output=True, check=True)
    assert shown.stdout.split()[-1] == VERSION


def test_changelog_begins_with_the_version():
    headings = re.findall(r'^(\S+)(?: \(.*\))?\n-{3,}$', (ROOT / 'CHANGELOG.rst').read_text(),
                          re.MULTILINE)
    assert headings[0] in (VERSION, 'Forthcoming')


def test_nobody_else_says_the_version():
    elsewhere = [p for pattern in ('*.py', '*.cfg', '*.toml', 'robodyn_ros/**/*.py')
                 for p in ROOT.glob(pattern) if f"'{VERSION}'" in p.read_text()]
    assert elsewhere == []
