# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Time scaling of references: a motion that would exceed a bound goes on more slowly.

References run on a clock of their own, s, which lags behind the time t of the cycle:

    ds/dt = σ,  q_r(t) = p(s),  q̇_r = σ p'(s),  q̈_r = σ² p''(s) + σ̇ p'(s)

(Dahl and Nielsen, Torque-limited path following by on-line trajectory time scaling, IEEE
Transactions on Robotics and Automation 6(5), 1990). The path stays as planned; only its speed
changes. σ is 1, or the limit of the strictest bound; it falls with the bound, and rises at most at
RECOVERY_RATE. Trajectories and poses share this clock, on which they are also planned, so that one
replaces another without a jump whatever σ is.

Near a boundary the speed toward it is at most APPROACH times the distance d, so that d falls
exponentially and never below zero. Where the permitted speed is nearly zero the motion ends: the
reference rests where it is, and only another one, planned from there, moves the arm again.

A contact with a body region stays within its force: two masses that meet with a spring between
them, one at rest, have E = μ v²/2 = F²/(2 k), hence

    v <= F_max / √(μ k),    1/μ = 1/m_H + 1/m_R

(ISO/TS 15066:2016, section A.3.6). m_H is the effective mass of the region, m_R that of the robot
at the point of contact in the direction of its motion u: 1/m_R = uᵀ J M⁻¹ Jᵀ u (Khatib, Inertial
properties in robotic manipulation, IJRR 14(1), 1995, equation 6). The specification permits the
rougher m_R = M/2 + m_L instead. An arm under a soft law overshoots its reference. The damping

    τ = -λ (1 - σ) M(q) q̇,    λ = BRAKE_RATE_SHARE limit_rate

is added to every law that follows one, with σ the permitted share of its own velocity q̇.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray, record

from .guard import CONTACT_SPEED, NO_REASON, SELF_COLLISION, TOOL_OUTSIDE, TOOL_SPEED
from .robot_dynamics import mass_matrix
from .self_collision import APPROACH_RATE, self_collision_share
from ..algebra import cholesky_solve, damped_cholesky
from ..inputs.task import Bounds, Task
from ...dynamics.forward_dynamics import ltdl, ltdl_solve
from ...dynamics.kinematics import ALIGNED, jacobian, pose
from ...dynamics.model_data import ModelData, Vector3, Workspace
from ...dynamics.spatial import dot, place_joints

if TYPE_CHECKING:
    from .cycle_data import Cycle, Vectors

RECOVERY_RATE = 4.0    # 1/s, of σ
MAX_SCALING_RATE = 50.0    # 1/s, of σ in accelerations of the reference
MIN_SCALING = 0.02    # σ below which a motion toward a boundary ends
SPEED_SHARE = 0.95    # of permitted speeds, so that small overshoots of the arm stay below
# The same of contacts, whose force grows by the efforts of the drives until its peak
CONTACT_SPEED_SHARE = 0.87
MIN_REFERENCE_SPEED = 1e-9    # rad/s | m/s
# Slower points [m/s] are harmless, and have no direction
MIN_POINT_SPEED = 1e-6
# Of `limit_rate`, in the damping of an arm that is too fast for a contact
BRAKE_RATE_SHARE = 0.5
SINGULARITY_DAMPING = 1e-3      # of the mobility, relative to it
#: Fields of the controller state.
STATE = [
    ('lag', float),                 # s, of the clock of the references behind the cycle's
    ('slowing', float),             # 1 less the rate of that clock, see time_scaling.py
    ('slowed_by', np.int64),        # reason code of it
    ('held_by', np.int64),          # reason code of the end of the last motion
    ('holds', np.int64),            # motions that have ended so
]


def advance(m: record, elapsed: float) -> None:
    """Let the clock of the references advance by σ ``elapsed`` [s]."""
    m.lag += m.slowing * elapsed


def reference_time(m: record, now: float) -> float:
    """Return the time of the references [s]."""
    return now - m.lag


def slow_down(c: Cycle, robot: ModelData, elapsed: float) -> None:
    """
    Scale the reference of this cycle, sampled at :func:`reference_time`, to the bounds.

    :param elapsed: since the last cycle [s].
    """
    s, m, v = c.settings, c.controller, c.vectors
    work, task, bounds = c.workspace, c.task, c.bounds
    if m.following == 1 or m.pose_following == 1:
        m.held_by = NO_REASON
    share, reason = inf, NO_REASON
    if s.follows_pose == 1 and moves(task.velocity):
        share, reason = pose_share(c, robot, v.q)
    elif s.follows_pose == 0 and moves(v.target_qd):
        share, reason = joint_share(bounds, robot, work, v.target, v.target_qd)
    before = 1.0 - m.slowing
    sigma = min(1.0, before + RECOVERY_RATE * elapsed)
    m.slowed_by = NO_REASON
    if not share >= sigma:
        sigma, m.slowed_by = share, reason
    if not share >= MIN_SCALING and (reason == TOOL_OUTSIDE or reason == SELF_COLLISION
                                     or share != share):        # NaN ends it as well
        hold(c)
        m.slowed_by, m.held_by = NO_REASON, reason
        m.holds += 1
        return
    slope = (sigma - before) / elapsed if elapsed > 0.0 else 0.0
    scale(v, task, sigma, min(max(slope, -MAX_SCALING_RATE), MAX_SCALING_RATE))
    m.slowing = 1.0 - sigma


