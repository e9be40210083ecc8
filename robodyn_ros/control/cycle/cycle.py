# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
One control cycle, from joint states to efforts, in the order of its steps.

Steps take the data ``c`` of the cycle, whose records settings, controller state and vectors are
``s``, ``m`` and ``v`` for short; ``now`` is the time of the cycle and ``dt`` its duration [s].
"""

from math import inf

from numpy import ndarray, record

from .call import call_law, forget
from ..inputs import partner, pose_tracking
from ..laws.law import Arm
from ..steps import (
    collisions, friction_compensation, frozen_readings, gravity_check, guard, limits, lowering,
    momentum_observer, motion_checks, motor_test, payload_transition, phase_efforts, plausibility,
    self_collision, time_scaling, trajectory_tracking, velocity_estimator)
from ..steps.cycle_data import Cycle, LawMemory, Vectors
from ..steps.guard import GRAVITY_COMPENSATION, STOP_WITH_GRAVITY
from ..steps.robot_dynamics import gravity, mass_matrix
from ..steps.velocity_estimator import VELOCITY_OR_GRAVITY
from ...dynamics.model_data import ModelData

# Difference from the settings of the last cycle: none, gains or friction, `Settings.basis`
UNCHANGED, NEW_GAINS, NEW_BASIS = range(3)


def cycle(c: Cycle, now: float, tau: ndarray) -> bool:
    """
    Advance the controller to the time ``now`` [s], write its efforts, return whether to publish.

    :param tau: (nv,) [N·m | N] efforts, in the model's joint order; before, those of the last
        cycle.
    """
    s, m, v, n = c.settings, c.controller, c.vectors, tau.shape[0]
    joints, state, cycle_input = c.joints, c.state, c.cycle_input
    elapsed, dt, jumped = advance_time(s, m, now)
    guard.count_missed(m, cycle_input.missed)
    time_scaling.advance(m, dt if jumped else elapsed)
    if m.phase != guard.FAULT:
        limits.lower_velocity_limits(joints, v, dt)

    # State of the arm
    fresh = note_receipt(state, m, now)
    reason, joint = guard.state_fault(state, now, s.state_timeout)
    valid, unmeasured, driving = reason == guard.NO_REASON, -1, driven(m)
    stalled = guard.loop_stalled(cycle_input, s, elapsed if valid and m.cycles > 1 else 0.0)
    if jumped or not valid:
        m.observing = 0
    if valid:
        reason, joint = plausibility.check_samples(c, driving)
        unmeasured = velocity_estimator.observe(c, elapsed)
        valid = reason != guard.STATE_INCONSISTENT
        if not valid and driving == plausibility.IN_FAULT:
            m.observing = 0         # the estimator restarts once the fault efforts have ended
    limits.predict_state(c)
    robot = c.robot
    if payload_transition.changes_payload(c, driving, dt):
        robot = c.payload.robot
    compute_dynamics(c, robot)
    in_force = m.publishing == 1 and cycle_input.listeners > 0      # the efforts published last
    momentum_observer.observe(c, robot, valid and not jumped and in_force, fresh, elapsed, tau)
    changed = law_changed(c, tau)
    if driving == plausibility.NOT_DRIVEN:
        frozen_readings.forget(v)
    else:
        found, still = frozen_readings.frozen_joint(c, robot.friction, dt if jumped else elapsed)
        if found != guard.NO_REASON and valid:
            reason, joint, valid = found, still, found == guard.ROBOT_STOPPED

    # Decision: requests, arming, faults
    guard.take_request(cycle_input, m, now)
    if m.arming == 1:
        if reason == guard.NO_REASON:
            reason, joint = guard.arming_refusal(c, unmeasured)
        guard.arm(c, reason, joint, fresh, now, tau)
        if m.phase == guard.RISING:
            lowering.forget(m)
            gravity_check.begin(c, now, tau)
            motor_test.begin(m, v)
    if reason == guard.NO_REASON and driving == plausibility.DRIVEN:
        reason, joint = driven_fault(c, unmeasured, fresh, now, dt, tau)
    if stalled:
        reason, joint = guard.LOOP_STALLED, -1
    latch(c, reason, joint, now)
    collisions.isolate(c, now)

    # Requested efforts
    last_message = False
    unheard = cycle_input.listeners == 0
    if m.phase != guard.RISING:
        phase_efforts.fade_spring(m, dt)
    if m.phase == guard.RISING:
        risen = phase_efforts.rising_efforts(c, 0.0 if unheard else dt, tau)
        if risen and s.motor_test_effort > 0.0:
            risen = motor_test.add_efforts(c, robot.friction, 0.0 if unheard else dt, tau)
        if risen:
            guard.enter(m, guard.RUNNING, now)
            m.mode, m.serial = s.mode, c.points.header[0].serial
            m.pose_serial = c.poses.header[0].serial
            m.slowing, m.slowed_by, m.held_by, m.guided = 0.0, 0, 0, 0
            trajectory_tracking.hold_here(m, v)
            friction_compensation.begin_path(v)
            forget_law(c.law, v)
            motion_checks.begin(m, v)
    elif m.phase == guard.RUNNING:
        law_efforts(c, robot, unmeasured, changed, jumped or unheard, now, dt, elapsed, tau)
    elif m.phase == guard.STOPPING:
        last_message = now - m.since >= s.stop_timeout or guard.at_rest(v, s.rest_velocity)
        if lowering.lowers(s, m) and (last_message or m.descent > 0.0):
            last_message = lowering.lower(c, dt, tau)
        else:
            phase_efforts.damped_gravity(s, v, tau)

    # Limits
    sound = True
    if driven(m) == plausibility.DRIVEN:
        sound = limits.finite(tau)
        for i in range(n):
            v.requested[i] = tau[i]
        limits.limit_efforts(c, dt, tau)
        for i in range(n):              # without what the joint limits add
            v.tau_residual[i] = tau[i] - v.tau_gravity[i]
        limits.enforce_joint_limits(c, robot, dt, tau, lowering.limit_share(m))
        if m.phase == guard.RISING and s.motor_test_effort > 0.0:
            motor_test.note_mobility(c, robot)
        motion_checks.update(joints, v, dt)
        sound = limits.clamp(joints, tau) and sound
        if not sound:
            guard.fault(c, guard.EFFORT_NOT_FINITE, -1, now)
    publishing = m.phase != guard.INACTIVE
    if m.phase == guard.FAULT:
        if m.reason == guard.GRAVITY_CONTRADICTED:
            gravity_check.reconsider(c, fresh)
        publishing = phase_efforts.fault_efforts(c, valid, fresh, now, dt, tau)
        if publishing:
            limits.limit_efforts(c, dt, tau)
        for i in range(n):
            v.tau_residual[i] = tau[i] - v.tau_gravity[i]
        if (publishing and m.without_state == 0 and sound   # only a valid state can be limited
                and not phase_efforts.recoiling(m)):
            limits.enforce_joint_limits(c, robot, dt, tau,
                                        phase_efforts.remaining_share(s, m, now))
    elif last_message:
        guard.enter(m, guard.INACTIVE, now)
        publishing = False
        for i in range(n):              # damping must not stay latched in a forward controller
            tau[i] = v.tau_gravity[i] if s.stop_with == STOP_WITH_GRAVITY else 0.0
    if not limits.clamp(joints, tau):
        for i in range(n):
            tau[i] = 0.0
    for i in range(n):
        v.published[i] = tau[i] - v.tau_gravity[i]
        v.withheld[i] = v.requested[i] - tau[i] if m.phase == guard.RUNNING else 0.0
        if unheard and m.phase != guard.FAULT:      # a new listener begins with gravity alone
            v.tau_residual[i] = v.published[i] = 0.0
    publish = publishing or m.publishing == 1       # the last message is published once
    m.publishing = 1 if publishing else 0
    if not publishing:
        m.spring = 0.0
    return publish


def advance_time(s: record, m: record, now: float) -> tuple[float, float, bool]:
    """
    Advance the time of the controller; return the elapsed time, ``dt`` [s], and whether it jumped.

    Time may stop or jump (simulation reset). ``dt``, which bounds the change of efforts, is at
    most two periods, so that a late cycle makes no large step, and one period after a jump,
    because the time that has passed for the arm is unknown.
    """
    elapsed = max(0.0, now - m.time)
    dt = min(elapsed, 2.0 * s.period)
    jumped = abs(now - m.time) > s.state_timeout
    if jumped:
        dt = min(dt, s.period)
    if now < m.time:        # durations in progress continue
        m.since += now - m.time
        m.fading_end += now - m.time
        m.contact_time += now - m.time
        m.armed += now - m.time
    m.time = now
    m.cycles += 1
    return elapsed, dt, jumped


def note_receipt(state: ndarray, m: record, now: float) -> int:
    """
    Note the time of the newest sample; return 1 if a sample has come since the last cycle, else 0.

    Times after ``now`` are set to it: after a jump back of time, a state would otherwise never
    become stale.
    """
    newest = -inf
    for i in range(state.shape[0]):
        if state[i].received > now:
            state[i].received = now
        if state[i].other > now:
            state[i].other = now
        newest = max(newest, state[i].received)
    fresh, m.newest = 1 if newest != m.newest else 0, newest
    return fresh


def driven(m: record) -> int:
    """Return whether the arm is driven, as NOT_DRIVEN, DRIVEN or IN_FAULT of plausibility."""
    if m.phase == guard.RISING or m.phase == guard.RUNNING or m.phase == guard.STOPPING:
        return plausibility.DRIVEN
    if m.phase == guard.FAULT and m.publishing == 1:
        return plausibility.IN_FAULT
    return plausibility.NOT_DRIVEN


def compute_dynamics(c: Cycle, robot: ModelData) -> None:
    """Compute g(q), M(q), M(q) q̇ and the gravity term of the efforts."""
    s, m, v, work = c.settings, c.controller, c.vectors, c.workspace
    if m.phase == guard.INACTIVE:
        m.gravity_by_robot = s.robot_compensates_gravity
    gravity(robot, v.q, work, v.gravity)
    mass_matrix(robot, v.q, work, work.M)
    for i in range(v.q.shape[0]):
        momentum = 0.0      # in a register
        for j in range(v.q.shape[0]):
            momentum += work.M[i, j] * v.qd[j]
        v.momentum[i] = momentum
        v.tau_gravity[i] = 0.0 if m.gravity_by_robot == 1 else v.gravity[i]


def law_changed(c: Cycle, tau: ndarray) -> int:
    """
    Return what differs from the last cycle: UNCHANGED, NEW_GAINS (and friction), or NEW_BASIS.

    The efforts continue from those published last, ``tau``, whatever the gravity term has become.
    With another basis the reference ends, before anything of it is checked, and so does one that
    was planned for the old basis and has not begun: it would begin far from the present pose.
    """
    s, m, v, points, poses = c.settings, c.controller, c.vectors, c.points, c.poses
    if m.law == s.law:
        return UNCHANGED
    change = NEW_GAINS if m.basis == s.basis else NEW_BASIS
    m.law, m.basis = s.law, s.basis
    if change == NEW_BASIS:
        m.following, m.serial = 0, points.header[0].serial
        m.pose_following, m.pose_serial = 0, poses.header[0].serial
    for i in range(tau.shape[0]):
        v.tau_residual[i] = v.published[i] = tau[i] - v.tau_gravity[i]
        v.motion_checks.limited[i] = 0.0              # another law is no reversal of the effort
    return change


def driven_fault(c: Cycle, unmeasured: int, fresh: int, now: float, dt: float,
                 tau: ndarray) -> tuple[int, int]:
    """Return (reason, joint) of a fault of an arm that is driven with a valid state."""
    s, m = c.settings, c.controller
    reason, joint = guard.running_fault(c, unmeasured)
    if reason == guard.NO_REASON and gravity_check.gravity_contradicted(c, fresh, now, tau):
        reason, joint = guard.GRAVITY_CONTRADICTED, -1
    if reason == guard.NO_REASON and m.phase == guard.RISING and s.motor_test_effort > 0.0:
        reason, joint = motor_test.find_fault(c, fresh)
    running = m.phase == guard.RUNNING
    if reason == guard.NO_REASON and (running or lowering.approaches(m)):
        reason, joint = motion_checks.motion_fault(c, time_scaling.reference_time(m, now), dt, tau)
        touched = collisions.collision(c, fresh, now)
        if touched >= 0:
            reason, joint = guard.COLLISION, touched
        elif reason == guard.NO_REASON:
            touched = collisions.push(c, now)
            if touched >= 0:
                reason, joint = guard.PUSHED, touched
        if reason == guard.NO_REASON and running and partner.lost(s, m, c.partner.header[0], now):
            reason = guard.PARTNER_LOST
    return reason, joint


def latch(c: Cycle, reason: int, joint: int, now: float) -> None:
    """Latch a fault of this cycle, if there is one, and end efforts that must not go on."""
    cycle_input, s, m = c.cycle_input, c.settings, c.controller
    stalled = reason == guard.LOOP_STALLED
    if m.phase == guard.STOPPING and m.reason != guard.NO_REASON:
        reason, joint = guard.stopping_fault(reason, joint)
    if reason != guard.NO_REASON and driven(m) == plausibility.DRIVEN:
        guard.fault(c, reason, joint, now)
    if stalled and m.phase == guard.FAULT and not lowering.lowers(s, m):
        guard.end_fault_efforts(m, s)
    if m.phase == guard.FAULT and cycle_input.clock_stopped > s.state_timeout:
        m.without_state, m.since = 1, -inf      # no ramp ends without time


def forget_law(law: LawMemory, v: Vectors) -> None:
    """Set the memory of a law that begins, and of friction compensation, to zero."""
    forget(law)
    for i in range(v.q.shape[0]):
        v.withheld[i] = v.friction_compensation.presliding[i] = 0.0


def law_efforts(c: Cycle, robot: ModelData, unmeasured: int, changed: int, restart: bool,
                now: float, dt: float, elapsed: float, tau: ndarray) -> None:
    """
    Write the efforts of the control law into ``tau`` (nv,), less gravity where the robot adds it.

    :param robot: the dynamics in force.
    :param changed: from :func:`law_changed`: with NEW_BASIS, and with NEW_GAINS unless the
        reference is under way, the present pose becomes the reference. It does so as well where
        the arm is so far from its reference that new gains would throw it there.
    :param restart: whether time has jumped or there is no subscriber.
    :param elapsed: since the last cycle [s], at least ``dt``.
    :param tau: before, the efforts published last.
    """
    s, m, v = c.settings, c.controller, c.vectors
    gravity_alone = unmeasured >= 0 and s.missing_velocity == VELOCITY_OR_GRAVITY
    mode = GRAVITY_COMPENSATION if gravity_alone else s.mode
    if m.mode != mode or restart or changed == NEW_BASIS or (
            changed == NEW_GAINS and not under_way(c, s, m, now)):
        trajectory_tracking.hold_here(m, v)
    if m.mode != mode or restart or changed != UNCHANGED:
        friction_compensation.begin_path(v)
    if m.mode != mode or restart:   # with other gains of the same law its memory stays
        forget_law(c.law, v)
    m.mode = mode
    guided = trajectory_tracking.guide(c, not gravity_alone, now)
    reference_time = time_scaling.reference_time(m, now)
    if not guided:
        trajectory_tracking.follow(c.points, m, v, reference_time)
        trajectory_tracking.return_inside(c.joints, m, v, dt)
    if s.follows_pose == 1:
        track_pose(c, robot, reference_time)
    if s.bounded == 1:
        time_scaling.slow_down(c, robot, elapsed)
    for i in range(v.q.shape[0]):
        v.applied[i] = tau[i] + v.gravity[i] - v.tau_gravity[i]
        v.tau_law[i] = v.gravity[i]
    if not gravity_alone:
        call_law(c.law, arm_of(c, robot, now, dt), v.tau_law)
        if s.compensates_friction == 1:
            compensate_friction(c, robot, unmeasured, dt)
        trajectory_tracking.add_feedforward(c.joints, v, dt, v.tau_law)
        if s.bounded == 1:
            bound_efforts(c, robot)
    for i in range(v.q.shape[0]):
        tau[i] = v.tau_law[i] - (v.gravity[i] - v.tau_gravity[i])
    if (changed == NEW_GAINS and (m.following == 1 or m.pose_following == 1)
            and limits.steps(c.joints, v, tau)):
        trajectory_tracking.hold_here(m, v)     # from the next cycle on
        m.held_by = guard.FOLLOWING_ERROR


def under_way(c: Cycle, s: record, m: record, now: float) -> bool:
    """Return whether a reference is followed that has not ended, or waits for this cycle."""
    time = time_scaling.reference_time(m, now)
    if s.follows_pose == 1:
        begin, times = c.poses.header[0], c.poses.times
        follows = m.pose_following == 1 or begin.serial != m.pose_serial
    else:
        begin, times = c.points.header[0], c.points.times
        follows = m.following == 1 or begin.serial != m.serial
    return bool(follows and time < begin.start + times[times.shape[0] - 1])


def track_pose(c: Cycle, robot: ModelData, reference_time: float) -> None:
    """Update the state of the task frame, and its reference at a time [s]."""
    pose_tracking.update_task(robot, c.workspace, c.vectors.q, c.task, c.poses,
                              c.controller, reference_time)


def compensate_friction(c: Cycle, robot: ModelData, unmeasured: int, dt: float) -> None:
    """Add efforts against friction; parameters as of :func:`law_efforts`."""
    s, m, v = c.settings, c.controller, c.vectors
    follows = s.follows == 1 and m.guided == 0
    friction_compensation.friction_compensation(
        robot.friction, c.joints, trajectory_tracking.velocity_of_friction(c), follows, dt, v,
        v.tau_law)
    if not follows:
        friction_compensation.presliding_damping(c, robot.friction, unmeasured, v.tau_law)


def bound_efforts(c: Cycle, robot: ModelData) -> None:
    """Add efforts that brake an arm too fast for a contact, and keep links apart."""
    time_scaling.brake(c, robot, c.vectors.tau_law)
    if c.settings.follows_pose == 1:
        self_collision.keep_apart(c, robot, c.vectors.tau_law)


def arm_of(c: Cycle, robot: ModelData, now: float, dt: float) -> Arm:
    """Return the arm as a law reads it."""
    v, m = c.vectors, c.controller
    return Arm(now, dt, v.q, v.qd, v.target, v.target_qd, v.target_qdd, v.gravity, v.measured,
               v.applied, v.withheld, c.policy, c.partner, m.coupled, c.task,
               c.bounds, m.guided, c.settings.payload_body, m.payload_time,
               c.joints, robot, c.workspace)
