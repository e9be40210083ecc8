# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Source templates of the modules that :mod:`~.compile` and :mod:`~.specialize` generate."""

# Kernel of a quantity for any robot
GENERIC = """
from numba import njit, void

from robodyn_ros.dynamics import entry_points
from robodyn_ros.dynamics.numba_types import TYPES
from robodyn_ros.jit import OPTIONS

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
from robodyn_ros.jit import OPTIONS

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
from robodyn_ros.jit import OPTIONS

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

from robodyn_ros.dynamics.numba_types import MATRIX, VECTOR, stack
from robodyn_ros.dynamics.joint_transforms import REDUCTION_LIMIT, cos_sin, far_cos_sin
from robodyn_ros.jit import OPTIONS

TURN = np.array({turn})
OFFSET = np.array({offset})
DRIVER = np.array({driver})


@njit(void({types}), cache=True, forceinline={inline}, **OPTIONS)
def {name}({arguments}):{place}
    {lines}
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


# Specialized kernel for several states at once: each number becomes a row of numbers, one per
# state, on which SIMD instructions operate. The last state fills up an incomplete row. It returns
# whether all inputs are finite: `doubt` becomes NaN with the product of 0 and what is not (and
# with that of 0 and a sum of huge numbers, whose caller looks at each of them). Counting instead
# of an early exit keeps the loop of sines and cosines free of branches.
SIMD_BATCH = """
import numpy as np
from numba import boolean, carray, njit

from robodyn_ros.dynamics.numba_types import TYPES, stack
from robodyn_ros.dynamics.joint_transforms import REDUCTION_LIMIT, cos_sin, far_cos_sin
from robodyn_ros.dynamics.tile_transposition import lanes_to_rows, rows_to_lanes
from robodyn_ros.jit import OPTIONS

globals().update(TYPES)
TURN = np.array({turn})
OFFSET = np.array({offset})
DRIVER = np.array({driver})
{copies}


@njit(boolean(INT, INT, {types}), cache=True, **OPTIONS)
def {name}(first, last, {arguments}):
    room = stack(2 * {room} * {lanes})
    trig = carray(room, (2 * {room}, {lanes}), np.float64)
    flat = carray(room, (2 * {room} * {lanes},), np.float64)
    angle = carray(stack({nb} * {lanes}), ({nb} * {lanes},), np.float64)
    doubt = carray(stack({lanes}), ({lanes},), np.float64)
    doubt[:] = 0.0
    {arrays}
    for k in range(first, last, {lanes}):
        count = min({lanes}, last - k)
        if count == {lanes}:
            {read_rows}
        else:
            for lane in range({lanes}):
                state = k + min(lane, count - 1)
                for i in range({nv}):
                    {read}
        for lane in range({lanes}):
            {angles}
        far = 0
        for i in range({nb} * {lanes}):
            far += abs(angle[i]) > REDUCTION_LIMIT
            flat[i], flat[{room} * {lanes} + i] = cos_sin(angle[i])
        if far != 0:
            for i in range({nb}):
                for lane in range({lanes}):
                    if abs(angle[{lanes} * i + lane]) > REDUCTION_LIMIT:
                        trig[i, lane], trig[{room} + i, lane] = far_cos_sin(
                            TURN[i] * q[DRIVER[i], lane], OFFSET[i])
        for lane in range({lanes}):
            doubt[lane] += ({total}) * 0.0
            {lines}
        if count == {lanes}:
            {write_rows}
        else:
            for lane in range(count):
                {write}
    good = True
    for lane in range({lanes}):
        good &= doubt[lane] == 0.0
    return good
"""


# Test for finite elements, several times as fast as the two passes of NumPy
FINITE = """
import numpy as np
from numba import boolean, njit

from robodyn_ros.dynamics.numba_types import TYPES
from robodyn_ros.jit import OPTIONS

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
from robodyn_ros.jit import OPTIONS

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
from robodyn_ros.jit import OPTIONS

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

from robodyn_ros.jit import FASTMATH

entry = sys.modules['{module}'].{name}


@cfunc(void(*[types.CPointer(float64)] * {count}), cache=True, fastmath=FASTMATH,
       error_model='numpy')
def {name}({arguments}):
    entry({arrays})
"""
