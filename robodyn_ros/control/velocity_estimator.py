# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is known of the arm's motion; velocities that are not measured are estimated."""

from math import exp

CREDIBLE = 10.0     # velocity limits that a joint may at most exceed; more is no measurement


def observe(s, state, m, v, elapsed):
    """
    Take positions, velocities and efforts over into ``v``; return a joint without velocity, or -1.

    Where the newest sample was rejected (:mod:`.plausibility`) the one before it stays in use.
    A velocity that no joint can have is none: damping it would drive the arm at full effort. What
    stands in for it is the derivative of the position behind a first-order low-pass filter of
    ``velocity_bandwidth`` [rad/s]. Where no time has ``elapsed`` [s] it stays, after a jump of
    time it begins anew (``m.observing`` 0).
    """
    unmeasured = -1
    share = 1.0 - exp(-s.velocity_bandwidth * elapsed)
    for i in range(v.q.shape[0]):
        if v.rejected[i] > 0.0:
            continue
        q, qd = v.position[i], v.velocity[i]
        if m.observing == 0:
            v.filtered[i], v.qd[i] = q, 0.0
        before = v.qd[i]
        step = share * (q - v.filtered[i])
        v.filtered[i] += step
        if abs(qd) <= CREDIBLE * v.speed_limit[i]:
            v.qd[i] = qd
        else:                                           # NaN too
            unmeasured = i
            if elapsed > 0.0:
                v.qd[i] = step / elapsed
        v.q[i], v.measured[i] = q, state[i].effort
        v.gained[i] = 0.0 if m.observing == 0 else v.gained[i] + v.qd[i] - before
    m.observing = 1
    return unmeasured
