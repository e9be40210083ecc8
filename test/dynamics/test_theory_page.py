# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Names, tests and examples of docs/theory.md and of docstrings."""

import doctest
from importlib import import_module
from pathlib import Path
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / 'docs' / 'theory.md').read_text()
PACKAGE = ROOT / 'robodyn_ros'
MODULES = {path.stem: '.'.join(path.relative_to(ROOT).with_suffix('').parts)
           for room in ('control', 'dynamics') for path in (PACKAGE / room).rglob('*.py')}
FUNCTIONS = sorted({name for name in re.findall(r'`([a-z_]+\.[a-z_]+)`', PAGE)
                    if not name.endswith('.py')})


@pytest.mark.parametrize('name', FUNCTIONS)
def test_functions(name):
    module, function = name.split('.')
    assert hasattr(import_module(MODULES[module]), function)


def test_files_and_tests_are_where_the_page_says():
    assert len(FUNCTIONS) > 15
    named = re.findall(r'`((?:[a-z]+/)*[a-z_]+\.py)(?:::([a-z_]+))?`', PAGE)
    assert {'test_textbook_forms.py', 'model/dh.py', 'control/steps/friction_compensation.py'} <= {
        file for file, _ in named}
    for file, test in named:
        found = list((ROOT / 'test').glob(f'*/{file}')) or [PACKAGE / file]
        assert found[0].is_file(), file
        assert f'def {test}' in found[0].read_text(), (file, test)


def test_the_picture_of_the_references_is_drawn_by_its_script(tmp_path):
    pytest.importorskip('matplotlib')
    subprocess.run([sys.executable, ROOT / 'docs' / 'reference_frames.py', tmp_path / 'new.svg'],
                   check=True, timeout=120)
    new, kept = ((folder / name).read_text() for folder, name in (
        (tmp_path, 'new.svg'), (ROOT / 'docs', 'reference_frames.svg')))
    for reference in ('aligned', 'body', 'world'):
        assert reference in new and reference in kept


EXAMPLES = ['dynamics.api', 'dynamics.queries', 'dynamics.evaluation',
           'closed_loop', 'control.controller.controller_batch', 'model.robot', 'model.urdf',
           'model.dh', 'model.dh_file', 'model.resources']


@pytest.mark.parametrize('name', EXAMPLES)
def test_the_examples_run(name):
    failed, tried = doctest.testmod(import_module(f'robodyn_ros.{name}'))
    assert tried and not failed
