# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
One control cycle, from joint states to efforts, in the order of its steps.

Helpers take the records of the cycle with the names of :mod:`.guard`: ``cycle_input``, ``joints``,
``s``, ``m``, ``v``, ``state`` and ``now``; ``dt`` is the duration of the cycle [s].
"""

from math import inf
from typing import NamedTuple

from numpy import ndarray, record

from .call import call_law, forget, LawMemory
from .ring_buffer import Flight
from ..declare.dtypes import GRAVITY_COMPENSATION, STOP_WITH_GRAVITY, Vectors, VELOCITY_OR_GRAVITY
from ..inputs import pose_tracking, trajectory_tracking
from ..inputs.bounds import Bounds
from ..inputs.partner import Partner
from ..inputs.policy import Policy
from ..inputs.pose_tracking import PosePoints
from ..inputs.task import Task
from ..inputs.trajectory_tracking import Points
from ..laws.law import Arm
from ..steps import (
    collisions,
    contact_brake,
    effort_feedforward,
    friction_compensation,
    frozen_readings,
    gravity_check,
    guard,
    guiding,
    limits,
    momentum_observer,
    motion_checks,
    motor_test,
    partner_link,
    payload_transition,
    phase_efforts,
    plausibility,
    self_collision,
    time_scaling,
    velocity_estimator,
)
from ..steps.payload_transition import PayloadInForce
from ..steps.robot_dynamics import forward_dynamics, gravity, mass_matrix
from ...dynamics.entry_points import solve
from ...dynamics.model_data import ModelData, Workspace

# What differs from the settings of the last cycle: gains or friction; what references depend on
UNCHANGED, NEW_GAINS, NEW_BASIS = range(3)


class CycleInputs(NamedTuple):
    """All that a control cycle reads and writes, except its time and its efforts."""

    robot: ModelData            # parameters of the dynamics
    workspace: Workspace        # memory of the dynamics
    joints: ndarray             # (nv,) JOINT, limits
    settings: ndarray           # (1,) SETTINGS
    law: LawMemory              # the law in force
    cycle_input: ndarray        # (1,) what the cycle is told by its surroundings
    state: ndarray              # (nv,) STATE, times on the clock of the cycle
    points: Points              # reference trajectory
    policy: Policy              # newest policy of a planner
    partner: Partner            # of a coupled arm, as it last was
    task: Task                  # frame that is controlled, and what is known of it
    poses: PosePoints           # its reference
    bounds: Bounds              # of the motion in space
    controller_state: ndarray   # (1,) state machine, kept from cycle to cycle
    vectors: Vectors            # (nv,) each, kept likewise
    payload: PayloadInForce     # inertial parameters of the dynamics, kept likewise
    ring: Flight                # flight recorder
    code: ndarray               # (6,) int64, addresses of machine code, see :mod:`.compile`


def cycle(inputs: CycleInputs, now: float, tau: ndarray) -> bool:
    """
    Advance the controller to the time ``now`` [s], write its efforts, return whether to publish.

    :param tau: (nv,) [N·m | N] efforts, in the model's joint order; before, those of the last
        cycle.
    """
    work, joints, state = inputs.workspace, inputs.joints, inputs.state
    points, v, n = inputs.points, inputs.vectors, tau.shape[0]
    s, m, cycle_input = inputs.settings[0], inputs.controller_state[0], inputs.cycle_input[0]
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
        reason, joint = plausibility.check_samples(joints, s, state, m, v, driving)
        unmeasured = velocity_estimator.observe(s, state, m, v, elapsed)
        valid = reason != guard.STATE_INCONSISTENT
        if not valid and driving == plausibility.IN_FAULT:
            m.observing = 0         # samples begin anew once the fault efforts have ended
    limits.predict_state(s, joints, m, v)
    robot = inputs.payload.robot if payload_transition.changes_payload(
        inputs.payload, inputs.robot, s, m, v, work, driving, dt) else inputs.robot
    compute_dynamics(robot, work, s, m, v)
    momentum_observer.observe(
        robot, work, s, m, v, valid and not jumped and m.publishing == 1
        and cycle_input.listeners > 0, fresh, elapsed, tau)
    changed = law_changed(points, inputs.poses, s, m, v, tau)
    if driving == plausibility.NOT_DRIVEN:
        frozen_readings.forget(v)
    else:
        frozen = frozen_readings.frozen_joint(joints, robot.friction, work.M, s, m, v,
                                              dt if jumped else elapsed)
        if frozen >= 0 and valid:
            reason, joint, valid = guard.STATE_INCONSISTENT, frozen, False

    # Decision: requests, arming, faults
    guard.take_request(cycle_input, m, now)
    if m.arming == 1:
        if reason == guard.NO_REASON:
            reason, joint = guard.arming_refusal(cycle_input, joints, s, m, v, unmeasured)
        guard.arm(joints, m, s, v, reason, joint, fresh, now, tau)
        if m.phase == guard.RISING:
            gravity_check.begin(joints, m, v, now, tau)
            motor_test.begin(m, v)
    if reason == guard.NO_REASON and driving == plausibility.DRIVEN:
        reason, joint = driven_fault(cycle_input, joints, s, m, v, points, inputs.partner,
                                     unmeasured, fresh, now, dt, tau)
    if stalled:
        reason, joint = guard.LOOP_STALLED, -1
    latch(cycle_input, joints, s, m, v, reason, joint, now)
    collisions.isolate(joints, m, v, now)

    # Requested efforts
    last_message = False
    unheard = cycle_input.listeners == 0
    if m.phase == guard.RISING:
        risen = phase_efforts.rising_efforts(joints, s, v, 0.0 if unheard else dt, tau)
        if risen and s.motor_test_effort > 0.0:
            risen = motor_test.add_efforts(joints, s, m, v, robot.friction,
                                           0.0 if unheard else dt, tau)
        if risen:
            guard.enter(m, guard.RUNNING, now)
            m.mode, m.serial = s.mode, points.header[0].serial
            m.pose_serial = inputs.poses.header[0].serial
            m.slowing, m.slowed_by, m.held_by, m.guided = 0.0, 0, 0, 0
            trajectory_tracking.hold_here(m, v)
            friction_compensation.begin_path(v)
            forget_law(inputs.law, v)
            motion_checks.begin(m, v)
    elif m.phase == guard.RUNNING:
        law_efforts(inputs, robot, unmeasured, changed, jumped or unheard, now, dt, elapsed, tau)
    elif m.phase == guard.STOPPING:
        last_message = now - m.since >= s.stop_timeout or guard.at_rest(v, s.rest_velocity)
        phase_efforts.damped_gravity(s, v, tau)

    # Limits
    sound = True
    if driven(m) == plausibility.DRIVEN:
        sound = limits.finite(tau)
        for i in range(n):
            v.requested[i] = tau[i]
        limits.limit_efforts(joints, v, m, dt, tau)
        for i in range(n):              # without what the joint limits add
            v.tau_residual[i] = tau[i] - v.tau_gravity[i]
        limits.enforce_joint_limits(forward_dynamics, solve, robot, work, joints, s, v, m, dt, tau,
                                    1.0)
        if m.phase == guard.RISING and s.motor_test_effort > 0.0:
            motor_test.note_mobility(solve, robot, work, m, v)
        motion_checks.update(joints, v, dt)
        sound = limits.clamp(joints, tau) and sound
        if not sound:
            guard.fault(joints, m, v, s, guard.EFFORT_NOT_FINITE, -1, now)
    publishing = m.phase != guard.INACTIVE
    if m.phase == guard.FAULT:
        publishing = phase_efforts.fault_efforts(joints, s, v, m, work.M, valid,
                                                 fresh, now, dt, tau)
        if publishing:
            limits.limit_efforts(joints, v, m, dt, tau)
        for i in range(n):
            v.tau_residual[i] = tau[i] - v.tau_gravity[i]
        if (publishing and m.without_state == 0 and sound   # only a valid state can be limited
                and not phase_efforts.recoiling(m)):
            limits.enforce_joint_limits(forward_dynamics, solve, robot, work, joints, s, v, m, dt,
                                        tau, phase_efforts.remaining_share(s, m, now))
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
    return publish


def advance_time(s: record, m: record, now: float) -> tuple[float, float, bool]:
    """
    Advance the time of the controller; return the elapsed time, ``dt`` [s], and whether it jumped.

    Time may stand still or jump (simulation reset). ``dt``, by which efforts may change, is at
    most two periods, so that a late cycle makes no large step, and one period after a jump, where
    the time that has passed for the arm is unknown.
    """
    elapsed = max(0.0, now - m.time)
    dt = min(elapsed, 2.0 * s.period)
    jumped = abs(now - m.time) > s.state_timeout
    if jumped:
        dt = min(dt, s.period)
    if now < m.time:        # what has begun keeps its duration
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

    Times after ``now`` are set to it: after a jump back of time, a state would else never become
    stale.
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


def compute_dynamics(robot: ModelData, work: Workspace, s: record, m: record, v: Vectors) -> None:
    """Compute g(q), M(q), M(q) q̇ and the gravity term of the efforts."""
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


def law_changed(points: Points, poses: PosePoints, s: record, m: record, v: Vectors,
                tau: ndarray) -> int:
    """
    Return what differs from the last cycle: UNCHANGED, NEW_GAINS (and friction), or NEW_BASIS.

    The efforts continue from those published last, ``tau``, whatever the gravity term has become.
    With another basis the reference ends, before anything of it is checked, and so does one that
    was planned for the old basis and has not begun: it would begin far from the present pose.
    """
    if m.law == s.law:
        return UNCHANGED
    change = NEW_GAINS if m.basis == s.basis else NEW_BASIS
    m.law, m.basis = s.law, s.basis
    if change == NEW_BASIS:
        m.following, m.serial = 0, points.header[0].serial
        m.pose_following, m.pose_serial = 0, poses.header[0].serial
    for i in range(tau.shape[0]):
        v.tau_residual[i] = v.published[i] = tau[i] - v.tau_gravity[i]
        v.limited[i] = 0.0              # another law is no reversal of the effort
    return change


def driven_fault(cycle_input: record, joints: ndarray, s: record, m: record, v: Vectors,
                 points: Points, partner: Partner, unmeasured: int, fresh: int, now: float,
                 dt: float, tau: ndarray) -> tuple[int, int]:
    """Return (reason, joint) of a fault of an arm that is driven with a valid state."""
    reason, joint = guard.running_fault(cycle_input, s, m, unmeasured)
    if reason == guard.NO_REASON and gravity_check.gravity_contradicted(
            joints, m, v, fresh, now, tau):
        reason, joint = guard.GRAVITY_CONTRADICTED, -1
    if (reason == guard.NO_REASON and m.phase == guard.RISING and s.motor_test_effort > 0.0
            and cycle_input.listeners > 0):
        reason, joint = motor_test.find_fault(joints, s, m, v, fresh)
    if reason == guard.NO_REASON and m.phase == guard.RUNNING:
        reason, joint = motion_checks.motion_fault(
            joints, s, m, v, points, time_scaling.reference_time(m, now), dt, tau)
        touched = collisions.collision(joints, m, v, fresh, now)
        if touched >= 0:
            reason, joint = guard.COLLISION, touched
        elif reason == guard.NO_REASON:
            touched = collisions.push(joints, m, v, now)
            if touched >= 0:
                reason, joint = guard.PUSHED, touched
        if reason == guard.NO_REASON:
            reason = partner_link.supervise(s, m, partner.header[0], now)
    return reason, joint


def latch(cycle_input: record, joints: ndarray, s: record, m: record, v: Vectors, reason: int,
          joint: int, now: float) -> None:
    """Latch a fault of this cycle, if there is one, and end efforts that must not go on."""
    stalled = reason == guard.LOOP_STALLED
    if m.phase == guard.STOPPING and m.reason != guard.NO_REASON:
        reason, joint = guard.stopping_fault(reason, joint)
    if reason != guard.NO_REASON and driven(m) == plausibility.DRIVEN:
        guard.fault(joints, m, v, s, reason, joint, now)
    if stalled and m.phase == guard.FAULT:
        guard.end_fault_efforts(m, s)
    if m.phase == guard.FAULT and cycle_input.clock_stopped > s.state_timeout:
        m.without_state, m.since = 1, -inf      # no ramp ends without time


def forget_law(law: LawMemory, v: Vectors) -> None:
    """Set the memory of a law that begins, and of friction compensation, to zero."""
    forget(law)
    for i in range(v.q.shape[0]):
        v.withheld[i] = v.presliding[i] = 0.0


def law_efforts(inputs: CycleInputs, robot: ModelData, unmeasured: int, changed: int,
                restart: bool, now: float, dt: float, elapsed: float, tau: ndarray) -> None:
    """
    Write the efforts of the control law into ``tau`` (nv,), less gravity where the robot adds it.

    :param robot: the dynamics in force.
    :param unmeasured: index of a joint without a measured velocity, -1 for none.
    :param changed: from :func:`law_changed`: with NEW_BASIS, and with NEW_GAINS unless the
        reference is under way, the present pose becomes the reference. It does so as well where
        the arm is so far from its reference that new gains would throw it there.
    :param restart: it does so because time has jumped or nobody listens.
    :param elapsed: since the last cycle [s], at least ``dt``.
    :param tau: before, the efforts published last.
    """
    s, m, v = inputs.settings[0], inputs.controller_state[0], inputs.vectors
    gravity_alone = unmeasured >= 0 and s.missing_velocity == VELOCITY_OR_GRAVITY
    mode = GRAVITY_COMPENSATION if gravity_alone else s.mode
    if m.mode != mode or restart or changed == NEW_BASIS or (
            changed == NEW_GAINS and not under_way(inputs, s, m, now)):
        trajectory_tracking.hold_here(m, v)
    if m.mode != mode or restart or changed != UNCHANGED:
        friction_compensation.begin_path(v)
    if m.mode != mode or restart:   # with other gains of the same law its memory stays
        forget_law(inputs.law, v)
    m.mode = mode
    guided = guiding.guide(inputs.cycle_input[0], s, m, v, inputs.points, not gravity_alone, now)
    reference_time = time_scaling.reference_time(m, now)
    if not guided:
        trajectory_tracking.follow(inputs.points, m, v, reference_time)
        trajectory_tracking.return_inside(inputs.joints, m, v, dt)
    if s.follows_pose == 1:
        track_pose(inputs, robot, reference_time)
    if s.bounded == 1:
        bound_reference(inputs, robot, elapsed)
    for i in range(v.q.shape[0]):
        v.applied[i] = tau[i] + v.gravity[i] - v.tau_gravity[i]
        v.tau_law[i] = v.gravity[i]
    if not gravity_alone:
        call_law(inputs.law, arm_of(inputs, robot, now, dt), v.tau_law)
        if s.compensates_friction == 1:
            compensate_friction(inputs, robot, unmeasured, dt)
        effort_feedforward.add_feedforward(inputs.joints, v, dt, v.tau_law)
        if s.bounded == 1:
            bound_efforts(inputs, robot)
    for i in range(v.q.shape[0]):
        tau[i] = v.tau_law[i] - (v.gravity[i] - v.tau_gravity[i])
    if (changed == NEW_GAINS and (m.following == 1 or m.pose_following == 1)
            and limits.steps(inputs.joints, v, tau)):
        trajectory_tracking.hold_here(m, v)     # from the next cycle on
        m.held_by = guard.FOLLOWING_ERROR


def under_way(inputs: CycleInputs, s: record, m: record, now: float) -> bool:
    """Return whether a reference is followed that has not ended, or waits for this cycle."""
    time = time_scaling.reference_time(m, now)
    if s.follows_pose == 1:
        begin, times = inputs.poses.header[0], inputs.poses.times
        follows = m.pose_following == 1 or begin.serial != m.pose_serial
    else:
        begin, times = inputs.points.header[0], inputs.points.times
        follows = m.following == 1 or begin.serial != m.serial
    return bool(follows and time < begin.start + times[times.shape[0] - 1])


def track_pose(inputs: CycleInputs, robot: ModelData, reference_time: float) -> None:
    """Update what is known of the task frame, and its reference at a time [s]."""
    pose_tracking.update_task(robot, inputs.workspace, inputs.vectors.q, inputs.task, inputs.poses,
                              inputs.controller_state[0], reference_time)


def compensate_friction(inputs: CycleInputs, robot: ModelData, unmeasured: int, dt: float) -> None:
    """Add efforts against friction; parameters as of :func:`law_efforts`."""
    s, m, v = inputs.settings[0], inputs.controller_state[0], inputs.vectors
    follows = s.follows == 1 and m.guided == 0
    friction_compensation.friction_compensation(
        robot.friction, inputs.joints, guiding.velocity_of_friction(s, m, v), follows, dt, v,
        v.tau_law)
    if not follows:
        friction_compensation.presliding_damping(
            robot.friction, inputs.joints, inputs.workspace.M, s, v, unmeasured, v.tau_law)


def bound_reference(inputs: CycleInputs, robot: ModelData, elapsed: float) -> None:
    """Slow the reference down to what the bounds of the motion allow."""
    time_scaling.slow_down(inputs.bounds, robot, inputs.workspace, inputs.settings[0],
                           inputs.controller_state[0], inputs.vectors, inputs.task, elapsed)


def bound_efforts(inputs: CycleInputs, robot: ModelData) -> None:
    """Add efforts that brake an arm too fast for a contact, and keep links apart."""
    s, m, v = inputs.settings[0], inputs.controller_state[0], inputs.vectors
    contact_brake.brake(inputs.bounds, robot, inputs.workspace, s, v, v.tau_law)
    if s.follows_pose == 1:
        self_collision.keep_apart(inputs.bounds, robot, inputs.workspace, s, m, v, v.tau_law)


def arm_of(inputs: CycleInputs, robot: ModelData, now: float, dt: float) -> Arm:
    """Return what a law knows of the arm."""
    v, m = inputs.vectors, inputs.controller_state[0]
    return Arm(now, dt, v.q, v.qd, v.target, v.target_qd, v.target_qdd, v.gravity, v.measured,
               v.applied, v.withheld, inputs.policy, inputs.partner, m.coupled, inputs.task,
               inputs.bounds, m.guided, inputs.settings[0].payload_body, m.payload_time,
               inputs.joints, robot, inputs.workspace)
