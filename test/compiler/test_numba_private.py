# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Functions that only compiled code calls: no machine code of their own, the same results."""

from numba import njit, types
from numba.core import event
from numba.core.typed_passes import NopythonRewrites
from numba.core.untyped_passes import InlineClosureLikes
from numba.extending import register_jitable
import numpy as np
import pytest
from robodyn_ros.compiler import numba_private
from robodyn_ros.compiler.jit import INNER
from robodyn_ros.compiler.numba_private import InnerLibrary, without_machine_code

pytestmark = pytest.mark.slow

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
    return a[0] - b[0]


def of_arrays(a, b):
    return less(a, b)


def test_passes_that_change_nothing_are_left_out_of_our_functions():
    """And only of them; what they compile to is the same."""
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
    for name in (each._name for each in (NopythonRewrites, InlineClosureLikes)):
        assert (name, 'less') not in passes and (name, 'of_arrays') in passes
    assert ('nopython_type_inference', 'less') in passes
    assert compiled(np.ones(2), np.array([0.25, 9.0])) == 0.75


WITHOUT = """
import sys
import entry, helper
from numba import int64
from robodyn_ros.compiler import numba_private

use = sys.argv[1]
numba_private.NAMES[use] = tuple(name.replace('(', '_gone(') if '(' in name else name + '_gone'
                                 for name in numba_private.NAMES[use])
from robodyn_ros.compiler import jit

def compiled(kind):
    return kind('small', entry.entry, int64(int64), (jit.jitable(helper),))

call = compiled(jit.compile_function)
numba_private.uncounted_options(), numba_private.uncounted_options()
print(call(1), sum(call.stats.cache_hits.values()), flush=True)
"""


@pytest.mark.parametrize('use', numba_private.NAMES)
def test_each_name_is_looked_for(monkeypatch, use):
    """Without any one of them what they are for is left out."""
    numba_private.available.cache_clear()
    assert numba_private.available(use)
    for name in numba_private.NAMES[use]:
        gone = name.replace('(', '_gone(') if '(' in name else f'{name}_gone'
        monkeypatch.setitem(numba_private.NAMES, use, (gone,))
        numba_private.available.cache_clear()
        assert not numba_private.available(use)
    numba_private.available.cache_clear()


@pytest.mark.parametrize('use', numba_private.NAMES)
def test_without_private_names_numba_compiles_in_its_own_way(tmp_path, run, use):
    """The results are those of Python, one warning says why it takes longer."""
    (tmp_path / 'helper.py').write_text('def step(x):\n    return x + 1\n')
    (tmp_path / 'entry.py').write_text('import helper\n\n\ndef entry(x):\n'
                                       '    return helper.step(x) + helper.step(2 * x)\n')
    for start in range(2):
        *warnings, found = run(WITHOUT, use).splitlines()
        # Without a cache of ours, each process compiles: Numba's own would miss changes
        hits = start if use != 'a cache that knows all sources' else 0
        assert found.split() == ['5', str(hits)]
        text = ' '.join(warnings)
        assert text.count(' lacks ') == 1 and use in text
