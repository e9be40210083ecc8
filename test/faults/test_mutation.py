# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Mutations of the fault rows: each finds its code exactly once, whatever its names and format."""

import ast
from pathlib import Path

import pytest
from faults.mutation import Mutation

PACKAGE = Path(__file__).resolve().parents[2] / 'robodyn_ros'
SOURCE = '''
def first(a, b):
    if a.limit > b:     # as the manual says
        return FAULT, 1
    return 0

def second(c):
    tau[0] = c.gain * (
        c.speed - 1.0)
    self._send(c)
'''


@pytest.fixture
def changed(tmp_path):
    """Return what becomes of SOURCE, as Python writes it without comments."""
    (tmp_path / 'module.py').write_text(SOURCE)

    def changed(change: str, to: str, module: str = 'module') -> str:
        return Mutation(module, change, to).apply(tmp_path)
    return changed


def with_change(old: str, new: str) -> str:
    text = ast.unparse(ast.parse(SOURCE))
    assert text.count(old) == 1
    return text.replace(old, new) + '\n'


def row_tests() -> list[ast.FunctionDef]:
    """Functions of the fault tests that are marked as rows; reading them needs no ROS."""
    return [node for path in sorted(Path(__file__).parent.glob('test_*_faults.py'))
            for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)
            for call in node.decorator_list
            if isinstance(call, ast.Call) and getattr(call.func, 'id', '') == 'row']


@pytest.mark.parametrize('test', row_tests(), ids=lambda test: test.name)
def test_every_row_finds_its_code_once(test):
    [row] = [call for call in test.decorator_list
             if isinstance(call, ast.Call) and getattr(call.func, 'id', '') == 'row']
    mutation = Mutation(**{k.arg: ast.literal_eval(k.value) for k in row.keywords})
    mutated = mutation.apply(PACKAGE)
    compile(mutated, test.name, 'exec')
    assert mutated != ast.unparse(ast.parse(mutation.path(PACKAGE).read_text())) + '\n'


@pytest.mark.parametrize(('change', 'to', 'old', 'new'), [
    ('_.limit > _', 'False', 'a.limit > b', 'False'),
    ('_.limit   >   b', 'False', 'a.limit > b', 'False'),
    ('return FAULT, _', 'pass', 'return (FAULT, 1)', 'pass'),
    ('if _: return FAULT, _', 'pass',
     'if a.limit > b:\n        return (FAULT, 1)', 'pass'),
    ('tau[_] = _', 'pass', 'tau[0] = c.gain * (c.speed - 1.0)', 'pass'),
    ('_ * (_ - 1.0)', '0.0', 'c.gain * (c.speed - 1.0)', '0.0'),
    ('_._send(_)', 'pass', 'self._send(c)', 'pass'),
    ('tau[_] = _\n_._send(_)', 'x = 1', 'tau[0] = c.gain * (c.speed - 1.0)\n    self._send(c)',
     'x = 1'),
])
def test_names_and_format_are_free(changed, change, to, old, new):
    assert changed(change, to) == with_change(old, new)


def test_a_function_confines_it(changed):
    assert changed('return 0', 'pass', 'module:first') == with_change('return 0', 'pass')
    with pytest.raises(AssertionError, match='0 times'):
        changed('return 0', 'pass', 'module:second')


@pytest.mark.parametrize(('module', 'change', 'message'), [
    ('module', '_.limit < _', r'0 times \(lines: none\), not once. Adapt `change`'),
    ('module', 'return _', r'2 times \(lines: [45], [45]\)'),
    ('module:third', 'return _', '0 definitions of third, not 1'),
    ('elsewhere', 'return _', 'there is no .*elsewhere.py; name the module'),
])
def test_what_is_not_found_once_is_named(changed, module, change, message):
    with pytest.raises(AssertionError, match=message):
        changed(change, 'pass', module)
