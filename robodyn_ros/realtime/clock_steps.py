# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Steps of the wall clock: stamps that step together with it are not late.

The cycle is on the steady clock and compares it with the stamps of the states, which the wall
clock of their publisher gives. A step of it is the same for a publisher on this host, whose stamps
keep their age then, and none for another one, whose stamps keep their distance from the steady
clock.
"""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from ..wire.decoders import DecoderArrays, RECEIVED, STAMP

MIN_STEP = 1e-3    # [s] within two samples; less is drift of the clock, or a preempted thread
MAX_UNSHARED = 10    # messages that were sent before a step; later ones have another clock

#: Fields of `loop_io.LOOP_STATE`.
STATE = [
    ('wall_clock', 'i8'),       # ns ahead of the steady clock when it was last followed; 0: never
    ('clock_step', float),      # s, sum of the steps that the stamps took with it
    ('stamp_age', float),       # s from stamp to receipt of the last state, without these steps
    ('unshared', 'i8'),         # messages since a step that did not take it
]


def begin(state: ndarray) -> None:
    """Begin with clocks of which nothing is known."""
    state['wall_clock'] = state['unshared'] = 0
    state['clock_step'] = 0.0


def correct_stamps(decoder: DecoderArrays, w: Any, received: float, wall_clock: int) -> None:
    """
    Remove steps of the wall clock from the stamps of the message decoded last.

    :param w: record ``LOOP_STATE``.
    :param received: time of receipt of the message, on the steady clock [s].
    :param wall_clock: time of day minus steady time [ns].
    """
    if decoder.stamp[0] == 0.0:
        return
    if w.wall_clock == 0:
        w.wall_clock = wall_clock
    age = received - decoder.stamp[0] + w.clock_step
    step = 1e-9 * (wall_clock - w.wall_clock)
    w.unshared += 1
    if abs(step) < MIN_STEP or w.unshared > MAX_UNSHARED:
        w.wall_clock, w.unshared = wall_clock, 0
    elif abs(age + step - w.stamp_age) < abs(age - w.stamp_age):
        w.wall_clock, w.unshared = wall_clock, 0
        w.clock_step += step
        age += step
    w.stamp_age = age
    for i in range(decoder.state.shape[0]):
        if decoder.state[i, RECEIVED] == received:
            decoder.state[i, STAMP] = decoder.stamp[0] - w.clock_step
