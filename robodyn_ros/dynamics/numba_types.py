# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Numba types of records and arrays, and intrinsics for operations that Numba lacks."""

from llvmlite import ir
import numba
from numba import types
from numba.extending import intrinsic

from .model_data import FRAME, MODEL_DATA_SHAPES, ModelData, Workspace, WORKSPACE_SHAPES
from ..compiler.numba_private import (
    alloca_once, impl_ret_borrowed, pack_array, populate_array, unpack_tuple, WORD)

STACK_ALIGNMENT = 64            # bytes: a cache line, and the widest vectors

FLOAT = types.float64
VECTOR, MATRIX, STACK = FLOAT[::1], FLOAT[:, ::1], FLOAT[:, :, ::1]


def _constant(kind: types.Type, dimensions: int) -> types.Array:
    return types.Array(kind, dimensions, 'C', readonly=True)


MODEL_DATA = types.NamedTuple(tuple(
    _constant(numba.from_dtype(dtype), len(shape)) for dtype, shape in MODEL_DATA_SHAPES.values()),
    ModelData)
WORKSPACE = types.NamedTuple(tuple(
    types.Array(numba.from_dtype(dtype), len(shape), 'C')
    for dtype, shape in WORKSPACE_SHAPES.values()), Workspace)
OPTION_TYPES = {'frame': _constant(numba.from_dtype(FRAME), 1), 'reference': types.int64,
                'axes': _constant(types.int64, 1), 'damping': FLOAT}
TYPES = {'MODEL_DATA': MODEL_DATA, 'WORKSPACE': WORKSPACE, 'VECTOR': VECTOR, 'MATRIX': MATRIX,
         'STACK': STACK, 'INT': types.int64, 'BASE': _constant(FLOAT, 2),
         **{option.upper(): kind for option, kind in OPTION_TYPES.items()}}


@intrinsic(prefer_literal=True)
def stack(typing, size):
    """
    Return a pointer to ``size`` (a constant) float64s on the stack of the calling function.

    Their alignment makes LLVM align the stack of the function, without which every other vector
    that it spills crosses a cache line.
    """
    count = getattr(size, 'literal_value', None)
    if count is None:
        return None

    def build(context, builder, signature, args):
        room = alloca_once(builder, ir.DoubleType(), size=ir.IntType(64)(count))
        room.align = STACK_ALIGNMENT
        return builder.bitcast(room, ir.IntType(8).as_pointer())
    return types.voidptr(size), build


@intrinsic
def invoke(typing, address, arrays):
    """Call the function at ``address`` with pointers to the data of ``arrays``, a tuple."""
    def build(context, builder, signature, args):
        pointer = ir.DoubleType().as_pointer()
        values = unpack_tuple(builder, args[1])
        data = [context.make_array(kind)(context, builder, value).data
                for kind, value in zip(signature.args[1], values)]
        function = ir.FunctionType(ir.VoidType(), [pointer] * len(data)).as_pointer()
        builder.call(builder.inttoptr(args[0], function),
                     [builder.bitcast(d, pointer) for d in data])
        return context.get_dummy_value()
    return types.void(types.int64, arrays), build


@intrinsic
def array_at(typing, place, shape, dtype):
    """
    Return the C-contiguous array at an address or a pointer, as Numba's ``carray`` does.

    That is a function, which must not return an array where references are not counted.
    """
    kind = types.Array(dtype.dtype, len(shape), 'C')

    def build(context, builder, signature, args):
        array = context.make_array(kind)(context, builder)
        size = WORD(context.get_abi_sizeof(context.get_data_type(kind.dtype)))
        sizes, strides = unpack_tuple(builder, args[1]), [size]
        for length in sizes[:0:-1]:
            strides.insert(0, builder.mul(strides[0], length))
        to = builder.inttoptr if place in types.integer_domain else builder.bitcast
        populate_array(array, data=to(args[0], array.data.type), shape=pack_array(builder, sizes),
                       strides=pack_array(builder, strides), itemsize=size, meminfo=None)
        return array._getvalue()
    return kind(place, shape, dtype), build


@intrinsic
def constant(typing, array):
    """Return a read-only view of an array."""
    def build(context, builder, signature, args):
        return impl_ret_borrowed(context, builder, signature.return_type, args[0])
    return array.copy(readonly=True)(array), build
