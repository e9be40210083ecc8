# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The control laws: from where the arm is and should be, the effort that takes it there.

Each writes ``v.wanted`` (nv,) [N·m | N] from the :class:`~.dtypes.Vectors` ``v`` and the gains
``joints``. Sources: Siciliano, Sciavicco, Villani, Oriolo, Robotics (2009), section 8.5.
"""

from ..dynamics.friction import friction


def gravity_compensation(v):
    """τ = g(q): the arm floats where it is."""
    for i in range(v.q.shape[0]):
        v.wanted[i] = v.gravity[i]


def pd(joints, v):
    """τ = K (q_r - q) + D (q̇_r - q̇), without any model: it sags under gravity."""
    for i in range(v.q.shape[0]):
        v.wanted[i] = (joints[i].stiffness * (v.target[i] - v.q[i])
                       + joints[i].damping * (v.target_qd[i] - v.qd[i]))


def joint_impedance(joints, v):
    """τ = K (q_r - q) + D (q̇_r - q̇) + g(q) (8.51): a spring-damper around the reference."""
    pd(joints, v)
    for i in range(v.q.shape[0]):
        v.wanted[i] += v.gravity[i]


def computed_torque(inverse_dynamics, robot, work, joints, v):
    """τ = M(q) (q̈_r + k_d (q̇_r - q̇) + k_p (q_r - q)) + C(q, q̇) q̇ + g(q) (8.57), by one RNEA."""
    for i in range(v.q.shape[0]):
        v.acceleration[i] = (v.target_qdd[i]
                             + joints[i].acceleration_kd * (v.target_qd[i] - v.qd[i])
                             + joints[i].acceleration_kp * (v.target[i] - v.q[i]))
    inverse_dynamics(robot, v.q, v.qd, v.acceleration, work, v.wanted)


def friction_compensation(parameters, joints, qd, effort, wanted):
    """
    Add share (f(q̇) + offset) to ``wanted``; f is that of :mod:`robodyn_ros.dynamics.friction`.

    :param parameters: (8, nv) of f; ``qd`` (nv,) [rad/s | m/s] the velocities, see
        :mod:`.friction` for whose; ``effort`` (nv,) becomes f(q̇) [N·m | N].
    """
    friction(parameters, qd, effort)
    for i in range(qd.shape[0]):
        wanted[i] += joints[i].friction_share * (effort[i] + joints[i].friction_offset)
