# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Effort, velocity and position limits.

The gravity term is kept and the rest is reduced, joint by joint: a saturated wrist must not reduce
stiffness or damping of the other joints. ``dt`` is the duration of the cycle [s],
``tau`` (nv,) [N·m | N] the efforts, modified in place, and ``robot`` the dynamics in force.
"""

from __future__ import annotations

from math import exp, isfinite
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy import ndarray, record

from .acceleration_limits import effective_delay, permitted_acceleration
from .robot_dynamics import forward_dynamics
from .velocity_estimator import velocity_noise
from ...dynamics.entry_points import solve
from ...dynamics.friction import dry_friction
from ...dynamics.model_data import ModelData, Workspace

if TYPE_CHECKING:
    from .cycle_data import Cycle, Vectors

# Gauss-Seidel sweeps over the joints in each cycle
GAUSS_SEIDEL_SWEEPS = 8
# Effort limits that a law may request beyond the limits before saturation counts faster: stiff
# laws that catch up with a fast reference request 4
EXCESSIVE_REQUEST = 5.0
OSCILLATION_SWING = 0.05    # effort limits between two reversals of an oscillating effort
LAW_STEP = 0.2    # effort limits by which new gains may change the request of a law
VELOCITY_LIMIT_TIME = 0.2    # s, time constant with which velocity limits are lowered
# Multiple of `effort_rate_limit` with which efforts may change to keep a joint inside its limits;
# the law alone keeps to the limit itself. In test/control/test_limits.py, with its five seeds of
# coupled joints, a Panda reached 1.36 times its velocity limits with 2, 1.07 with 3, 1.01 with 4
# and 0.99 with 5 (without the bound by ACCELERATION).
BRAKING_RATE = 5.0
DISTURBANCE_BANDWIDTH = 100.0    # 1/s, of the disturbance estimate
MAX_SAMPLE_WEIGHT = 0.3    # in this estimate, for a slow loop
ACCELERATION_TOLERANCE = 1e-6    # rad/s² | m/s²
EFFORT_ROUNDING = 1e-9    # effort limits
FRICTION_TIME = 0.07    # s, time constant with which a disturbance is taken for friction
STICKING_SHARE = 0.02    # of the velocity limit; a joint may stick below it, and below its noise


class Memory(NamedTuple):
    """State predicted for the joint limits, and their correction, (nv,) each."""

    push: ndarray           # correction of tau_law by enforce_joint_limits
    response: ndarray       # accelerations that a unit effort causes
    cut: ndarray            # effort that is taken from other joints, then what that accelerates
    sample_time: ndarray    # receipt of the last state, and the velocity it brought
    sample_qd: ndarray
    pending_qd: ndarray     # change of the velocity by efforts that have not acted yet
    disturbance: ndarray    # acceleration that the model does not explain, see predict_state
    explained: ndarray      # acceleration that friction prevents, see explain_by_friction
    predicted_q: ndarray    # position and velocity when the efforts of now will act
    predicted_qd: ndarray

#: Fields of the controller state.
STATE = [
    ('saturation_time', float),     # s at the effort or the rate limit, less those without
    ('saturated_joint', np.int64),
    ('saturated', np.int64),
    ('rate_limited', np.int64),
    ('joint_limited', np.int64),    # cycles in which enforce_joint_limits acted
]


def limit_efforts(c: Cycle, dt: float, tau: ndarray) -> None:
    """
    Limit the rate of change of the effort beyond gravity, then the sum to ``effort_limit``.

    ``m.saturation_time`` integrates the time in which either limit acts. It grows faster than time
    where the request exceeds the limits by more than EXCESSIVE_REQUEST effort limits, as that of
    an unstable law does. The rate counts where it has been limited in one direction for a change
    of OSCILLATION_SWING effort limits: noise of the velocity is limited in alternating directions.
    """
    joints, m, v = c.joints, c.controller, c.vectors
    saturated, rate_limited, lasting, excess = -1, -1, -1, 0.0
    for i in range(tau.shape[0]):
        j, g = joints[i], v.gravity[i]
        step, residual = j.effort_rate_limit * dt, tau[i] - v.tau_gravity[i]
        if abs(residual - v.tau_residual[i]) > step:
            side = 1.0 if residual > v.tau_residual[i] else -1.0
            residual = v.tau_residual[i] + side * step
            rate_limited = i
            change = side * (v.tau_gravity[i] + residual - v.motion_checks.turned[i])
            if side == v.motion_checks.limited[i] and change > OSCILLATION_SWING * j.effort_limit:
                lasting = i
        if abs(g + residual) > j.effort_limit:
            residual = (j.effort_limit if g + residual > 0.0 else -j.effort_limit) - g
            saturated = i
        excess = max(excess, abs(tau[i] - v.tau_gravity[i] - residual) / j.effort_limit)
        tau[i] = v.tau_gravity[i] + residual
    m.saturated += saturated >= 0
    m.rate_limited += rate_limited >= 0
    if saturated >= 0 or lasting >= 0 or excess > EXCESSIVE_REQUEST:
        m.saturation_time += dt * max(1.0, (excess / EXCESSIVE_REQUEST)**2)
        m.saturated_joint = max(saturated, lasting if lasting >= 0 else rate_limited)
    else:
        m.saturation_time = max(0.0, m.saturation_time - dt)


def steps(joints: ndarray, v: Vectors, tau: ndarray) -> bool:
    """Return whether the request of a law has changed by LAW_STEP effort limits in this cycle."""
    for i in range(tau.shape[0]):
        if abs(tau[i] - v.requested[i]) > LAW_STEP * joints[i].effort_limit:
            return True
    return False


def predict_state(c: Cycle) -> None:
    """
    Predict position and velocity at the time when the efforts of this cycle act.

    Efforts act :func:`.effective_delay` after the state they were computed from. The change of
    velocity by efforts that have not acted yet is modelled as a first-order lag with this time,
    without a queue: a Smith predictor (Åström and Wittenmark, Computer-Controlled Systems, 1997,
    section 8.4). The change of velocity that remains unexplained from sample to sample is a
    disturbance, as an acceleration [rad/s² | m/s²]: unmodelled payload, friction or contact. It is
    low-pass filtered like the residual of De Luca and Mattone (ICRA 2003), and bounded by the
    acceleration that :func:`.acceleration_bounds` can counteract and the one that friction
    prevented, so that one false sample has little effect.

    Writes ``predicted_q``, ``predicted_qd`` and ``disturbance`` of the :class:`Memory`.
    """
    joints, s, m, v = c.joints, c.settings, c.controller, c.vectors
    own = c.vectors.limits
    known_elapsed, known_delay, acting, share = -1.0, -1.0, 1.0, 0.0    # mostly of all joints
    for i in range(v.q.shape[0]):
        delay = effective_delay(s, v, i)
        elapsed = v.plausibility.accepted[i] - own.sample_time[i]
        known = 0.0 <= elapsed <= s.state_timeout and isfinite(own.pending_qd[i])
        if m.publishing == 0 or not known:          # restart
            own.pending_qd[i] = own.disturbance[i] = own.push[i] = own.explained[i] = 0.0
        elif elapsed > 0.0:
            if elapsed != known_elapsed or delay != known_delay:
                known_elapsed, known_delay = elapsed, delay
                acting = 1.0 - exp(-elapsed / delay) if delay > 0.0 else 1.0
                share = min(MAX_SAMPLE_WEIGHT, 1.0 - exp(-DISTURBANCE_BANDWIDTH * elapsed))
            acted = acting * own.pending_qd[i]
            own.pending_qd[i] -= acted
            most = s.limit_rate * joints[i].velocity_limit + abs(own.explained[i])
            unexplained = (v.qd[i] - own.sample_qd[i] - acted) / elapsed
            unexplained = min(max(unexplained, -most), most)
            own.disturbance[i] += share * (unexplained - own.disturbance[i])
        own.sample_time[i], own.sample_qd[i] = v.plausibility.accepted[i], v.qd[i]
        own.predicted_qd[i] = v.qd[i] + own.pending_qd[i] + delay * own.disturbance[i]
        own.predicted_q[i] = v.q[i] + 0.5 * delay * (v.qd[i] + own.predicted_qd[i])


def enforce_joint_limits(c: Cycle, robot: ModelData, dt: float, tau: ndarray,
                         share: float) -> None:
    """
    Change the efforts that would carry a joint beyond its velocity or position limit.

    The acceleration that the model predicts for the efforts must stay within
    :func:`.permitted_acceleration` for every joint. Where it does not, the effort of the joint is
    changed by the difference. If the effort limit does not allow that, the efforts of the joints
    that accelerate it are lowered toward gravity. Because all joints are coupled, this is
    iterated: projected Gauss-Seidel on the accelerations, as used for contacts (Featherstone,
    Rigid Body Dynamics Algorithms, 2008, section 11.7).

    :param share: in [0, 1], of the correction that is applied, within BRAKING_RATE times the
        effort rate limit; below 1 while fault efforts ramp down.
    """
    joints, s, m, v, work = c.joints, c.settings, c.controller, c.vectors, c.workspace
    own = c.vectors.limits
    n, touched, changed = tau.shape[0], False, 1
    for i in range(n):
        v.tau_law[i] = tau[i] + v.gravity[i] - v.tau_gravity[i]
        own.push[i] = feasible_push(joints[i], v, i, dt, own.push[i])
        own.cut[i] = v.tau_law[i] + own.push[i]
    forward_dynamics(robot, own.predicted_q, own.predicted_qd, own.cut, work, v.acceleration)
    explain_by_friction(c, robot, dt)
    for _ in range(GAUSS_SEIDEL_SWEEPS):
        if changed == 0:
            break
        changed = 0
        for i in range(n):
            least, most = permitted_acceleration(joints[i], s, v, i)
            if (least <= v.acceleration[i] <= most
                    and own.push[i] == feasible_push(joints[i], v, i, dt, 0.0)):
                continue
            changed = 1
            bound_acceleration(c, robot, i, dt, least, most)
    for i in range(n):
        law = tau[i] + v.gravity[i] - v.tau_gravity[i]
        touched |= abs(v.tau_law[i] + own.push[i] - law) > EFFORT_ROUNDING * joints[i].effort_limit
    m.joint_limited += touched
    apply_correction(c, robot, dt, tau, share)


def explain_by_friction(c: Cycle, robot: ModelData, dt: float) -> None:
    """
    Write the accelerations that known friction prevents, as far as the disturbance shows them.

    Efforts that friction balances accelerate nothing. If the bounds withheld them, a light joint
    would not move, nor any joint with a low velocity limit. A joint that hardly moves may stick:
    then its friction is its effort, up to the dry friction. Late efforts look like friction, too,
    but not for long: what is explained rises within FRICTION_TIME, and falls at once.

    Writes ``explained`` of the :class:`Memory`.
    """
    v, parameters = c.vectors, robot.friction
    own = c.vectors.limits
    for i in range(v.q.shape[0]):
        qd, load, effort = v.qd[i], v.gravity[i], v.tau_law[i] + own.push[i] - v.gravity[i]
        row, side = (0, 1.0) if qd >= 0.0 else (3, -1.0)
        slides = min(1.0, abs(qd) / (STICKING_SHARE * c.joints[i].velocity_limit
                                     + velocity_noise(v, i)))
        sliding = slides * side * dry_friction(parameters, i, qd, load, row)
        most = dry_friction(parameters, i, qd, load, 0 if effort >= 0.0 else 3)
        own.cut[i] = (parameters[row, i] * qd + sliding
                      + (1.0 - slides) * max(-most, min(most, effort)))
    solve(robot, c.workspace, own.cut)
    risen = 1.0 - exp(-dt / FRICTION_TIME)
    for i in range(v.q.shape[0]):
        shown = part_of(-own.disturbance[i], own.cut[i])
        kept = part_of(shown, own.explained[i])
        own.explained[i] = kept + risen * (shown - kept)


def part_of(value: float, whole: float) -> float:
    """Return the number between 0 and ``whole`` that is nearest to a value."""
    return max(min(whole, 0.0), min(max(whole, 0.0), value))


def bound_acceleration(c: Cycle, robot: ModelData, i: int, dt: float, least: float,
                       most: float) -> None:
    """
    Change ``v.limits.push[i]`` such that the acceleration of joint i is within its bounds.

    :param least, most: bounds of its acceleration [rad/s² | m/s²].
    """
    v, work = c.vectors, c.workspace
    own = c.vectors.limits
    for k in range(v.q.shape[0]):
        own.response[k] = 0.0
    own.response[i] = 1.0
    solve(robot, work, own.response)          # column i of the inverse of M(q)

    free = v.acceleration[i] - own.response[i] * own.push[i]
    push = (min(max(free, least), most) - free) / own.response[i]
    push = feasible_push(c.joints[i], v, i, dt, push)
    for k in range(v.q.shape[0]):
        v.acceleration[k] += own.response[k] * (push - own.push[i])
    own.push[i] = push

    excess = v.acceleration[i] - min(max(v.acceleration[i], least), most)
    if abs(excess) > ACCELERATION_TOLERANCE:
        reduce_coupled_efforts(robot, work, v, i, excess)


def feasible_push(j: record, v: Vectors, i: int, dt: float, push: float) -> float:
    """
    Return the correction of joint i that is nearest to ``push`` within its limits.

    They are the effort limit and BRAKING_RATE times the effort rate limit of the published effort.
    If the rate were applied afterwards, the other joints would counteract efforts not yet applied.
    """
    law, step = v.tau_law[i] - v.gravity[i], BRAKING_RATE * j.effort_rate_limit * dt
    push = min(max(push, v.published[i] - step - law), v.published[i] + step - law)
    return min(max(push, -j.effort_limit - v.tau_law[i]), j.effort_limit - v.tau_law[i])


def apply_correction(c: Cycle, robot: ModelData, dt: float, tau: ndarray, share: float) -> None:
    """Add the correction to ``tau`` within its rate limit, and its effect to the prediction."""
    joints, v, work = c.joints, c.vectors, c.workspace
    own = c.vectors.limits
    n, cut = tau.shape[0], 0
    for i in range(n):
        step, law = BRAKING_RATE * joints[i].effort_rate_limit * dt, tau[i] - v.tau_gravity[i]
        kept = v.tau_law[i] + own.push[i] - v.gravity[i]
        residual = law + share * (kept - law)
        residual = min(max(residual, v.published[i] - step), v.published[i] + step)
        tau[i] = v.tau_gravity[i] + residual
        own.cut[i] = residual - kept
        cut |= own.cut[i] != 0.0
    if cut:
        solve(robot, work, own.cut)
    for i in range(n):
        own.pending_qd[i] += dt * (v.acceleration[i] + own.cut[i])


def lower_velocity_limits(joints: ndarray, v: Vectors, dt: float) -> None:
    """Move the velocity limits in force toward those set: at once up, gradually down."""
    for i in range(v.q.shape[0]):
        v.speed_limit[i] = max(joints[i].velocity_limit,
                               v.speed_limit[i] * exp(-dt / VELOCITY_LIMIT_TIME))


def reduce_coupled_efforts(robot: ModelData, work: Workspace, v: Vectors, i: int,
                           excess: float) -> None:
    """
    Lower the efforts of other joints that accelerate joint i, in proportion, toward gravity.

    :param excess: acceleration of joint i beyond its bounds [rad/s² | m/s²].
    """
    own = v.limits
    total = 0.0
    for k in range(v.q.shape[0]):
        residual = v.tau_law[k] - v.gravity[k]
        brought = own.response[k] * residual
        own.cut[k] = 0.0
        if k != i and brought * excess > 0.0:
            total += brought
            own.cut[k] = residual
    if total == 0.0:
        return
    share = min(1.0, excess / total)
    for k in range(v.q.shape[0]):
        own.cut[k] *= share
        v.tau_law[k] -= own.cut[k]
    solve(robot, work, own.cut)
    for k in range(v.q.shape[0]):
        v.acceleration[k] -= own.cut[k]


def finite(tau: ndarray) -> bool:
    """Return whether every effort is a finite number."""
    for i in range(tau.shape[0]):
        if not isfinite(tau[i]):
            return False
    return True


def clamp(joints: ndarray, tau: ndarray) -> bool:
    """Clamp efforts to ``effort_limit``; return whether all of them are finite."""
    for i in range(tau.shape[0]):
        if isfinite(tau[i]) and abs(tau[i]) > joints[i].effort_limit:
            tau[i] = joints[i].effort_limit if tau[i] > 0.0 else -joints[i].effort_limit
    return finite(tau)
