# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Ahead-of-use compilation of plain functions with Numba, cached on disk.

Algorithms stay undecorated functions that any Python can run and read. :func:`compile_function`
compiles one of them for one signature, :func:`compile_callback` for callers in C, and :func:`load`
compiles a module whose source text is generated. Each keeps its machine code in a place whose name
is a hash of all sources that the code calls, and of Numba, Python and CPU: Numba's own cache looks
at the file of the function only and would miss a change in another one (:mod:`~.code_cache`).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
import gc
import hashlib
from importlib.machinery import ModuleSpec
import importlib.util
from pathlib import Path
import sys
from threading import RLock
from types import FunctionType, ModuleType
from typing import Any

import numba
from numba import types
from numba.core.errors import NumbaError as NumbaError
from numba.extending import overload, register_jitable

from .code_cache import fingerprint, GENERATED, is_stored, stored
from .numba_private import available, inner_options, uncounted_options, without_machine_code
from .second_process import compiling

COLLECTION_THRESHOLD = 200_000      # new objects, while code is compiled
# 'nnan' and 'ninf' stay out: with them the compiler may delete the checks for NaN.
FASTMATH = {'contract', 'nsz', 'arcp', 'afn'}
OPTIONS = {'fastmath': FASTMATH, 'error_model': 'numpy', 'nogil': True}
# Of those that make no array, also by a function that they call; they count no references
KERNEL = {**OPTIONS, **uncounted_options()}
# Of functions that only compiled code calls
INNER: Any = {'fastmath': FASTMATH, 'error_model': 'numpy', **inner_options()}


@cache
def jitable(module: ModuleType, *, inline: bool = False, apart: tuple[str, ...] = (),
            exact: bool = False) -> ModuleType:
    """
    Make the plain functions of ``module`` callable from compiled code; return the module.

    Repeated calls have no effect.

    :param inline: merge them into their callers: for helpers of a few operations.
    :param apart: names of functions that are left out, because they are compiled on their own.
    :param exact: whether results are those of plain Python to the bit, which takes longer.
    """
    force = {**({'forceinline': True} if inline else {}), **({'fastmath': False} if exact else {})}
    for f in list(vars(module).values()):
        if (isinstance(f, FunctionType) and f.__module__ == module.__name__
                and f.__name__ not in apart):
            register_jitable(**(INNER | force))(f)
    return module


def tuple_type(record: Any, **kinds: Any) -> Any:
    """
    Return the Numba type of a NamedTuple class.

    :param kinds: Numba type of each field, or an array or a NamedTuple of that type.
    """
    fields = (kinds[name] for name in record._fields)
    return types.NamedTuple(tuple(
        kind if isinstance(kind, types.Type) else numba.typeof(kind) for kind in fields), record)


def substitute(function: Callable[..., Any], implementation: Callable[..., Any], *,
               inline: bool = False) -> None:
    """
    Replace ``function`` by ``implementation`` in compiled code only.

    :param implementation: plain function of the same parameters.
    :param inline: merge it into its callers.
    """
    force = {'forceinline': True} if inline else {}
    options: Any = {**INNER, **force}
    register: Any = overload(function, strict=False, jit_options=options)
    register(lambda *_, **__: implementation)


def compile_function(name: str, function: Callable[..., Any], signature: Any,
                     modules: tuple[ModuleType, ...]) -> Any:
    """
    Compile a plain function for one signature, or load it from the cache.

    Compilation of more than a second is announced (:mod:`~.second_process`).

    :param name: what the function belongs to, for file names and messages.
    :param signature: Numba signature, result and arguments.
    :param modules: every module whose functions it calls, directly or indirectly: a change in one
        of them recompiles it.
    :return: Numba dispatcher that compiles no other signature.
    """
    with _loading:
        return _compile(name, function, numba.njit, signature, modules)


