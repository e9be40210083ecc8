# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Speed at which a contact with a body region stays within its force.

Two masses that meet with a spring between them, one at rest: E = μ v²/2 = F²/(2 k), hence

    v <= F_max / √(μ k),    1/μ = 1/m_H + 1/m_R

(ISO/TS 15066:2016, section A.3.6). m_H is the effective mass of the region, m_R that of the robot
at the point of contact in the direction of its motion u: 1/m_R = uᵀ J M⁻¹ Jᵀ u (Khatib, Inertial
properties in robotic manipulation, IJRR 14(1), 1995, equation 6). The specification permits the
rougher m_R = M/2 + m_L instead.
"""

from math import inf, sqrt

from numpy import ndarray, record

from ...dynamics.forward_dynamics import ltdl_solve
from ...dynamics.kinematics import ALIGNED, jacobian
from ...dynamics.model_data import ModelData, Workspace

# Slower points [m/s] hurt nobody, and have no direction
MIN_POINT_SPEED = 1e-6


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
