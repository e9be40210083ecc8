# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Hand guiding: the arm floats within virtual walls while it is enabled, else it holds its pose.

Walls are unilateral springs with dampers, of joints (``wall_lower``, ``wall_upper``) and of the
tool (the planes of the workspace). Beyond one by δ > 0 it pushes with max(0, K δ + D δ̇) and
never pulls: it returns at most the energy K δ²/2 stored in its spring (Colgate and
Brown, Factors affecting the Z-width of a haptic display, ICRA 1994). The dampers of the tool are
critical, D = 2 √(K m) with the mass m that the wall feels, 1/(nᵀ J M⁻¹ Jᵀ n).
"""

from dataclasses import dataclass
from math import inf, sqrt
from typing import Any, NamedTuple

from numpy import ndarray

from .law import Arm, Law
from .pd import ImpedanceGains, joint_impedance, JUDGED
from ..declare import gain, PerJoint
from ...dynamics import entry_points
from ...dynamics.forward_dynamics import ltdl, ltdl_solve
from ...dynamics.kinematics import ALIGNED, jacobian


@dataclass(frozen=True)
class Gains(ImpedanceGains):
    """Damping and walls of an arm that is guided by hand; walls have the gains of the hold."""

    guiding_damping: PerJoint = gain(
        'N·m·s/rad or N·s/m', 0.0, 1e4, 'Damping of hand_guiding.', 0.0)
    wall_lower: PerJoint = gain(
        'rad or m', -1e3, 1e3, 'Lower virtual wall of each joint in hand_guiding.', -inf)
    wall_upper: PerJoint = gain('rad or m', -1e3, 1e3, 'Upper virtual wall.', inf)


class Walls(NamedTuple):
    """Efforts of the walls, and workspace."""

    effort: ndarray         # N·m | N
    row: ndarray            # of the Jacobian, along the normal of a wall
    response: ndarray       # accelerations that a unit force along it causes


def hand_guiding(arm: Arm, gains: Any, memory: Any, tau: ndarray) -> None:
    """Write τ = g(q) - D_g q̇ + walls while a hand guides the arm, else joint impedance."""
    if arm.guided == 0:
        joint_impedance(arm, gains, memory, tau)
        return
    walls = memory.effort
    for i in range(tau.shape[0]):
        tau[i] = arm.gravity[i] - gains.guiding_damping[i] * arm.qd[i]
        walls[i] = joint_wall(arm.q[i], arm.qd[i], gains.wall_lower[i], gains.wall_upper[i],
                              gains.stiffness[i], gains.damping[i])
    if arm.bounds.planes.shape[0] > 0:
        add_tool_walls(arm, memory.row, memory.response, walls)
    share = share_within_limits(arm, walls)
    for i in range(tau.shape[0]):
        tau[i] += share * walls[i]


def joint_wall(q: float, qd: float, lower: float, upper: float, stiffness: float,
               damping: float) -> float:
    """Return the effort of the walls of a joint, 0 between them."""
    if q < lower:
        return max(0.0, stiffness * (lower - q) - damping * qd)
    if q > upper:
        return -max(0.0, stiffness * (q - upper) + damping * qd)
    return 0.0


def add_tool_walls(arm: Arm, row: ndarray, response: ndarray, effort: ndarray) -> None:
    """
    Add the efforts of the walls that the tool is beyond.

    :param row, response: (nv,) workspace.
    """
    bounds, work, n = arm.bounds, arm.workspace, arm.q.shape[0]
    T, J, factored = bounds.pose, work.J, False
    entry_points.pose(arm.robot, bounds.tool, arm.q, work, T)
    for k in range(bounds.planes.shape[0]):
        normal = bounds.planes[k]
        depth = normal[0] * T[0, 3] + normal[1] * T[1, 3] + normal[2] * T[2, 3] - normal[3]
        if depth <= 0.0:
            continue
        if not factored:
            factored = True
            jacobian(arm.robot.bodies, work.joints, bounds.tool[0], ALIGNED, J)
            for i in range(n):
                for j in range(i + 1):
                    work.C[i, j] = work.M[i, j]
            ltdl(arm.robot.elimination_parent, work.C)
        outward, mobility = 0.0, 0.0
        for j in range(n):
            row[j] = normal[0] * J[0, j] + normal[1] * J[1, j] + normal[2] * J[2, j]
            response[j] = row[j]
            outward += row[j] * arm.qd[j]
        ltdl_solve(arm.robot.elimination_parent, work.C, response)
        for j in range(n):
            mobility += row[j] * response[j]
        force = wall_force(depth, outward, bounds.walls[0], mobility)
        for j in range(n):
            effort[j] -= force * row[j]


def wall_force(depth: float, outward: float, stiffness: float, mobility: float) -> float:
    """
    Return the force [N] of a critically damped wall, which pushes only.

    :param depth: [m] beyond the wall; ``outward``: its rate [m/s].
    :param mobility: [1/kg] along the normal; without mobility there is no damping.
    """
    damping = 2.0 * sqrt(stiffness / mobility) if mobility > 1e-9 else 0.0
    return max(0.0, stiffness * depth + damping * outward)


def share_within_limits(arm: Arm, effort: ndarray) -> float:
    """Return the share of the efforts of walls for which g(q) and the limits leave room."""
    share = 1.0
    for i in range(effort.shape[0]):
        room = arm.joints[i].effort_limit - (
            arm.gravity[i] if effort[i] > 0.0 else -arm.gravity[i])
        if share * abs(effort[i]) > room:
            share = max(0.0, room) / abs(effort[i])
    return share


LAW = Law('hand_guiding', hand_guiding,
          equation='τ = g(q) - D_g q̇ + walls while `~/guiding` enables it; else K (q_r - q) + '
                   'D (q̇_r - q̇) + g(q), with q_r the pose at release',
          source='Colgate and Brown, ICRA 1994; Siciliano et al., Robotics, 2009, equation 8.51',
          gains=Gains, memory=Walls, guided=True, judged=(JUDGED,))
