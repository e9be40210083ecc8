# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Nothing is allocated while a loop runs, and nothing is left of one that has ended."""

import gc
from pathlib import Path
import re
import subprocess
import sys

from nodes.closed_loop import each_trigger, each_way, Rig, WAYS
from numba.core.runtime import _nrt_python, rtsys
import numpy as np
from robodyn_ros.compiler.cache_directory import cache_directory
from robodyn_ros.compiler.jit import load
from robodyn_ros.control.cycle import cycle, ring_buffer
from robodyn_ros.control.cycle.compile import compiled, load_all_parts, PARTS
from robodyn_ros.control.steps import robot_dynamics
from robodyn_ros.nodes.middleware import node_main
from robodyn_ros.realtime.loop_settings import NATIVE
from robodyn_ros.wire.compile import compiled_decoders

ALLOCATING = """
import numpy as np
from numba import njit


@njit('float64[::1](int64)', cache=True)
def allocating(n):
    return np.zeros(n)
"""
ALLOCATOR = re.compile(rb'NRT_(?!adapt)\w*[Aa]lloc\w*')     # of Numba, which jitted code calls
ROOM = Path(__file__).parents[1]


def machine_code(function):
    """Return what is cached of a compiled function: its machine code, with the names it calls."""
    plain = getattr(function, 'py_func', function)
    folder = (cache_directory() / plain.cache_folder if hasattr(plain, 'cache_folder') else
              Path(function.stats.cache_path))
    module = Path(plain.__code__.co_filename).stem
    file, = (path for path in folder.glob('*.nbc')
             if re.match(rf'{module}\..*\b{plain.__name__}-', path.name))
    return file.read_bytes()


def test_machine_code_that_allocates_is_recognised():
    assert ALLOCATOR.search(machine_code(load('allocating', ALLOCATING, ()).allocating))


def test_imports_of_a_node_leave_the_collector_as_it_was():
    """They are made without collections; afterwards those of the user are as before."""
    subprocess.run([sys.executable, '-c', '\n'.join((
        'import gc',
        'def state():',
        '    return gc.isenabled(), gc.get_threshold()',
        'gc.freeze()',
        'before, frozen = state(), gc.get_freeze_count()',
        'import robodyn_ros.nodes.controller',
        'assert state() == before, (before, state())',
        # Some of what is frozen may be released meanwhile
        'assert 0.9 * frozen <= gc.get_freeze_count() <= frozen'))], check=True, timeout=60)


def test_the_cycle_and_the_decoder_call_no_allocator():
    dynamics = [deferred.function for deferred in robot_dynamics.GENERIC]
    load_all_parts()
    for function in (compiled().step, cycle.cycle, cycle.law_efforts,
                     *(part.function for part in PARTS), *dynamics, ring_buffer.recorded_cycle,
                     compiled_decoders().joint_state):
        assert not ALLOCATOR.search(machine_code(function))


@each_trigger
def test_the_native_loop_calls_no_allocator(node, trigger):
    rig = Rig(node, trigger, NATIVE)
    assert not ALLOCATOR.search(machine_code(rig.native._loop))


def cycles(rig, number):
    until = rig.controller.memory['cycles'][0] + number
    rig.until(lambda: rig.controller.memory['cycles'][0] >= until)


@each_way
def test_memory_does_not_grow_with_the_cycles(node, path, trigger):
    """Neither arrays of compiled code nor objects of Python."""
    _nrt_python.memsys_enable_stats()
    rig = Rig(node, trigger, path)
    rig.run()
    cycles(rig, 200)
    gc.collect()
    arrays, objects = rtsys.get_allocation_stats(), sys.getallocatedblocks()
    cycles(rig, 1000)
    now = rtsys.get_allocation_stats()
    assert abs((now.alloc - now.free) - (arrays.alloc - arrays.free)) < 200     # a call under way
    if path == NATIVE:        # Python wraps each array that it passes
        assert now.alloc == arrays.alloc
    gc.collect()
    assert sys.getallocatedblocks() - objects < 500
    rig.loop.stop()


def test_what_a_node_has_made_is_no_garbage_any_more():
    """The collector, which stops everything, looks at nothing that was there when it was told."""
    kept = [np.zeros(1) for _ in range(1000)]
    assert gc.isenabled()
    gc.unfreeze()
    gc.collect()
    before = len(gc.get_objects())
    try:
        node_main.freeze_garbage()
        assert gc.get_freeze_count() > 0.9 * before > 1000
        assert not any(thing is kept for thing in gc.get_objects())
    finally:
        gc.unfreeze()


def test_nothing_is_left_of_ten_starts(start):
    """No thread, no file in /dev/shm, no crash."""
    process = start([sys.executable, '-m', 'nodes.starts_and_stops'], cwd=ROOM)
    assert process.wait(300.0) == 0, process.text
    assert re.findall(r'^(\w+) (\w+): 0 threads more$', process.text, re.MULTILINE) == WAYS
    files = re.findall(r'^/dev/shm/\S+$', process.text, re.MULTILINE)
    assert files and not [name for name in files if Path(name).exists()]
