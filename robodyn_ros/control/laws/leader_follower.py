# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Leader and follower: two arms that are coupled by a spring and a damper, each of which it moves.

Each arm is held at the mean of both by the joint impedance K, D, that is, by half of it at the
other one, x_p: the force that acts on one arm acts on the other one too. With the delays of the
link the coupling is passive if part of the damping is to the ground (Lee and Spong, "Passive
bilateral teleoperation with constant time delay", IEEE Transactions on Robotics 22(2), 2006,
equations 7 and 21):

    τ = k (x_p - x) + d (ẋ_p - ẋ) - b ẋ + g(q),   k = K/2,   d + b = D/2,   b = k T/2

with T, the sum of the delays of both directions, ``coupling_delay``. K and D are the lower ones of
both arms.

Their proof is for constant delays. Therefore each arm observes the energy that both have given to
the coupling, less that of the spring (passivity observer: Hannaford and Ryu, "Time-domain
passivity control of haptic interfaces", IEEE Transactions on Robotics and Automation 18(1), 2002;
its sum over sampled displacements is exact for efforts that are held: Ryu, Preusche, Hannaford and
Hirzinger, IEEE Transactions on Control Systems Technology 13(2), 2005). Where more has come out
than went in, ẋ_p fades out of the law: a spring and a damper to the ground remain, which
is passive with varying delays too (Nuño, Basañez, Ortega and Spong, "Position tracking for
non-linear teleoperators with variable time delay", International Journal of Robotics Research
28(7), 2009). What was dissipated long ago does not count: the observed surplus is bounded by
MAX_ENERGY_RESERVE.

The arms begin in different poses: the follower adds its deviation to its position, x = q + δ, and
lets it decay at ``coupling_speed``. Until it is aligned the leader is held where it was.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from numpy import ndarray

from .law import Arm, Law, PARTNER
from .pd import ImpedanceGains, JUDGED
from ..declare import gain, PerJoint
from ..inputs.partner import ALIGNED, DAMPING, ENERGY, POSITION, STIFFNESS, VELOCITY

FADE_TIME = 0.25    # s, at the start and end of the coupling, and at the end of the alignment
ALIGNED_TIME = 5e-3    # s of motion at coupling_speed; then the alignment ends
HOLD_SHARE = 0.25    # of K and D that holds the leader until the follower is aligned
MAX_LAG_TIME = 0.5    # s of motion at coupling_speed, of the arm behind its alignment
# J per N·m or N of the effort limit: energy that may come out of the coupling before the observer
# acts, because the partner is known late; and that which is remembered
MAX_ENERGY_DEFICIT, MAX_ENERGY_RESERVE = 5e-3, 2e-2
OBSERVER_FADE_TIME = 0.05    # s, of the velocity of the partner, when the observer acts


@dataclass(frozen=True)
class Gains(ImpedanceGains):
    """Gains of joint impedance, and of the coupling."""

    coupling_delay: PerJoint = gain(
        's', 0.0, 0.5, 'Round-trip delay up to which leader_follower is passive.', 0.03)
    coupling_speed: PerJoint = gain(
        'rad/s or m/s', 1e-3, 10.0, 'Speed of the follower to the pose of the leader.', 0.2)


class Memory(NamedTuple):
    """State of the law."""

    began: ndarray      # 1 after the first cycle, of the law and of the coupling
    coupled: ndarray
    held: ndarray       # position that is held without a partner [rad | m]
    hold: ndarray       # share of the joint impedance that holds it, 0 to 1
    share: ndarray      # of the coupling, 0 to 1
    deviation: ndarray  # δ [rad | m]
    easing: ndarray     # share of coupling_speed, 0 to 1
    position: ndarray   # x and ẋ of the last cycle [rad | m, per s]
    velocity: ndarray
    effort: ndarray     # of the coupling in the last cycle [N·m | N]
    energy: ndarray     # given to the coupling by this arm [J]
    reported: ndarray   # by the other one, as last reported [J]
    stored: ndarray     # in the spring [J]
    surplus: ndarray    # observed: given to the coupling and not stored [J]
    velocity_share: ndarray     # of the velocity of the partner in the law, 0 to 1


def leader_follower(arm: Arm, gains: Any, memory: Any, tau: ndarray) -> None:
    """Write the efforts (nv,) of the module; without a partner joints are held where they were."""
    for i in range(tau.shape[0]):
        if memory.began[i] == 0.0:
            memory.held[i], memory.hold[i] = arm.q[i], 1.0
            memory.began[i] = memory.velocity_share[i] = 1.0
        tau[i] = arm.gravity[i]
        if arm.coupled == 1 and arm.partner.rows[STIFFNESS, i] > 0.0:
            tau[i] += coupling_effort(arm, gains, memory, i)
        tau[i] += memory.hold[i] * (gains.stiffness[i] * (memory.held[i] - arm.q[i])
                                    - gains.damping[i] * arm.qd[i])


