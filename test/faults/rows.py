# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which row of the fault table a test is about, and the line of code that the row hangs on."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TypeVar

Test = TypeVar('Test', bound=Callable)


@dataclass(frozen=True)
class Row:
    """
    One row of the table in docs/safety.md.

    :param fault: the row, in the words of the table; ``codes``: reason codes it may latch.
    :param file: where the line is, below robodyn_ros/; ``line`` occurs in it exactly once.
    :param instead: what stands there when the row is disabled; its test must then fail.
    """

    fault: str
    codes: tuple[str, ...]
    file: str
    line: str
    instead: str


def row(fault: str, *codes: str, file: str, line: str, instead: str) -> Callable[[Test], Test]:
    """Mark a test as that of a row; `test_the_tests_themselves.py` disables the line."""
    def mark(test: Test) -> Test:
        test.row = Row(fault, codes, file, line, instead)
        return test
    return mark


def with_rows() -> list[Callable]:
    """Every test that is one of a row, in the order of the files."""
    return [test for path in sorted(Path(__file__).parent.glob('test_*_faults.py'))
            for test in vars(import_module(path.stem)).values() if hasattr(test, 'row')]
