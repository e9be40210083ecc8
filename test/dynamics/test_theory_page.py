# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What docs/theory.md names is there."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / 'docs' / 'theory.md').read_text()
MODULES = {path.stem for path in (ROOT / 'robodyn_ros' / 'dynamics').glob('*.py')}
FUNCTIONS = sorted({name for name in re.findall(r'`([a-z_]+\.[a-z_]+)`', PAGE)
                    if name.split('.')[0] in MODULES and not name.endswith('.py')})


@pytest.mark.parametrize('name', FUNCTIONS)
def test_functions(name):
    module, function = name.split('.')
    assert hasattr(import_module(f'robodyn_ros.dynamics.{module}'), function)


def test_algorithms_and_tests_are_named():
    assert len(FUNCTIONS) > 15
    for test in re.findall(r'`(?:test/[a-z]+/)?(test_[a-z_]+\.py)`', PAGE):
        assert list((ROOT / 'test').glob(f'*/{test}')), test


def test_the_picture_of_the_references_is_drawn_by_its_script(tmp_path):
    pytest.importorskip('matplotlib')
    subprocess.run([sys.executable, ROOT / 'docs' / 'reference_frames.py', tmp_path / 'new.svg'],
                   check=True, timeout=120)
    new, kept = ((folder / name).read_text() for folder, name in (
        (tmp_path, 'new.svg'), (ROOT / 'docs', 'reference_frames.svg')))
    for reference in ('aligned', 'body', 'world'):
        assert reference in new and reference in kept
