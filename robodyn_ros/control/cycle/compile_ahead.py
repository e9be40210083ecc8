# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Start of the compilation of the control cycle in a second process; importing this takes no time.

With the environment variable ROBODYN_PLAIN=1 nothing is compiled: see :mod:`.compile`.
"""

from functools import cache
import os

from ...compiler import second_process
from ...compiler.cache_directory import cache_directory

PLAIN_VARIABLE = 'ROBODYN_PLAIN'
CODE_NAME = 'control'    # of the machine code of the cycle
# In the reason of a change that is refused until what it needs has been compiled
COMPILING = 'being compiled'
COMPILE_STATEMENT = 'from robodyn_ros.control.cycle.compile import compile_cycle; compile_cycle()'


@cache
def plain() -> bool:
    """
    Return whether the environment asks for a control cycle in plain Python.

    What it is when this is first called holds for the process: compiled code calls no plain law.
    """
    return os.environ.get(PLAIN_VARIABLE, '0') != '0'


def begin() -> None:
    """Let a second process compile the cycle meanwhile."""
    second_process.begin(CODE_NAME, COMPILE_STATEMENT)


def begin_on_a_new_machine() -> None:
    """
    Begin if this machine has compiled no cycle of any version, which needs no long import to tell.

    Otherwise :func:`.compile.begin` tells, before a controller is made.
    """
    if not plain() and not any(cache_directory().glob(f'{CODE_NAME}_*')):
        begin()
