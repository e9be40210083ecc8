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
# Of what was felt when arming: measured efforts that agree, and commands that hold the arm
NEAR, HOLDING = 0.3, 0.5
# Of gravity: the most that may be commanded when arming. From 1/6 on (NEAR and HOLDING), efforts
# of a fault could look like those of the other choice where sensors do not follow them
COMMANDED = 0.1


def begin(joints, m, v, now, tau):
    """
    Note, as the arm begins to rise, what its sensors feel that nobody commands: gravity, or not.

    Those of some robots do not feel it: currents, or efforts from which it has been subtracted.
    An arm that is armed while efforts of a fault still hold it tells nothing.

    :param tau: (nv,) the efforts published last [N·m | N].
    """
    m.armed, m.contradictions = now, 0
    felt = weight = commanded = 0.0
    for i in range(v.q.shape[0]):
        v.felt[i] = 0.0 if isnan(v.measured[i]) else v.measured[i] - tau[i]
        g = v.gravity[i] / joints[i].effort_limit
        felt += v.felt[i] / joints[i].effort_limit * g
        commanded += abs(tau[i] / joints[i].effort_limit * g)
        weight += g * g
    told = weight > LEAST * LEAST and commanded < COMMANDED * weight
    m.feels_gravity = 1 if told and felt > 0.5 * weight else 0


def contradicted(joints, m, v, fresh, now, tau):
    """
    Whether measured efforts contradict the choice; the other one is in force from there on.

    What is measured on top of the commands is still what it was when arming, although the robot
    should not hold itself, or it is gone, although the robot should. The efforts of the fault that
    follows then hold the arm; those of the wrong choice would not.

    :param fresh: 1 if a sample has come since the last cycle.
    """
    if m.feels_gravity == 0 or fresh == 0 or now - m.armed > WINDOW:
        return False
    m.contradictions = m.contradictions + 1 if agrees_with_the_other(joints, m, v, tau) else 0
    if m.contradictions < CONTRADICTIONS:
        return False
    m.gravity_by_robot = 1 - m.gravity_by_robot
    for i in range(v.q.shape[0]):
        v.supply[i] = 0.0 if m.gravity_by_robot == 1 else v.gravity[i]
        v.extra[i] = v.published[i] = 0.0
    return True


def agrees_with_the_other(joints, m, v, tau):
    """
    Whether the newest measured efforts are, all in all, those of the other choice.

    Nothing is told by commands that do not hold the arm, as those of a motion.
    """
    away = off = felt = 0.0
    for i in range(v.q.shape[0]):
        if isnan(v.measured[i]):
            continue
        limit = joints[i].effort_limit
        holding, on_top = (0.0, 0.0) if m.gravity_by_robot == 1 else (v.felt[i], v.felt[i])
        away += ((tau[i] - holding) / limit) ** 2
        off += ((v.measured[i] - tau[i] - on_top) / limit) ** 2
        felt += (v.felt[i] / limit) ** 2
    return away < HOLDING * HOLDING * felt and off < NEAR * NEAR * felt
