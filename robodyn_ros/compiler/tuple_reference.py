# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Named tuples that compiled code passes by reference.

Numba passes a tuple as its elements, an array as seven words: the inputs of the control cycle are
a thousand words, which every function would take and every call copy, and LLVM takes minutes for
them. A :class:`Reference` is one pointer. Functions read the fields of the tuple by their names as
before, so that the same text runs in Python on the tuple itself; a field that is a tuple is a
reference again. A field that is a record in compiled code is an array (1,) where Python holds it.
"""

from collections.abc import Iterator
from functools import cache
import hashlib
from typing import Any, NamedTuple

from llvmlite import ir
import numba
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.core.registry import cpu_target
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model
from numba.np.numpy_support import as_dtype
import numpy as np
from numpy import ndarray

from .jit import compile_function
from ..errors import RobodynError

WORD = 8                    # bytes
CANARY = 0x5AA5_5AA5_5AA5_5AA5
# Of Numba's array structure before shape and strides: meminfo and parent (owners, 0 of borrowed
# arrays), number of elements, bytes of each, address
ARRAY_WORDS = 5


class Reference(types.Type):
    """Numba type of the address of a named tuple, which its creator keeps alive."""

    def __init__(self, kind: Any):
        self.kind = kind
        # Short: Numba builds the name of every function that takes it from it
        digest = hashlib.sha256(_layout(kind).encode()).hexdigest()[:12]
        super().__init__(f'Reference({kind.instance_class.__name__}, {digest})')

    def field(self, name: str) -> Any:
        """Return the type of a field, a reference where it is a tuple; None without such a one."""
        if name not in self.kind.fields:
            return None
        kind = self.kind[self.kind.fields.index(name)]
        return Reference(kind) if isinstance(kind, types.BaseTuple) else kind


def _layout(kind: Any) -> str:
    """Return the names and types of all fields: tuples of equal types may differ in names."""
    if not hasattr(kind, 'instance_class'):
        return str(kind.name)
    fields = ', '.join(f'{name}: {_layout(of)}' for name, of in zip(kind.fields, kind))
    return f'{kind.instance_class.__name__}({fields})'


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
    if isinstance(field, types.Array):      # borrowed, without reference count
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


def reference_to(kind: Any) -> Any:
    """Return a function for compiled code: the reference to the tuple of a type at an address."""
    def refer_to(typing, address):
        def build(context, builder, signature, args):
            return builder.inttoptr(args[0], ir.IntType(8).as_pointer())
        return Reference(kind)(types.int64), build
    return intrinsic(refer_to)


@cache
def size_of(kind: Any) -> int:
    """Return the size of a tuple of a type in memory [bytes]."""
    context = cpu_target.target_context
    return int(context.get_abi_sizeof(context.get_value_type(kind)))


def place_of_field(kind: Any, path: str) -> tuple[int, int]:
    """
    Return the index of the word at which a field begins, and its number of dimensions.

    :param path: name of the field; of one in a tuple of the tuple ``tuple.field``.
    """
    name, _, rest = path.partition('.')
    place = 0
    for other, field in zip(kind.fields, kind):
        if other == name:
            if rest:
                inside, ndim = place_of_field(field, rest)
                return place + inside, ndim
            return place, _array_fields_of(name, field)[0].ndim
        place += sum(one.words for one in _array_fields_of(other, field))
    raise KeyError(path)


class TupleMemory:
    """
    A named tuple in memory, as compiled code reads it by :func:`reference_to`.

    Numba's own conversion of a tuple of 150 arrays takes seconds to compile.

    :param kind: Numba type of the tuple; its fields are arrays, records, or tuples of them.
    :raises RobodynError: Numba lays out arrays or tuples in another way than this class.
    """

    def __init__(self, kind: Any):
        check_layout()
        self._fields = _array_fields(kind)
        words = sum(field.words for field in self._fields)
        if WORD * words != size_of(kind):
            raise _unknown_layout(f'{kind.instance_class.__name__} has {size_of(kind)} bytes, '
                                  f'not {WORD * words}')
        self._words = np.zeros(words, np.int64)
        self._arrays: list[Any] = [None] * len(self._fields)    # which own what is stored

    @property
    def address(self) -> int:
        """Return where the tuple is, as long as this object lives."""
        return int(self._words.ctypes.data)

    @property
    def words(self) -> ndarray:
        """Return a copy of the memory, as int64."""
        return self._words.copy()

    def addresses(self) -> Iterator[tuple[int, ndarray]]:
        """Yield the arrays of the tuple, each with the index of the word that is its address."""
        place = 0
        for field, array in zip(self._fields, self._arrays, strict=True):
            yield place + (ARRAY_WORDS - 1 if field.ndim else 0), array
            place += field.words

    def write(self, values: Any) -> None:
        """
        Write a tuple over the one before, only those of its arrays that are other objects.

        :raises TypeError: an array is not C-contiguous, or its dtype or number of dimensions is
            another one than in the type.
        """
        place = 0
        for k, (field, array) in enumerate(zip(self._fields, _arrays(values), strict=True)):
            end = place + field.words
            if array is not self._arrays[k]:
                if (array.ndim != max(1, field.ndim) or array.dtype != field.dtype
                        or not array.flags.c_contiguous):
                    raise TypeError(f'field {field.name} is {array.dtype} of {array.ndim} '
                                    f'dimensions, not {field.dtype} of {field.ndim}')
                self._words[place:end] = (array.ctypes.data if field.ndim == 0
                                          else _array_words(array))
                self._arrays[k] = array
            place = end


def _array_words(array: ndarray) -> tuple[int, ...]:
    """Return Numba's structure of an array that it does not own."""
    return (0, 0, array.size, array.itemsize, array.ctypes.data, *array.shape, *array.strides)


