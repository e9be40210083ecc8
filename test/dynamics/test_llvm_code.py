# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Python as LLVM instructions: what it computes is what Python does."""

from numba import njit
import numpy as np
import pytest
from robodyn_ros.dynamics.llvm_code import straight_line

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
    execute = straight_line(LINES, ('q', 'out_M', 'out_v'), {'out_M': 3})

    @njit
    def run(q, M, v):
        execute((q, M, v))
    return run


@pytest.mark.parametrize('q', [(0.4, -1.2, 2.0), (-0.4, 1.3, 2.5), (0.0, 0.0, 0.0)])
def test_it_computes_what_python_does(compiled, q):
    ours, theirs = [(np.zeros((2, 3)), np.zeros(2)) for _ in range(2)]
    compiled(np.array(q), *ours)
    exec(LINES, {}, {'q': q, 'out_M': theirs[0], 'out_v': theirs[1]})
    for mine, other in zip(ours, theirs):
        assert mine == pytest.approx(other, rel=1e-15, abs=0.0)
