# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
One tick of a world, in steps between which Python may change what it likes; compiled.

All ways through a world run the same machine code, so that its outcome does not depend on how many
ticks are run at once.
"""

from functools import cache
import sys
from typing import Any

from numba import from_dtype, types

from . import controller_step, judge_step, plant_step, sensing
from .controller_step import after_cycle, DUE, observe, take
from .judge_step import add_energy, judge_effort, judge_intruder, judge_latch, judge_motion
from .plant_step import advance_plant, guide_by_hand, queue_command, START, TICK
from .sensing import measure, receive
from .world_data import WorldData
from ..compiler.jit import compile_function, jitable, tuple_type
from ..compiler.tuple_reference import reference_to
from ..control.cycle import ring_buffer
from ..control.cycle.compile import compiled, inputs_at, RECORDER_MODULES
from ..dynamics.compile import MODULES
from ..dynamics.numba_types import MODEL_DATA, WORKSPACE

# Steps of a tick. Between the first two Python asks for motions and acts on the plant; before
# RECEIVE it edits the sample; CYCLE is that of a node, or in plain Python, if there is no cycle
MEASURE, RECEIVE, CYCLE, COMMAND, ADVANCE, LATCH, END = range(7)
SAMPLES_LOST, COMMANDS_LOST = -1, -2        # results of `run`: too many are under way


def run(world: int, inputs: int, ticks: int, first: int, last: int) -> int:
    """
    Run steps of a world, from ``first`` to the one before ``last``, for some ticks.

    :param world: address of a :class:`~.world_data.WorldData`; ``inputs``: of a ``Cycle``, 0 for a
        controller of another process.
    :return: number of ticks; fewer than asked for where the arm is wrecked, or the phase is one of
        ``halt``; SAMPLES_LOST or COMMANDS_LOST.
    """
    w, c = world_at(world), inputs_at(inputs)
    m = w.numbers
    for k in range(ticks):
        time = START + m.ticks * TICK
        now = time + m.offset
        if first <= MEASURE and last > MEASURE:
            guide_by_hand(w, time)
            measure(w, time, now)
        if first <= RECEIVE and last > RECEIVE:
            if not receive(w, time):
                return SAMPLES_LOST
            if inputs:
                observe(w, c, time)
                add_energy(w, c)
                take(w, c, time, now)
        if first <= CYCLE and last > CYCLE and inputs:
            if m.due == DUE:
                m.published = ring_buffer.recorded_cycle(c, now, w.tau)
            if m.due:
                after_cycle(w, c)
            m.phase, m.reason = c.controller.phase, c.controller.reason
            m.braking = m.released > 0
        if first <= COMMAND and last > COMMAND and m.published:
            if not (m.unheard or queue_command(w, time, w.tau)):
                return COMMANDS_LOST
            if m.judged:
                judge_effort(w, time)
        if first <= ADVANCE and last > ADVANCE:
            finish(w, time)
        if first <= LATCH and last > LATCH and m.judged:
            judge_latch(w, time)
        if last == END:
            if m.wrecked or (m.halt >> m.phase) & 1:
                return k + 1
    return ticks


def finish(w: Any, time: float) -> None:
    """Move the arm, judge what came of it, and end the tick."""
    m = w.numbers
    if m.intruded:
        if not m.unheard:
            queue_command(w, time, w.judge.intruder)
        if m.judged:
            judge_intruder(w)
    if m.unheard:                       # a later listener has no previous effort
        m.has_last = 0
    advance_plant(w, time)
    if m.judged:
        judge_motion(w, time)
    for i in range(w.tau.shape[0]):
        w.plant.external[i] = 0.0
    m.ticks += 1


def _kinds() -> dict[str, Any]:
    """Return the types of the fields of :class:`WorldData`."""
    none: Any = None
    one = WorldData.of(none, 1)
    kinds: dict[str, Any] = one._asdict()
    for name in ('plant', 'sensing', 'judge', 'observed'):
        vectors = kinds[name]
        kinds[name] = tuple_type(type(vectors), **vectors._asdict())
    return {**kinds, 'robot': MODEL_DATA, 'workspace': WORKSPACE,
            'numbers': from_dtype(one.numbers.dtype)}


WORLD = tuple_type(WorldData, **_kinds())
world_at = reference_to(WORLD)
STEPS = tuple(map(jitable, (plant_step, sensing, controller_step, judge_step)))


@cache
def compiled_run() -> Any:
    """Return the compiled :func:`run`, from the cache where this machine has compiled it."""
    compiled()
    this = jitable(sys.modules[__name__], apart=('run', 'compiled_run', '_kinds'))
    return compile_function('verification_tick', run, types.int64(
        types.int64, types.int64, types.int64, types.int64, types.int64),
        (*RECORDER_MODULES, *MODULES, *STEPS, this))
