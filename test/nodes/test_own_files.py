# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes beside a damaged cache, a first compilation that is interrupted, and a hanging disk."""

from contextlib import suppress
import os
from pathlib import Path
import shutil
import signal
import sys

from forked import FORKED
from nodes.bring_up import bring_up, CONTROLLER, parameters, SIMULATOR
from processes import node, until
import pytest
from robodyn_ros.compiler.cache_directory import cache_directory
from robodyn_ros.control.cycle import compile_ahead
from robodyn_ros.control.cycle.compile import compiled, load_all_parts

compiling = pytest.mark.skipif(compile_ahead.plain(), reason='nothing is compiled')
HANGING = FORKED + """
import time
from robodyn_ros.flight_recorder import file
from robodyn_ros.nodes import controller
from robodyn_ros.nodes.controller import flight_recorder
file.write = flight_recorder.save = lambda *_: time.sleep(600)
raise SystemExit(controller.main())
"""


def compilers(cache):
    found = set()
    for environment in Path('/proc').glob('[0-9]*/environ'):
        with suppress(OSError):
            if f'ROBODYN_CACHE_DIR={cache}\0'.encode() in environment.read_bytes():
                found.add(int(environment.parent.name))
    return found


@compiling
def test_damaged_code_is_compiled_again(start, tmp_path):
    """After a power failure files are empty, although they have their names."""
    compiled(), load_all_parts()
    cache = shutil.copytree(cache_directory(), tmp_path / 'cache', copy_function=os.link,
                            ignore=shutil.ignore_patterns('*.part', '*.lock'))
    for pattern in ('control_step_*/*.nbc', 'law_gravity_compensation_*/*.nbi'):
        for file in cache.glob(pattern):
            file.unlink()
            file.touch()
    for damaged in (True, False):
        controller = start(node('controller'), *CONTROLLER, '-p', 'urdf:=two_link',
                           '-p', 'autostart:=true', env={'ROBODYN_CACHE_DIR': str(cache)},
                           fresh=True)
        controller.wait_for_line('configured: two_link')
        assert controller.interrupt() == 0
        for name in ('control_step', 'law_gravity_compensation'):
            assert (f'{name}_' in controller.text) == damaged
        assert ('is damaged: compiling it again' in controller.text) == damaged


@compiling
def test_a_first_compilation_is_abandoned(start, tmp_path):
    """It would take a minute more; the process that compiles beside it ends, too."""
    cache = str(tmp_path / 'cache')
    controller = start(node('controller'), *CONTROLLER, '-p', 'urdf:=two_link',
                       '-p', 'autostart:=true',
                       env={'ROBODYN_CACHE_DIR': cache, 'ROBODYN_PROGRESS': '1'}, fresh=True)
    controller.wait_for_line('robodyn_ros: (compiling|waiting)')
    until(lambda: len(compilers(cache)) == 2)
    assert controller.interrupt(by=signal.SIGTERM) == 0
    assert 'interrupted while ' in controller.text and 'Traceback' not in controller.text
    until(lambda: not compilers(cache))


def test_a_hanging_disk_delays_nothing(start, remote, tmp_path):
    """The arm is brought to rest and let go before anything waits for the disk, or gives up."""
    sim = start(node('simulator'), *SIMULATOR)
    sim.wait_for_line('simulator ready')
    controller = start([sys.executable, '-c', HANGING], *CONTROLLER,
                       *parameters(rate=500.0, timing_file=tmp_path / 'timing.npz'))
    bring_up(remote)
    remote.until(lambda: remote.command_count > 100, 'commands')
    sim.interrupt()
    controller.wait_for_line('FAULT STALE_STATE')
    remote.until(lambda: remote.newest_command() == [0.0, 0.0], 'the last message')
    assert controller.interrupt() == 0
    for what in ('timing_file', 'flight recording'):
        assert f'the {what} has not been written within' in controller.text
