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
from robodyn_ros.compiler.tuple_reference import dereference, reference, reference_to, TupleMemory
from robodyn_ros.errors import RobodynError

pytestmark = pytest.mark.slow


class Single(NamedTuple):
    """An array in a tuple."""

    rows: np.ndarray


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


class Holder(NamedTuple):
    """A tuple that holds a reference."""

    arrays: Arrays
    offset: float


@numba.njit
def of_rows(part):
    return part.rows.sum()


@numba.njit
def by_reference(arrays):
    held = reference(Holder(reference(arrays), 10.0))
    part = held.arrays.inner
    held.arrays.cube[0, 0, 0] += 1
    return of_rows(part) + of_rows(dereference(part)) + held.offset


def test_fields_are_those_of_the_tuple():
    arrays = ARRAYS._replace(cube=ARRAYS.cube.copy())
    for _ in range(1000):       # nothing is released twice: the memory outlives many calls
        assert by_reference(arrays) == 40.0
    assert arrays.cube[0, 0, 0] == 1000 and ARRAYS.inner.rows.sum() == 15.0


def test_a_field_that_is_not_there():
    @numba.njit
    def wrong(arrays):
        return reference(arrays).missing
    with pytest.raises(TypingError, match="Unknown attribute 'missing'"):
        wrong(ARRAYS)


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
