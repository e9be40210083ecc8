# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What docs/theory.md names is there."""

import re
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
