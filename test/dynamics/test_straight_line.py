# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Scalars that print themselves as straight-line Python, which becomes LLVM instructions."""

from math import isclose

from hypothesis import assume, given, strategies as st
from numba import njit
import numpy as np
import pytest
from robodyn_ros.dynamics.llvm_code import straight_line as llvm_code
from robodyn_ros.dynamics.trace import Expression, Graph, MAX_LINE, straight_line

NAMES = 'abc'
numbers = st.sampled_from([0.0, 1.0, -1.0, 2.0, -0.5, 3.7])
leaves = st.one_of(numbers, st.sampled_from(NAMES))
trees = st.recursive(leaves, lambda inner: st.one_of(
    st.tuples(st.sampled_from('+-*/'), inner, inner), st.tuples(st.just('neg'), inner)),
    max_leaves=30)


def value(tree, names):
    """Return a tree computed with what the names stand for."""
    if not isinstance(tree, tuple):
        return names.get(tree, tree)
    kind, *parts = tree
    parts = [value(part, names) for part in parts]
    return {'+': lambda x, y: x + y, '-': lambda x, y: x - y, '*': lambda x, y: x * y,
            '/': lambda x, y: x / y, 'neg': lambda x: -x}[kind](*parts)


def run(lines, **names):
    exec('\n'.join(lines), {}, names)
    return names


@given(trees, st.tuples(*[st.floats(0.5, 2.0)] * 3))
def test_what_is_printed_computes_what_was_written(tree, point):
    graph = Graph()
    try:
        plain = value(tree, dict(zip(NAMES, point)))
        symbolic = value(tree, {name: graph.symbol(name) for name in NAMES})
    except ZeroDivisionError:
        assume(False)
    assume(abs(plain) < 1e6)
    lines, _ = straight_line(graph, {'out': symbolic})
    try:
        printed = run(lines, **dict(zip(NAMES, point)))['out']
    except ZeroDivisionError:
        assume(False)
    # Where terms cancel, their order counts
    assert isclose(printed, plain, rel_tol=1e-6, abs_tol=1e-6)


def test_constants_fold_and_equal_expressions_are_one():
    graph = Graph()
    a, b = graph.symbol('a'), graph.symbol('b')
    assert 0.0 * a == 0.0 and a - a == 0.0 and 0.0 / (a * b) == 0.0
    for same in (1.0 * a, a + 0.0, a - 0.0, a.__neg__().__neg__(), a / 1.0):
        assert same.i == a.i
    assert (a * b).i == (b * a).i and (a + b).i == (b + a).i
    assert (a + -b).i == (a - b).i and (-a * b).i == (-(b * a)).i
    c = graph.symbol('c')
    for one, other in ((a + b, a + c), (b + a, c + a), (b + a, a + c)):
        assert (one - other).i == (b - c).i
    assert ((a + a) - (b + a)).i == (a - b).i and (a + b) - (b + a) == 0.0
    lines, operations = straight_line(graph, {'x': (a + b) * (b + a), 'y': a + b, 'z': 2.0})
    assert operations == 2
    assert run(lines, a=1.0, b=2.0)['x'] == 9.0
    assert lines[-1] == 'z = 2.0'


def test_only_what_is_needed_is_printed_in_short_lines():
    graph = Graph()
    a, b = graph.symbol('a'), graph.symbol('b')
    b * b  # noqa: B018
    lines, operations = straight_line(graph, {'x': -a})
    assert operations == 0 and not any('b' in line for line in lines)
    graph = Graph()
    total = graph.symbol('a')
    for i in range(500):
        total = total * graph.symbol(f'b{i}') + 1.5
    lines, _ = straight_line(graph, {'out': total})
    assert max(map(len, lines)) < 2 * MAX_LINE + 60


@pytest.mark.parametrize('ask', [bool, float, int, abs, lambda x: x > 0, lambda x: x == 0])
def test_a_value_is_not_given_away(ask):
    with pytest.raises(TypeError, match='depends on a value'):
        ask(Graph().symbol('a'))


def test_numbers_of_numpy_leave_the_operation_to_the_expression():
    a = Graph().symbol('a')
    for result in (np.float64(2.0) * a, np.float64(2.0) + a, np.float64(2.0) - a):
        assert isinstance(result, Expression)


LINES = """
x0 = q[0]
t1 = (-x0 / 3.0) - q[2] * 0.5
out_M[1, 2] = t1 + q[1]
out_M[0, 0] = 7.0
out_v[1] = -2.0 * t1
out_v[0] = -(q[1] - t1)
"""


@pytest.fixture(scope='module')
def compiled():
    execute = llvm_code(LINES, ('q', 'out_M', 'out_v'), {'out_M': 3})

    @njit
    def run(q, M, v):
        execute((q, M, v))
    return run


@pytest.mark.parametrize('q', [(0.4, -1.2, 2.0), (-0.4, 1.3, 2.5), (0.0, 0.0, 0.0)])
def test_llvm_instructions_compute_what_python_does(compiled, q):
    ours, theirs = [(np.zeros((2, 3)), np.zeros(2)) for _ in range(2)]
    compiled(np.array(q), *ours)
    exec(LINES, {}, {'q': q, 'out_M': theirs[0], 'out_v': theirs[1]})
    for mine, other in zip(ours, theirs):
        assert mine == pytest.approx(other, rel=1e-15, abs=0.0)
