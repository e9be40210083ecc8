# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Compilation of functions that only compiled code calls, with no more steps than they need.

Numba optimises each function together with all that it calls, and generates its machine code, even
if Python cannot call it: what is called by many is compiled as often. Here such functions stay
LLVM IR, and the function that Python or C calls is optimised with all of them, once. This saves a
third of the time of compiling the control cycle, and changes nothing else. Two passes of Numba
that look for what our functions do not have are left out, too.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba
from numba.core import codegen, cpu
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.typed_passes import NopythonRewrites
from numba.core.untyped_passes import InlineClosureLikes

_context: Any = cpu.CPUContext
_numba: Any = numba


# Expressions of whole arrays, which they merge into one loop; closures and comprehensions
LEFT_OUT = NopythonRewrites, InlineClosureLikes


class InnerCompiler(CompilerBase):
    """Compiler of our functions, as the option ``pipeline_class``."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes of Numba without those of LEFT_OUT."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [one for one in passes.passes if one[0] not in LEFT_OUT]
        passes.finalize()
        return [passes]


class InnerLibrary(codegen.JITCodeLibrary):
    """Code of a function that is linked into its callers only."""

    def _optimize_final_module(self) -> None:
        """Leave it to the callers."""

    def _finalize_final_module(self) -> None:
        """Do what Numba does, except that no machine code is generated."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


@contextmanager
def without_machine_code() -> Iterator[None]:
    """Compile so in this context; other threads that compile meanwhile do so, too."""
    original = _context.get_executable

    def get_executable(self: Any, library: Any, description: Any, environment: Any) -> Any:
        if library._finalized or _python_can_call(library, description):
            return original(self, library, description, environment)
        library.__class__ = InnerLibrary
        # Numba finds the function by this object, whose address, 0, nobody calls
        return _numba._dynfunc.make_function(
            description.lookup_module(), description.qualname.split('.')[-1], '', 0, environment,
            (library,))

    _context.get_executable = get_executable
    try:
        yield
    finally:
        _context.get_executable = original


def _python_can_call(library: Any, description: Any) -> bool:
    try:
        library.get_function(description.llvm_cpython_wrapper_name)
    except NameError:
        return False
    return True
