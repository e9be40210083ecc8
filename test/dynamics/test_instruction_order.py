# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Instructions come after those whose results they use, and few results are kept."""

import platform
import random

from hypothesis import given
from hypothesis import strategies as st
from llvmlite import ir
import llvmlite.binding
from numba import float64, njit, types
from numba.extending import intrinsic
import numpy as np
import pytest
from robodyn_ros.dynamics.instruction_order import _order, has_avx2, Recorder
from robodyn_ros.dynamics.simd_states import STATES, VECTOR


@st.composite
def programs(draw):
    count = draw(st.integers(1, 40))
    operands = {i: draw(st.sets(st.integers(0, i - 1), max_size=3)) if i else set()
                for i in range(count)}
    return operands, draw(st.lists(st.integers(0, count - 1), max_size=4))


@given(programs())
def test_operands_come_first_and_nothing_is_missing(program):
    operands, results = program
    order = _order(operands, results)
    assert sorted(order) == list(operands)
    place = {i: n for n, i in enumerate(order)}
    assert all(place[j] < place[i] for i, those in operands.items() for j in those)


def most_kept(order, operands):
    last = {j: n for n, i in enumerate(order) for j in operands[i]}
    return max(sum(last.get(i, -1) > n for i in order[:n + 1]) for n in range(len(order)))


def test_few_results_are_kept():
    """Sums of pairs, recorded level by level: each level would be kept as a whole."""
    operands, level = {i: set() for i in range(128)}, list(range(128))
    while len(level) > 1:
        above = range(len(operands), len(operands) + len(level) // 2)
        operands.update(zip(above, map(set, zip(level[::2], level[1::2]))))
        level = list(above)
    assert most_kept(list(operands), operands) == 128
    assert most_kept(_order(operands, level), operands) < 32


@pytest.mark.parametrize('keeps_order', [False, True])
def test_what_is_recorded_is_computed(keeps_order):
    """Sums of products of elements, with constants, one of which is a result itself."""
    rng = random.Random(1)
    pairs = [(rng.randrange(30), rng.randrange(30), rng.choice([0.5, -2.0, 3.0]))
             for _ in range(200)]

    @intrinsic
    def execute(typing, a, out):
        def build(context, builder, signature, args):
            source, target = (
                builder.bitcast(context.make_array(kind)(context, builder, value).data,
                                VECTOR.as_pointer())
                for kind, value in zip(signature.args, args))
            recorder = Recorder(builder, VECTOR, keeps_order and has_avx2(context))

            def place(start, i):
                return recorder.gep(start, [ir.IntType(64)(i)])

            values = [recorder.load(place(source, i), '', 8) for i in range(30)]
            for i, j, factor in pairs:
                product = recorder.fmul(values[i], ir.Constant(VECTOR, [factor] * STATES))
                values.append(recorder.fsub(values[-1], recorder.fmul(product, values[j])))
            recorder.fdiv(values[0], values[1])         # which no result needs
            results = recorder.insert([values[-1], ir.Constant(VECTOR, [7.0] * STATES)])
            for i, result in enumerate(results):
                builder.store(result, builder.gep(target, [ir.IntType(64)(i)]), align=8)
            return context.get_dummy_value()
        return types.void(a, out), build

    @njit([types.void(float64[:, ::1], float64[:, ::1])])
    def compiled(a, out):
        execute(a, out)

    [text] = compiled.inspect_llvm().values()
    assert 'fdiv' not in text
    assert (text.count('asm sideeffect') > 200) == (
        keeps_order and platform.machine() in ('x86_64', 'AMD64')
        and llvmlite.binding.get_host_cpu_features()['avx2'])
    a, out = np.random.default_rng(2).uniform(-1, 1, (30, STATES)), np.zeros((2, STATES))
    compiled(a, out)
    values = list(a)
    for i, j, factor in pairs:
        values.append(values[-1] - factor * values[i] * values[j])
    np.testing.assert_allclose(out, [values[-1], np.full(STATES, 7.0)], rtol=1e-12)