def compile_callback(name: str, function: Callable[..., Any], signature: Any,
                     modules: tuple[ModuleType, ...], *, constants: str = '',
                     cached: bool = True, allocates: bool = True) -> Any:
    """
    Compile a function whose ``address`` C code can call; see :func:`compile_function`.

    :param constants: text on which the machine code depends besides the modules.
    :param cached: False compiles it in each process, because some source has no file.
    :param allocates: False, where neither it nor what it calls makes or returns an array, takes
        less time to compile; Numba then refuses what does. What it calls is not shared with
        functions that may.
    """
    with _loading:
        return _compile(name, function, numba.cfunc, signature, modules, constants, cached,
                        allocates)


def is_cached(name: str, function: Callable[..., Any], signature: Any,
              modules: tuple[ModuleType, ...]) -> bool:
    """Return whether the machine code of a function for a signature is in the cache."""
    return is_stored(_cache_folder(name, function, signature, modules))


def _cache_folder(name: str, function: Any, signature: Any, modules: tuple[ModuleType, ...],
                  constants: str = '') -> str:
    # The signature contains the layout of records, which other modules may declare
    digest = hashlib.sha256(fingerprint((*modules, sys.modules[function.__module__]))
                            + f'{signature}{constants}'.encode())
    return f'{name}_{digest.hexdigest()[:20]}'


@contextmanager
def _few_collections() -> Iterator[None]:
    """Reduce garbage collection, a tenth of the compilation time."""
    before = gc.get_threshold()
    gc.set_threshold(before[0] and max(before[0], COLLECTION_THRESHOLD), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


# Reentrant: compiling one function may compile or load another.
_loading = RLock()


@cache
def _compile(name: str, function: Any, decorator: Any, signature: Any,
             modules: tuple[ModuleType, ...], constants: str = '', cached: bool = True,
             allocates: bool = True) -> Any:
    entry = _cache_folder(name, function, signature, modules, constants)
    function.cache_folder = entry
    options: dict[str, Any] = OPTIONS if decorator is numba.njit else {}
    if not allocates:
        options = {**options, **uncounted_options()}

    def make(folder: Path | None) -> Any:
        function.cache_path = folder
        with _few_collections(), without_machine_code():
            return decorator(signature, cache=folder is not None, **options)(function)

    # Numba's own cache would miss a change in another file
    if cached and available('a cache that knows all sources'):
        return stored(entry, name, make)
    with compiling(name):
        return make(None)


def load(name: str, text: str, modules: tuple[ModuleType, ...]) -> ModuleType:
    """
    Import the module ``text``, compiled or from the cache.

    Compilation of more than a second is announced (:mod:`~.second_process`).

    :param name: what the module holds, for file names and tracebacks.
    :param text: Python source whose ``@njit(..., cache=True)`` functions are compiled on import.
    :param modules: every module whose functions the text calls, directly or indirectly: a change
        in one of them changes the name, so that no outdated code is loaded.
    """
    with _loading:
        return _load(name, text, modules)


@cache
def _load(name: str, text: str, modules: tuple[ModuleType, ...]) -> ModuleType:
    digest = hashlib.sha256(text.encode() + fingerprint(modules)).hexdigest()[:20]
    entry = f'{name}_{digest}'

    def make(folder: Path | None) -> ModuleType:
        full_name = f'{GENERATED}{entry}'
        spec = ModuleSpec(full_name, None) if folder is None else \
            importlib.util.spec_from_file_location(full_name, folder / f'{name}.py')
        assert spec
        module = importlib.util.module_from_spec(spec)
        sys.modules[full_name] = module
        with _few_collections(), without_machine_code():
            if folder is None:
                exec(compile(text.replace('cache=True', 'cache=False'), entry, 'exec'),
                     vars(module))
                return module
            path = folder / f'{name}.py'
            if not path.exists():
                path.write_text(text, encoding='utf-8')
            assert spec.loader
            spec.loader.exec_module(module)
        return module
    return stored(entry, name, make)