def moves(rate: ndarray) -> bool:
    """Return whether any joint of the reference moves."""
    for i in range(rate.shape[0]):
        if abs(rate[i]) > MIN_REFERENCE_SPEED:
            return True
    return False


def scale(v: Vectors, task: Task, sigma: float, slope: float) -> None:
    """Turn velocities and accelerations on the clock of the reference into those of the arm."""
    if sigma == 1.0 and slope == 0.0:
        return
    for i in range(v.q.shape[0]):
        v.target_qdd[i] = sigma * sigma * v.target_qdd[i] + slope * v.target_qd[i]
        v.target_qd[i] *= sigma
    for i in range(6):
        task.acceleration[i] = sigma * sigma * task.acceleration[i] + slope * task.velocity[i]
        task.velocity[i] *= sigma


def hold(c: Cycle) -> None:
    """End the motion of the reference where it is."""
    m, v, task = c.controller, c.vectors, c.task
    m.following, m.pose_following, m.slowing = 0, 0, 0.0
    for i in range(v.q.shape[0]):
        v.target_qd[i] = v.target_qdd[i] = v.target_effort[i] = 0.0
    for i in range(6):
        task.velocity[i] = task.acceleration[i] = 0.0


def joint_share(bounds: Bounds, robot: ModelData, work: Workspace, q: ndarray, rate: ndarray
                ) -> tuple[float, int]:
    """
    Return the share of the velocity ``rate`` at ``q`` that the bounds permit, and the strictest.

    The share may be above 1, and is infinite where nothing bounds the motion.
    """
    share, reason = inf, NO_REASON
    if bounds.planes.shape[0] > 0 or bounds.speed[0] < inf:
        T, J = bounds.pose, work.J
        place_joints(robot.bodies, q, work.joints)
        pose(robot.bodies, work.joints, bounds.tool[0], T)
        jacobian(robot.bodies, work.joints, bounds.tool[0], ALIGNED, J)
        x, y, z = 0.0, 0.0, 0.0
        for j in range(rate.shape[0]):
            x, y, z = x + J[0, j] * rate[j], y + J[1, j] * rate[j], z + J[2, j] * rate[j]
        share, reason = tool_share(bounds, (T[0, 3], T[1, 3], T[2, 3]), (x, y, z))
    if bounds.pairs.shape[0] > 0:
        apart = self_collision_share(bounds, robot, work, q, rate)
        if not apart >= share:
            share, reason = apart, SELF_COLLISION
    if bounds.region.shape[0] > 0:
        factor_inertia(robot, work, q)
        contact = permitted_contact(bounds, robot, work, rate)
        if not contact >= share:
            share, reason = contact, CONTACT_SPEED
    return share, reason


def pose_share(c: Cycle, robot: ModelData, q: ndarray) -> tuple[float, int]:
    """Return the same of a reference pose, with the joints at ``q``: the tool is its frame."""
    work, task, bounds = c.workspace, c.task, c.bounds
    T, velocity = task.target, task.velocity
    share, reason = tool_share(bounds, (T[0, 3], T[1, 3], T[2, 3]),
                               (velocity[0], velocity[1], velocity[2]))
    if bounds.region.shape[0] > 0 or bounds.pairs.shape[0] > 0:
        factor_inertia(robot, work, q)
        velocity_of_joints(robot, work, task, bounds.rate)
    if bounds.pairs.shape[0] > 0:
        apart = self_collision_share(bounds, robot, work, q, bounds.rate)
        if not apart >= share:
            share, reason = apart, SELF_COLLISION
    if bounds.region.shape[0] > 0:
        contact = permitted_contact(bounds, robot, work, bounds.rate)
        if not contact >= share:
            share, reason = contact, CONTACT_SPEED
    return share, reason


def factor_inertia(robot: ModelData, work: Workspace, q: ndarray) -> None:
    """Leave the factors of M(q) in ``work.C``, and the joints placed at ``q``."""
    mass_matrix(robot, q, work, work.C)
    ltdl(robot.elimination_parent, work.C)
    place_joints(robot.bodies, q, work.joints)


