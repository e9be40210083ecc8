# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Ring buffer of the flight recorder: inputs and results of the latest control cycles.

The compiled cycle fills it, on every data path and without allocation; readers do not block it.
The results of a cycle are the initial values of the next one and are stored once, at the boundary
between them: cycle k lies between the boundaries k and k + 1.
"""

import numpy as np
from numpy import ndarray, record

from .cycle import cycle
from ..inputs.partner import QUANTITIES
from ..steps.cycle_data import CONTROLLER_STATE, Cycle, CYCLE_INPUT, Flight, VECTOR_NAMES, Vectors
from ...state import no_state, STATE

# Time of a cycle, numbers of its inputs, and whether it published.
CYCLE = np.dtype([
    ('now', float),                     # s, on the clock of the cycle
    ('version', np.int64),              # of the settings, see SETTINGS
    ('serial', np.int64),               # of the reference, see pose_tracking.HEADER
    ('policy', np.int64),               # serial number of the policy, see POLICY_HEADER
    ('pose', np.int64),                 # serial number of the reference pose
    ('partner_time', float),            # of the partner, see partner.HEADER
    ('partner_status', np.int64),
    ('partner_follows', np.int64),
    ('published', np.int64),
])

MAX_RING_BYTES = 1 << 26    # limits the number of cycles
SPARE_SLOTS = 2    # boundary after the newest cycle, and cycle in progress


def bytes_a_cycle(nv: int, rows: int) -> int:
    """Return the size of a slot of the ring [bytes] for ``nv`` joints and ``rows`` rows."""
    return (CYCLE.itemsize + CYCLE_INPUT.itemsize + CONTROLLER_STATE.itemsize
            + nv * (STATE.itemsize + 8 * (len(VECTOR_NAMES) + len(QUANTITIES) + rows) + 8))


def recorder(nv: int, cycles: int, rows: int = 0) -> tuple[Flight, Vectors, ndarray]:
    """
    Return a ring of ``cycles`` cycles, within MAX_RING_BYTES, and the arrays that it copies.

    That are the vectors, and the memory of the law, an array (rows, nv).

    :param nv: number of joints.
    """
    n = min(cycles + SPARE_SLOTS, MAX_RING_BYTES // bytes_a_cycle(nv, rows)) if cycles > 0 else 0
    vectors = len(VECTOR_NAMES)
    k = vectors + rows
    present = np.zeros((k, nv))
    # Filled, so that the operating system provides the memory now and not in the loop
    return Flight(np.zeros(1, np.int64), np.full(n, np.zeros((), CYCLE)),
                  np.full(n, np.zeros((), CYCLE_INPUT)), no_state(n * nv).reshape(n, nv),
                  np.full(n, np.zeros((), CONTROLLER_STATE)), np.full((n, k, nv), 0.0),
                  np.full((n, nv), 0.0), np.full((n, len(QUANTITIES), nv), 0.0),
                  present), Vectors.of(present), present[vectors:]


def begin(flight: Flight, memory: ndarray, tau: ndarray) -> None:
    """Forget all cycles; the next one begins with the present controller state and efforts."""
    flight.done[0] = 0
    if flight.cycles.shape[0] > 0:
        boundary(flight, 0, memory[0], tau)


def before(c: Cycle, now: float) -> None:
    """Store the inputs of the cycle that begins, at the time ``now`` [s]."""
    flight, state, partner = c.ring, c.state, c.partner
    n = flight.cycles.shape[0]
    if n == 0:
        return
    slot = flight.done[0] % n
    flight.inputs[slot] = c.cycle_input
    cycle = flight.cycles[slot]
    cycle.now = now
    cycle.version, cycle.serial = c.settings.version, c.points.header[0].serial
    cycle.policy, cycle.pose = c.policy.header[0].serial, c.poses.header[0].serial
    cycle.partner_time = partner.header[0].time
    cycle.partner_status = partner.header[0].status
    cycle.partner_follows = partner.header[0].follows
    for i in range(state.shape[0]):
        flight.state[slot, i] = state[i]
        for k in range(partner.rows.shape[0]):
            flight.partner[slot, k, i] = partner.rows[k, i]


def after(c: Cycle, tau: ndarray, publish: bool) -> None:
    """
    Store the results of the cycle that has ended.

    :param tau: (nv,) [N·m | N].
    :param publish: whether the efforts are published.
    """
    flight = c.ring
    n = flight.cycles.shape[0]
    if n == 0:
        return
    number = flight.done[0]
    slot = number % n
    flight.inputs[slot].request = c.controller.request   # as taken: another thread may write it
    flight.cycles[slot].published = 1 if publish else 0
    boundary(flight, (number + 1) % n, c.controller, tau)
    flight.done[0] = number + 1


def boundary(flight: Flight, slot: int, memory: record, tau: ndarray) -> None:
    """Copy controller state, vectors and efforts, which are kept from cycle to cycle."""
    flight.memory[slot] = memory
    for k in range(flight.present.shape[0]):
        for i in range(tau.shape[0]):
            flight.vectors[slot, k, i] = flight.present[k, i]
    for i in range(tau.shape[0]):
        flight.tau[slot, i] = tau[i]


def recorded_cycle(c: Cycle, now: float, tau: ndarray) -> bool:
    """Advance the controller as :func:`.cycle.cycle` does; the flight recorder takes it down."""
    before(c, now)
    publish = cycle(c, now, tau)
    after(c, tau, publish)
    return publish
