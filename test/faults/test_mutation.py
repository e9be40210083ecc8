# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Mutations are found by structure, and those of all rows are where the rows say."""

import ast
from types import ModuleType

from faults.mutation import Mutation, PACKAGE
from faults.rows import with_rows
import pytest

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
    ('first', 'abs(_ - _) > _', 'False', 'if ((False)):'),
    ('first', 'abs(_a - _b) > _', '_a > _b', 'if ((x.a[0] > x.b)):'),
    ('first', 'return LIMIT, _', 'pass', '        pass'),
    ('first', 'return LIMIT, _x', 'y = _x\nreturn y', '        y = x\n        return y'),
    ('Thing.second', '_ += _ * _', 'pass', '        pass'),
    ('Thing.second', '_.é', '1.0', 'self.total += (1.0) * 2'),
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
