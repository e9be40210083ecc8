# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Named tuples that compiled code passes by reference.

Numba passes a tuple as its elements, an array as seven words: the inputs of the control cycle are
a thousand words, which every function would take and every call copy, and LLVM takes minutes for
them. A :class:`Reference` is one pointer. Functions read the fields of the tuple by their names as
before, so that the same text runs in Python on the tuple itself; a field that is a tuple is a
reference again.
"""

import hashlib
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.registry import cpu_target
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, register_model


class Reference(types.Type):
    """Numba type of the address of a named tuple; whoever has made it keeps the tuple alive."""

    def __init__(self, kind: Any):
        self.kind = kind
        # Short: Numba builds the name of every function that takes it from it
        digest = hashlib.sha256(kind.name.encode()).hexdigest()[:12]
        super().__init__(f'Reference({kind.instance_class.__name__}, {digest})')

    def field(self, name: str) -> Any:
        """Return the type of a field, a reference where it is a tuple; None without such a one."""
        if name not in self.kind.fields:
            return None
        kind = self.kind[self.kind.fields.index(name)]
        return Reference(kind) if isinstance(kind, types.BaseTuple) else kind


@register_model(Reference)
class _ReferenceModel(models.PrimitiveModel):
    def __init__(self, manager, kind):  # noqa: CNL100
        super().__init__(manager, kind, ir.IntType(8).as_pointer())


@infer_getattr
class _ReferenceAttribute(AttributeTemplate):
    key = Reference

    def generic_resolve(self, kind: Any, name: str) -> Any:     # type: ignore[override]
        return kind.field(name)


@lower_getattr_generic(Reference)
def _load_field(context, builder, kind, pointer, name):
    index = kind.kind.fields.index(name)
    field = kind.kind[index]
    tuple_pointer = context.get_value_type(kind.kind).as_pointer()
    place = cgutils.gep_inbounds(builder, builder.bitcast(pointer, tuple_pointer), 0, index)
    if isinstance(field, types.BaseTuple):
        return builder.bitcast(place, ir.IntType(8).as_pointer())
    value = builder.load(place)
    # Tuples do not change: what has been loaded once need not be loaded after a store
    value.set_metadata('invariant.load', builder.module.add_metadata([]))
    if isinstance(field, types.Array):      # borrowed: nobody counts references to it
        array = context.make_array(field)(context, builder, value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()
    return value


@intrinsic
def _refer(typing, values):
    def build(context, builder, signature, args):
        place = builder.bitcast(cgutils.alloca_once_value(builder, args[0]),
                                ir.IntType(8).as_pointer())
        # Hides from LLVM where the pointer comes from: no load may move before the store
        kind = ir.FunctionType(place.type, [place.type])
        return builder.asm(kind, '', '=r,0,~{memory}', [place], side_effect=True)
    return Reference(values)(values), build


@intrinsic
def _dereference(typing, of_tuple):
    def build(context, builder, signature, args):
        kind = signature.return_type
        place = builder.bitcast(args[0], context.get_value_type(kind).as_pointer())
        return impl_ret_borrowed(context, builder, kind, builder.load(place))
    return of_tuple.kind(of_tuple), build


@intrinsic
def _store(typing, values, address):
    def build(context, builder, signature, args):
        kind = context.get_value_type(values).as_pointer()
        builder.store(args[0], builder.inttoptr(args[1], kind))
        return context.get_dummy_value()
    return types.void(values, types.int64), build


def reference_to(kind: Any) -> Any:
    """Return a function for compiled code: the reference to the tuple of a type at an address."""
    def refer_to(typing, address):
        def build(context, builder, signature, args):
            return builder.inttoptr(args[0], ir.IntType(8).as_pointer())
        return Reference(kind)(types.int64), build
    return intrinsic(refer_to)


def size_of(kind: Any) -> int:
    """Return the size of a tuple of a type in memory [bytes]."""
    context = cpu_target.target_context
    return int(context.get_abi_sizeof(context.get_value_type(kind)))


#: ``store(values, address)``, in compiled code: write a tuple to memory of :func:`size_of` bytes,
#: which does not own the arrays of the tuple.
store: Any = _store
#: ``dereference(reference)``, in compiled code: the tuple.
dereference: Any = _dereference
#: ``reference(values)``, in compiled code: a reference to a copy of a named tuple in the frame of
#: the calling function.
reference: Any = _refer
