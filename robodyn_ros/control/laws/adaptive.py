# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Adaptive computed torque, which learns the pseudo-inertia of the body that holds the payload.

With e = q_r - q, v = q̇_r + Λ e, a = v̇ and s = v - q̇, the efforts are those of Slotine and Li,
"On the adaptive control of robot manipulators", IJRR 1987:

    τ = M̂(q) a + Ĉ(q, q̇) v + ĝ(q) + D s

C(q, q̇) v is bilinear, and the inverse dynamics f(q, x, a) are quadratic in the velocity x: with
BETA it is M a + C v + g = 2 f(q, q̇ + β₁ s, a) - f(q, q̇ + β₂ s, a). The same combination of the
accelerations of the body's points gives the effort of its estimate P̂ - P₀ (:func:`motion`).

P̂ follows the natural gradient of Lee, Kwon and Park, "A natural adaptive control law for robot
manipulators", IROS 2018, with P̂ = G Gᵀ: Ṗ = P̂ L P̂ / γ, where tr(L P) is the power
of the body's inertial forces at velocities s. A cycle multiplies G by I + ½ Gᵀ L G Δt / γ, whose
second term is at most MAX_FACTOR_STEP: P̂ is positive definite in every cycle.

γ is normalised: efforts of the estimate grow by at most α D s per second. Unlike with a constant
γ no Lyapunov function proves convergence, but near rest the law is at most the PI controller
τ = -D s - α D ∫ s dt, which the gain check judges with the delay of the loop.

P̂ is frozen where all |s| < ``adaptation_deadband``, while the reference rests (integral action
against static friction is a limit cycle, and P̂ would drift), while the limits withhold effort,
and in cycles that are late. It begins with the model, and stays within bounds of it
(:func:`excess`). When another payload is set, the learned part fades as that payload comes into
force, so that P̂ moves straight to the new model. A lasting push on a moving arm looks like a
payload: for contact choose joint_impedance.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Annotated, Any, NamedTuple

from numpy import ndarray

from .disturbance_observer import MAX_CYCLE_INTERVAL
from .law import Arm, Judged, Law, WITHHELD_TOLERANCE
from .pd import DampingGains
from ..declare import gain, PerJoint
from ...dynamics import entry_points
from ...dynamics.coriolis import velocities
from ...dynamics.pseudo_inertia import (  # noqa: I101
    dot4, inertial_wrench, Matrix4, Matrix34, of_body, plus, plus34, point_accelerations,
    point_velocities, power_matrix, read4, scale34, times_transposed, transposed, write4)
from ...dynamics.spatial import joint_effort, wrench_to_parent

# Weights with 2 - 1 = 1, 2 β₁ - β₂ = 1/2 and 2 β₁² - β₂² = 0, which leave C(q, q̇) (q̇ + s)
BETA = (2.0 + sqrt(2.0)) / 4.0, (1.0 + sqrt(2.0)) / 2.0
# Largest change of G in a cycle, relative to G
MAX_FACTOR_STEP = 0.05
# Efforts that are not worth fast learning, in effort limits: about the friction of a joint
NOISE_EFFORT = 0.01
# Least mass [kg] and radius of gyration [m] of the body that the estimate begins with
MIN_MASS, MIN_RADIUS = 1e-3, 0.02
# Shares of the model's mass and moments about the center of mass that the estimate keeps
MIN_MASS_SHARE, MIN_MOMENT_SHARE = 0.5, 0.01
NEGLIGIBLE_SIZE = 1e-12    # kg and m, of an estimate that is refused


@dataclass(frozen=True)
class Gains(DampingGains):
    """Damping, and gains of the adaptation of a payload."""

    adaptive_bandwidth: PerJoint = gain('1/s', 0.0, 1e3, 'Bandwidth Λ of adaptive.')
    adaptation_rate: PerJoint = gain(
        '1/s', 0.0, 20.0, 'Learning rate α of adaptive; 0: off.', 2.0)
    adaptation_deadband: PerJoint = gain(
        'rad/s or m/s', 0.0, 1e3, 'Velocity error below which adaptive does not learn.', 5e-3)
    adaptation_mass: PerJoint = gain(
        'kg', 1e-3, 1e3, "Largest mass that adaptive learns (last joint's value).")
    adaptation_reach: PerJoint = gain(
        'm', 1e-2, 10.0, "Largest distance of a learned payload from its joint (last joint's "
        'value).', 1.0)


