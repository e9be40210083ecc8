# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Plausibility of joint states: samples that the arm cannot have produced are not used.

Each new sample of a joint is compared with the last one that was accepted:

- A position that no motion within MAX_JUMP_SPEED velocity limits explains, or a velocity above
  OVERSPEED velocity limits, is rejected: the sample before it stays in use. More than
  MAX_REJECTED such samples in a row are a fault.
- Position and velocity have to be consistent: the leaky integral (CONSISTENCY_TIME) of Δq - q̇ Δt
  stays within ``consistency_tolerance``. A position that jumps, a velocity of wrong sign or unit,
  a frozen position and exchanged joints violate this within milliseconds. Δt is taken from the
  times of receipt and from the time stamps; only a contradiction on both is a fault, so that
  neither late messages nor wrong stamps cause one.
- Time stamps that fall behind, and samples that become rare, are a delay for which the gains were
  not checked, and a fault above ``late_limit``.

``i`` is the index of a joint, ``j`` its record ``JOINT``, ``elapsed`` the time of receipt since
the previous sample of the joint [s].
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, nan, pi
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy import ndarray, record

from .frozen_readings import CONSISTENCY_TIME
from .guard import NO_REASON, STATE_INCONSISTENT, STATE_LATE, VELOCITY_ABOVE_LIMIT
from . import frozen_readings
from .velocity_estimator import MAX_CREDIBLE_VELOCITY
from ..declare import by_joint_type, JOINT_RECORD, number, numbers, PerJoint, SETTINGS_RECORD

if TYPE_CHECKING:
    from .cycle_data import Cycle, Vectors

# Values of `driving`: efforts are zero; the arm is driven; fault efforts are in force
NOT_DRIVEN, DRIVEN, IN_FAULT = range(3)

OVERSPEED = 1.1             # velocity limits; what the limits let pass stays below it
MAX_JUMP_SPEED = 2.0    # velocity limits, of a change of position that is still a motion
MAX_REJECTED = 2    # samples in a row; the next one is a fault
MAX_REJECTED_TIME = 0.02    # s; rejected for longer is a fault
MAX_DRIFT = 3.0    # tolerances: bound of the integrals, so that they recover soon
# Time constants of the lateness of stamps and of the intervals between samples, in state_timeouts:
# a controller that tolerates longer silence tolerates longer delays
LATENESS_TIME, INTERVAL_TIME = 0.6, 4.0
# Bounds that keep a single gap, up to state_timeout, with late samples after it, below late_limit
MAX_INTERVAL = 6.0          # late_limits, of one interval
MAX_LATENESS = 2.0          # late_limits, of one sample
MAX_SAMPLE_SHARE = 0.6      # of what the interval leaves of late_limit, for one sample
MAX_CLOCK_DRIFT = 2e-4    # s/s between the clocks of publisher and controller


@dataclass(frozen=True)
class Parameters:
    """Tolerances of samples."""

    late_limit: float = number(
        0.0, 's', 0.0, 1e3, 'Mean age of the states that is a fault. 0: twice `loop_delay` plus '
        'one period.', record=SETTINGS_RECORD, after='state_timeout')
    consistency_tolerance: PerJoint = numbers(
        'rad or m', 0.0, 1e3, 'Contradiction of positions and velocities that is a fault. Empty: '
        '0.02 rad or 0.005 m; 0: unlimited.', record=JOINT_RECORD, unlimited=True,
        after='position_margin', implied=by_joint_type(0.02, 0.005))


class Memory(NamedTuple):
    """Newest samples of the joints, and the state of their checks, (nv,) each."""

    position: ndarray       # newest position and velocity, used or not
    velocity: ndarray
    judged: ndarray         # receipt of the newest sample that was judged
    accepted: ndarray       # receipt of the sample in use
    stamp: ndarray          # its time stamp
    offset: ndarray         # least difference between receipt and time stamp
    last_offset: ndarray    # that of the newest sample
    set_back: ndarray       # 1: the stamps went back, to be allowed for in `offset`; -1: forward
    late: ndarray           # filtered lateness of the time stamps
    interval: ndarray       # filtered interval between samples
    drift: ndarray          # leaky integral of Δq - q̇ Δt by times of receipt, and by time stamps
    stamped_drift: ndarray
    contradiction: ndarray  # the smaller magnitude of the two, in tolerances
    rejected: ndarray       # samples rejected in a row

#: Fields of the controller state.
STATE = [
    ('implausible', np.int64),      # samples of a joint that were rejected
]


class Decay(NamedTuple):
    """What is left of the filters of a joint after a time ``elapsed`` [s] without input."""

    elapsed: float
    drift: float
    late: float
    interval: float


