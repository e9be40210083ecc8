# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Transposition between rows of states and lanes of SIMD code, in registers.

Copied element by element, the inputs of a kernel for several states take as long as a third of its
arithmetic. Here four rows of four float64s are loaded as vectors, transposed by eight shuffles and
stored as vectors. Numba has no operation for that: the instructions are built with llvmlite.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

TILE = 4                        # rows and columns of a tile: float64s of a vector of 256 bits
ALIGNMENT = 8                   # bytes, of any float64
VECTOR = ir.VectorType(ir.DoubleType(), TILE)
# Of two vectors: even and odd elements by turns, and halves
EVEN, ODD, LOWER, UPPER = (0, 4, 2, 6), (1, 5, 3, 7), (0, 1, 4, 5), (2, 3, 6, 7)


@cache
def rows_to_lanes(columns: int, lanes: int) -> Callable[..., None]:
    """
    Return a function ``f(rows, first, out)`` for compiled code.

    It writes the transpose of ``rows[first:first + lanes]`` (lanes, columns) to ``out`` (columns,
    lanes). Both arrays are float64 and C-contiguous.

    :param columns: at least TILE; ``lanes``: a multiple of TILE.
    """
    return _copy(columns, lanes, into_rows=False)


@cache
def lanes_to_rows(columns: int, lanes: int) -> Callable[..., None]:
    """Return a function ``f(rows, first, lanes)`` likewise that copies the other way."""
    return _copy(columns, lanes, into_rows=True)


def _copy(columns: int, lanes: int, into_rows: bool) -> Any:
    @intrinsic
    def copy(typing, rows, first, block):
        def build(context, builder, signature, args):
            in_rows, in_block = (
                context.make_array(kind)(context, builder, value).data
                for kind, value in ((signature.args[0], args[0]), (signature.args[2], args[2])))
            word = ir.IntType(64)
            start = builder.gep(in_rows, [builder.mul(args[1], word(columns))])
            for lane, column in _tiles(columns, lanes):
                by_row = [builder.gep(start, [word((lane + i) * columns + column)])
                          for i in range(TILE)]
                by_lane = [builder.gep(in_block, [word((column + i) * lanes + lane)])
                           for i in range(TILE)]
                source, target = (by_lane, by_row) if into_rows else (by_row, by_lane)
                vectors = [builder.load(_as_vector(builder, place), align=ALIGNMENT)
                           for place in source]
                for place, vector in zip(target, _transposed(builder, vectors)):
                    builder.store(vector, _as_vector(builder, place), align=ALIGNMENT)
            return context.get_dummy_value()
        return types.void(rows, first, block), build
    return copy


def _tiles(columns: int, lanes: int) -> Iterator[tuple[int, int]]:
    """Yield the first lane and column of tiles that cover all; the last ones may overlap."""
    starts = [*range(0, columns - TILE + 1, TILE), *([columns - TILE] if columns % TILE else [])]
    for lane in range(0, lanes, TILE):
        for column in starts:
            yield lane, column


def _as_vector(builder: ir.IRBuilder, place: ir.Value) -> ir.Value:
    return builder.bitcast(place, VECTOR.as_pointer())


def _transposed(builder: ir.IRBuilder, rows: list[ir.Value]) -> list[ir.Value]:
    """Return the columns of TILE vectors."""
    def shuffle(a: ir.Value, b: ir.Value, mask: tuple[int, ...]) -> ir.Value:
        return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), TILE), mask))
    pairs = [[shuffle(rows[i], rows[i + 1], mask) for i in (0, 2)] for mask in (EVEN, ODD)]
    return [shuffle(pair[0], pair[1], half) for half in (LOWER, UPPER) for pair in pairs]
