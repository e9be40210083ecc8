# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Machine code that is compiled on its own, once, and not merged into its callers.

Compiled callers find it at an address, or by a name. For programs in C it is written as assembly,
with the data that it reads as an image.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from ctypes import string_at
import re
from types import ModuleType
from typing import Any, NamedTuple

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
import numpy as np
from numpy import ndarray

from .jit import compile_callback, is_cached, substitute
from .tuple_reference import TupleMemory, WORD

ALIGNMENT = 64              # bytes: a cache line
# Whether a counter has become 0, as LLVM rewrites it while it makes machine code of x86
X86_ATOMIC = re.compile(r'%(\S+) = (?:tail )?call i8 @llvm\.x86\.atomic\.sub\.cc\.i64\('
                        r'ptr (?:\w+ )*(%\S+), i64 (\d+), i32 4\)')


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

    ``call(arguments)`` takes the arguments as a tuple and returns the result. Before code that
    contains it is loaded, :func:`link` has to be called with the address of the name.

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


def found_at(symbol: str, signature: Any) -> Any:
    """
    Return a function for compiled code that calls machine code whose address is in memory.

    ``call(arguments)`` is as of :func:`linked`; the address may change, and must not be 0.

    :param symbol: name of the memory, also passed to :func:`link`.
    :param signature: as of :func:`caller`.
    """
    def call(typing, arguments):
        if tuple(arguments) != signature.args:
            return None

        def address(builder, kind):
            word, known = ir.IntType(64), builder.module.globals
            place = known.get(symbol) or ir.GlobalVariable(builder.module, word, symbol)
            return builder.inttoptr(builder.load(place), kind.as_pointer())

        def build(context, builder, of_call, args):
            return _call(context, builder, signature.return_type, args[0],
                         lambda kind: address(builder, kind))
        return signature.return_type(arguments), build
    return intrinsic(call)


def link(symbol: str, address: int) -> None:
    """Register an address under its name for code loaded later."""
    binding.add_symbol(symbol, address)


def _call(context: Any, builder: Any, result: Any, arguments: Any,
          function: Callable[[Any], Any]) -> Any:
    """Generate a call; ``function`` returns a pointer to the function of a type."""
    values = cgutils.unpack_tuple(builder, arguments)
    kind = ir.FunctionType(
        ir.VoidType() if result == types.void else context.get_value_type(result),
        [value.type for value in values])
    value = builder.call(function(kind), values)
    return context.get_dummy_value() if result == types.void else value


# Memory that code which has been loaded reads, as long as the process lives
_kept: list[np.ndarray] = []


class LinkedFunction:
    """
    Plain function that is compiled on its own; code that is compiled calls it by its name.

    :param name: of its machine code, for file names and messages.
    :param function: its text is compiled here and in its callers.
    :param signature: Numba signature.
    :param modules, allocates: as of :func:`.jit.compile_callback`.
    """

    def __init__(self, name: str, function: Callable[..., Any], signature: Any,
                 modules: tuple[ModuleType, ...], *, allocates: bool = True):
        self.function, self._arguments = function, (name, function, signature, modules)
        self._allocates = allocates
        #: Name by which compiled code calls it.
        self.symbol = f'robodyn_ros_{function.__name__}'
        _let_call(function, linked(self.symbol, signature))

    def load(self) -> None:
        """Load the machine code, before code is loaded that calls it."""
        link(self.symbol, self.compiled().address)

    def promise(self) -> None:
        """Register a placeholder, in a process that compiles callers without running them."""
        link(self.symbol, 1)

    def compiled(self) -> Any:
        """Return the function, compiled now or before."""
        return compile_callback(*self._arguments, allocates=self._allocates)


class DeferredFunction:
    """
    Plain function that is compiled on its own, and perhaps after code that could call it.

    Such code may be compiled, loaded and run before, as long as it does not call the function.

    :param name, function, signature, modules: as of :class:`LinkedFunction`.
    """

    def __init__(self, name: str, function: Callable[..., Any], signature: Any,
                 modules: tuple[ModuleType, ...]):
        self.function, self._arguments = function, (name, function, signature, modules)
        self._address = np.zeros(1, np.int64)
        _kept.append(self._address)
        #: Name of the memory in which compiled code finds its address.
        self.symbol = f'robodyn_ros_address_of_{name}'
        link(self.symbol, self._address.ctypes.data)
        _let_call(function, found_at(self.symbol, signature))

    def load(self) -> None:
        """Load the machine code, before it is called for the first time."""
        self._address[0] = self.compiled().address

    def compiled(self) -> Any:
        """Return the function, compiled now or before."""
        return compile_callback(*self._arguments)

    def is_cached(self) -> bool:
        """Return whether this machine has compiled it."""
        return is_cached(*self._arguments)


def _let_call(function: Callable[..., Any], call: Any) -> None:
    def call_apart(*arguments: Any) -> Any:
        return call(arguments)
    substitute(function, call_apart, inline=True)


