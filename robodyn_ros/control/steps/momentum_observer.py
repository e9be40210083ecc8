# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Estimate of the external efforts on the joints, in every mode and phase in which efforts are known.

The estimate ``external`` is the residual of :mod:`.algebra`. It contains contacts and
pushes, but also friction that is not in the model, a payload that was not declared, and errors of
the inertial parameters. ``pushing`` is its part below ``push_bandwidth``, as of a deliberate push.
Without efforts in force, or without a valid state, both are zero.

Momentum changes from sample to sample, efforts in each cycle: their impulse is summed until the
next sample comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, isnan
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from numpy import ndarray

from .robot_dynamics import inverse_dynamics
from ..algebra import filtered, momentum_change
from ..declare import choice, number, SETTINGS_RECORD as SETTINGS
from ...dynamics.friction import advance_presliding, loaded_friction
from ...dynamics.model_data import ModelData

if TYPE_CHECKING:
    from .cycle_data import Cycle, Vectors

IMPULSE_TIME = 0.003        # s, time constant of the impulses of the last milliseconds
#: Known efforts, in the order of their numbers.
OBSERVED_EFFORT = ('commanded', 'measured')
EFFORT_COMMANDED, EFFORT_MEASURED = range(len(OBSERVED_EFFORT))


@dataclass(frozen=True)
class Parameters:
    """Estimate of external efforts."""

    external_effort_bandwidth: float = number(
        50.0, '1/s', 0.1, 1e3, 'Bandwidth of the estimate of external efforts.', record=SETTINGS)
    observed_effort: str = choice(
        OBSERVED_EFFORT, 'Efforts of this estimate: commanded, or measured (gravity included).',
        record=SETTINGS)


class Memory(NamedTuple):
    """Estimate of the external efforts, (nv,) each."""

    external: ndarray       # estimate of the external effort, see momentum_observer.py
    impulse: ndarray        # of known efforts since the last sample [N·m·s | N·s]
    observed_qd: ndarray    # velocity of that sample
    pushing: ndarray        # part of the external effort that lasts, see push_bandwidth
    sliding: ndarray        # and along the measured motion
    external_impulse: ndarray   # of the external effort and of the efforts sent, over the last
    sent_impulse: ndarray       # milliseconds [N·m·s | N·s], see motor_faults.py
    sent_rate: ndarray          # rate of change of the latter [N·m | N]

#: Fields of the controller state.
STATE = [
    ('estimates', np.int64),        # 1: external efforts are estimated
    ('unsampled', float),           # s since the sample of the last estimate
]


def observe(c: Cycle, robot: ModelData, known: bool, fresh: int, elapsed: float,
            tau: ndarray) -> None:
    """
    Advance the estimate ``external`` (nv,) [N·m | N]; write C q̇ + g to ``v.bias``.

    Advance the impulses that :mod:`.motor_faults` compares, which forget with IMPULSE_TIME.

    :param robot: the dynamics in force; ``work.M`` is M(q).
    :param known: whether the state is valid, and ``tau`` was in force since the last cycle.
    """
    s, m, v, work = c.settings, c.controller, c.vectors, c.workspace
    own = c.vectors.momentum_observer
    n = tau.shape[0]
    inverse_dynamics(robot, v.q, v.qd, work.rest, work, v.bias)
    for i in range(n):
        v.friction[i] = v.qd[i] * elapsed if known else 0.0     # elapsed may be infinite
    advance_presliding(robot.friction, v.friction, own.sliding)
    loaded_friction(robot.friction, v.qd, v.gravity, own.sliding, v.friction)
    if m.estimates == 0 or not known:
        m.estimates, m.unsampled = (1 if known else 0), 0.0
        for i in range(n):
            own.external[i] = own.impulse[i] = own.pushing[i] = own.sliding[i] = 0.0
            own.external_impulse[i] = own.sent_impulse[i] = own.sent_rate[i] = 0.0
            own.observed_qd[i] = v.qd[i]
        return
    m.unsampled += elapsed
    for i in range(n):
        effort = tau[i] + v.gravity[i] - v.tau_gravity[i]
        if s.observed_effort == EFFORT_MEASURED and not isnan(v.measured[i]):
            effort = v.measured[i]
        own.impulse[i] += (effort - v.bias[i] - v.friction[i]) * elapsed
    dt: Any = m.unsampled
    if fresh == 0 or dt <= 0.0:
        return
    bandwidth, push_bandwidth = s.external_effort_bandwidth, s.push_bandwidth
    # The next sample cancels the contribution of a rejected velocity
    kept = 1.0 if rejects(v) else exp(-dt / IMPULSE_TIME)
    for i in range(n):
        unknown = momentum_change(work.M, v.qd, own.observed_qd, i) - own.impulse[i]
        own.external[i] = filtered(own.external[i], bandwidth, unknown, dt)
        own.impulse[i] = 0.0
        own.external_impulse[i] = kept * (own.external_impulse[i] + unknown)
        before = own.sent_impulse[i]
        own.sent_impulse[i] = kept * (before + tau[i] * dt)
        own.sent_rate[i] = (own.sent_impulse[i] - before) / dt
        own.pushing[i] = (filtered(own.pushing[i], push_bandwidth, own.external[i] * dt, dt)
                        if push_bandwidth > 0.0 else 0.0)
    m.unsampled = 0.0
    for i in range(n):
        own.observed_qd[i] = v.qd[i]


def rejects(v: Vectors) -> bool:
    """Return whether the newest sample of some joint has been rejected."""
    for i in range(v.q.shape[0]):
        if v.plausibility.rejected[i] > 0.0:
            return True
    return False
