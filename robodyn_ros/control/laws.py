# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Control laws: the effort that takes the arm from its state to its reference.

Each writes ``v.tau_law`` (nv,) [N·m | N], including g(q) where the law has it, from state,
reference and gravity in ``v`` (:class:`~.dtypes.Vectors`) and the gains in ``joints`` ((nv,)
``JOINT``). Equation numbers are those of Siciliano, Sciavicco, Villani and Oriolo, Robotics:
Modelling, Planning and Control, 2009, section 8.5.
"""

from collections.abc import Callable

from numpy import ndarray

from ..dynamics.friction import friction
from ..dynamics.model_data import ModelData, Workspace
from .dtypes import Vectors


def gravity_compensation(v: Vectors) -> None:
    """Write τ = g(q): the arm floats where it is."""
    for i in range(v.q.shape[0]):
        v.tau_law[i] = v.gravity[i]


def pd(joints: ndarray, v: Vectors) -> None:
    """Write τ = K (q_r - q) + D (q̇_r - q̇): independent of any model, it sags under gravity."""
    for i in range(v.q.shape[0]):
        v.tau_law[i] = (joints[i].stiffness * (v.target[i] - v.q[i])
                        + joints[i].damping * (v.target_qd[i] - v.qd[i]))


def joint_impedance(joints: ndarray, v: Vectors) -> None:
    """Write τ = K (q_r - q) + D (q̇_r - q̇) + g(q) (8.51): a spring-damper about the reference."""
    pd(joints, v)
    for i in range(v.q.shape[0]):
        v.tau_law[i] += v.gravity[i]


def computed_torque(inverse_dynamics: Callable[..., None], robot: ModelData, work: Workspace,
                    joints: ndarray, v: Vectors) -> None:
    """
    Write τ = M(q) (q̈_r + k_d (q̇_r - q̇) + k_p (q_r - q)) + C(q, q̇) q̇ + g(q) (8.57), by RNEA.

    :param inverse_dynamics: of :mod:`robodyn_ros.dynamics.entry_points`, with its parameters
        ``robot`` and ``work``.
    """
    for i in range(v.q.shape[0]):
        v.acceleration[i] = (v.target_qdd[i]
                             + joints[i].acceleration_kd * (v.target_qd[i] - v.qd[i])
                             + joints[i].acceleration_kp * (v.target[i] - v.q[i]))
    inverse_dynamics(robot, v.q, v.qd, v.acceleration, work, v.tau_law)


def friction_compensation(parameters: ndarray, joints: ndarray, qd: ndarray, effort: ndarray,
                          tau: ndarray) -> None:
    """
    Add a share of the friction f(q̇) and of its offset to ``tau`` (nv,) [N·m | N].

    :param parameters: (8, nv), of f: see :func:`robodyn_ros.dynamics.friction.friction`.
    :param qd: (nv,) [rad/s | m/s], of the reference or measured: see :mod:`.friction`.
    :param effort: (nv,) [N·m | N] receives f(q̇).
    """
    friction(parameters, qd, effort)
    for i in range(qd.shape[0]):
        tau[i] += joints[i].friction_compensation * (effort[i] + joints[i].friction_offset)