def _store_value(typing, address, value):
    def build(context, builder, signature, args):
        kind = context.get_value_type(signature.args[1])
        builder.store(args[1], builder.inttoptr(args[0], kind.as_pointer()))
        return context.get_dummy_value()
    return types.void(types.int64, value), build


_store: Any = intrinsic(_store_value)


def store_array(address: int, array: ndarray) -> None:
    """Store Numba's structure of an array at an address, in compiled code."""
    _store(address, array)


@cache
def check_layout() -> None:
    """
    Compare the structure of an array as this module writes it with one that Numba has stored.

    :raises RobodynError: they differ.
    """
    array = np.zeros((2, 3))
    compiled = compile_function('array_layout', store_array,
                                types.void(types.int64, types.float64[:, ::1]), ())
    words = _array_words(array)
    stored = np.full(2 * len(words), CANARY)
    compiled(stored.ctypes.data, array)
    # The first two own the array: here its Python object does
    if tuple(stored[2:len(words)]) != words[2:] or (stored[len(words):] != CANARY).any():
        raise _unknown_layout('it stores arrays in another order')


def _unknown_layout(problem: str) -> RobodynError:
    return RobodynError(f'Numba {numba.__version__} keeps arrays in an unknown way: {problem}',
                        name='numba', value=numba.__version__, remedy='install a version that '
                        'setup.py admits')


class _ArrayField(NamedTuple):
    name: str
    dtype: np.dtype
    ndim: int               # 0: a record, of which the tuple has the address

    @property
    def words(self) -> int:
        return ARRAY_WORDS + 2 * self.ndim if self.ndim else 1


@cache
def _array_fields(kind: Any) -> list[_ArrayField]:
    """Return the arrays of the type of a tuple and of the tuples in it, in order."""
    return [one for name, field in zip(kind.fields, kind) for one in _array_fields_of(name, field)]


def _array_fields_of(name: str, field: Any) -> list[_ArrayField]:
    if isinstance(field, types.BaseTuple):
        return _array_fields(field)
    if isinstance(field, types.Record):
        return [_ArrayField(name, as_dtype(field), 0)]
    assert isinstance(field, types.Array) and field.layout == 'C', name
    return [_ArrayField(name, as_dtype(field.dtype), field.ndim)]


def _arrays(values: Any) -> Iterator[ndarray]:
    """Yield the arrays of a tuple and of the tuples in it, in order."""
    for value in values:
        if isinstance(value, tuple):
            yield from _arrays(value)
        else:
            yield value


#: ``dereference(reference)``, in compiled code: the tuple.
dereference: Any = _dereference
#: ``reference(values)``, in compiled code: a reference to a copy of a named tuple in the frame of
#: the calling function.
reference: Any = _refer
