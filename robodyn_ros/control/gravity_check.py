# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
A wrong choice of who compensates gravity, found by the measured efforts before the arm has moved.

While an arm stands, its measured efforts carry gravity whoever holds it: brakes, its drives, or
the robot's own compensation. They differ as soon as efforts are commanded: a robot that adds its
own gravity measures it on top of them. If that is not what ``robot_compensates_gravity`` says,
g(q) acts twice, and throws the arm, or not at all, and lets it sink.
"""

from math import isnan

WINDOW = 1.0            # s after arming; brakes take their time to open
CONTRADICTIONS = 3      # samples in a row
LEAST = 0.03            # effort limits that gravity must take to be told from friction and noise


def begin(joints, m, v, now, tau):
    """
    Note, as the arm begins to rise, whether its sensors feel gravity at all.

    Those of some robots do not: currents, or efforts from which gravity has been subtracted.

    :param tau: (nv,) the efforts published last [N·m | N].
    """
    m.armed, m.contradictions = now, 0
    m.feels_gravity = 1 if unexplained(joints, v, tau) > 0.5 else 0


def contradicted(joints, m, v, fresh, now, tau):
    """
    Whether measured efforts contradict the choice; the other one is in force from there on.

    The efforts of the fault that follows then hold the arm; those of the wrong one would not.

    :param fresh: 1 if a sample has come since the last cycle.
    """
    if m.feels_gravity == 0 or fresh == 0 or now - m.armed > WINDOW:
        return False
    by_robot = 1 if unexplained(joints, v, tau) > 0.5 else 0
    m.contradictions = m.contradictions + 1 if by_robot != m.gravity_by_robot else 0
    if m.contradictions < CONTRADICTIONS:
        return False
    m.gravity_by_robot = by_robot
    for i in range(v.q.shape[0]):
        v.supply[i] = 0.0 if by_robot == 1 else v.gravity[i]
        v.extra[i] = v.published[i] = 0.0
    return True


def unexplained(joints, v, tau):
    """
    Share of g(q) that is measured on top of the published efforts ``tau``: 0 or 1, but for noise.

    The least-squares fit over all joints, each by its effort limit; of a joint without a measured
    effort nothing is known. 0 where gravity is too small.
    """
    felt = weight = 0.0
    for i in range(v.q.shape[0]):
        if isnan(v.measured[i]):
            continue
        g = v.gravity[i] / joints[i].effort_limit
        felt += (v.measured[i] - tau[i]) / joints[i].effort_limit * g
        weight += g * g
    return felt / weight if weight > LEAST * LEAST else 0.0
