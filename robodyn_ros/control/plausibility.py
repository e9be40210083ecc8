# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Plausibility of joint states: samples that the arm cannot have sent are not used.

Each new sample of a joint is compared with the last one that was accepted:

- A position that no motion within twice the velocity limit explains, or a velocity above
  OVERSPEED times its limit, is rejected: the sample before it stays in use. A second or third such
  sample in a row is a fault.
- Position and velocity have to tell the same story: the leaky integral (CONSISTENCY_TIME) of
  Δq - q̇ Δt stays within ``consistency_tolerance``. A position that jumps, a velocity of the wrong
  sign or in the wrong unit, a frozen position and exchanged joints leave it within milliseconds.
  Δt is taken from the times of receipt and from the time stamps; a contradiction is one on both,
  so that neither late messages nor wrong stamps look like one.
- Time stamps that fall behind, and samples that become rare, are a delay that the gains were not
  judged with.
"""

from math import exp, inf, nan, pi

from .guard import NO_REASON, STATE_INCONSISTENT, STATE_LATE, VELOCITY_ABOVE_LIMIT
from .velocity_estimator import CREDIBLE

OVERSPEED = 1.1             # velocity limits; what the limits let pass stays below it
JUMP = 2.0                  # velocity limits: a change of position that is still a motion
MOST_REJECTED = 2           # samples in a row; the next one is a fault
REJECTED_TIME = 0.02        # s; rejected for longer is a fault
CONSISTENCY_TIME = 0.2      # s
LARGEST_DRIFT = 3.0         # tolerances: what is beyond is soon forgotten
# Time constants of the lateness of stamps and of the intervals between samples, in state_timeouts:
# a controller that tolerates longer silence tolerates longer delays
LATE_TIME, INTERVAL_TIME = 0.6, 4.0
ONE_SAMPLE = 0.8            # late_limits: one sample alone never reaches it
CLOCK_DRIFT = 2e-4          # s/s between the clocks of publisher and controller


def judge(joints, s, state, m, v, driving):
    """
    Decide for each joint whether its newest sample is used; return (reason, joint) of a fault.

    Writes ``v.position`` and ``v.velocity`` (nv,), those of the newest samples with turns of
    continuous joints counted, and ``v.rejected`` (nv,), the samples rejected in a row: where it is
    not 0 the sample is not used. What comes at the time of the sample before it is no new sample.

    :param driving: 0: efforts are zero, any sample is taken; 1: the arm is driven; 2: a fault is
        in force, in which an arm may be too fast.
    """
    if driving == 2 and m.reason == STATE_INCONSISTENT:     # its pose stays
        for i in range(v.q.shape[0]):
            v.judged[i], v.rejected[i] = state[i].received, 1.0
        return m.reason, m.joint
    reason, joint = NO_REASON, -1
    for i in range(v.q.shape[0]):
        j, received = joints[i], state[i].received
        if m.observing == 0:
            begin(v, state, i)
            continue
        if received == v.judged[i]:
            continue
        lateness(s, v, state[i].stamp, received - v.judged[i], received, i)
        v.judged[i] = received
        v.position[i] = q = nearest(j, state[i].position, v.q[i])
        v.velocity[i] = state[i].velocity
        found = sample(j, m, v, q, state[i].velocity, received, state[i].stamp, driving, i)
        if found == NO_REASON and v.late[i] + 0.5 * v.interval[i] > s.late_limit:
            found = STATE_LATE
        if reason == NO_REASON or (found == STATE_INCONSISTENT and reason != found):
            reason, joint = found, i if found != NO_REASON else -1
    return reason, joint


def begin(v, state, i):
    """Take the first sample of a joint, or the first one after time jumped."""
    v.judged[i] = v.accepted[i] = state[i].received
    v.stamp[i], v.position[i] = state[i].stamp, state[i].position
    v.velocity[i] = state[i].velocity
    v.offset[i] = v.last_offset[i] = nan    # this sample may have overtaken the clock's jump
    v.drift[i] = v.stamped_drift[i] = v.contradiction[i] = 0.0
    v.rejected[i] = v.late[i] = v.interval[i] = 0.0


def nearest(j, q, before):
    """Return the angle of a continuous joint, in the turn nearest to the one before it [rad]."""
    away = q - before
    if j.periodic == 0 or abs(away) <= pi:
        return q
    return before + (away + pi) % (2.0 * pi) - pi


def sample(j, m, v, q, qd, received, stamp, driving, i):
    """Accept or reject a sample; return the reason of a fault, or NO_REASON."""
    v.accepted[i] = min(v.accepted[i], received)            # a clock may go back by a little
    elapsed, step = received - v.accepted[i], q - v.q[i]
    measured = abs(qd) <= CREDIBLE * v.speed_limit[i]       # not so NaN
    jumped = abs(step) > JUMP * v.speed_limit[i] * elapsed + j.consistency_tolerance
    fast = measured and driving == 1 and abs(qd) > OVERSPEED * v.speed_limit[i]
    found = NO_REASON
    if driving != 0 and (jumped or fast):
        v.rejected[i] += 1.0
        m.implausible += 1
        if v.rejected[i] <= MOST_REJECTED and elapsed <= REJECTED_TIME:
            return NO_REASON
        # The velocity is believed where the position moves with it
        if jumped or not step * qd > 0.5 * qd * qd * elapsed:
            return STATE_INCONSISTENT
        found = VELOCITY_ABOVE_LIMIT
    v.rejected[i] = 0.0
    if not consistent(j, v, q, qd, elapsed, stamp - v.stamp[i], measured, i):
        found = STATE_INCONSISTENT
    v.accepted[i], v.stamp[i] = received, stamp
    return found


def consistent(j, v, q, qd, elapsed, stamped, measured, i):
    """Add Δq - q̇ Δt to its leaky integrals; whether one of them is within its tolerance."""
    if not measured:
        v.drift[i] = v.stamped_drift[i] = v.contradiction[i] = 0.0
        return True
    if not 0.0 < stamped < inf:                             # not so NaN
        stamped = elapsed
    most, mean = LARGEST_DRIFT * j.consistency_tolerance, 0.5 * (v.qd[i] + qd)
    step, kept = q - v.q[i], exp(-max(0.0, elapsed) / CONSISTENCY_TIME)
    v.drift[i] = min(max(kept * v.drift[i] + step - mean * elapsed, -most), most)
    v.stamped_drift[i] = min(max(kept * v.stamped_drift[i] + step - mean * stamped, -most), most)
    v.contradiction[i] = min(abs(v.drift[i]), abs(v.stamped_drift[i])) / j.consistency_tolerance
    return v.contradiction[i] <= 1.0


def lateness(s, v, stamp, elapsed, received, i):
    """
    Note how late a sample comes, and how long after the one before it.

    The least difference between receipt and stamp stands for no delay at all, whatever clock the
    stamps are of; clocks may drift apart by CLOCK_DRIFT.
    """
    elapsed = max(0.0, elapsed)
    most = 4.0 * s.late_limit           # one long gap is no lasting delay
    share = 1.0 - exp(-elapsed / (INTERVAL_TIME * s.state_timeout))
    v.interval[i] += share * (min(elapsed, 2.0 * most) - v.interval[i])
    offset = received - stamp
    if not abs(offset) < inf:                               # no stamp
        v.late[i] = 0.0
        return
    least = offset                  # of two samples, for one stamp may be wrong
    if v.last_offset[i] > offset:
        least = v.last_offset[i]
    v.last_offset[i] = offset
    if not v.offset[i] + CLOCK_DRIFT * elapsed <= least:    # none before either
        v.offset[i] = least
    else:
        v.offset[i] += CLOCK_DRIFT * elapsed
    share = 1.0 - exp(-elapsed / (LATE_TIME * s.state_timeout))
    change = share * (min(offset - v.offset[i], most) - v.late[i])
    v.late[i] += min(change, ONE_SAMPLE * s.late_limit)
