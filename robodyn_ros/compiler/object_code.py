# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled functions as an object file for a linker, and the data that they read as an image."""

from collections.abc import Iterable, Mapping, Sequence
from ctypes import string_at
import re
from typing import Any, NamedTuple

from llvmlite import binding
import numpy as np
from numpy import ndarray

from .tuple_reference import TupleMemory, WORD

ALIGNMENT = 64              # bytes: a cache line
# Whether a counter has become 0, as LLVM rewrites it while it makes machine code of x86
X86_ATOMIC = re.compile(r'%(\S+) = (?:tail )?call i8 @llvm\.x86\.atomic\.sub\.cc\.i64\('
                        r'ptr (?:\w+ )*(%\S+), i64 (\d+), i32 4\)')


def object_file(functions: Mapping[str, Any], cpu: str, triple: str = '') -> bytes:
    """
    Return position-independent machine code of functions, for this operating system.

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
    return machine.emit_object(linked)


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