def check_samples(c: Cycle, driving: int) -> tuple[int, int]:
    """
    Decide for each joint whether its newest sample is used; return (reason, joint) of a fault.

    Writes ``position`` and ``velocity`` (nv,) of the newest samples, with the turns of
    continuous joints counted, and ``rejected`` (nv,), the number of samples rejected in a row:
    the sample is used where it is 0. A state with the time of receipt of the previous one is no
    new sample.

    :param driving: NOT_DRIVEN: every sample is used; DRIVEN; or IN_FAULT, in which an arm may be
        too fast. Once its state was invalid in a fault, no sample is used until the fault efforts
        have ended: they are those of the last valid pose.
    """
    joints, s, m, v, state = c.joints, c.settings, c.controller, c.vectors, c.state
    own = c.vectors.plausibility
    if driving == IN_FAULT and m.without_state == 1:    # the pose stays that of the fault efforts
        for i in range(v.q.shape[0]):
            own.rejected[i] = 1.0
        return STATE_INCONSISTENT, m.joint
    reason, joint, decay = NO_REASON, -1, Decay(-1.0, 0.0, 0.0, 0.0)
    for i in range(v.q.shape[0]):
        j, received = joints[i], state[i].received
        if m.observing == 0:
            begin(v, state, i)
            continue
        if received == own.judged[i]:
            continue
        decay = decay_after(s, received - own.judged[i], decay)
        update_lateness(c, i, decay, driving)
        q = unwrap(j, state[i].position, v.q[i])
        frozen_readings.note_sample(v, q, state[i].velocity, decay.elapsed, i)
        own.judged[i], own.position[i] = received, q
        own.velocity[i] = state[i].velocity
        found = check_sample(c, i, decay, driving)
        if found == STATE_INCONSISTENT and driving != NOT_DRIVEN:
            own.rejected[i] = max(1.0, own.rejected[i])
        if found == NO_REASON and own.late[i] + 0.5 * own.interval[i] > s.late_limit:
            found = STATE_LATE
        if reason == NO_REASON or (found == STATE_INCONSISTENT and reason != found):
            reason, joint = found, i if found != NO_REASON else -1
    return reason, joint


def decay_after(s: record, elapsed: float, known: Decay) -> Decay:
    """
    Return the decay after a time [s].

    :param known: the decay of another joint, returned if the times are equal, as they are for the
        joints of one message: most of the time of these checks would be that of ``exp``.
    """
    elapsed = max(0.0, elapsed)
    if elapsed == known.elapsed:
        return known
    return Decay(elapsed, exp(-elapsed / CONSISTENCY_TIME),
                 exp(-elapsed / (LATENESS_TIME * s.state_timeout)),
                 exp(-elapsed / (INTERVAL_TIME * s.state_timeout)))


def begin(v: Vectors, state: ndarray, i: int) -> None:
    """Use the first sample of a joint, or the first one after a jump of time."""
    own = v.plausibility
    own.judged[i] = own.accepted[i] = state[i].received
    own.stamp[i], own.position[i] = state[i].stamp, state[i].position
    own.velocity[i] = state[i].velocity
    own.offset[i] = own.last_offset[i] = nan    # this sample may have overtaken the clock's jump
    own.set_back[i] = 0.0
    own.drift[i] = own.stamped_drift[i] = own.contradiction[i] = 0.0
    own.rejected[i] = own.late[i] = own.interval[i] = 0.0
    frozen_readings.begin(v, i)


def unwrap(j: record, q: float, before: float) -> float:
    """Return the angle of a continuous joint in the turn nearest to the one before it [rad]."""
    away = q - before
    if j.periodic == 0 or abs(away) <= pi:
        return q
    return before + (away + pi) % (2.0 * pi) - pi


def check_sample(c: Cycle, i: int, decay: Decay, driving: int) -> int:
    """
    Accept or reject the newest sample of joint i; return the reason code of a fault, or NO_REASON.

    A velocity above OVERSPEED velocity limits is VELOCITY_ABOVE_LIMIT if the position moves with
    it, otherwise STATE_INCONSISTENT.

    :param decay: since the previous sample, which may have been rejected.
    """
    j, s, m, v = c.joints[i], c.settings, c.controller, c.vectors
    own = c.vectors.plausibility
    q, qd, received = own.position[i], own.velocity[i], c.state[i].received
    own.accepted[i] = min(own.accepted[i], received)            # a clock may go back by a little
    elapsed, step = received - own.accepted[i], q - v.q[i]
    measured = abs(qd) <= MAX_CREDIBLE_VELOCITY * v.speed_limit[i]       # False for NaN
    jumped = abs(step) > MAX_JUMP_SPEED * v.speed_limit[i] * elapsed + j.consistency_tolerance
    fast = measured and driving == DRIVEN and abs(qd) > OVERSPEED * v.speed_limit[i]
    found = NO_REASON
    if driving != NOT_DRIVEN and (jumped or fast):
        own.rejected[i] += 1.0
        m.implausible += 1
        if own.rejected[i] <= MAX_REJECTED and elapsed <= MAX_REJECTED_TIME:
            return NO_REASON
        if jumped or not step * qd > 0.5 * qd * qd * elapsed:
            return STATE_INCONSISTENT
        found = VELOCITY_ABOVE_LIMIT
    own.rejected[i] = 0.0
    kept = decay_after(s, elapsed, decay).drift
    if not consistent(c, i, elapsed, kept, measured):
        found = STATE_INCONSISTENT
    own.accepted[i], own.stamp[i] = received, c.state[i].stamp
    return found


