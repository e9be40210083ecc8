# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Compensation of joint friction, added to the effort of any control law.

With a presliding distance d, the share z of dry friction follows a path: that of the reference, or
the measured one, on which a hand that pushes a resting joint deforms its contact. z grows with
this small motion, and so does the compensation, until 1 - share of the friction is left to the
hand.

A measured path is that of the filtered position behind a play (backlash) of PLAY_SHARE d, which
absorbs noise and steps of the encoder: they would make z forget the push, and shake the joint.
Filter and play, like the delay of the loop, let the compensation lag the motion, and a negative
stiffness that lags is a damper. In a cycle of amplitude A the contact dissipates
4 F (A - d tanh(A/d)), which is more than is supplied as long as d is not underestimated by more
than 1 - √share of it, and somewhat further with the lag.

Within the play that lag damps nothing. A joint on its contact is an oscillator of stiffness
k = F_c/d, and where it vibrates on, the contact creeps under any load: an error of the gravity
torque that takes the share z of the friction moves the joint by z mean|q̇| a second, and the
compensation follows. Therefore the measured velocity is damped by

    τ = - b q̇ (1 - z sgn q̇),  b = 2 ζ √(k M_ii),

the damping of the bristles of the LuGre model (Canudas de Wit, Olsson, Åström, Lischinsky, IEEE
Transactions on Automatic Control 40(3), 1995). It vanishes where the joint slides,
z sgn q̇ = 1: a hand does not feel it. With a delay T it damps a vibration of frequency ω by the
share cos(ω T), and would drive it beyond ω T = π/2: ζ falls to zero at ω T = 1.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple, TYPE_CHECKING

from numpy import ndarray

from .acceleration_limits import effective_delay
from ...dynamics.friction import advance_presliding, loaded_friction

if TYPE_CHECKING:
    from .cycle_data import Cycle, Vectors

# Presliding distances, to either side. A wider play leaves more friction to the hand, a narrower
# one lets more noise through.
PLAY_SHARE = 0.15
DAMPING_RATIO = 0.03    # ζ; more turns noise of the velocity into vibration


class Memory(NamedTuple):
    """Elastic friction contacts, (nv,) each."""

    presliding: ndarray     # dry friction relative to that in sliding, -1 to 1: compensated,
    path: ndarray           # measured position behind the play of friction compensation


def begin_path(v: Vectors) -> None:
    """Let the measured path begin at the present position."""
    for i in range(v.q.shape[0]):
        v.friction_compensation.path[i] = v.filtered[i]


def advance_path(parameters: ndarray, v: Vectors, moved: ndarray) -> None:
    """
    Advance the measured path behind its play, and write its motion.

    :param parameters: (13, nv), see :func:`robodyn_ros.dynamics.friction.friction`.
    :param moved: (nv,) out, since the last call [rad | m].
    """
    own = v.friction_compensation
    for i in range(v.q.shape[0]):
        ahead, play = v.filtered[i] - own.path[i], PLAY_SHARE * parameters[8, i]
        moved[i] = ahead - max(-play, min(play, ahead))
        own.path[i] += moved[i]


def friction_compensation(parameters: ndarray, joints: ndarray, qd: ndarray, follows: bool,
                          dt: float, v: Vectors, tau: ndarray) -> None:
    """
    Add a share of the friction f and of its offset to ``tau`` (nv,) [N·m | N].

    f is written to ``v.friction``. Along the reference, which no measurement moves, no limit cycle
    can come of presliding, and at rest the effort that holds against the contact stays. At a
    measured velocity, friction of joints without a presliding distance has the smooth sign, which
    is zero at rest.

    :param parameters: (13, nv), of f: see :func:`robodyn_ros.dynamics.friction.friction`.
    :param qd: (nv,) [rad/s | m/s], of the reference or measured: see :mod:`.friction`.
    :param follows: whether it is that of the reference.
    :param dt: [s], for which ``qd`` has been in force.
    """
    own = v.friction_compensation
    if follows:
        begin_path(v)
        for i in range(qd.shape[0]):
            v.friction[i] = qd[i] * dt
    else:
        advance_path(parameters, v, v.friction)
    advance_presliding(parameters, v.friction, own.presliding)
    loaded_friction(parameters, qd, v.gravity, own.presliding, v.friction)
    for i in range(qd.shape[0]):
        tau[i] += joints[i].friction_compensation * (v.friction[i] + joints[i].friction_offset)


def presliding_damping(c: Cycle, parameters: ndarray, unmeasured: int, tau: ndarray) -> None:
    """
    Add the damping to ``tau`` (nv,) [N·m | N], of joints whose friction is compensated.

    :param parameters: (13, nv), see :func:`robodyn_ros.dynamics.friction.friction`.
    :param unmeasured: index of a joint whose velocity is estimated, which makes it late; -1: none.
    """
    joints, s, v, M = c.joints, c.settings, c.vectors, c.workspace.M
    own = c.vectors.friction_compensation
    lag = s.period + (1.0 / s.velocity_bandwidth if unmeasured >= 0 else 0.0)
    for i in range(tau.shape[0]):
        distance = parameters[8, i]
        if distance > 0.0 and joints[i].friction_compensation > 0.0:
            dry = 0.5 * (parameters[1, i] + parameters[4, i])
            stiffness = (dry + parameters[9, i] * abs(v.gravity[i])) / distance
            delay = lag + effective_delay(s, v, i)
            ratio = DAMPING_RATIO * max(0.0, 1.0 - delay * sqrt(stiffness / M[i, i]))
            slides = own.presliding[i] if v.qd[i] > 0.0 else -own.presliding[i]
            tau[i] -= 2.0 * ratio * sqrt(stiffness * M[i, i]) * v.qd[i] * (1.0 - slides)
