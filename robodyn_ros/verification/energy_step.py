# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Energy that a law and its friction compensation supply to the arm; compiled, see :mod:`.tick`.

A passive law, even one with springs, supplies none: from rest on, its work is at most that which
friction dissipates. The errors of gravity compensation are left out, because they move the arm
within a potential. ``w``, ``m`` and ``c`` are those of :mod:`.controller_step`.
"""

from typing import Any

from .controller_step import OBSERVED_TICKS
from .plant_step import TICK
from ..control.steps.guard import RUNNING
from ..dynamics.entry_points import friction, mass_matrix

# Energy that is no violation: a share of the largest kinetic energy, which noise and delays may
# add, and the kinetic energy at so many velocity limits
ENERGY_TOLERANCE, REST_VELOCITY_SHARE = 0.1, 0.02
# Share by which friction compensation may exceed twice the friction
COMPENSATION_TOLERANCE = 0.1

ARMING_TICKS = 100    # in which what is left of the efforts of arming and motor test fades
NUMBERS = [
    ('balanced_from', int),         # tick from which on work counts
    ('net_work', float),            # J: work of the law less that of friction
    ('supplied', float),            # J: the largest so far
    ('kinetic', float),             # J: largest kinetic energy of the arm
    ('rest', float),                # J: kinetic energy at REST_VELOCITY_SHARE velocity limits
    ('compensated', float),         # J: work of friction compensation
    ('dissipated', float)]          # J: work of friction, positive


def add_energy(w: Any, c: Any) -> None:
    """Add the power of the last OBSERVED_TICKS ticks."""
    m, p, n = w.numbers, w.plant, w.plant.q.shape[0]
    if (not m.observed or m.ticks < m.balanced_from or c.controller.phase != RUNNING
            or m.ticks % OBSERVED_TICKS):
        return
    friction(w.robot, p.qd, w.workspace, p.unit)
    mass_matrix(w.robot, p.q, w.workspace, w.mass)
    law = lost = compensated = kinetic = rest = 0.0
    for i in range(n):
        law += p.gain[i] * c.vectors.published[i] * p.qd[i]
        lost += p.unit[i] * p.qd[i]
        if c.settings.compensates_friction == 1:
            joint = c.joints[i]
            compensated += (p.gain[i] * joint.friction_compensation * p.qd[i]
                            * (c.vectors.friction[i] + joint.friction_offset))
        for j in range(n):
            kinetic += 0.5 * w.mass[i, j] * p.qd[i] * p.qd[j]
            rest += (0.5 * w.mass[i, j] * REST_VELOCITY_SHARE * p.velocity_limit[i]
                     * REST_VELOCITY_SHARE * p.velocity_limit[j])
    m.net_work += OBSERVED_TICKS * TICK * (law - lost)
    m.supplied = max(m.supplied, m.net_work)
    m.compensated += OBSERVED_TICKS * TICK * compensated
    m.dissipated += OBSERVED_TICKS * TICK * lost
    m.kinetic, m.rest = max(m.kinetic, kinetic), rest


def excessive(m: Any) -> bool:
    """Return whether a law that should be passive has supplied energy."""
    return bool(m['supplied'] > ENERGY_TOLERANCE * m['kinetic'] + m['rest'])


def compensation_ratio(m: Any) -> float | None:
    """Return compensated over true friction; None without compensation or motion."""
    known = m['compensated'] > 0.0 and m['dissipated'] > 0.0
    return float(m['compensated'] / m['dissipated']) if known else None
