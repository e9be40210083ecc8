# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Named tuples by reference: compiled code reads them as Python reads the tuple."""

import gc
from typing import NamedTuple

import numba
from numba.core.errors import TypingError
import numpy as np
import pytest
from robodyn_ros.compiler import tuple_reference
from robodyn_ros.compiler.tuple_reference import (
    dereference,
    reference,
    reference_to,
    TupleMemory,
)
from robodyn_ros.errors import RobodynError

pytestmark = pytest.mark.slow


class Inner(NamedTuple):
    """A tuple within a tuple."""

    count: int
    rows: np.ndarray


class Outer(NamedTuple):
    """Numbers, arrays and a tuple."""

    scale: float
    inner: Inner
    column: np.ndarray


class Single(NamedTuple):
    """An array in a tuple."""

    rows: np.ndarray


class Holder(NamedTuple):
    """A tuple that holds a reference."""

    outer: Outer
    offset: float


VALUES = Outer(2.0, Inner(3, np.arange(6.0).reshape(2, 3)), np.array([1.0, -1.0]))


def total(outer, k):
    """Read every field, and write to an array."""
    outer.column[1] += outer.scale
    return outer.scale * outer.inner.rows[k, 1] + outer.inner.count + outer.column[1]


def of_rows(inner):
    return inner.rows.sum()


compiled_total, compiled_of_rows = numba.njit(total), numba.njit(of_rows)


@numba.njit
def by_reference(outer, k):
    return compiled_total(reference(outer), k)


@numba.njit
def through_a_tuple(outer, k):
    held = reference(Holder(reference(outer), 10.0))
    return compiled_total(held.outer, k) + held.offset


@numba.njit
def in_parts(outer):
    part = reference(outer).inner
    return compiled_of_rows(part) + compiled_of_rows(dereference(part))


def copy():
    return VALUES._replace(column=VALUES.column.copy())


def test_fields_are_those_of_the_tuple():
    plain, compiled = copy(), copy()
    for k in 0, 1:
        assert by_reference(compiled, k) == total(plain, k)
    assert (compiled.column == plain.column).all()
    assert through_a_tuple(copy(), 1) == total(copy(), 1) + 10.0
    assert in_parts(copy()) == 30.0
    # Nothing is released twice: the memory outlives many calls.
    values = copy()
    for _ in range(1000):
        in_parts(values)
    assert values.inner.rows.sum() == 15.0


def test_a_field_that_is_not_there():
    @numba.njit
    def wrong(outer):
        return reference(outer).missing
    with pytest.raises(TypingError, match="Unknown attribute 'missing'"):
        wrong(copy())


class Arrays(NamedTuple):
    """A tuple as compiled code finds it in memory: arrays, and tuples of them."""

    inner: Single
    records: np.ndarray
    cube: np.ndarray


RECORDS = np.zeros(2, [('q', float), ('n', np.int64)])
ARRAYS = Arrays(Single(np.arange(6.0).reshape(2, 3)), RECORDS.view(np.recarray),
                np.arange(24).reshape(2, 3, 4))
arrays_at = reference_to(numba.typeof(ARRAYS))


@numba.njit
def read_and_write(address):
    values = arrays_at(address)
    values.records[1].q += 1.0
    return (values.inner.rows[1, 2], values.inner.rows.sum(), values.records[1].q,
            values.cube[1, 2, 3], values.cube.shape, values.records.shape[0])


def test_a_tuple_in_memory_is_read_by_its_address():
    """After each write as it is then; arrays stay those of the caller, and are kept alive."""
    memory = TupleMemory(numba.typeof(ARRAYS))
    memory.write(ARRAYS)
    assert read_and_write(memory.address) == (5.0, 15.0, 1.0, 23, (2, 3, 4), 2)
    assert RECORDS['q'][1] == 1.0
    memory.write(ARRAYS._replace(inner=Single(np.full((2, 3), 7.0)), cube=ARRAYS.cube + 1))
    gc.collect()
    np.full((2, 3), -1.0)       # would take the place of what was released
    assert read_and_write(memory.address) == (7.0, 42.0, 2.0, 24, (2, 3, 4), 2)


@pytest.mark.parametrize('change', [
    {'inner': Single(np.zeros(6))}, {'inner': Single(np.zeros((3, 2)).T)},
    {'cube': np.zeros((2, 3, 4))}, {'records': np.zeros(2)}], ids=lambda change: [*change][0])
def test_arrays_of_another_kind_are_refused(change):
    memory = TupleMemory(numba.typeof(ARRAYS))
    with pytest.raises(TypeError, match=f"field {'rows' if 'inner' in change else [*change][0]}"):
        memory.write(ARRAYS._replace(**change))


@pytest.fixture
def layout():
    """Let the layout of arrays be checked anew."""
    tuple_reference.check_layout.cache_clear()
    yield
    tuple_reference.check_layout.cache_clear()


@pytest.mark.parametrize('words', [
    lambda a: (0, 0, a.itemsize, a.size, a.ctypes.data, *a.shape, *a.strides),
    lambda a: (0, 0, a.size, a.itemsize, a.ctypes.data, *a.strides, *a.shape),
    lambda a: (0, 0, a.size, a.itemsize, a.ctypes.data, *a.shape)],
    ids=['items and bytes', 'shape and strides', 'a word less'])
def test_arrays_that_numba_keeps_in_another_way_are_refused(layout, monkeypatch, words):
    """Compared with one that Numba has stored, before anything reads what is written here."""
    monkeypatch.setattr(tuple_reference, '_array_words', words)
    with pytest.raises(RobodynError, match='stores arrays in another order.*install a version'):
        TupleMemory(numba.typeof(ARRAYS))


def test_a_member_more_is_refused(monkeypatch):
    """All words of the type are written, or none."""
    monkeypatch.setattr(tuple_reference, 'ARRAY_WORDS', tuple_reference.ARRAY_WORDS - 1)
    with pytest.raises(RobodynError, match='Arrays has 216 bytes, not 192'):
        TupleMemory(numba.typeof(ARRAYS))
