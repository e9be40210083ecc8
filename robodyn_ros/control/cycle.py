# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Control cycle, from joint states to efforts: the order of the steps, each in a module."""

from math import inf
from typing import NamedTuple

from numpy import ndarray

from ..dynamics.entry_points import solve
from ..dynamics.model_data import Robot, Workspace
from . import (
    gravity_check,
    guard,
    laws,
    limits,
    motion_checks,
    plausibility,
    ring_buffer,
    trajectory_tracking,
    velocity_estimator,
)
from .dtypes import (
    COMPUTED_TORQUE,
    GRAVITY_COMPENSATION,
    JOINT_IMPEDANCE,
    PD,
    VELOCITY_OR_GRAVITY,
    Vectors,
)
from .ring_buffer import Flight
from .robot_dynamics import forward_dynamics, gravity, inverse_dynamics, mass_matrix
from .trajectory_tracking import Points


class CycleInputs(NamedTuple):
    """All that a control cycle reads and writes, except its time and its efforts."""

    robot: Robot                # parameters of the dynamics
    workspace: Workspace        # memory of the dynamics
    joints: ndarray             # (nv,) JOINT, gains and limits
    settings: ndarray           # (1,) SETTINGS
    cycle_input: ndarray        # (1,) what the cycle is told by its surroundings
    state: ndarray              # (nv,) STATE, times on the clock of the cycle
    points: Points              # reference trajectory
    controller_state: ndarray   # (1,) state machine, kept from cycle to cycle
    vectors: Vectors            # (nv,) each, kept likewise
    ring: Flight                # flight recorder


def recorded_cycle(inputs: CycleInputs, now: float, tau: ndarray) -> bool:
    """Advance the controller as :func:`cycle` does; the flight recorder takes it down."""
    ring_buffer.before(inputs.ring, inputs.settings, inputs.cycle_input, inputs.state,
                       inputs.points, now)
    publish = cycle(inputs, now, tau)
    ring_buffer.after(inputs.ring, inputs.controller_state, tau, publish)
    return publish


