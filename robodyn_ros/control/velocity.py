# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is known of the arm's motion; velocities that are not measured are estimated."""

from math import exp, isnan


def observe(s, state, m, v, dt):
    """
    Take positions, velocities and efforts over into ``v``; return a joint without velocity, or -1.

    Its velocity is the derivative of its position behind a first-order low-pass filter of
    ``velocity_bandwidth`` [rad/s]. Where no time has passed it stays, after a jump of time it
    begins anew (``m.observing`` 0).
    """
    unmeasured = -1
    share = 1.0 - exp(-s.velocity_bandwidth * dt)
    for i in range(v.q.shape[0]):
        q, qd = state[i].position, state[i].velocity
        if m.observing == 0:
            v.filtered[i], v.qd[i] = q, 0.0
        step = share * (q - v.filtered[i])
        v.filtered[i] += step
        if not isnan(qd):
            v.qd[i] = qd
        else:
            unmeasured = i
            if dt > 0.0:
                v.qd[i] = step / dt
        v.q[i], v.measured[i] = q, state[i].effort
    m.observing = 1
    return unmeasured
