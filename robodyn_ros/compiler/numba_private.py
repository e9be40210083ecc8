# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Internal functions of Numba with which other modules define intrinsics, and patches of Numba.

The intrinsics have no fallback; `setup.py` lists the tested versions of Numba. A patch is used
only where the private names that it relies on are there.

Numba optimises each function together with all that it calls, and generates its machine code, even
if Python cannot call it: what is called by many is compiled as often. With
:func:`without_machine_code`, functions that only compiled code calls stay LLVM IR, and the one
that Python or C calls is optimised with all of them, once. :data:`INNER_OPTIONS` leave out two
passes of Numba that look for what our functions do not have. Together they save a third of the
time of compiling the control cycle, and change nothing else.

If a name is missing, one warning is logged, and Numba's default behavior applies: see the table in
docs/architecture.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
import inspect
import logging
from math import prod
from typing import Any

from llvmlite import ir
import numba
from numba.core import codegen, compiler, cpu
from numba.core.cgutils import alloca_once, pack_array, unpack_tuple
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic
from numba.np import arrayobj

__all__ = ['alloca_once', 'impl_ret_borrowed', 'pack_array', 'unpack_tuple']

WORD = ir.IntType(64)


def rows_as_tuple(result: Any, shapes: Sequence[tuple[int, ...]]) -> Any:
    """
    Return a function for compiled code: a (K, nv) array as a named tuple of its first rows.

    Shapes are constants of the code, which ``reshape`` would not make of them.

    :param result: Numba type of the tuple.
    :param shapes: of its fields, which begin at a row each; (): a row of its own.
    """
    def rows(typing, matrix):
        def build(context, builder, signature, args):
            array = context.make_array(matrix)(context, builder, args[0])
            size = builder.extract_value(array.shape, 1)
            views, first = [], WORD(0)
            for field, shape in zip(result, shapes, strict=True):
                view = context.make_array(field)(context, builder)
                strides = [WORD(8 * prod(shape[k + 1:])) for k in range(field.ndim)]
                arrayobj.populate_array(
                    view, data=builder.gep(array.data, [first]),
                    shape=pack_array(builder, [WORD(k) for k in shape] or [size]),
                    strides=pack_array(builder, strides), itemsize=WORD(8),
                    meminfo=None, parent=None)
                views.append(view._getvalue())
                rows = builder.udiv(builder.add(size, WORD(prod(shape) - 1)), size)
                first = builder.add(first, builder.mul(size, rows if shape else WORD(1)))
            return impl_ret_borrowed(context, builder, result,
                                     context.make_tuple(builder, result, views))
        return result(matrix), build
    return intrinsic(rows)


_context: Any = cpu.CPUContext
_numba: Any = numba
_log = logging.getLogger(__name__)

# Private names by what they are for, as module:name, with their parameters if we replace them
NAMES = {
    'no machine code for inner functions': (
        'numba.core.cpu:CPUContext.get_executable(self, library, fndesc, env)',
        'numba.core.codegen:JITCodeLibrary._optimize_final_module(self)',
        'numba.core.codegen:JITCodeLibrary._finalize_final_module(self)',
        'numba.core.codegen:JITCodeLibrary._finalize_dynamic_globals',
        'numba.core.codegen:JITCodeLibrary._verify_declare_only_symbols',
        'numba.core.codegen:JITCodeLibrary._finalized',
        'numba.core.codegen:JITCodeLibrary.get_function',
        'numba:_dynfunc.make_function'),
    'fewer passes for inner functions': (
        'numba.core.compiler:CompilerBase.define_pipelines(self)',
        'numba.core.compiler:DefaultPassBuilder.define_nopython_pipeline',
        'numba.core.typed_passes:NopythonRewrites',
        'numba.core.untyped_passes:InlineClosureLikes'),
    'no C wrapper for inner functions': ('numba.core.cpu:CPUTargetOptions.no_cfunc_wrapper',),
    'functions that count no references': ('numba.core.cpu:CPUTargetOptions._nrt',),
    'a cache that knows all sources': (
        'numba.core.caching:_CacheLocator',
        'numba.core.caching:CompileResultCacheImpl._locator_classes')}

# Expressions of whole arrays, which they merge into one loop; closures and comprehensions
SKIPPED_PASSES = 'NopythonRewrites', 'InlineClosureLikes'


@cache
def available(use: str) -> bool:
    """Return whether Numba has all NAMES of a use; warn, once, if it does not."""
    missing = [name for name in NAMES[use] if not _exists(name)]
    if missing:
        _log.warning('Numba %s lacks %s: compiling takes longer without %s, with the same results',
                     numba.__version__, ', '.join(missing), use)
    return not missing


def _exists(name: str) -> bool:
    module, _, rest = name.partition(':')
    path, _, parameters = rest.partition('(')
    try:
        value = import_module(module)
        for part in path.split('.'):
            value = getattr(value, part)
        return not parameters or str(inspect.signature(value)) == f'({parameters}'  # type: ignore
    except (ImportError, AttributeError, TypeError, ValueError):
        return False


class InnerCompiler(getattr(compiler, 'CompilerBase', object)):     # type: ignore[misc]
    """Compiler of inner functions, as the option ``pipeline_class``."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes of Numba without SKIPPED_PASSES."""
        passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [one for one in passes.passes if one[0].__name__ not in SKIPPED_PASSES]
        passes.finalize()
        return [passes]


def inner_options() -> Mapping[str, Any]:
    """Return options of functions that only compiled code calls."""
    return {**({'pipeline_class': InnerCompiler}
               if available('fewer passes for inner functions') else {}),
            **({'no_cfunc_wrapper': True}
               if available('no C wrapper for inner functions') else {})}


def uncounted_options() -> Mapping[str, Any]:
    """Return options of functions that make and return no arrays: references are not counted."""
    return {'_nrt': False} if available('functions that count no references') else {}


class InnerLibrary(getattr(codegen, 'JITCodeLibrary', object)):     # type: ignore[misc]
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
    """
    Generate no machine code for inner functions within this context.

    This patches Numba: other threads that compile meanwhile do so, too.
    """
    if not available('no machine code for inner functions'):
        yield
        return
    original = _context.get_executable

    def get_executable(self: Any, library: Any, fndesc: Any, env: Any) -> Any:
        if library._finalized or _python_can_call(library, fndesc):
            return original(self, library, fndesc, env)
        library.__class__ = InnerLibrary
        # Numba finds the function by this object, whose address, 0, is never called
        return _numba._dynfunc.make_function(
            fndesc.lookup_module(), fndesc.qualname.split('.')[-1], '', 0, env, (library,))

    _context.get_executable = get_executable
    try:
        yield
    finally:
        _context.get_executable = original


def _python_can_call(library: Any, fndesc: Any) -> bool:
    try:
        library.get_function(fndesc.llvm_cpython_wrapper_name)
    except NameError:
        return False
    return True