class Memory(NamedTuple):
    """State of the law, and arrays that it needs in a cycle."""

    factor: Annotated[ndarray, 16]      # G by rows
    nominal: Annotated[ndarray, 16]     # P₀ by rows: the initial estimate
    clock: Annotated[ndarray, 3]        # time of the last cycle [s], 1 after it, index of the body
    error: ndarray                      # s [rad/s | m/s], less the dead band where P̂ learns
    acceleration: ndarray               # a [rad/s² | m/s²]
    velocity: ndarray                   # of a call of the inverse dynamics [rad/s | m/s]
    effort: ndarray                     # of that call [N·m | N]


def motion(arm: Arm, memory: Any, tau: ndarray) -> Matrix34:
    """
    Write M a + C v + g of the model; return H of the payload's body, whose points have H r̃.

    See the text of the module: the accelerations H r̃ are those that belong to these efforts.
    """
    for i in range(tau.shape[0]):
        memory.velocity[i] = arm.qd[i] + BETA[0] * memory.error[i]
    entry_points.inverse_dynamics(arm.robot, arm.q, memory.velocity, memory.acceleration,
                                  arm.workspace, tau)
    H = scale34(2.0, point_accelerations(arm.workspace.bodies[arm.payload_body]))
    for i in range(tau.shape[0]):
        memory.velocity[i] = arm.qd[i] + BETA[1] * memory.error[i]
    entry_points.inverse_dynamics(arm.robot, arm.q, memory.velocity, memory.acceleration,
                                  arm.workspace, memory.effort)
    for i in range(tau.shape[0]):
        tau[i] = 2.0 * tau[i] - memory.effort[i]
    return plus34(H, -1.0, point_accelerations(arm.workspace.bodies[arm.payload_body]))


def factored(P: Matrix4, mass: float, radius: float) -> Matrix4:
    """
    Return G with P = G Gᵀ, by Cholesky from the last row on: its diagonal has √m and √moments.

    :param mass, radius: least mass [kg] and radius of gyration [m]: of a P with less, or one that
        is not positive definite, the factor is that of another one.
    """
    m = max(P[3][3], mass)
    least, g = m * radius * radius, sqrt(m)
    x, y, z = P[0][3] / g, P[1][3] / g, P[2][3] / g
    xx = sqrt(max(P[0][0] - x * x, least))
    yx, zx = (P[1][0] - y * x) / xx, (P[2][0] - z * x) / xx
    yy = sqrt(max(P[1][1] - y * y - yx * yx, least))
    zy = (P[2][1] - z * y - zx * yx) / yy
    zz = sqrt(max(P[2][2] - z * z - zx * zx - zy * zy, least))
    return (xx, 0.0, 0.0, x), (yx, yy, 0.0, y), (zx, zy, zz, z), (0.0, 0.0, 0.0, g)


def begin(arm: Arm, memory: Any) -> None:
    """Begin with the body of the model, or follow the model to another payload."""
    G = factored(of_body(arm.robot.bodies[arm.payload_body]), MIN_MASS, MIN_RADIUS)
    P = times_transposed(G, G)
    goes_on = memory.clock[1] == 1.0 and memory.clock[2] == arm.payload_body
    same = goes_on
    for i in range(4):
        for j in range(4):
            same = same and memory.nominal[4 * i + j] == P[i][j]
    if same:
        return
    if goes_on:         # the learned part fades by the share of the transition
        before, left = read4(memory.factor), arm.payload_time / (arm.payload_time + arm.dt)
        learned = plus(times_transposed(before, before), -1.0, read4(memory.nominal))
        G = factored(plus(P, left, learned), MIN_MASS, MIN_RADIUS)
    write4(memory.factor, G)
    write4(memory.nominal, P)
    memory.clock[1] = 0.0
    memory.clock[2] = arm.payload_body


def add_estimate(arm: Arm, memory: Any, H: Matrix34, tau: ndarray) -> None:
    """Add the efforts of P̂ - P₀ to ``tau`` (nv,)."""
    G = read4(memory.factor)
    more = plus(times_transposed(G, G), -1.0, read4(memory.nominal))
    bodies, joints = arm.robot.bodies, arm.workspace.joints
    force, moment = inertial_wrench(H, more)
    j = arm.payload_body
    while j < bodies.shape[0]:
        body = bodies[j]
        tau[body.driver] += joint_effort(body, force, moment)
        force, moment = wrench_to_parent(body, joints[j], force, moment)
        j = body.parent


def learns(arm: Arm, memory: Any) -> bool:
    """Return whether the estimate may change in this cycle."""
    if memory.clock[1] == 0.0 or arm.time - memory.clock[0] > MAX_CYCLE_INTERVAL * arm.dt:
        return False
    moves = False
    for i in range(arm.q.shape[0]):
        if abs(arm.withheld[i]) > WITHHELD_TOLERANCE * arm.joints[i].effort_limit:
            return False
        moves = moves or arm.qd_reference[i] != 0.0 or arm.qdd_reference[i] != 0.0
    return moves


