# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The flight recorder: a ring of the latest control cycles, with all that decided each of them.

The compiled cycle fills it itself, so that every data path has it; nothing allocates, and who
reads it stops nobody. What a cycle has left behind is what the next one begins with, and is kept
once: cycle k is between the boundaries k and k + 1.
"""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from ..state import STATE, no_state
from .dtypes import CONTROLLER_STATE, CYCLE_INPUT, Vectors

# What a cycle is given besides the states of the joints, and whether it published.
CYCLE = np.dtype([
    ('now', float),                     # s, on the clock of the cycle
    *((name, CYCLE_INPUT[name]) for name in CYCLE_INPUT.names or ()),
    ('version', np.int64),              # of the settings, see SETTINGS
    ('serial', np.int64),               # of the reference, see reference.HEADER
    ('published', np.int64),
])

LARGEST = 1 << 26                       # bytes of a ring; more cycles than fit there are not kept
SPARE = 2                               # slots: the boundary after the newest, and the one in work


class Flight(NamedTuple):
    """The ring, of N slots; N = 0: nothing is recorded."""

    done: ndarray           # (1,) cycles since the ring was begun, raised when one is complete
    cycles: ndarray         # (N,) CYCLE
    state: ndarray          # (N, nv) STATE
    memory: ndarray         # (N,) CONTROLLER_STATE at the boundary before the cycle
    vectors: ndarray        # (N, K, nv) likewise, of the K `Vectors`
    tau: ndarray            # (N, nv) likewise
    present: ndarray        # (K, nv) where the vectors of the controller are


def bytes_a_cycle(nv: int) -> int:
    """Return what a slot of the ring takes."""
    return (CYCLE.itemsize + CONTROLLER_STATE.itemsize
            + nv * (STATE.itemsize + 8 * len(Vectors._fields) + 8))


def recorder(nv: int, cycles: int) -> tuple[Flight, Vectors]:
    """Return a ring of so many cycles, or of what LARGEST holds, and the vectors it copies."""
    n = min(cycles + SPARE, LARGEST // bytes_a_cycle(nv)) if cycles > 0 else 0
    k = len(Vectors._fields)
    present = np.zeros((k, nv))
    # Filled, so that the memory is there and not only promised
    return Flight(np.zeros(1, np.int64), np.full(n, np.zeros((), CYCLE)),
                  no_state(n * nv).reshape(n, nv), np.full(n, np.zeros((), CONTROLLER_STATE)),
                  np.full((n, k, nv), 0.0), np.full((n, nv), 0.0), present), Vectors(*present)


def begin(flight, memory, tau):
    """Know of no cycle any more; the next one begins with what is there now."""
    flight.done[0] = 0
    if flight.cycles.shape[0] > 0:
        boundary(flight, 0, memory, tau)


def before(flight, settings, outside, state, points, now):
    """Take down what the cycle that begins is given."""
    n = flight.cycles.shape[0]
    if n == 0:
        return
    slot = flight.done[0] % n
    cycle = flight.cycles[slot]
    cycle.now = now
    cycle.missed, cycle.listeners = outside[0].missed, outside[0].listeners
    cycle.command_publishers = outside[0].command_publishers
    cycle.stop_reason, cycle.stalled = outside[0].stop_reason, outside[0].stalled
    cycle.simulated_time = outside[0].simulated_time
    cycle.clock_stopped = outside[0].clock_stopped
    cycle.version, cycle.serial = settings[0].version, points.header[0].serial
    for i in range(state.shape[0]):
        flight.state[slot, i] = state[i]


def after(flight, memory, tau, publish):
    """Take down what it leaves behind."""
    n = flight.cycles.shape[0]
    if n == 0:
        return
    number = flight.done[0]
    cycle = flight.cycles[number % n]
    cycle.request = memory[0].request       # as it was taken: others may write it at any time
    cycle.published = 1 if publish else 0
    boundary(flight, (number + 1) % n, memory, tau)
    flight.done[0] = number + 1


def boundary(flight, slot, memory, tau):
    """Copy what is kept from cycle to cycle."""
    flight.memory[slot] = memory[0]
    for k in range(flight.present.shape[0]):
        for i in range(tau.shape[0]):
            flight.vectors[slot, k, i] = flight.present[k, i]
    for i in range(tau.shape[0]):
        flight.tau[slot, i] = tau[i]