def coupling_effort(arm: Arm, gains: Any, memory: Any, i: int) -> float:
    """Return the effort [N·m | N] of spring and damper between joint ``i`` and its partner."""
    rows, step = arm.partner.rows, arm.dt / FADE_TIME
    stiffness = 0.5 * min(gains.stiffness[i], rows[STIFFNESS, i])
    damping = 0.5 * min(gains.damping[i], rows[DAMPING, i])
    to_ground = min(0.5 * gains.coupling_delay[i] * stiffness, damping)
    speed = align(arm, gains, memory, i)
    x, velocity = arm.q[i] + memory.deviation[i], arm.qd[i] + speed
    error, memory.velocity[i] = rows[POSITION, i] - x, velocity
    memory.share[i] = toward(memory.share[i], 1.0, step)
    observe(arm, memory, x, 0.5 * memory.share[i] * stiffness * error * error, i)
    memory.effort[i] = memory.share[i] * (
        stiffness * error - damping * velocity
        + memory.velocity_share[i] * (damping - to_ground) * rows[VELOCITY, i])
    return memory.effort[i]


def align(arm: Arm, gains: Any, memory: Any, i: int) -> float:
    """
    Begin the coupling of joint ``i``, or advance its deviation; return its rate [rad/s | m/s].

    The deviation waits for an arm that lags behind it, because something is in its way: the
    further, the slower.
    """
    header, rows = arm.partner.header[0], arm.partner.rows
    follows = header.follows == 1
    if memory.coupled[i] == 0.0:
        memory.coupled[i] = 1.0
        memory.deviation[i] = rows[POSITION, i] - arm.q[i] if follows else 0.0
        memory.position[i] = arm.q[i] + memory.deviation[i]
        memory.reported[i] = rows[ENERGY, i]
    held = 0.0 if follows or header.status == ALIGNED else HOLD_SHARE
    memory.hold[i] = toward(memory.hold[i], held, arm.dt / FADE_TIME)
    if memory.hold[i] > held or arm.dt <= 0.0:
        memory.easing[i] = 0.0
        return 0.0
    memory.easing[i] = toward(memory.easing[i], 1.0, arm.dt / FADE_TIME)
    before, fastest = memory.deviation[i], gains.coupling_speed[i]
    if abs(before) <= ALIGNED_TIME * fastest:
        memory.deviation[i] = 0.0
        return 0.0
    lag = abs(rows[POSITION, i] - arm.q[i] - before) / (MAX_LAG_TIME * fastest)
    speed = memory.easing[i] * max(0.0, 1.0 - lag) * min(fastest, abs(before) / FADE_TIME)
    memory.deviation[i] = toward(before, 0.0, speed * arm.dt)
    return (memory.deviation[i] - before) / arm.dt


def observe(arm: Arm, memory: Any, x: float, stored: float, i: int) -> None:
    """
    Advance the passivity observer of joint ``i``, and the share of the velocity of the partner.

    :param x: position of the joint in the coupling [rad | m].
    :param stored: energy of the spring [J].
    """
    limit, reported = arm.joints[i].effort_limit, arm.partner.rows[ENERGY, i]
    given = (arm.withheld[i] - memory.effort[i]) * (x - memory.position[i])
    memory.energy[i] += given
    memory.surplus[i] = min(MAX_ENERGY_RESERVE * limit, memory.surplus[i] + given + reported
                            - memory.reported[i] + memory.stored[i] - stored)
    memory.position[i], memory.reported[i], memory.stored[i] = x, reported, stored
    memory.velocity_share[i] = toward(
        memory.velocity_share[i], 0.0 if memory.surplus[i] < -MAX_ENERGY_DEFICIT * limit else 1.0,
        arm.dt / OBSERVER_FADE_TIME)


def toward(value: float, target: float, step: float) -> float:
    """Return a value that has moved toward a target by a step at most."""
    return min(target, value + step) if value < target else max(target, value - step)


LAW = Law('leader_follower', leader_follower,
          equation='τ = ½ K (x_p - x) + (½ D - b) (ẋ_p - ẋ) - b ẋ + g(q),  b = ¼ K T: '
                   'joint impedance about the mean of both arms',
          source='Lee and Spong, IEEE Transactions on Robotics 22(2), 2006; '
                 'Hannaford and Ryu, IEEE Transactions on Robotics and Automation 18(1), 2002',
          gains=Gains, memory=Memory, reference=PARTNER, judged=(JUDGED,))
