# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Machine code from Numba's cache, loaded without what only compiling needs.

Before Numba looks into its cache, it imports and registers all that it could compile, and SciPy;
and of each function that it finds, it reads the LLVM IR next to the machine code, for callers that
might be compiled. Together that took half of the time in which a controller starts. Here it waits
until something is compiled; which machine code is loaded stays the same.

What is here decides nothing of the code: a change here compiles nothing anew.
"""

from functools import cache
from importlib.util import find_spec
import sys
from typing import Any

import llvmlite.binding
from numba.core import caching
from numba.core.runtime import rtsys

# Prefix of the names of generated modules
GENERATED = 'robodyn_ros_compiled.'
# In the names of functions of Numba that call BLAS and LAPACK, which it takes from SciPy
LINEAR_ALGEBRA = b'numba_xx', b'numba_ez_', b'numba_raw_'
_cache: Any = caching.FunctionCache
_files: Any = caching.CompileResultCacheImpl


def _is_ours(function: Any) -> bool:
    return hasattr(function, 'cache_folder') or (function.__module__ or '').startswith(GENERATED)


def _look_up_at_once() -> None:
    """Look for functions of this package in the cache before Numba registers what it knows."""
    original = _cache.load_overload

    def load_overload(self: Any, signature: Any, target: Any) -> Any:
        if not _is_ours(self._py_func):
            return original(self, signature, target)
        rtsys.initialize(target)        # loaded code may call its functions
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, target)
    _cache.load_overload = load_overload


def _leave_out_ir() -> None:
    """Read no IR of functions that are called at their address: nothing is linked to them."""
    original = _files.rebuild

    def rebuild(self: Any, target: Any, payload: Any) -> Any:
        function = getattr(self.locator, 'function', None)
        (name, kind, data), description, *others = payload
        if kind == 'object' and function is not None:
            machine_code, _ = data
            if any(helper in machine_code for helper in LINEAR_ALGEBRA):
                _import_linear_algebra(target)      # at its first call it would be late
            if getattr(function, 'called_at_address', False):
                # Otherwise read from the IR: the names for which the machine code may be asked
                target.codegen()._engine._defined_symbols.add(description.llvm_cfunc_wrapper_name)
                payload = (name, kind, (machine_code, _no_code())), description, *others
        return original(self, target, payload)
    _files.rebuild = rebuild


@cache
def _no_code() -> bytes:
    return llvmlite.binding.parse_assembly('').as_bitcode()


def _put_off_scipy() -> None:
    """
    Let Numba import SciPy not before it compiles linear algebra.

    It does so as it registers what it knows, in order to know whether it could; that SciPy is
    installed tells as much. Whatever needs it calls ``ensure_blas`` again.
    """
    if find_spec('scipy') is None or 'numba.np.arraymath' in sys.modules:
        return
    from numba.np import linalg
    ensure_blas = linalg.ensure_blas

    def ensure_later() -> None:
        linalg.ensure_blas = ensure_blas
    linalg.ensure_blas = ensure_later


def _import_linear_algebra(target: Any) -> None:
    """Import what functions of linear algebra call, and check it as Numba does."""
    from numba.np import linalg
    target.refresh()            # after which nothing is put off any more
    linalg.ensure_blas()
    linalg.ensure_lapack()


_look_up_at_once()
_leave_out_ir()
_put_off_scipy()
