# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""One control cycle, from joint states to efforts: the order of things, each done elsewhere."""

from math import inf

from . import guard, laws, reference
from .records import COMPUTED_TORQUE, GRAVITY_COMPENSATION, JOINT_IMPEDANCE, PD


def cycle(gravity, inverse_dynamics, robot, work, joints, settings, requests, state, points,
          memory, v, now, tau):
    """
    Advance the controller to the time ``now`` [s] and write its efforts; True: publish them.

    :param gravity, inverse_dynamics: the robot's dynamics, see :mod:`robodyn_ros.dynamics.terms`,
        with their parameters ``robot`` and workspace ``work``.
    :param joints: (nv,) records ``JOINT``; ``settings``: (1,) ``SETTINGS``.
    :param requests: (1,) int, what the outside asks of the state machine.
    :param state: (nv,) records ``wire.joint_state.STATE``, times on the clock of ``now``.
    :param points: the reference, see :class:`~.reference.Points`.
    :param memory: (1,) ``MEMORY`` and ``v``, ``Vectors``: kept from cycle to cycle.
    :param tau: (nv,) [N·m | N] efforts, in the model's joint order.
    """
    s, m, n = settings[0], memory[0], tau.shape[0]

    # Time may stand still or jump back (simulation reset); a late cycle earns no larger steps
    dt = now - m.time
    dt = min(dt, 2.0 * s.period) if dt > 0.0 else 0.0
    jumped = m.time - now > s.state_timeout
    if now < m.time:
        m.since = min(m.since, now)
    m.time = now
    m.cycles += 1

    # What is known of the arm; after a jump back, its state would stay fresh for ever
    newest = -inf
    for i in range(n):
        if state[i].received > now:
            state[i].received = now
        newest = max(newest, state[i].received)
    fresh, m.newest = newest != m.newest, newest
    stale = guard.stale_joint(state, now, s.state_timeout)
    if stale < 0:
        for i in range(n):
            v.q[i], v.qd[i], v.measured[i] = (state[i].position, state[i].velocity,
                                              state[i].effort)
    gravity(robot, v.q, work, v.gravity)

    # What may be done
    guard.take_request(requests, m, now)
    if m.arming == 1:
        guard.arm(joints, s, v, m, stale, fresh, now, tau)
    if stale >= 0 and (m.phase == guard.RISING or m.phase == guard.RUNNING
                       or m.phase == guard.STOPPING):
        guard.fault(m, v, s, guard.STALE_STATE, stale, now)

    # What the arm would be given
    last_message = False
    if m.phase == guard.RISING:
        if guard.rising(joints, v, dt, tau):
            guard.enter(m, guard.RUNNING, now)
            m.mode, m.serial = s.mode, points.header[0].serial
            reference.hold_here(m, v)
    elif m.phase == guard.RUNNING:
        if m.mode != s.mode or jumped:
            m.mode = s.mode
            reference.hold_here(m, v)
        reference.follow(points, m, v, now)
        if s.mode == GRAVITY_COMPENSATION:
            laws.gravity_compensation(v)
        elif s.mode == PD:
            laws.pd(joints, v)
        elif s.mode == JOINT_IMPEDANCE:
            laws.joint_impedance(joints, v)
        elif s.mode == COMPUTED_TORQUE:
            laws.computed_torque(inverse_dynamics, robot, work, joints, v)
        for i in range(n):
            tau[i] = v.wanted[i]
    elif m.phase == guard.STOPPING:
        last_message = now - m.since >= s.stop_timeout or guard.at_rest(v, s.rest_velocity)
        guard.damped_gravity(joints, v, tau)

    # How much of it the arm is given
    if m.phase == guard.RISING or m.phase == guard.RUNNING or m.phase == guard.STOPPING:
        guard.limit(joints, v, m, dt, tau)
        if not guard.clamp(joints, tau):
            guard.fault(m, v, s, guard.EFFORT_NOT_FINITE, -1, now)
    publishing = m.phase != guard.INACTIVE
    if m.phase == guard.FAULT:
        publishing = guard.fault_efforts(joints, s, v, m, stale, now, tau)
        if publishing:
            guard.limit(joints, v, m, dt, tau)
    elif last_message:
        guard.enter(m, guard.INACTIVE, now)
        publishing = False
        for i in range(n):              # damping must not stay latched in a forward controller
            tau[i] = v.gravity[i] if s.stop_with_gravity == 1 else 0.0
    if not guard.clamp(joints, tau):
        for i in range(n):
            tau[i] = 0.0
    for i in range(n):
        v.extra[i] = tau[i] - v.gravity[i]
    publish = publishing or m.publishing == 1       # after the end once more: the last message
    m.publishing = 1 if publishing else 0
    return publish