def permitted_contact(bounds: Bounds, robot: ModelData, work: Workspace, rate: ndarray) -> float:
    """Return the share of ``rate`` with which no point of the arm hits too hard."""
    share = inf
    for k in range(bounds.points.shape[0]):
        one = CONTACT_SPEED_SHARE * contact_share(robot, work, bounds.points[k], bounds.region,
                                                  rate, bounds.vector[0], bounds.vector[1])
        if not one >= share:
            share = one
    return share


def permitted_speed(force: float, stiffness: float, mass: float, mobility: float) -> float:
    """
    Return the greatest speed [m/s] of a contact.

    :param force: [N], that of the region; ``stiffness`` [N/m]; ``mass`` [kg] m_H.
    :param mobility: [1/kg] 1/m_R.
    """
    return force * sqrt((1.0 / mass + mobility) / stiffness)


def contact_share(robot: ModelData, work: Workspace, point: record, region: ndarray, rate: ndarray,
                  row: ndarray, response: ndarray) -> float:
    """
    Return the permitted speed of a point of the arm over its speed, infinite at rest.

    :param work: with the joints placed, and the factors of M in ``C``; ``J`` is overwritten.
    :param point: record ``FRAME``, whose origin it is.
    :param region: (3,) force, stiffness and mass.
    :param rate: (nv,) velocity of the joints [rad/s | m/s].
    :param row, response: (nv,) workspace.
    """
    J, n = work.J, rate.shape[0]
    jacobian(robot.bodies, work.joints, point, ALIGNED, J)
    x, y, z = 0.0, 0.0, 0.0
    for j in range(n):
        x, y, z = x + J[0, j] * rate[j], y + J[1, j] * rate[j], z + J[2, j] * rate[j]
    speed = sqrt(x * x + y * y + z * z)
    if speed < MIN_POINT_SPEED:
        return inf
    for j in range(n):
        row[j] = response[j] = (x * J[0, j] + y * J[1, j] + z * J[2, j]) / speed
    ltdl_solve(robot.elimination_parent, work.C, response)
    mobility = 0.0
    for j in range(n):
        mobility += row[j] * response[j]
    return permitted_speed(region[0], region[1], region[2], mobility) / speed


def tool_share(bounds: Bounds, p: Vector3, velocity: Vector3) -> tuple[float, int]:
    """Return the share of the velocity of the tool at ``p`` that its bounds permit."""
    share, reason = inf, NO_REASON
    speed = sqrt(dot(velocity, velocity))
    if SPEED_SHARE * bounds.speed[0] < speed:
        share, reason = SPEED_SHARE * bounds.speed[0] / speed, TOOL_SPEED
    for k in range(bounds.planes.shape[0]):
        n = bounds.planes[k, 0], bounds.planes[k, 1], bounds.planes[k, 2]
        outward, distance = dot(n, velocity), bounds.planes[k, 3] - dot(n, p)
        if outward > MIN_REFERENCE_SPEED and not APPROACH_RATE * distance >= share * outward:
            share, reason = max(0.0, APPROACH_RATE * distance / outward), TOOL_OUTSIDE
    return share, reason


def velocity_of_joints(robot: ModelData, work: Workspace, task: Task, rate: ndarray) -> None:
    """
    Write the velocity (nv,) of least kinetic energy with which the frame follows its reference.

    M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹ ẋ (Khatib 1987, equation 50), damped at singular poses.

    :param work: from :func:`factor_inertia`.
    """
    J, X, A, x = task.jacobian, work.X, task.scratch[0], task.vector[0]
    for r in range(6):
        for j in range(rate.shape[0]):
            X[r, j] = J[r, j]
        ltdl_solve(robot.elimination_parent, work.C, X[r])
        x[r] = task.velocity[r]
    for r in range(6):
        for c in range(6):
            A[r, c] = 0.0
            for j in range(rate.shape[0]):
                A[r, c] += J[r, j] * X[c, j]
    damped_cholesky(A, SINGULARITY_DAMPING, task.scratch[1])
    cholesky_solve(task.scratch[1], x)
    for j in range(rate.shape[0]):
        rate[j] = 0.0
        for r in range(6):
            rate[j] += X[r, j] * x[r]


def brake(c: Cycle, robot: ModelData, tau: ndarray) -> None:
    """Add the damping to the efforts ``tau`` (nv,) [N·m | N] of a law."""
    s, v, work, bounds = c.settings, c.vectors, c.workspace, c.bounds
    if bounds.region.shape[0] == 0 or not moves(v.qd):
        return
    factor_inertia(robot, work, v.q)
    share = permitted_contact(bounds, robot, work, v.qd)
    if share < 1.0:
        for i in range(tau.shape[0]):
            tau[i] -= BRAKE_RATE_SHARE * s.limit_rate * (1.0 - share) * v.momentum[i]