def cycle(inputs: CycleInputs, now: float, tau: ndarray) -> bool:
    """
    Advance the controller to the time ``now`` [s], write its efforts, return whether to publish.

    :param tau: (nv,) [N·m | N] efforts, in the model's joint order; before, those of the last
        cycle.
    """
    robot, work, joints, settings = inputs.robot, inputs.workspace, inputs.joints, inputs.settings
    outside, state, points = inputs.cycle_input, inputs.state, inputs.points
    memory, v = inputs.controller_state, inputs.vectors
    s, m, n = settings[0], memory[0], tau.shape[0]

    # Time may stand still or jump (simulation reset); a late cycle earns no larger steps
    elapsed = max(0.0, now - m.time)
    dt = min(elapsed, 2.0 * s.period)
    jumped = abs(now - m.time) > s.state_timeout
    if jumped:                          # nobody knows how much of it has passed for the arm
        dt = min(dt, s.period)
    if now < m.time:
        m.since += now - m.time         # what has lasted for so long still has
    m.time = now
    m.cycles += 1
    guard.count_missed(m, outside[0].missed)
    if m.phase != guard.FAULT:
        limits.slow_down(joints, v, dt)

    # What is known of the arm; after a jump back, its state would stay fresh for ever
    newest = -inf
    for i in range(n):
        if state[i].received > now:
            state[i].received = now
        if state[i].other > now:
            state[i].other = now
        newest = max(newest, state[i].received)
    fresh, m.newest = 1 if newest != m.newest else 0, newest
    reason, joint = guard.distrust(state, now, s.state_timeout)
    trusted, unmeasured, driving = reason == guard.NO_REASON, -1, 0
    stalled = guard.stalled(outside[0], s, elapsed if trusted and m.cycles > 1 else 0.0)
    if m.phase == guard.RISING or m.phase == guard.RUNNING or m.phase == guard.STOPPING:
        driving = 1
    elif m.phase == guard.FAULT and m.publishing == 1:
        driving = 2
    if jumped or not trusted:
        m.observing = 0
    if trusted:
        reason, joint = plausibility.judge(joints, s, state, m, v, driving)
        unmeasured = velocity_estimator.observe(s, state, m, v, elapsed)
        trusted = reason != guard.STATE_INCONSISTENT
    limits.predict(s, joints, m, v)
    if m.phase == guard.INACTIVE:
        m.gravity_by_robot = s.robot_compensates_gravity
    gravity(robot, v.q, work, v.gravity)
    mass_matrix(robot, v.q, work, work.M)
    for i in range(n):
        v.momentum[i] = 0.0
        for j in range(n):
            v.momentum[i] += work.M[i, j] * v.qd[j]
        v.supply[i] = 0.0 if m.gravity_by_robot == 1 else v.gravity[i]
    changed = m.law != s.law
    if changed:                         # from the efforts of now, whatever gravity has become
        m.law = s.law
        for i in range(n):
            v.extra[i] = v.published[i] = tau[i] - v.supply[i]
            v.limited[i] = 0.0          # another law is no swing of the effort

    # What may be done
    guard.take_request(outside[0], m, now)
    if reason == guard.NO_REASON and m.arming == 1:
        reason, joint = guard.objection(outside[0], joints, s, m, v, unmeasured)
    if m.arming == 1:
        guard.arm(joints, m, s, v, reason, joint, fresh, now, tau)
        if m.phase == guard.RISING:
            gravity_check.begin(joints, m, v, now, tau)
    if reason == guard.NO_REASON and driving == 1:
        reason, joint = guard.cause(outside[0], s, m, unmeasured)
        if reason == guard.NO_REASON and gravity_check.contradicted(
                joints, m, v, fresh, now, tau):
            reason, joint = guard.GRAVITY_CONTRADICTED, -1
        if reason == guard.NO_REASON and m.phase == guard.RUNNING:
            reason, joint = motion_checks.check(joints, s, m, v, points, now, dt, tau)
    if stalled:
        reason, joint = guard.LOOP_STALLED, -1
    if m.phase == guard.STOPPING and m.reason != guard.NO_REASON:
        reason, joint = guard.cause_in_stop(reason, joint)
    if reason != guard.NO_REASON and (m.phase == guard.RISING or m.phase == guard.RUNNING
                                      or m.phase == guard.STOPPING):
        guard.fault(m, v, s, reason, joint, now)
    if stalled and m.phase == guard.FAULT:
        guard.fall_silent(m, s)
    if m.phase == guard.FAULT and outside[0].clock_stopped > s.state_timeout:
        m.blind, m.since = 1, -inf      # no ramp ends without time

    # What the arm would be given
    last_message = False
    unheard = outside[0].listeners == 0
    if m.phase == guard.RISING:
        if guard.rising(joints, s, v, 0.0 if unheard else dt, tau):
            guard.enter(m, guard.RUNNING, now)
            m.mode, m.serial = s.mode, points.header[0].serial
            trajectory_tracking.hold_here(m, v)
            motion_checks.begin(m, v)
    elif m.phase == guard.RUNNING:
        mode, gravity_alone = s.mode, False
        if unmeasured >= 0 and s.missing_velocity == VELOCITY_OR_GRAVITY:
            mode, gravity_alone = GRAVITY_COMPENSATION, True
        if m.mode != mode or changed or jumped or unheard:
            m.mode = mode
            trajectory_tracking.hold_here(m, v)
        trajectory_tracking.follow(points, m, v, now)
        if mode == GRAVITY_COMPENSATION:
            laws.gravity_compensation(v)
        elif mode == PD:
            laws.pd(joints, v)
        elif mode == JOINT_IMPEDANCE:
            laws.joint_impedance(joints, v)
        elif mode == COMPUTED_TORQUE:
            laws.computed_torque(inverse_dynamics, robot, work, joints, v)
        if s.compensates_friction == 1 and not gravity_alone:
            qd = v.qd if mode == GRAVITY_COMPENSATION else v.target_qd
            laws.friction_compensation(robot.friction, joints, qd, v.friction, v.wanted)
        for i in range(n):
            tau[i] = v.wanted[i] - (v.gravity[i] - v.supply[i])
    elif m.phase == guard.STOPPING:
        last_message = now - m.since >= s.stop_timeout or guard.at_rest(v, s.rest_velocity)
        guard.damped_gravity(s, v, tau)

    # How much of it the arm is given
    sound = True
    if m.phase == guard.RISING or m.phase == guard.RUNNING or m.phase == guard.STOPPING:
        sound = limits.finite(tau)
        for i in range(n):
            v.requested[i] = tau[i]
        limits.limit(joints, v, m, dt, tau)
        for i in range(n):              # what keeps the arm inside is not part of the law's effort
            v.extra[i] = tau[i] - v.supply[i]
        limits.keep_inside(forward_dynamics, solve, robot, work, joints, s, v, m, dt, tau, 1.0)
        motion_checks.note(joints, v, dt)
        sound = limits.clamp(joints, tau) and sound
        if not sound:
            guard.fault(m, v, s, guard.EFFORT_NOT_FINITE, -1, now)
    publishing = m.phase != guard.INACTIVE
    if m.phase == guard.FAULT:
        publishing = guard.fault_efforts(s, v, m, trusted, now, dt, tau)
        if publishing:
            limits.limit(joints, v, m, dt, tau)
        for i in range(n):
            v.extra[i] = tau[i] - v.supply[i]
        if publishing and m.blind == 0 and sound:   # else the state may be what is wrong
            limits.keep_inside(forward_dynamics, solve, robot, work, joints, s, v, m, dt, tau,
                               guard.held(s, m, now))
    elif last_message:
        guard.enter(m, guard.INACTIVE, now)
        publishing = False
        for i in range(n):              # damping must not stay latched in a forward controller
            tau[i] = v.supply[i] if s.stop_with_gravity == 1 else 0.0
    if not limits.clamp(joints, tau):
        for i in range(n):
            tau[i] = 0.0
    for i in range(n):
        v.published[i] = tau[i] - v.supply[i]
        if unheard:                     # a new listener begins with gravity alone
            v.extra[i] = v.published[i] = 0.0
    publish = publishing or m.publishing == 1       # after the end once more: the last message
    m.publishing = 1 if publishing else 0
    return publish
