# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Compensation of joint friction, added to the effort of any control law.

With a presliding distance d, the share z of dry friction follows a path: that of the reference, or
the measured one, on which a hand that pushes a resting joint deforms its contact. z grows with
this small motion, and so does the compensation, until 1 - share of the friction is left to the
hand.

A measured path is that of the filtered position behind a play (backlash) of PLAY d. Within it,
noise and steps of the encoder move nothing: else they would make z forget the push, and shake the
joint. Filter and play, like the delay of the loop, let the compensation lag the motion, and a
negative stiffness that lags is a damper. In a cycle of amplitude A the contact dissipates
4 F (A - d tanh(A/d)), which is more than is supplied as long as d is not underestimated by more
than 1 - √share of it, and somewhat further with the lag.
"""

from numpy import ndarray

from ..dynamics.friction import advance_presliding, loaded_friction
from .dtypes import Vectors

# Of the presliding distance, to either side. A wider play leaves more of the friction to the
# hand, a narrower one lets more noise through.
PLAY = 0.15


def begin_path(v: Vectors) -> None:
    """Let the measured path begin at the present position."""
    for i in range(v.q.shape[0]):
        v.path[i] = v.filtered[i]


def advance_path(parameters: ndarray, v: Vectors, moved: ndarray) -> None:
    """
    Advance the measured path behind its play, and write its motion.

    :param parameters: (13, nv), see :func:`robodyn_ros.dynamics.friction.friction`.
    :param moved: (nv,) out, since the last call [rad | m].
    """
    for i in range(v.q.shape[0]):
        ahead, play = v.filtered[i] - v.path[i], PLAY * parameters[8, i]
        moved[i] = ahead - max(-play, min(play, ahead))
        v.path[i] += moved[i]


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
    if follows:
        begin_path(v)
        for i in range(qd.shape[0]):
            v.friction[i] = qd[i] * dt
    else:
        advance_path(parameters, v, v.friction)
    advance_presliding(parameters, v.friction, v.presliding)
    loaded_friction(parameters, qd, v.gravity, v.presliding, v.friction)
    for i in range(qd.shape[0]):
        tau[i] += joints[i].friction_compensation * (v.friction[i] + joints[i].friction_offset)
