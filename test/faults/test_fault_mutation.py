# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Mutations are found by structure, and the test of each row fails where it is disabled."""

import ast
import os
from pathlib import Path
import re
import sys
from types import ModuleType

from faults.rows import Mutation, PACKAGE, with_rows
from processes import Process
import pytest
from thorough import seeds

TEXT = """
LIMIT = 3


def first(x):
    if (abs(x.a[0]
            - x.b) > x.c):      # a comment
        return LIMIT, x
    return None


class Thing:
    def second(self):
        self.total += self.é * 2
"""


def applied(where, find, instead):
    """Return the text with a change; ``where``: a name in it, or '' for all of it."""
    module = ModuleType('text')
    exec(compile(TEXT, 'text', 'exec'), vars(module))
    place = module
    for name in filter(None, where.split('.')):
        place = getattr(place, name)
    return Mutation(place, find, instead).applied(TEXT)


@pytest.mark.parametrize(('where', 'find', 'instead', 'line'), [
    ('first', 'abs(_ - _) > _', 'False', 'if False:'),
    ('first', 'abs(_a - _b) > _', '_a > _b', 'if x.a[0] > x.b:'),
    ('first', 'return LIMIT, _', 'pass', '        pass'),
    ('first', 'return LIMIT, _x', 'y = _x\nreturn y', '        y = x\n        return y'),
    ('Thing.second', '_ += _ * _', 'pass', '        pass'),
    ('Thing.second', '_.é', '1.0', 'self.total += 1.0 * 2'),
    ('', 'LIMIT = _', 'LIMIT = 4', 'LIMIT = 4')])
def test_a_change(where, find, instead, line):
    changed = applied(where, find, instead)
    assert line in changed
    ast.parse(changed)


@pytest.mark.parametrize(('find', 'places'), [('_ < _', 0), ('x', 4), ('return _', 2)])
def test_what_is_not_one_place_is_refused(find, places):
    with pytest.raises(AssertionError, match=f'matches {places} places'):
        applied('first', find, 'None')


def test_each_row_changes_one_place_of_code_that_compiles():
    for row in (test.row for test in with_rows()):
        text = (PACKAGE / row.mutation.file).read_text()
        changed = row.mutation.applied(text)
        assert changed != text, row.fault
        compile(changed, row.fault, 'exec')


TEST = Path(__file__).resolve().parents[1]
FILES = sorted({test.__code__.co_filename for test in with_rows()})
# Rows of the library, in plain Python; in thorough tests those of nodes, too
PLAIN = ['1', '0'][:seeds(1, 2)]


@pytest.mark.slow
@pytest.mark.parametrize('plain', PLAIN)
@pytest.mark.parametrize('half', [0, 1])
def test_each_row_fails_where_it_is_disabled(tmp_path, capfd, plain, half):
    """Half of the files, so that two processors share them; prints how many mutants it killed."""
    env = {**os.environ, 'ROBODYN_PLAIN': plain, 'PYTEST_DISABLE_PLUGIN_AUTOLOAD': '1',
           'PYTHONPATH': os.pathsep.join(
               [str(TEST), *os.environ.get('PYTHONPATH', '').split(os.pathsep)])}
    process = Process([sys.executable, '-m', 'pytest', '-p', 'faults.mutants', '-p',
                       'no:cacheprovider', f'--basetemp={tmp_path / "tests"}', '-v',
                       *FILES[half::2]], tmp_path / 'output.txt', env, TEST.parent)
    try:
        assert process.wait(1200.0) == 0, process.text
        killed = len(re.findall(r'disabled\S* PASSED', process.text))
        with capfd.disabled():
            print(f'\n{killed} mutants of rows killed', file=sys.stderr, flush=True)
    finally:
        process.kill()