def adapt(arm: Arm, gains: Any, memory: Any, H: Matrix34) -> None:
    """Advance the estimate, see the text of the module."""
    power, noise = 0.0, 0.0
    for i in range(arm.q.shape[0]):
        s, dead = memory.error[i], gains.adaptation_deadband[i]
        s = s - dead if s > dead else s + dead if s < -dead else 0.0
        power += gains.adaptation_rate[i] * gains.damping[i] * s * s
        noise += (NOISE_EFFORT * arm.joints[i].effort_limit * s)**2
        memory.error[i] = s
    if not power > 0.0:
        return
    velocities(arm.robot.bodies, arm.robot.base, arm.workspace.joints, memory.error,
               arm.workspace.bodies)
    L = power_matrix(point_velocities(arm.workspace.bodies[arm.payload_body]), H)
    G = read4(memory.factor)
    Gt = transposed(G)
    W = times_transposed(Gt, transposed(times_transposed(L, Gt)))       # Gᵀ L G
    size = dot4(W[0], W[0]) + dot4(W[1], W[1]) + dot4(W[2], W[2]) + dot4(W[3], W[3])
    step = 0.5 * arm.dt * power / (size + noise)
    if step * sqrt(size) > MAX_FACTOR_STEP:
        step = MAX_FACTOR_STEP / sqrt(size)
    new = plus(G, step, times_transposed(G, W))
    mass = gains.adaptation_mass[arm.q.shape[0] - 1]
    reach = gains.adaptation_reach[arm.q.shape[0] - 1]
    nominal = read4(memory.nominal)
    allowed = max(1.0, excess(times_transposed(G, G), nominal, mass, reach))
    if excess(times_transposed(new, new), nominal, mass, reach) <= allowed:    # false for NaN
        write4(memory.factor, new)


def excess(P: Matrix4, nominal: Matrix4, mass: float, reach: float) -> float:
    """
    Return the distance from the nominal pseudo-inertia: at most 1 within the bounds.

    They are the payload's mass, and its second moment as that of this mass at the reach; besides,
    MIN_MASS_SHARE and MIN_MOMENT_SHARE of the nominal body remain.

    :param mass: of the payload [kg]; ``reach``: its distance from the joint [m].
    """
    more = P[3][3] - nominal[3][3]
    second = (P[0][0] + P[1][1] + P[2][2] - nominal[0][0] - nominal[1][1] - nominal[2][2])
    out = max(more / mass, -more / ((1.0 - MIN_MASS_SHARE) * nominal[3][3]),
              second / (mass * reach * reach))
    now = factored(P, NEGLIGIBLE_SIZE, NEGLIGIBLE_SIZE)
    before = factored(nominal, NEGLIGIBLE_SIZE, NEGLIGIBLE_SIZE)
    for k in range(3):
        out = max(out, MIN_MOMENT_SHARE * (before[k][k] / now[k][k])**2)
    return out


def adaptive(arm: Arm, gains: Any, memory: Any, tau: ndarray) -> None:
    """Write τ = M̂(q) a + Ĉ(q, q̇) v + ĝ(q) + D s, and advance the estimate of the payload."""
    for i in range(tau.shape[0]):
        rate = arm.qd_reference[i] - arm.qd[i]
        memory.error[i] = rate + gains.adaptive_bandwidth[i] * (arm.q_reference[i] - arm.q[i])
        memory.acceleration[i] = arm.qdd_reference[i] + gains.adaptive_bandwidth[i] * rate
    H = motion(arm, memory, tau)
    begin(arm, memory)
    add_estimate(arm, memory, H, tau)
    for i in range(tau.shape[0]):
        tau[i] += gains.damping[i] * memory.error[i]
    if learns(arm, memory):
        adapt(arm, gains, memory, H)
    memory.clock[0], memory.clock[1] = arm.time, 1.0


LAW = Law('adaptive', adaptive,
          equation='τ = M̂(q) a + Ĉ(q, q̇) v + ĝ(q) + D s,  v = q̇_r + Λ (q_r - q),  a = v̇,  '
                   's = v - q̇',
          source='Slotine and Li, IJRR 1987; Lee, Kwon and Park, IROS 2018',
          gains=Gains, memory=Memory, exact=True,
          judged=(Judged('', 'damping', reference='adaptive_bandwidth',
                         adaptation='adaptation_rate'),))
