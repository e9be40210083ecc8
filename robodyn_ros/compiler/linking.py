# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Calls of machine code that is compiled on its own, once, and not merged into its callers.

It is found at an address, or by a name.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from llvmlite import ir
import llvmlite.binding
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
import numpy as np

from .jit import compile_callback, is_cached, substitute


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
        name, function, _, modules = self._arguments
        return is_cached(name, function, modules)


def _let_call(function: Callable[..., Any], call: Any) -> None:
    def call_apart(*arguments: Any) -> Any:
        return call(arguments)
    substitute(function, call_apart, inline=True)
