# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Source templates of the modules that :mod:`~.compile` and :mod:`~.specialize` generate."""

# Kernel of a quantity for any robot
GENERIC = """
from numba import njit, void

from robodyn_ros.dynamics import entry_points
from robodyn_ros.dynamics.numba_types import TYPES
from robodyn_ros.compiler.jit import OPTIONS

globals().update(TYPES)


@njit(void({types}), cache=True, **OPTIONS)
def {name}({arguments}):
    entry_points.{entry_point}({arguments})
"""


# Loop of a generic kernel over states
BATCH = """
from numba import njit, void

from robodyn_ros.dynamics.compile import generic
from robodyn_ros.dynamics.numba_types import TYPES
from robodyn_ros.compiler.jit import OPTIONS

globals().update(TYPES)
entry = generic('{name}')


@njit(void(INT, INT, {types}), cache=True, **OPTIONS)
def {name}(first, last, {arguments}):
    for k in range(first, last):
        entry({call})
"""


# Bound kernel: holds the data of one robot and calls the generic kernel
BOUND = """
import numpy as np
from numba import carray, njit, void

from robodyn_ros.dynamics.model_data import BODY, FRAME, JOINT, WORK, ModelData, Workspace
from robodyn_ros.dynamics.compile import generic
from robodyn_ros.dynamics.numba_types import MATRIX, VECTOR, stack
from robodyn_ros.compiler.jit import OPTIONS

{constants}
entry = generic('{name}')


@njit(void({types}), cache=True, **OPTIONS)
def {name}({arguments}):
    {workspace}
    rest[:] = 0.0
    unloaded[:] = 0.0
    robot, work = ModelData({robot}), Workspace({fields})
    entry({call})
"""


# Specialized kernel: straight-line code of one robot
SPECIALIZED = """
import numpy as np
from numba import carray, njit, void

from robodyn_ros.dynamics.llvm_code import straight_line
from robodyn_ros.dynamics.numba_types import MATRIX, VECTOR, stack
from robodyn_ros.dynamics.spatial import REDUCTION_LIMIT, cos_sin, far_cos_sin
from robodyn_ros.compiler.jit import OPTIONS

TURN = np.array({turn})
OFFSET = np.array({offset})
DRIVER = np.array({driver})
execute = straight_line('''
{lines}
''', {names}, {columns})


@njit(void({types}), cache=True, forceinline={inline}, **OPTIONS)
def {name}({arguments}):{place}
    {zeros}
    execute(({arrays},))
    {copies}
"""


# Its first lines: sines and cosines of all joints in one vectorized loop
PLACE = """
    trig = carray(stack({room}), ({room},), np.float64)
    for i in range({lanes}):
        trig[{angles} + i] = 0.0
    near = True
    for i in range({nb}):
        trig[{angles} + i] = TURN[i] * q[DRIVER[i]] + OFFSET[i]
        near &= abs(trig[{angles} + i]) <= REDUCTION_LIMIT
    for i in range({lanes}):
        trig[i], trig[{lanes} + i] = cos_sin(trig[{angles} + i])
    if not near:
        for i in range({nb}):
            if abs(trig[{angles} + i]) > REDUCTION_LIMIT:
                trig[i], trig[{lanes} + i] = far_cos_sin(TURN[i] * q[DRIVER[i]], OFFSET[i])"""


# Batch of a robot, four states at a time. The states of an incomplete group, and those with inputs
# that are not finite or positions far from 0, are computed one by one. It returns whether all
# inputs are finite.
SIMD_BATCH = """
import sys

import numpy as np
from numba import boolean, carray, njit

from robodyn_ros.dynamics.numba_types import TYPES, stack
from robodyn_ros.dynamics.llvm_code import Angles, four_states, SIMD_LANES
from robodyn_ros.compiler.jit import OPTIONS

globals().update(TYPES)
entry = sys.modules['{module}'].{name}
execute = four_states('''
{lines}
''', {inputs}, {nv}, {outputs}, Angles({turn}, {offset}, {driver}), {room})


@njit(boolean(INT, INT, {types}), cache=True, **OPTIONS)
def {name}(first, last, {arguments}):
    usable = carray(stack(SIMD_LANES), (SIMD_LANES,), np.int64)
    good = True
    for k in range(first, last, SIMD_LANES):
        end = min(k + SIMD_LANES, last)
        if end - k < SIMD_LANES:
            usable[:] = 0
        if end - k < SIMD_LANES or not execute(k, usable, ({arguments},)):
            for state in range(k, end):
                if usable[state - k] == 0:
                    for i in range({nv}):
                        good &= {finite}
                    entry({rows})
    return good
"""


# Test for finite elements, several times as fast as the two passes of NumPy
FINITE = """
import numpy as np
from numba import boolean, njit

from robodyn_ros.dynamics.numba_types import TYPES
from robodyn_ros.compiler.jit import OPTIONS

globals().update(TYPES)
FLOAT_MAX = np.finfo(np.float64).max


@njit(boolean(VECTOR), cache=True, **OPTIONS)
def finite(array):
    good = True
    for i in range(array.shape[0]):
        good &= abs(array[i]) <= FLOAT_MAX
    return good
"""


# Loop of a kernel of one robot over states
STATE_LOOP = """
import sys

from numba import njit, void

from robodyn_ros.dynamics.numba_types import TYPES
from robodyn_ros.compiler.jit import OPTIONS

globals().update(TYPES)
entry = sys.modules['{module}'].{name}


@njit(void(INT, INT, {types}), cache=True, **OPTIONS)
def {name}(first, last, {arguments}):
    for k in range(first, last):
        entry({call})
"""


# Checked kernel: returns whether the inputs have the right shape and are finite, and writes the
# outputs only if they are. `memory` is the address of a `compile.address_table`, which a kernel of
# one robot ignores.
CHECKED = """
import sys

import numpy as np
from numba import boolean, carray, njit

from robodyn_ros.dynamics.model_data import BODY, JOINT, WORK, ModelData, Workspace
from robodyn_ros.dynamics.compile import generic
from robodyn_ros.dynamics.numba_types import TYPES, constant, pointer
from robodyn_ros.compiler.jit import OPTIONS

globals().update(TYPES)
entry = {entry}


@njit(boolean(INT, {types}), cache=True, **OPTIONS)
def {name}(memory, {arguments}):
    {begin}
    good = {shapes}
    if good:
        for i in range(nv):
            good &= {finite}
    if good:
        entry({call})
    return good
"""

# Kernel of one robot as a C function, which other compiled code calls by its address
ADDRESS = """
import sys

from numba import carray, cfunc, float64, types, void

from robodyn_ros.compiler.jit import FASTMATH

entry = sys.modules['{module}'].{name}


@cfunc(void(*[types.CPointer(float64)] * {count}), cache=True, fastmath=FASTMATH,
       error_model='numpy')
def {name}({arguments}):
    entry({arrays})
"""
