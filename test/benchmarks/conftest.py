# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Programs of `benchmarks/`, run in the process of the tests."""

from collections.abc import Callable
import os
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope='session')
def program() -> Callable[..., Result]:
    """Return what runs the function of a program with words, in the folder of the repository."""
    def program(function, *words):
        command = typer.Typer()
        command.command()(function)
        cpus = os.sched_getaffinity(0)          # some take one for themselves
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(ROOT)
            try:
                return CliRunner().invoke(command, [str(word) for word in words])
            finally:
                os.sched_setaffinity(0, cpus)
    return program
