# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Ahead-of-use compilation of plain functions with Numba, cached on disk.

Algorithms stay undecorated functions that any Python can run and read. :func:`compile_function`
compiles one of them for one signature, :func:`compile_callback` for callers in C, and :func:`load`
compiles a module whose source text is generated. Each keeps its machine code in a place whose name
is a hash of all sources that the code calls, and of Numba, Python and CPU: Numba's own cache looks
at the file of the function only and would miss a change in another one.
"""

import atexit
from collections.abc import Callable, Iterator
from contextlib import contextmanager, ExitStack, suppress
from functools import cache
import hashlib
import importlib.util
import os
from pathlib import Path
import shutil
import sys
import tempfile
from threading import RLock
import time
from types import FunctionType, ModuleType
from typing import Any

import llvmlite
from llvmlite import ir
import llvmlite.binding
import numba
from numba import types
from numba.core import cgutils
from numba.core.caching import _CacheLocator, CompileResultCacheImpl
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, overload, register_jitable
from platformdirs import user_cache_path

from . import inner_functions, tuple_reference
from .compile_notice import compiling
from .inner_functions import without_machine_code

try:
    import fcntl
except ImportError:             # not a Unix: processes compile side by side
    fcntl = None                # type: ignore[assignment]

LONGEST, POLL = 300.0, 0.05     # s
# 'nnan' and 'ninf' stay out: with them the compiler may delete the checks for NaN.
FASTMATH = {'contract', 'nsz', 'arcp', 'afn'}
OPTIONS = {'fastmath': FASTMATH, 'error_model': 'numpy', 'nogil': True}
# Of functions that only compiled code calls
INNER: Any = {'fastmath': FASTMATH, 'error_model': 'numpy', 'no_cfunc_wrapper': True}


@cache
def jitable(module: ModuleType, *, inline: bool = False, apart: tuple[str, ...] = ()
            ) -> ModuleType:
    """
    Let compiled code call the plain functions that ``module`` defines; they stay plain.

    Asking again changes nothing.

    :param inline: merge them into their callers: for helpers of a few operations.
    :param apart: names of functions that are left out, because they are compiled on their own.
    """
    force = {'forceinline': True} if inline else {}
    for f in list(vars(module).values()):
        if (isinstance(f, FunctionType) and f.__module__ == module.__name__
                and f.__name__ not in apart):
            register_jitable(**INNER, **force)(f)
    return module


def tuple_type(record: Any, **kinds: Any) -> Any:
    """
    Return the Numba type of a NamedTuple class.

    :param kinds: Numba type of each field, or an array or a NamedTuple of that type.
    """
    fields = (kinds[name] for name in record._fields)
    return types.NamedTuple(tuple(
        kind if isinstance(kind, types.Type) else numba.typeof(kind) for kind in fields), record)


def tuple_loader(kind: Any) -> Any:
    """Return a function for compiled code that returns the tuple of this type at an address."""
    def load_tuple(typing, address):
        def build(context, builder, signature, args):
            place = builder.inttoptr(args[0], context.get_value_type(kind).as_pointer())
            return impl_ret_borrowed(context, builder, kind, builder.load(place))
        return kind(types.int64), build
    return intrinsic(load_tuple)


def caller(signature: Any) -> Any:
    """
    Return a function for compiled code that calls machine code at an address.

    ``call(address, arguments)`` takes the arguments as a tuple and returns the result. Code that
    is called so is compiled on its own, once, and not merged into its callers.

    :param signature: Numba signature that :func:`compile_callback` has compiled it for.
    """
    def call(typing, address, arguments):
        if tuple(arguments) != signature.args:
            return None

        def build(context, builder, of_call, args):
            return _call(context, builder, signature.return_type, args[1],
                         lambda kind: builder.inttoptr(args[0], kind.as_pointer()))
        return signature.return_type(types.int64, arguments), build
    return intrinsic(call)


def linked(symbol: str, signature: Any) -> Any:
    """
    Return a function for compiled code that calls machine code by its name.

    ``call(arguments)`` takes the arguments as a tuple and returns the result. Whoever loads code
    that contains it has to give the address of the name to :func:`link` before.

    :param symbol: name, unique in the process.
    :param signature: as of :func:`caller`.
    """
    def call(typing, arguments):
        if tuple(arguments) != signature.args:
            return None

        def build(context, builder, of_call, args):
            return _call(context, builder, signature.return_type, args[0],
                         lambda kind: cgutils.get_or_insert_function(builder.module, kind, symbol))
        return signature.return_type(arguments), build
    return intrinsic(call)


def link(symbol: str, address: int) -> None:
    """Have code that is loaded from now on find the machine code at the address by its name."""
    llvmlite.binding.add_symbol(symbol, address)


def _call(context: Any, builder: Any, result: Any, arguments: Any,
          function: Callable[[Any], Any]) -> Any:
    """Generate a call; ``function`` returns a pointer to the function of a type."""
    values = cgutils.unpack_tuple(builder, arguments)
    kind = ir.FunctionType(
        ir.VoidType() if result == types.void else context.get_value_type(result),
        [value.type for value in values])
    value = builder.call(function(kind), values)
    return context.get_dummy_value() if result == types.void else value


def substitute(function: Callable[..., Any], implementation: Callable[..., Any], *,
               inline: bool = False) -> None:
    """
    Let compiled code call ``implementation`` where its text calls ``function``; Python does not.

    :param implementation: plain function of the same parameters.
    :param inline: merge it into its callers.
    """
    force = {'forceinline': True} if inline else {}
    options: Any = {**INNER, **force}
    register: Any = overload(function, strict=False, jit_options=options)
    register(lambda *_, **__: implementation)


def _fingerprint(modules: tuple[ModuleType, ...]) -> bytes:
    """Everything besides the text that decides what machine code comes out."""
    digest = hashlib.sha256(_compiler_digest())
    for path in (__file__, inner_functions.__file__, tuple_reference.__file__,
                 *(m.__file__ for m in modules)):
        digest.update(_file_digest(str(path)))
    return digest.digest()


@cache
def _compiler_digest() -> bytes:
    """Return the digest of the compiler and of the processor that it compiles for."""
    words = (numba.__version__, llvmlite.__version__, sys.version,
             llvmlite.binding.get_host_cpu_name(),
             llvmlite.binding.get_host_cpu_features().flatten())
    return hashlib.sha256(repr(words).encode()).digest()


@cache
def _file_digest(path: str) -> bytes:
    """Return the digest of a source file as it was when this process first asked for it."""
    return hashlib.sha256(Path(path).read_bytes()).digest()


def machine() -> str:
    """Return in words what besides the sources decides which machine code comes out."""
    return (f'Numba {numba.__version__}, Python {sys.version.split()[0]}, '
            f'{llvmlite.binding.get_host_cpu_name()}')


@cache
def cache_directory() -> Path:
    """
    Where compiled code is kept: $ROBODYN_CACHE_DIR, else the user's cache folder.

    A folder that cannot be written (read-only home) is replaced by one of this process alone:
    everything works, and compiles again at the next start.
    """
    chosen = os.environ.get('ROBODYN_CACHE_DIR')
    path = Path(chosen) if chosen else user_cache_path('robodyn_ros')
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError:
        own = tempfile.mkdtemp(prefix='robodyn_ros_')
        atexit.register(shutil.rmtree, own, ignore_errors=True)
        return Path(own)


class SourceLocator(_CacheLocator):
    """
    Place of Numba's cache files for the functions of :func:`compile_function`.

    The folder is named after a digest of all sources that the machine code comes from, so that a
    change in any of them, or another version side by side, finds another folder.
    """

    def __init__(self, function: Any):
        self._function = function

    def get_cache_path(self) -> str:
        """Return the folder of the cache files of the function."""
        return str(cache_directory() / self._function.cache_folder)

    def ensure_cache_path(self) -> None:
        """Create the folder."""
        Path(self.get_cache_path()).mkdir(parents=True, exist_ok=True)

    def get_source_stamp(self) -> str:
        """Return what Numba compares with the stamp in the folder: its name, with the digest."""
        return str(self._function.cache_folder)

    def get_disambiguator(self) -> str:
        """Return the line of the function, which tells functions of one name apart."""
        return str(self._function.__code__.co_firstlineno)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> '_CacheLocator | None':
        """Return a locator for a function that :func:`compile_function` has marked, else None."""
        return cls(py_func) if hasattr(py_func, 'cache_folder') else None


def _install_locator() -> None:
    """Let Numba ask :class:`SourceLocator` first; it leaves functions of others alone."""
    implementation: Any = CompileResultCacheImpl
    implementation._locator_classes = [SourceLocator, *implementation._locator_classes]
    # Newer versions have an environment variable that replaces the list
    config: Any = numba.config
    if chosen := getattr(config, 'CACHE_LOCATOR_CLASSES', ''):
        config.CACHE_LOCATOR_CLASSES = (
            f'{SourceLocator.__module__}.{SourceLocator.__qualname__},{chosen}')


_install_locator()


def compile_function(name: str, function: Callable[..., Any], signature: Any,
                     modules: tuple[ModuleType, ...]) -> Any:
    """
    Return a plain function compiled for one signature, from the cache where it is there already.

    Compiling that takes longer than a second is announced (:mod:`~.compile_notice`).

    :param name: what the function belongs to, for file names and messages.
    :param signature: Numba signature, result and arguments.
    :param modules: every module whose functions it calls, directly or through others: a change in
        one of them compiles it anew.
    :return: Numba dispatcher, which compiles nothing more.
    """
    with _loading:
        return _compile(name, function, numba.njit, signature, modules)


def compile_callback(name: str, function: Callable[..., Any], signature: Any,
                     modules: tuple[ModuleType, ...], *, constants: str = '',
                     cached: bool = True) -> Any:
    """
    Return likewise a function whose ``address`` C code can call.

    :param constants: text on which the machine code depends besides the modules.
    :param cached: False compiles it in each process, because some source has no file.
    """
    with _loading:
        return _compile(name, function, numba.cfunc, signature, modules, constants, cached)


def is_cached(name: str, function: Callable[..., Any], modules: tuple[ModuleType, ...]) -> bool:
    """Return whether machine code of a function is in the cache, as it was asked for above."""
    return any((cache_directory() / _cache_folder(name, function, modules)).glob('*.nbi'))


def _cache_folder(name: str, function: Any, modules: tuple[ModuleType, ...],
                  constants: str = '') -> str:
    digest = hashlib.sha256(_fingerprint((*modules, sys.modules[function.__module__]))
                            + constants.encode())
    return f'{name}_{digest.hexdigest()[:20]}'


# Reentrant: compiling one function may compile or load another.
_loading = RLock()


@cache
def _compile(name: str, function: Any, decorator: Any, signature: Any,
             modules: tuple[ModuleType, ...], constants: str = '', cached: bool = True) -> Any:
    function.cache_folder = _cache_folder(name, function, modules, constants)
    options = OPTIONS if decorator is numba.njit else {}
    with (compiling(name), _turn(cache_directory() / function.cache_folder, cached),
          without_machine_code()):
        return decorator(signature, cache=cached, **options)(function)


@contextmanager
def _turn(folder: Path, cached: bool) -> Iterator[None]:
    """Wait while another process compiles the same, for LONGEST at most: then the cache has it."""
    if not cached or fcntl is None or any(folder.glob('*.nbi')):
        yield
        return
    end = time.monotonic() + LONGEST
    with ExitStack() as stack:
        try:
            file = stack.enter_context(open(folder.parent / f'{folder.name}.lock', 'w'))
        except OSError:                 # whoever compiles cannot be told
            end = 0.0
        while time.monotonic() < end:
            with suppress(OSError):     # another process has the lock
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(POLL)
        yield


def load(name: str, text: str, modules: tuple[ModuleType, ...]) -> ModuleType:
    """
    Import the module ``text``, from the cache where this machine has compiled it before.

    Compiling that takes longer than a second is told of (:mod:`~.compile_notice`).

    :param name: what the module holds, for file names and tracebacks.
    :param text: Python source whose ``@njit(..., cache=True)`` functions are compiled on import.
    :param modules: every module whose functions the text calls, directly or through others: a
        change in one of them means another name, so nothing stale is ever loaded.
    """
    with _loading:
        return _load(name, text, modules)


@cache
def _load(name: str, text: str, modules: tuple[ModuleType, ...]) -> ModuleType:
    digest = hashlib.sha256(text.encode() + _fingerprint(modules)).hexdigest()[:20]
    path = cache_directory() / f'{name}_{digest}.py'
    if not path.exists():
        part = path.with_suffix(f'.{os.getpid()}.part')
        part.write_text(text)
        part.replace(path)          # atomic: two nodes may start together
    spec = importlib.util.spec_from_file_location(f'robodyn_ros_compiled.{path.stem}', path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    with compiling(name), without_machine_code():
        spec.loader.exec_module(module)
    return module
