# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rows of the fault table, each with the code that it depends on."""

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
    One row of the table in docs/safety.md.

    :param fault: the row, in the words of the table; ``codes``: reason codes it may latch.
    :param mutation: what disables the row; its test must then fail.
    """

    fault: str
    codes: tuple[str, ...]
    mutation: Mutation


def row(fault: str, *codes: str, module: str, change: str, to: str) -> Callable[[Test], Test]:
    """
    Mark a test as that of a row; `test_fault_mutation.py` disables the row.

    :param module: relative to the package; ``change`` and ``to``: as of :class:`Mutation`.
    """
    def mark(test: Test) -> Test:
        test.row = Row(fault, codes, Mutation(module, change, to))
        return test
    return mark


def with_rows() -> list[Callable]:
    """Return every test that is one of a row, in the order of the files."""
    return [test for path in sorted(Path(__file__).parent.glob('test_*_faults.py'))
            for test in vars(import_module(path.stem)).values() if hasattr(test, 'row')]
