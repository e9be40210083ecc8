# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The quantities as compiled code calls them: plain, unchecked, no allocation.

    τ = M(q) q̈ + C(q, q̇) q̇ + g(q) - Σ Jᵀ wrench

``robot`` is what :func:`~.model_data.parameters` returns, ``work`` what
:func:`~.model_data.workspace` does, for one caller at a time, ``frame`` what
:func:`~.model_data.frame_record` does. Vectors are
(nv,) float64, contiguous, in SI units; the last arguments are written, each an array of its own.
``wrenches`` (nb, 6) are force and moment at the origin of each record's frame, in its axes
(:mod:`~.frame_assignment`); ``base`` (3, 3) is how the base moves, as
:class:`~.model_data.Robot` says.
"""

from .coriolis import coriolis
from .crba import crba
from .derivatives import position_derivative
from .energy import center_of_mass as _center_of_mass
from .energy import kinetic_energy as _kinetic_energy
from .energy import potential_energy as _potential_energy
from .forward_dynamics import forward_dynamics as _forward_dynamics
from .forward_dynamics import ltdl, ltdl_solve
from .friction import friction as _friction
from .joint_transforms import place
from .kinematics import jacobian as _jacobian
from .kinematics import jacobian_rate
from .kinematics import pose as _pose
from .operational_space import task_rates
from .operational_space import task_space as _task_space
from .regressor import regressor as _regressor
from .rnea import rnea
from .velocity_terms import split


def gravity(robot, q, work, tau):
    """Write the efforts that hold the robot still at q: g(q)."""
    loaded_inverse_dynamics(robot, q, work.rest, work.rest, work.unloaded, robot.base, work, tau)


def bias(robot, q, qd, work, tau):
    """Write the efforts of motion without acceleration: C(q, q̇)q̇ + g(q)."""
    loaded_bias(robot, q, qd, work.unloaded, robot.base, work, tau)


def loaded_bias(robot, q, qd, wrenches, base, work, tau):
    """Write the efforts of motion without acceleration, under wrenches, on a base that moves."""
    loaded_inverse_dynamics(robot, q, qd, work.rest, wrenches, base, work, tau)


def inverse_dynamics(robot, q, qd, qdd, work, tau):
    """Write the efforts of a motion."""
    loaded_inverse_dynamics(robot, q, qd, qdd, work.unloaded, robot.base, work, tau)


def loaded_inverse_dynamics(robot, q, qd, qdd, wrenches, base, work, tau):
    """Write the efforts of a motion under external wrenches, on a base that moves."""
    place(robot.bodies, q, work.joints)
    rnea(robot.bodies, base, work.joints, qd, qdd, wrenches, work.bodies, tau)


def mass_matrix(robot, q, work, M):
    """Write M(q) (nv, nv)."""
    place(robot.bodies, q, work.joints)
    crba(robot.bodies, work.joints, work.bodies, M)


def coriolis_matrix(robot, q, qd, work, C):
    """Write C(q, q̇) (nv, nv)."""
    place(robot.bodies, q, work.joints)
    coriolis(robot.bodies, robot.base, work.joints, qd, work.bodies, C)


def velocity_terms(robot, q, work, B, C):
    """Write B(q) (nv, nv (nv - 1) / 2) and C(q) (nv, nv) of the velocity term."""
    place(robot.bodies, q, work.joints)
    B[:], C[:], work.e[:] = 0.0, 0.0, 0.0
    for k in range(q.shape[0]):
        work.e[k] = 1.0
        coriolis(robot.bodies, robot.base, work.joints, work.e, work.bodies, work.C)
        split(k, work.C, B, C)
        work.e[k] = 0.0


def forward_dynamics(robot, q, qd, tau, work, qdd):
    """Write the accelerations that efforts cause."""
    loaded_forward_dynamics(robot, q, qd, tau, work.unloaded, robot.base, work, qdd)


def loaded_forward_dynamics(robot, q, qd, tau, wrenches, base, work, qdd):
    """Write the accelerations that efforts and external wrenches cause."""
    place(robot.bodies, q, work.joints)
    _forward_dynamics(robot.bodies, base, robot.chain, work.joints, qd, tau, work.rest, wrenches,
                      work.bodies, work.M, qdd)


def factored_forward_dynamics(robot, q, qd, tau, work, qdd, M):
    """Write the accelerations under efforts, and the factors of M (:mod:`~.forward_dynamics`)."""
    place(robot.bodies, q, work.joints)
    _forward_dynamics(robot.bodies, robot.base, robot.chain, work.joints, qd, tau, work.rest,
                      work.unloaded, work.bodies, M, qdd)
    for i in range(q.shape[0]):
        for j in range(i + 1, q.shape[0]):
            M[i, j] = 0.0


def solve(robot, work, b):
    """Turn b into M(q)⁻¹ b, with the factors that the last forward dynamics left in ``work``."""
    ltdl_solve(robot.chain, work.M, b)


def loaded_inverse_dynamics_derivatives(robot, q, qd, qdd, wrenches, base, work, dtau_dq, dtau_dqd,
                                        M):
    """Write ∂τ/∂q, ∂τ/∂q̇ and ∂τ/∂q̈ = M(q), (nv, nv) each."""
    loaded_inverse_dynamics(robot, q, qd, qdd, wrenches, base, work, work.b)
    coriolis(robot.bodies, base, work.joints, qd, work.bodies, dtau_dqd)
    position_derivative(robot.bodies, work.joints, work.bodies, dtau_dq)
    dtau_dqd *= 2.0
    crba(robot.bodies, work.joints, work.bodies, M)


def loaded_forward_dynamics_derivatives(robot, q, qd, tau, wrenches, base, work, dqdd_dq, dqdd_dqd,
                                        dqdd_dtau):
    """
    Write ∂q̈/∂q = -M⁻¹ ∂τ/∂q, ∂q̈/∂q̇ = -M⁻¹ ∂τ/∂q̇ and ∂q̈/∂τ = M⁻¹, (nv, nv) each.

    Carpentier and Mansard 2018, eq. 11: the derivatives of τ are those at the q̈ that τ causes.
    """
    loaded_forward_dynamics(robot, q, qd, tau, wrenches, base, work, work.g)
    loaded_inverse_dynamics_derivatives(robot, q, qd, work.g, wrenches, base, work, dqdd_dq,
                                        dqdd_dqd, work.M)
    ltdl(robot.chain, work.M)
    dqdd_dtau[:] = 0.0
    for k in range(q.shape[0]):
        dqdd_dtau[k, k] = 1.0
        ltdl_solve(robot.chain, work.M, dqdd_dtau[k])       # a row: M⁻¹ is symmetric
        for matrix in (dqdd_dq, dqdd_dqd):
            for i in range(q.shape[0]):
                work.b[i] = -matrix[i, k]
            ltdl_solve(robot.chain, work.M, work.b)
            for i in range(q.shape[0]):
                matrix[i, k] = work.b[i]


def pose(robot, frame, q, work, T):
    """Write where a frame is in the frame of the base, (4, 4)."""
    place(robot.bodies, q, work.joints)
    _pose(robot.bodies, work.joints, frame[0], T)


def jacobian(robot, frame, reference, q, work, J):
    """Write the Jacobian of a frame, (6, nv)."""
    place(robot.bodies, q, work.joints)
    _jacobian(robot.bodies, work.joints, frame[0], reference, J)


def jacobian_dot(robot, frame, reference, q, qd, work, Jd):
    """Write the derivative in time of the Jacobian of a frame, (6, nv)."""
    place(robot.bodies, q, work.joints)
    jacobian_rate(robot.bodies, work.joints, frame[0], reference, qd, work.J, Jd)


def task_space(robot, frame, reference, axes, damping, q, qd, work, inertia, velocity, gravity_x):
    """Write M_x (k, k), V_x (k,) and G_x (k,) of chosen axes of a frame."""
    bias(robot, q, qd, work, work.b)
    gravity(robot, q, work, work.g)
    work.b[:] -= work.g
    crba(robot.bodies, work.joints, work.bodies, work.M)
    ltdl(robot.chain, work.M)
    jacobian_rate(robot.bodies, work.joints, frame[0], reference, qd, work.J, work.Jd)
    _task_space(robot.chain, axes, damping, work.M, work.b, work.g, work.J, work.Jd, qd, work.X,
                inertia, velocity, gravity_x)


def task_velocity_terms(robot, frame, reference, axes, damping, q, work, B, C):
    """Write B_x (k, nv (nv - 1) / 2) and C_x (k, nv): V_x = B_x [q̇ q̇] + C_x [q̇²]."""
    k = axes.shape[0]
    B[:], C[:], work.e[:] = 0.0, 0.0, 0.0
    inertia = work.task[:k, :k]
    task_space(robot, frame, reference, axes, damping, q, work.rest, work, inertia,
               work.task[6, :k], work.task[7, :k])
    for i in range(q.shape[0]):
        work.e[i] = 1.0
        coriolis(robot.bodies, robot.base, work.joints, work.e, work.bodies, work.C)
        jacobian_rate(robot.bodies, work.joints, frame[0], reference, work.e, work.J, work.Jd)
        task_rates(robot.chain, axes, work.M, work.C, inertia, work.J, work.Jd, work.b, work.X)
        split(i, work.X, B, C)
        work.e[i] = 0.0


def kinetic_energy(robot, q, qd, work, energy):
    """Write the kinetic energy (1,)."""
    place(robot.bodies, q, work.joints)
    _kinetic_energy(robot.bodies, robot.base, work.joints, qd, work.bodies, energy)


def potential_energy(robot, q, work, energy):
    """Write the potential energy (1,)."""
    place(robot.bodies, q, work.joints)
    _potential_energy(robot.bodies, robot.base, work.joints, work.bodies, energy)


def center_of_mass(robot, q, work, center):
    """Write the common centre of mass (3,)."""
    place(robot.bodies, q, work.joints)
    _center_of_mass(robot.bodies, work.joints, work.bodies, center)


def regressor(robot, q, qd, qdd, work, Y):
    """Write Y (nv, 10 nb) with τ = Y φ."""
    inverse_dynamics(robot, q, qd, qdd, work, work.b)
    _regressor(robot.bodies, robot.axes, robot.origins, work.joints, work.bodies, Y)


def friction(robot, qd, work, tau):
    """Write the efforts that overcome friction."""
    _friction(robot.friction, qd, tau)
