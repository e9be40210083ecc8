# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Viscous, Coulomb and static joint friction, with presliding and dependence on the load.

f = F_v v + (F_c + (F_s - F_c) exp(-(v/v_s)²) + μ |g|) z: the Stribeck curve as in
Armstrong-Hélouvry, Dupont and Canudas de Wit 1994, section 2. Each direction has its own
coefficients F. Dry friction grows with the effort that the transmission carries, measured by that
of gravity g. The share z, from -1 to 1, is

- tanh(v/v_0), in place of the sign, where the joint has no presliding distance: f is a function
  of the velocity, continuous at rest, and does not make a controller chatter. There is no
  stiction;
- else a state, which depends on the path, not on time: dz/dq = (1 - z sgn q̇)/d (Dahl 1968, with
  the exponent 1). After a reversal the contact is first elastic, with the stiffness F/d, and
  slides after a few distances d.

The motor of a wrist may turn with two joints: its friction, F_v w + F_c tanh(w/v_0) at the speed
w = v_i + r v_j, acts on joint i, and r times on joint j, the next one.
"""

import numpy as np
from numpy import ndarray


def friction(parameters: ndarray, qd: ndarray, tau: ndarray) -> None:
    """
    Write into ``tau`` the efforts that overcome friction without load, with the smooth sign.

    The slope at rest is F_v + F_s/v_0.

    :param parameters: (13, nv) rows F_v, F_c, F_s for v ≥ 0 and for v < 0, v_0, v_s, d, μ, and r,
        F_v, F_c of the motor that turns with the next joint too, r = 0 where none does.
    :param qd: (nv,) [rad/s | m/s].
    :param tau: (nv,) out [N·m | N].
    """
    for i in range(qd.shape[0]):
        v = qd[i]
        k = 0 if v >= 0.0 else 3
        viscous, coulomb, static = parameters[k, i], parameters[k + 1, i], parameters[k + 2, i]
        near = np.exp(-(v / parameters[7, i])**2)
        tau[i] = viscous * v + (coulomb + (static - coulomb) * near) * np.tanh(
            v / parameters[6, i])
    add_coupled_friction(parameters, qd, tau)


def add_coupled_friction(parameters: ndarray, qd: ndarray, tau: ndarray) -> None:
    """Add to ``tau`` (nv,) the friction of motors that turn with two joints."""
    for i in range(qd.shape[0] - 1):
        ratio = parameters[10, i]
        if ratio != 0.0:
            w = qd[i] + ratio * qd[i + 1]
            effort = parameters[11, i] * w + parameters[12, i] * np.tanh(w / parameters[6, i])
            tau[i] += effort
            tau[i + 1] += ratio * effort


def advance_presliding(parameters: ndarray, moved: ndarray, share: ndarray) -> None:
    """
    Advance the states z of the joints that have a presliding distance.

    The differential equation is solved exactly for a motion in one direction.

    :param parameters: (13, nv), see :func:`friction`.
    :param moved: (nv,) change of position since the last call [rad | m].
    :param share: (nv,) z, in and out.
    """
    for i in range(moved.shape[0]):
        if parameters[8, i] > 0.0 and moved[i] != 0.0:
            sign = 1.0 if moved[i] > 0.0 else -1.0
            share[i] = sign + (share[i] - sign) * np.exp(-abs(moved[i]) / parameters[8, i])
            if not abs(share[i]) <= 1.0:        # a number that is not finite must not stay
                share[i] = 0.0


def loaded_friction(parameters: ndarray, qd: ndarray, load: ndarray, share: ndarray,
                    tau: ndarray) -> None:
    """
    Write into ``tau`` the efforts that overcome friction under load.

    :param parameters: (13, nv), see :func:`friction`.
    :param qd: (nv,) [rad/s | m/s].
    :param load: (nv,) efforts of gravity g(q) [N·m | N].
    :param share: (nv,) z of :func:`advance_presliding`; not used of joints without a presliding
        distance.
    :param tau: (nv,) out [N·m | N].
    """
    for i in range(qd.shape[0]):
        v = qd[i]
        z = share[i] if parameters[8, i] > 0.0 else np.tanh(v / parameters[6, i])
        tau[i] = parameters[0 if v >= 0.0 else 3, i] * v + z * dry_friction(
            parameters, i, v, load[i], 0 if z >= 0.0 else 3)
    add_coupled_friction(parameters, qd, tau)


def dry_friction(parameters: ndarray, i: int, v: float, load: float, row: int) -> float:
    """
    Return the dry friction of joint i in sliding, not negative [N·m | N].

    :param parameters: (13, nv), see :func:`friction`.
    :param v: [rad/s | m/s].
    :param load: effort of gravity [N·m | N].
    :param row: 0 forwards, 3 backwards.
    """
    coulomb, static = parameters[row + 1, i], parameters[row + 2, i]
    dry = coulomb + parameters[9, i] * abs(load)
    if static != coulomb:           # many models have no Stribeck curve
        dry += (static - coulomb) * np.exp(-(v / parameters[7, i])**2)
    return dry
