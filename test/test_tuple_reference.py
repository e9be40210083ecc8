# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Named tuples by reference: compiled code reads them as Python reads the tuple."""

from typing import NamedTuple

import numba
from numba.core.errors import TypingError
import numpy as np
import pytest
from robodyn_ros.tuple_reference import (
    dereference,
    Reference,
    reference,
    reference_to,
    size_of,
    store,
)


class Inner(NamedTuple):
    """A tuple within a tuple."""

    count: int
    rows: np.ndarray


class Outer(NamedTuple):
    """Numbers, arrays and a tuple."""

    scale: float
    inner: Inner
    column: np.ndarray


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


def test_references_in_a_tuple():
    assert through_a_tuple(copy(), 1) == total(copy(), 1) + 10.0


def test_a_tuple_in_a_tuple():
    assert in_parts(copy()) == 30.0


def test_arrays_are_not_owned():
    """Nothing is released twice: the memory outlives many calls."""
    values = copy()
    for _ in range(1000):
        in_parts(values)
    assert values.inner.rows.sum() == 15.0


def test_fields_that_are_not_there():
    @numba.njit
    def wrong(outer):
        return reference(outer).missing
    with pytest.raises(TypingError, match="Unknown attribute 'missing'"):
        wrong(copy())


def test_types_of_different_tuples_differ():
    kinds = [Reference(numba.typeof(values)) for values in (VALUES, VALUES.inner)]
    assert kinds[0] == Reference(numba.typeof(copy())) and kinds[0] != kinds[1]
    assert kinds[0].name != kinds[1].name


def test_a_tuple_in_memory_is_read_by_its_address():
    """As a caller that keeps it does, without giving its fields to compiled code each time."""
    at, kind = reference_to(numba.typeof(VALUES)), numba.typeof(VALUES)
    memory = np.zeros(size_of(kind), np.uint8)

    @numba.njit
    def write(values, address):
        store(values, address)

    @numba.njit
    def read(address, k):
        values = at(address)
        return values.scale * values.inner.rows[1, k] + values.inner.count

    write(VALUES, memory.ctypes.data)
    VALUES.inner.rows[1, 2] += 1.0
    assert read(memory.ctypes.data, 2) == 2.0 * VALUES.inner.rows[1, 2] + 3
    VALUES.inner.rows[1, 2] -= 1.0
