# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Invariants of a run, and its figures; compiled, see :func:`.plant.run`.

``w`` is the :class:`~.plant.WorldData`, of which ``m`` are the numbers and ``j`` the vectors
of the judge. Numbers that begin with ``top_`` are figures, see :class:`.trial.Figures`.
"""

from math import inf
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from numpy import ndarray

from .plant_step import START, TICK, WRECKED
from .sensing import HEARING_TIME, OBSERVED_TICKS
from ..control.controller.controller import Controller
from ..control.controller.status import withholding
from ..control.settings.friction import static_friction
from ..control.steps.guard import CODES, FAULT, INACTIVE, NO_REASON, RUNNING
from ..control.steps.limits import BRAKING_RATE
from ..dynamics.entry_points import mass_matrix

if TYPE_CHECKING:
    from .world import World

GRAVITY_CONTRADICTED = CODES.index('GRAVITY_CONTRADICTED')
MAX_VELOCITY_SHARE = 1.1    # of the velocity limit
MAX_MISLED_VELOCITY_SHARE = 1.25    # where states are not those of the arm, until it shows
MAX_GROWTH = 1.02    # of a velocity that the injection itself gave
DISOBEDIENCE_TIME = 0.05    # s in which joints that do not obey have to be slow again, or let go
REACTION_TIME = 0.01    # s in which the controller reacts to states that come again
REST_SHARE = 0.02    # of the velocity limit, below which a joint is at rest
UNUSED_TIME = 0.003    # s without a used sample where two in a row are rejected
ROUNDING, EPSILON = 1e-6, 1e-9    # N·m | N, s
# Energy that is no violation: a share of the largest kinetic energy, which noise and delays may
# add, and the kinetic energy at so many velocity limits
ENERGY_TOLERANCE, REST_VELOCITY_SHARE = 0.1, 0.02
# Share by which friction compensation may exceed twice the friction
COMPENSATION_TOLERANCE = 0.1

ARMING_TICKS = 100    # in which what is left of the efforts of arming and motor test fades

KINDS = ('not finite', 'effort', 'after zero', 'brakes released', 'step', 'not latched',
         'unnamed', 'velocity')
(NOT_FINITE, EFFORT, AFTER_ZERO, BRAKES_RELEASED, STEP, NOT_LATCHED, UNNAMED,
 VELOCITY) = range(len(KINDS))
# Step to zero effort that is a violation unless a fault is latched
SUSPECT = len(KINDS)
SATURATED = 0.999           # of the effort limit of a drive
# First violation of a kind: time [s], NaN without one, and what its sentence says
VIOLATION = np.dtype([('time', float), ('value', float), ('factor', float), ('braking', int),
                      ('joint', int), ('phase', int), ('cause', int)])
# What explains a violation, by its number
CAUSES = ('', 'the readings are not those of the arm', 'the motors do not obey',
          'nobody takes the commands')
NUMBERS = [
    ('judged', int),                # 1: there is a judge
    ('since', float),               # s: time from which on figures count
    ('period', float),              # s, of the cycle
    ('fault_ramp_time', float),
    ('fault_hold_time', float),
    ('zero_is_end', int),           # 1: only an arm that is released has zero efforts
    ('rests_without_effort', int),  # 1: zero is an effort like others, and ends no fault
    ('corrects_gravity', int),      # 1: who compensates gravity is set wrongly
    ('braking', int),               # 1: efforts may be those of braking at a limit
    ('throwing', int),              # what injections are excused for, see World
    ('disobeying', int),
    ('lied_to', int),
    ('unheard', int),
    ('may_stop', int),
    ('intruded', int),              # 1: another publisher commands `intruder` in this tick
    ('has_last', int),              # 1: there is an effort before
    ('published_at', float),
    ('ended', int),                 # 1: the zero that ends a fault is published
    ('faulted', int),
    ('excused', float),             # velocity limits
    ('begun', int),                 # 1: `start` is known
    ('too_fast_since', float),      # s
    ('top_step', float),
    ('top_step_effort', float),
    ('top_effort', float),
    ('top_velocity', float),
    ('top_travel', float),
    ('fault', float),               # ms
    ('zero', float),                # ms
    ('moved', float),               # s: time when a joint was not at rest last
    ('fault_reason', int),
    ('balanced_from', int),         # tick from which on work counts
    ('net_work', float),            # J: work of the law less that of friction
    ('supplied', float),            # J: the largest so far
    ('kinetic', float),             # J: largest kinetic energy of the arm
    ('rest', float),                # J: kinetic energy at REST_VELOCITY_SHARE velocity limits
    ('compensated', float),         # J: work of friction compensation
    ('dissipated', float)]          # J: work of friction, positive


class JudgeVectors(NamedTuple):
    """What efforts are compared with, (nv,) each [N·m | N], [N·m/s | N/s]."""

    last: ndarray               # effort before
    effort_rate: ndarray        # limit in force
    gravity_rate: ndarray       # bound of ġ(q)
    start: ndarray              # pose when figures began to count
    intruder: ndarray           # efforts of another publisher
    not_finite: ndarray         # efforts that are not finite


def violate(w: Any, kind: int, time: float, joint: int, value: float, factor: float) -> None:
    """Note the first violation of a kind, of a joint or of none (-1)."""
    first, m = w.violations[kind], w.numbers
    if first.time != first.time:
        first.time, first.joint, first.value, first.factor = time, joint, value, factor
        first.braking, first.phase = m.braking, m.phase
        first.cause = 1 if m.lied_to else 2 if m.disobeying else 3 if m.unheard else 0


def top_step(w: Any, share: float, joint: int) -> None:
    """Note an effort change, as a share of the limit of its joint, if it is the largest."""
    m = w.numbers
    if share > m.top_step:
        m.top_step, m.top_step_effort = share, share * w.plant.effort_limit[joint]


def judge_effort(w: Any, time: float) -> None:
    """Judge the efforts published in this tick."""
    m, j, tau, limit = w.numbers, w.judge, w.tau, w.plant.effort_limit
    elapsed = time - m.published_at
    stopped = m.phase == FAULT or m.phase == INACTIVE
    change_time = gravity_time = ramp = 0.0
    if m.has_last:
        periods = min(2.0, max(1.0, np.rint(min(elapsed / m.period, 2.0))))
        change_time = m.period * periods * (BRAKING_RATE if m.braking else 1.0)
        gap = max(m.heard - m.heard_before, UNUSED_TIME * m.lied_to)     # until a sample is used
        gravity_time = 2.0 * max(elapsed, gap, TICK)
        if stopped:                     # the fault efforts may ramp down
            ramp = elapsed / m.fault_ramp_time
    share, excess = 0.0, -inf
    step, step_joint, change_of_worst, worst, worst_joint = 0.0, 0, 0.0, 0.0, 0
    excess_joint = 0
    for i in range(tau.shape[0]):
        size = abs(tau[i])
        if not size < 1e300:
            violate(w, NOT_FINITE, time, i, 0.0, 0.0)
            for k in range(tau.shape[0]):
                j.not_finite[k] = tau[k]
            return
        share = max(share, size / limit[i])
        if size - limit[i] > excess:
            excess, excess_joint = size - limit[i], i
        change = abs(tau[i] - j.last[i])
        if change / limit[i] > step:
            step, step_joint = change / limit[i], i
        allowed = (j.effort_rate[i] * change_time + j.gravity_rate[i] * gravity_time
                   + ramp * limit[i] + ROUNDING)
        if change > worst * allowed:
            worst, worst_joint, change_of_worst = change / allowed, i, change
    m.top_effort = max(m.top_effort, share)
    if excess > ROUNDING:
        violate(w, EFFORT, time, excess_joint, share, 0.0)
    if m.ended:
        violate(w, AFTER_ZERO, time, -1, 0.0, 0.0)
    elif elapsed > m.silence and m.has_last:
        violate(w, BRAKES_RELEASED, time, -1, elapsed, 0.0)
    # Gravity that acts twice, or not at all, is corrected at once: see steps/gravity_check.py
    corrected = not m.faulted and m.reason == GRAVITY_CONTRADICTED and m.corrects_gravity
    if m.has_last and not corrected and (not stopped or m.phase == FAULT and share > 0.0):
        if worst > 1.0:
            violate(w, STEP if share > 0.0 else SUSPECT, time, worst_joint, change_of_worst, worst)
        if time >= m.since - EPSILON and share > 0.0 and not stopped:
            top_step(w, step, step_joint)
    m.has_last, m.published_at = 1, time
    for i in range(tau.shape[0]):
        j.last[i] = tau[i]
    if share == 0.0 and not m.rests_without_effort and (stopped or m.zero_is_end):
        m.ended = 1
        if time >= m.since - EPSILON and m.zero != m.zero:
            m.zero = 1e3 * (time - m.since)


def judge_intruder(w: Any) -> None:
    """Judge the efforts of another publisher, which act on the arm too."""
    if w.numbers.has_last and w.numbers.phase == RUNNING:
        for i in range(w.tau.shape[0]):
            top_step(w, abs(w.judge.intruder[i] - w.judge.last[i]) / w.plant.effort_limit[i], i)


def judge_latch(w: Any, time: float) -> None:
    """Judge whether a fault is latched and named."""
    m = w.numbers
    if m.phase == FAULT:
        if not m.faulted:
            m.faulted, m.fault_reason, m.fault = 1, m.reason, 1e3 * (time - m.since)
        if m.reason == NO_REASON:
            violate(w, UNNAMED, time, -1, 0.0, 0.0)
    elif m.faulted and not m.may_stop:
        violate(w, NOT_LATCHED, time, -1, float(m.phase), 0.0)


def judge_motion(w: Any, time: float) -> None:
    """Judge the velocity after this tick."""
    m, j, q = w.numbers, w.judge, w.plant.q
    ratio = min(m.speed, WRECKED)
    if ratio > REST_SHARE:
        m.moved = time
    falling = 1e3 * (time - m.since) > m.fault + 1e3 * m.fault_hold_time
    if (m.throwing or time + TICK - m.deaf <= REACTION_TIME or m.unheard or falling
            or time - m.published_at > HEARING_TIME):
        m.excused = max(m.excused, ratio)
    counts = time >= m.since - EPSILON
    if not counts or not m.begun:
        m.begun = 1
        for i in range(q.shape[0]):
            j.start[i] = q[i]
    if not counts:
        return
    for i in range(q.shape[0]):
        m.top_travel = max(m.top_travel, abs(q[i] - j.start[i]))
    if m.ended:                         # only its brakes hold it
        return
    m.top_velocity = max(m.top_velocity, ratio)
    most = MAX_MISLED_VELOCITY_SHARE if m.lied_to else MAX_VELOCITY_SHARE
    if ratio <= max(most, MAX_GROWTH * m.excused):
        m.too_fast_since = inf
        return
    m.too_fast_since = min(m.too_fast_since, time)
    patience = DISOBEDIENCE_TIME if m.disobeying else 0.0
    if m.lied_to and m.phase == FAULT:  # that holds what it knew last
        patience += m.fault_hold_time + m.fault_ramp_time
    if time - m.too_fast_since >= patience:
        fastest = 0
        for i in range(q.shape[0]):
            if abs(w.plant.qd[i]) / w.plant.velocity_limit[i] > (
                    abs(w.plant.qd[fastest]) / w.plant.velocity_limit[fastest]):
                fastest = i
        violate(w, VELOCITY, time, fastest, ratio, 0.0)


def add_energy(w: Any, c: Any) -> None:
    """
    Add the energy that a law and its friction compensation supply in OBSERVED_TICKS ticks.

    A passive law, even one with springs, supplies none: from rest on, its work is at most that
    which friction dissipates. The errors of gravity compensation are left out, because they move
    the arm within a potential.
    """
    m, p, n = w.numbers, w.plant, w.plant.q.shape[0]
    if (not m.observed or m.ticks < m.balanced_from or c.controller.phase != RUNNING
            or m.ticks % OBSERVED_TICKS):
        return
    mass_matrix(w.robot, w.motion.q, w.workspace, w.mass)
    law = lost = compensated = kinetic = rest = 0.0
    for i in range(n):
        law += p.gain[i] * c.vectors.published[i] * p.motor_qd[i]
        lost += p.friction[i] * p.motor_qd[i]
        if c.settings.compensates_friction == 1:
            joint = c.joints[i]
            compensated += (p.gain[i] * joint.friction_compensation * p.qd[i]
                            * (c.vectors.friction[i] + joint.friction_offset))
        for j in range(n):
            inertia = w.mass[m.base + i, m.base + j]
            kinetic += 0.5 * inertia * p.qd[i] * p.qd[j]
            rest += (0.5 * inertia * REST_VELOCITY_SHARE * p.velocity_limit[i]
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



class Errors:
    """
    Distances of the joints from their reference, at the end of a world and before.

    :param resting_error: (nv,) [rad | m] accepted at rest; ``share``: accepted besides while the
        reference moves, of the motion of a joint.
    """

    def __init__(self, world: 'World', controller: Controller, resting_error: ndarray,
                 share: float):
        self._world, self._controller, self._seen = world, controller, world.data.observed
        self._vectors = controller.inputs.vectors
        self._rest = abs(world.plant.q - self._vectors.target)
        self._resting_error = resting_error
        motion = np.maximum(self._seen.upper - self._seen.lower, 0.0)
        self._accepted = resting_error + share * motion

    @property
    def resting(self) -> float:
        """Largest distance from the target at the end, of what is accepted."""
        return float((self._rest / self._resting_error).max())

    @property
    def tracking(self) -> float:
        """Largest distance from the reference, of what is accepted."""
        return float((self._seen.error / self._accepted).max())

    def violations(self) -> dict[str, str]:
        """Return a sentence for each criterion that is broken, with joint, time and cause."""
        found, model = {}, self._world.arm.model
        for kind, what, errors, accepted in (
                ('resting', 'its target at rest', self._rest, self._resting_error),
                ('tracking', 'its reference', self._seen.error, self._accepted)):
            i = int((errors / accepted).argmax())
            if errors[i] > accepted[i]:
                at_rest = kind == 'resting'
                time = self._world.time if at_rest else float(self._seen.time[i])
                found[kind] = (f'{model.joint_names[i]} is {errors[i]:.2g} '
                               f'{"m" if model.slides[i] else "rad"} from {what} at '
                               f'{time - START:.2f} s (accepted: {accepted[i]:.2g}): '
                               + self._cause(i, at_rest=at_rest))
        return found

    def _cause(self, i: int, *, at_rest: bool) -> str:
        """Return what keeps a joint from its reference: limits, the drive, or a disturbance."""
        seen, v, drives = self._seen, self._vectors, self._world.plant.drives
        unit = 'N' if self._world.arm.model.slides[i] else 'N·m'
        withheld, requested = ((v.withheld[i], v.requested[i]) if at_rest else
                               (seen.withheld[i], seen.requested[i]))
        if sentence := withholding(self._controller, i, withheld, requested):
            return sentence
        dynamics, effort = self._world.plant.dynamics, requested - withheld
        most, gain = (np.broadcast_to(one, v.q.shape)[i]
                      for one in (drives.saturation, drives.gain))
        if abs(effort) > SATURATED * most:
            return f'the drive gives {most:.3g} of the {abs(effort):.3g} {unit} commanded'
        needed = 0.0 if drives.compensate_gravity else dynamics.gravity(self._world.plant.q)[i]
        name, size = max((('friction', static_friction(dynamics.model)[i]),
                          ('an error of gravity', abs(needed - v.tau_gravity[i])),
                          ('an error of the drive', abs((gain - 1.0) * effort))),
                         key=lambda one: one[1])
        if not at_rest:
            return f'the largest disturbance is {name}, {size:.3g} {unit}'
        return f'{name}, {size:.3g} {unit}, against {abs(v.published[i]):.3g} of the law'