def assembly(functions: Mapping[str, Any], cpu: str, triple: str = '') -> str:
    """
    Return position-independent code of functions as assembly, for this operating system.

    :param functions: from :func:`.jit.compile_callback`, by the symbol that each is to have; all
        other symbols are local.
    :param cpu: the oldest processor that runs it, as LLVM calls it: ``x86-64-v3``.
    :param triple: platform, as LLVM calls it: ``aarch64-linux-gnu``; '' for this one.
    """
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    linked = binding.parse_assembly('')
    for symbol, function in functions.items():
        module = binding.parse_assembly(_portable_code(function))
        linked.triple, linked.data_layout = module.triple, module.data_layout
        for value in (*module.functions, *module.global_variables):
            if value.name == function.native_name:
                value.name, value.linkage = symbol, 'external'
                value.visibility = 'hidden'     # inside of the library
            elif not value.is_declaration:
                value.linkage = 'internal'      # other functions have copies of their own
        linked.link_in(module)
    target = (binding.Target.from_triple(triple) if triple
              else binding.Target.from_default_triple())
    machine = target.create_target_machine(cpu=cpu, opt=3, reloc='pic', codemodel='default')
    linked.triple, linked.data_layout = machine.triple, str(machine.target_data)
    linked.verify()
    return machine.emit_assembly(linked)


def _portable_code(function: Any) -> str:
    """
    Return LLVM code of a compiled function, with no atomic instructions of x86.

    Numba keeps it beside the machine code in the cache, to link it into others.
    """
    text = str(function._library._get_module_for_linking())
    return X86_ATOMIC.sub(r'%before\1 = atomicrmw sub ptr \2, i64 \3 seq_cst\n'
                          r'  %zero\1 = icmp eq i64 %before\1, \3\n'
                          r'  %\1 = zext i1 %zero\1 to i8', text)


class Image(NamedTuple):
    """
    Named tuples and their arrays in one block of memory.

    :param words: (W,) int64, the tuples first; addresses are 0.
    :param tuples: index of the word at which each tuple begins.
    :param pointers: word that is the address of another one, by index.
    :param functions: symbol of a function of which a word is the address, by the index of the
        word.
    """

    words: ndarray
    tuples: list[int]
    pointers: dict[int, int]
    functions: dict[int, str]
    begins: ndarray
    places: ndarray

    def place_of(self, array: ndarray) -> int:
        """Return the index of the word at which an array of a tuple begins."""
        return _place(array, self.begins, self.places)


def image(tuples: Sequence[tuple[Any, Any]], functions: Mapping[int, str]) -> Image:
    """
    Return the image of named tuples. Arrays that share memory do so in the image.

    :param tuples: Numba type, see :class:`.tuple_reference.TupleMemory`, and values of each.
    :param functions: symbols by the addresses that functions have in this process; any word that
        equals one is taken for it.
    """
    memories = [TupleMemory(kind) for kind, _ in tuples]
    for memory, (_, values) in zip(memories, tuples, strict=True):
        memory.write(values)
    words: list[ndarray] = []
    starts: list[int] = []
    arrays: list[tuple[int, ndarray]] = []
    for memory in memories:
        start = sum(map(len, words))
        starts.append(start)
        words.append(_padded(memory.words))
        arrays += [(start + word, array) for word, array in memory.addresses()]
    begins, blocks = _blocks(array for _, array in arrays)
    places = []
    for block in blocks:
        places.append(sum(map(len, words)))
        words.append(_padded(block))
    place = np.array(places)
    pointers = {word: _place(array, begins, place) for word, array in arrays}
    found = np.concatenate(words)
    known = {int(word): functions[int(found[word])] for word in np.flatnonzero(
        np.isin(found, [*functions])) if word not in pointers}
    found[[*pointers, *known]] = 0
    return Image(found, starts, pointers, known, begins, place)


def _blocks(arrays: Iterable[ndarray]) -> tuple[ndarray, list[ndarray]]:
    """Return the memory of arrays: addresses in ascending order, and contents as words."""
    begins: list[int] = []
    ends: list[int] = []
    for begin, size in sorted((array.ctypes.data, array.nbytes) for array in arrays if array.size):
        if begins and begin < ends[-1]:
            ends[-1] = max(ends[-1], begin + size)
        else:
            begins.append(begin)
            ends.append(begin + size)
    return np.array(begins), [np.frombuffer(string_at(begin, end - begin), np.int64)
                              for begin, end in zip(begins, ends, strict=True)]


def _place(array: ndarray, begins: ndarray, places: ndarray) -> int:
    if not array.size:
        return 0                                # nothing of it is read
    k = int(np.searchsorted(begins, array.ctypes.data, 'right')) - 1
    return int(places[k]) + (array.ctypes.data - int(begins[k])) // WORD


def _padded(words: ndarray) -> ndarray:
    return np.pad(words, (0, -len(words) % (ALIGNMENT // WORD)))
