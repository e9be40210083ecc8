# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Order of the instructions of straight-line code.

A kernel of one robot has hundreds of values, and a CPU sixteen registers for them. LLVM orders the
instructions of a long block with little regard to that, and computes or loads constants early:
what does not fit is written to memory and read again. Here the instructions are recorded, and
inserted in an order in which few results have to be kept (list scheduling with regard to register
pressure; Goodman and Hsu 1988), which LLVM is made to keep where the CPU has AVX2.
"""

from bisect import insort
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from llvmlite import ir
from numba.core import cgutils

from .llvm_code import WORD

LATENCY = 4.0           # cycles until the result of an instruction can be used
INTERVAL = 0.5          # cycles from an instruction to the next
# Costs, of which the next instruction has the least
WAITING = 1.0           # for each cycle until its operands are ready
PLACE = 0.01            # for each place in the given order
PRESSURE = 2.0          # for each result kept beyond FREE_RESULTS, times those that it adds
FREE_RESULTS = 8
# No instructions of their own: changes of the type, and comparisons, which selections contain
PARTS = {'bitcast', 'gep', 'icmp_signed'}


class Recorded(NamedTuple):
    """Instruction that is not inserted yet: method of the builder, and arguments."""

    number: int
    operation: str
    arguments: tuple[Any, ...]

    @property
    def operands(self) -> list['Recorded']:
        """Return the recorded ones among the arguments."""
        return _recorded(self.arguments)


class Recorder:
    """
    Builder that records instructions; it has the methods of :class:`llvmlite.ir.IRBuilder`.

    :param builder: which inserts them.
    :param kind: type of the constants, and of most results.
    :param keeps_order: whether LLVM is made to keep the order; see :func:`has_avx2`.
    """

    def __init__(self, builder: ir.IRBuilder, kind: ir.VectorType, keeps_order: bool):
        self.module = builder.module
        self._builder, self._kind, self._keeps_order = builder, kind, keeps_order
        self._code: list[Recorded] = []

    def __getattr__(self, operation: str) -> Any:
        return partial(self._record, operation)

    def _record(self, operation: str, *arguments: Any) -> Recorded:
        self._code.append(Recorded(len(self._code), operation, arguments))
        return self._code[-1]

    def insert(self, results: Sequence[Any]) -> list[Any]:
        """Insert the instructions on which ``results`` depend; return the values of these."""
        needed = _needed(self._code, results)
        fused = _fused(needed, results)
        values: dict[int, Any] = {}
        table = _ConstantTable(self._builder, self._kind, needed) if self._keeps_order else None

        def value(argument: Any) -> Any:
            if isinstance(argument, Recorded):
                return compute(argument) if argument.number in fused else values[argument.number]
            return table.load(argument) if table and argument in table else argument

        def compute(one: Recorded) -> Any:
            return getattr(self._builder, one.operation)(*map(value, one.arguments))

        for i in _order(_operands(needed, fused), [one.number for one in _recorded(results)]):
            result = compute(self._code[i])
            values[i] = _pinned(self._builder, result) if self._keeps_order else result
        return [value(one) if isinstance(one, Recorded) else one for one in results]


def has_avx2(context: Any) -> bool:
    """Return whether code is compiled for a CPU of the x86 kind with registers of 256 bits."""
    triple, _, features = context.codegen().magic_tuple()
    return triple.startswith('x86_64') and '+avx2' in features.split(',')


class _ConstantTable:
    """Constants in memory: instructions take operands from there, but cannot contain them."""

    def __init__(self, builder: ir.IRBuilder, kind: ir.VectorType, code: Sequence[Recorded]):
        self._builder, self._kind = builder, kind
        constants = {str(argument): argument for one in code for argument in one.arguments
                     if argument in self}
        self._places = {text: i for i, text in enumerate(constants)}
        array = ir.ArrayType(kind, len(constants))
        table = ir.GlobalVariable(builder.module, array,
                                  builder.module.get_unique_name('constants'))
        table.linkage, table.align, table.global_constant = 'internal', kind.count * 8, True
        table.initializer = ir.Constant(array, list(constants.values()))
        # Beside the other values that are kept in memory: a load is delayed if a value has been
        # stored at a place with the same last 12 bits of the address
        with builder.goto_entry_block():
            place = builder.alloca(array)
            place.align = table.align
            cgutils.raw_memcpy(builder, place, table, WORD(len(constants)), WORD(table.align))
        # LLVM does not know what is there, and so does not replace loads by constants
        self._start = builder.asm(ir.FunctionType(place.type, [place.type]), '',
                                  '=r,0,~{memory}', [place], True)

    def __contains__(self, argument: Any) -> bool:
        return isinstance(argument, ir.Constant) and argument.type == self._kind

    def load(self, constant: ir.Constant) -> Any:
        """Load a constant."""
        place = [ir.IntType(32)(0), ir.IntType(32)(self._places[str(constant)])]
        return self._builder.load(self._builder.gep(self._start, place))


def _pinned(builder: ir.IRBuilder, value: Any) -> Any:
    """
    Return a value, if it is in a vector register; neither its instruction nor a load moves across.

    What prevents it is an empty piece of assembly: as far as LLVM knows it changes the value and
    memory.
    """
    if not isinstance(value.type, ir.VectorType) or value.type.element == ir.IntType(1):
        return value
    return builder.asm(ir.FunctionType(value.type, [value.type]), '', '=x,0,~{memory}', [value],
                       True)


def _recorded(arguments: Sequence[Any]) -> list[Recorded]:
    return [one for one in arguments if isinstance(one, Recorded)]


def _needed(code: Sequence[Recorded], results: Sequence[Any]) -> list[Recorded]:
    """Return the instructions on which the results depend, in the order of recording."""
    seen, todo = set(), [one.number for one in _recorded(results)]
    while todo:
        if (i := todo.pop()) not in seen:
            seen.add(i)
            todo += (one.number for one in code[i].operands)
    return [code[i] for i in sorted(seen)]


def _fused(code: Sequence[Recorded], results: Sequence[Any]) -> set[int]:
    """Return what becomes a part of the instruction that uses it, as one product of a sum."""
    uses = Counter(operand.number for one in code for operand in one.operands)
    uses.update(one.number for one in _recorded(results))
    fused = {one.number for one in code if one.operation in PARTS}
    for one in code:
        if one.operation in ('fadd', 'fsub'):
            products = [operand.number for operand in one.operands
                        if operand.operation == 'fmul' and uses[operand.number] == 1]
            fused.update(products[-1:])
    return fused


def _operands(code: Sequence[Recorded], fused: set[int]) -> dict[int, set[int]]:
    """Return the results that each instruction uses, those of fused ones as its own."""
    def used(one: Recorded) -> set[int]:
        result: set[int] = set()
        for operand in one.operands:
            result |= used(operand) if operand.number in fused else {operand.number}
        return result
    return {one.number: used(one) for one in code if one.number not in fused}


def _order(operands: Mapping[int, set[int]], results: Sequence[int]) -> list[int]:
    """
    Return the instructions in an order in which few results have to be kept.

    :param operands: of each instruction, in the given order.
    :param results: which are kept to the end.
    """
    users: dict[int, list[int]] = {i: [] for i in operands}
    uses = Counter(results)
    for i, used in operands.items():
        uses.update(used)
        for operand in used:
            users[operand].append(i)
    missing = {i: len(used) for i, used in operands.items()}
    places = {i: place for place, i in enumerate(operands)}
    time, ready_at, kept = 0.0, dict.fromkeys(operands, 0.0), 0
    candidates, order = [i for i, count in missing.items() if not count], []

    def growth(i: int) -> int:
        return 1 - sum(uses[operand] == 1 for operand in operands[i])

    def cost(i: int) -> float:
        return (WAITING * max(0.0, ready_at[i] - time) + PLACE * places[i]
                + PRESSURE * max(0, kept - FREE_RESULTS) * growth(i))

    while candidates:
        i = min(candidates, key=cost)
        candidates.remove(i)
        order.append(i)
        kept += growth(i)
        time = max(time, ready_at[i]) + INTERVAL
        for operand in operands[i]:
            uses[operand] -= 1
        for user in users[i]:
            missing[user] -= 1
            ready_at[user] = max(ready_at[user], time + LATENCY)
            if not missing[user]:
                insort(candidates, user)
    return order
