# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C while a node compiles for the first time: it ends, with the process that helps it."""

from contextlib import suppress
from pathlib import Path
import signal

from nodes.bring_up import CONTROLLER
from processes import node, until
import pytest
from robodyn_ros.control.cycle import compile_ahead


def compilers(cache):
    """Return the processes with a cache of their own."""
    found = set()
    for environment in Path('/proc').glob('[0-9]*/environ'):
        with suppress(OSError):
            if f'ROBODYN_CACHE_DIR={cache}\0'.encode() in environment.read_bytes():
                found.add(int(environment.parent.name))
    return found


@pytest.mark.skipif(compile_ahead.plain(), reason='nothing is compiled')
@pytest.mark.parametrize('by', [signal.SIGINT, signal.SIGTERM])
def test_a_first_compilation_is_abandoned(start, tmp_path, by):
    """It would take a minute more."""
    cache = str(tmp_path / 'cache')
    controller = start(node('controller'), *CONTROLLER, '-p', 'urdf:=two_link',
                       '-p', 'autostart:=true',
                       env={'ROBODYN_CACHE_DIR': cache, 'ROBODYN_PROGRESS': '1'}, fresh=True)
    controller.wait_for_line('robodyn_ros: (compiling|waiting)')
    until(lambda: len(compilers(cache)) == 2)
    assert controller.interrupt(by=by) == 0
    assert 'interrupted while ' in controller.text and 'Traceback' not in controller.text
    until(lambda: not compilers(cache))
