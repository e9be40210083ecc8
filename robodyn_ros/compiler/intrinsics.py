# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Intrinsics, and the internal functions of Numba with which other subpackages define theirs.

They have no fallback; `setup.py` lists the tested versions of Numba.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

from llvmlite import ir
from numba.core.cgutils import alloca_once, pack_array, unpack_tuple
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic
from numba.np import arrayobj

__all__ = ['alloca_once', 'impl_ret_borrowed', 'pack_array', 'rows_as_tuple', 'unpack_tuple']

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
