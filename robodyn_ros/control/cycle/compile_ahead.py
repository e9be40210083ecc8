# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Start of the compilation of the control cycle in a second process; importing this takes no time.

With the environment variable ROBODYN_PLAIN=1 nothing is compiled: see :mod:`.compile`.
"""

from functools import cache
import os

from ...compiler import second_process
from ...compiler.cache_directory import all_cache_directories

PLAIN_VARIABLE = 'ROBODYN_PLAIN'
CODE_NAME = 'control'    # of the machine code of the cycle
# In the reason why a change is refused until its code has been compiled
COMPILING = 'being compiled'
COMPILE_STATEMENT = 'from robodyn_ros.control.cycle.compile import compile_cycle; compile_cycle()'


@cache
def plain() -> bool:
    """
    Return whether the environment asks for a control cycle in plain Python.

    The first answer holds for the process: compiled code calls no plain law.
    """
    return os.environ.get(PLAIN_VARIABLE, '0') != '0'


def begin() -> None:
    """Compile the cycle in a second process."""
    second_process.begin(CODE_NAME, COMPILE_STATEMENT)


def begin_on_a_new_machine() -> None:
    """
    Begin if this machine has compiled no cycle of any version, which needs no slow import.

    Otherwise :func:`.compile.begin` decides, before a controller is made.
    """
    if not plain() and not any(any(folder.glob(f'{CODE_NAME}_*'))
                               for folder in all_cache_directories()):
        begin()
