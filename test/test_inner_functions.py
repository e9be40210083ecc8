# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Functions that only compiled code calls: no machine code of their own, the same results."""

from numba import njit, types
from numba.core import event
from numba.extending import register_jitable
import numpy as np
from robodyn_ros.inner_functions import InnerLibrary, LEFT_OUT, without_machine_code
from robodyn_ros.jit import INNER

REAL = types.float64


def third(x):
    return x / 3.0


def both(x):
    return third(x) + third(2.0 * x)


def entry(x):
    return both(x) - third(x)


for _function in third, both:
    register_jitable(_function)


def test_only_what_python_calls_gets_machine_code():
    """The library of the entry holds the code of all, and those of the others hold none."""
    with without_machine_code():
        compiled = njit(REAL(REAL))(entry)
    assert compiled(3.0) == entry(3.0)
    library = next(iter(compiled.overloads.values())).library
    inner = [part for part in library._linking_libraries if part.name != 'nrt']     # Numba's own
    assert type(library) is not InnerLibrary
    assert inner and all(type(part) is InnerLibrary for part in inner)


def test_numba_is_as_before_afterwards():
    """Others that compile in this process notice nothing, also after an error."""
    from numba.core.cpu import CPUContext
    before = CPUContext.get_executable
    try:
        with without_machine_code():
            assert CPUContext.get_executable is not before
            raise ValueError
    except ValueError:
        pass
    assert CPUContext.get_executable is before


def test_a_function_that_was_inner_can_be_compiled_for_python():
    """Its own callers find it, inside and outside of the context."""
    with without_machine_code():
        njit(REAL(REAL))(entry)
    assert njit(REAL(REAL))(both)(3.0) == both(3.0)
    assert njit(REAL(REAL))(third)(3.0) == third(3.0)


def less(a, b):
    a[:] -= b
    return a[0] + a.sum()


def of_arrays(a, b):
    return less(a, b)


def test_passes_that_change_nothing_are_left_out_of_our_functions():
    """And only of them; what they compile to is the same, with arrays too."""
    register_jitable(**INNER)(less)
    vector, passes = REAL[::1], set()

    class Listener(event.Listener):
        def on_start(self, what):
            name, function = what.data['name'].split(maxsplit=1)
            passes.add((name, function.strip('[]')))

        def on_end(self, what):
            pass
    with event.install_listener('numba:run_pass', Listener()):
        compiled = njit(REAL(vector, vector))(of_arrays)
    for name in (each._name for each in LEFT_OUT):
        assert (name, 'less') not in passes and (name, 'of_arrays') in passes
    assert ('nopython_type_inference', 'less') in passes
    a, b = np.array([1.0, 2.0]), np.array([0.5, 0.25])
    assert compiled(a.copy(), b) == less(a, b) == 2.75
