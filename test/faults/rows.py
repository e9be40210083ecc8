# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of docs/safety.md: the test of each, and the mutation of the code that disables it."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from faults.mutation import Mutation

Test = TypeVar('Test', bound=Callable)


@dataclass(frozen=True)
class Row:
    """
    One fault ("row") of docs/safety.md.

    :param fault: its name there; ``codes``: reason codes it may latch.
    :param mutation: the change of the code that disables the row; its test must then fail.
    """

    fault: str
    codes: tuple[str, ...]
    mutation: Mutation


def row(fault: str, *codes: str, where: object, find: str, instead: str) -> Callable[[Test], Test]:
    """Mark a test as that of a row; :class:`Mutation` explains the keywords."""
    def mark(test: Test) -> Test:
        test.row = Row(fault, codes, Mutation(where, find, instead))
        return test
    return mark


def with_rows() -> list[Callable]:
    """Return every test that is one of a row, in the order of the files."""
    return [test for path in sorted(Path(__file__).parent.glob('test_*_faults.py'))
            for test in vars(import_module(path.stem)).values() if hasattr(test, 'row')]