def consistent(c: Cycle, i: int, elapsed: float, kept: float, measured: bool) -> bool:
    """
    Add Δq - q̇ Δt to its leaky integrals; return whether one of them is within its tolerance.

    :param kept: fraction of the integrals that is left after ``elapsed``.
    :param measured: whether the velocity is a measurement; without one there is no comparison.
    """
    j, v, stamped = c.joints[i], c.vectors, c.state[i].stamp - c.vectors.plausibility.stamp[i]
    own = c.vectors.plausibility
    if not measured:
        own.drift[i] = own.stamped_drift[i] = own.contradiction[i] = 0.0
        return True
    if not 0.0 < stamped < inf:                             # True for NaN: no time stamps
        stamped = elapsed
    most, mean = MAX_DRIFT * j.consistency_tolerance, 0.5 * (v.qd[i] + own.velocity[i])
    step = own.position[i] - v.q[i]
    own.drift[i] = min(max(kept * own.drift[i] + step - mean * elapsed, -most), most)
    stamped_drift = kept * own.stamped_drift[i] + step - mean * stamped
    own.stamped_drift[i] = min(max(stamped_drift, -most), most)
    least = min(abs(own.drift[i]), abs(own.stamped_drift[i]))
    own.contradiction[i] = least / j.consistency_tolerance
    return own.contradiction[i] <= 1.0


def update_lateness(c: Cycle, i: int, decay: Decay, driving: int) -> None:
    """
    Update ``late`` and ``interval``: filtered lateness of, and interval between, samples [s].

    The least difference between receipt and stamp so far counts as no delay, because the offset
    between the clocks is unknown; the clocks may drift apart by MAX_CLOCK_DRIFT. Where the clock
    of the stamps has been set back, the offset is learned again, unless the arm is driven.

    :param decay: since the previous sample of joint i.
    :param driving: NOT_DRIVEN, DRIVEN or IN_FAULT.
    """
    s, own, elapsed = c.settings, c.vectors.plausibility, decay.elapsed
    own.interval[i] += (1.0 - decay.interval) * (
        min(elapsed, MAX_INTERVAL * s.late_limit) - own.interval[i])
    offset = c.state[i].received - c.state[i].stamp
    if not abs(offset) < inf:                               # no stamp
        own.late[i] = 0.0
        return
    # A delay makes no stamp older than the one before it, but for messages out of order. After a
    # single wrong stamp, of the past or of the future, the next one jumps back by as much
    step = offset - own.last_offset[i]        # NaN: the first sample
    if step > elapsed + s.late_limit and offset - own.offset[i] > s.late_limit:
        own.set_back[i] = min(own.set_back[i] + 1.0, 1.0)
    elif step < -s.late_limit:
        own.set_back[i] = max(own.set_back[i] - 1.0, -1.0)
    elif own.set_back[i] < 0.0:
        own.set_back[i] = 0.0
    elif own.set_back[i] > 0.0 and driving != DRIVEN:
        own.set_back[i], own.offset[i] = 0.0, nan
    least = offset                  # of two samples, because one stamp may be wrong
    if own.last_offset[i] > offset:
        least = own.last_offset[i]
    own.last_offset[i] = offset
    if not own.offset[i] + MAX_CLOCK_DRIFT * elapsed <= least:    # True for NaN: no offset yet
        own.offset[i] = least
    else:
        own.offset[i] += MAX_CLOCK_DRIFT * elapsed
    # No less than 0: a stamp of the future would hide what is late, or rare, after it
    behind = min(max(0.0, offset - own.offset[i]), MAX_LATENESS * s.late_limit)
    change = (1.0 - decay.late) * (behind - own.late[i])
    # A message that was held up once is late and leaves a gap: both together are below the limit
    own.late[i] += min(change, MAX_SAMPLE_SHARE * max(0.0, s.late_limit - 0.5 * own.interval[i]))
