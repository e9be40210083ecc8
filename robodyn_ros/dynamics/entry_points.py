# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Entry points of compiled code: every quantity as a function without checks or allocations.

    τ = M(q) q̈ + C(q, q̇) q̇ + g(q) - Σ Jᵀ wrench

``robot`` comes from :func:`~.model_data.parameters`, ``work`` from
:func:`~.model_data.workspace`, for one caller at a time, ``frame`` from
:func:`~.model_data.frame_record`. Vectors are (nv,) float64, contiguous, in SI units; the last
arguments are outputs, which must not overlap other arguments. ``wrenches`` (nb, 6) are force and
moment at the origin of each record frame, in its axes (:mod:`~.model_data`); ``base``
(3, 3) is the motion of the base as in :class:`~.model_data.ModelData`. From :data:`TABLE` the
kernels of one robot and the batches are made.
"""

from typing import NamedTuple

from numpy import ndarray

from .coriolis import add_velocity_terms, coriolis, position_derivative
from .forward_dynamics import (
    crba, forward_dynamics as _forward_dynamics, ltdl, ltdl_solve, task_coriolis_matrix,
    task_space as _task_space)
from .friction import friction as _friction
from .kinematics import (
    center_of_mass as _center_of_mass, jacobian as _jacobian, jacobian_rate,
    kinetic_energy as _kinetic_energy, pose as _pose, pose_and_jacobian as _pose_and_jacobian,
    potential_energy as _potential_energy)
from .model_data import ModelData, Workspace
from .rnea import regressor as _regressor, rnea
from .spatial import place_joints


class Quantity(NamedTuple):
    """
    Inputs, options and outputs of the function that computes a quantity.

    :param inputs: names of the joint vectors (nv,).
    :param outputs: symbolic shapes of the arrays that are written, see
        :func:`~.model_data.dimensions`; k is the number of task axes.
    :param options: arguments that are built into a kernel of one robot.
    :param takes_external_wrench: whether there is a variant with wrenches and a moving base.
    :param needs_full_inertia: whether the result depends on inertial parameters that have no
        effect on the motion of the joints.
    :param inverts_mass_matrix: whether the mass matrix has to be positive definite.
    """

    inputs: tuple[str, ...]
    outputs: dict[str, tuple[str, ...]]
    options: tuple[str, ...] = ()
    takes_external_wrench: bool = False
    needs_full_inertia: bool = False
    inverts_mass_matrix: bool = False

    def entry_point(self, name: str) -> str:
        """Return the name of the function for the quantity ``name``."""
        return f'{name}_with_wrenches' if self.takes_external_wrench else name


MOTION_ARGUMENTS, FRAME_ARGUMENTS = ('q', 'qd', 'qdd'), ('frame', 'reference')

QUANTITIES = {
    'inverse_dynamics': Quantity(MOTION_ARGUMENTS, {'tau': ('nv',)}, takes_external_wrench=True),
    'gravity': Quantity(('q',), {'tau': ('nv',)}),
    'bias': Quantity(('q', 'qd'), {'tau': ('nv',)}, takes_external_wrench=True),
    'mass_matrix': Quantity(('q',), {'M': ('nv', 'nv')}),
    'coriolis_matrix': Quantity(('q', 'qd'), {'C': ('nv', 'nv')}),
    'velocity_terms': Quantity(('q',), {'B': ('nv', 'pairs'), 'C': ('nv', 'nv')}),
    'forward_dynamics': Quantity(('q', 'qd', 'tau'), {'qdd': ('nv',)},
                                 takes_external_wrench=True, inverts_mass_matrix=True),
    'inverse_dynamics_derivatives': Quantity(
        MOTION_ARGUMENTS, {'dtau_dq': ('nv', 'nv'), 'dtau_dqd': ('nv', 'nv'), 'M': ('nv', 'nv')},
        takes_external_wrench=True),
    'forward_dynamics_derivatives': Quantity(
        ('q', 'qd', 'tau'),
        {'dqdd_dq': ('nv', 'nv'), 'dqdd_dqd': ('nv', 'nv'), 'dqdd_dtau': ('nv', 'nv')},
        takes_external_wrench=True, inverts_mass_matrix=True),
    'pose': Quantity(('q',), {'T': ('4', '4')}, ('frame',)),
    'jacobian': Quantity(('q',), {'J': ('6', 'nv')}, FRAME_ARGUMENTS),
    'jacobian_dot': Quantity(('q', 'qd'), {'Jd': ('6', 'nv')}, FRAME_ARGUMENTS),
    'task_space': Quantity(
        ('q', 'qd'), {'inertia': ('k', 'k'), 'velocity': ('k',), 'gravity': ('k',)},
        (*FRAME_ARGUMENTS, 'axes', 'damping'), inverts_mass_matrix=True),
    'task_velocity_terms': Quantity(
        ('q',), {'B': ('k', 'pairs'), 'C': ('k', 'nv')},
        (*FRAME_ARGUMENTS, 'axes', 'damping'), inverts_mass_matrix=True),
    'kinetic_energy': Quantity(('q', 'qd'), {'energy': ('1',)}),
    'potential_energy': Quantity(('q',), {'energy': ('1',)}, needs_full_inertia=True),
    'center_of_mass': Quantity(('q',), {'center': ('3',)}, needs_full_inertia=True),
    'regressor': Quantity(MOTION_ARGUMENTS, {'Y': ('nv', '10nb')}),
    'friction': Quantity(('qd',), {'tau': ('nv',)}),
}
# For compiled callers only: forward dynamics with the factors of M that `entry_points.solve`
# takes; pose and Jacobian, in the axes of the base, at once
COMBINED = {
    'factored_forward_dynamics': Quantity(
        ('q', 'qd', 'tau'), {'qdd': ('nv',), 'M': ('nv', 'nv')}, inverts_mass_matrix=True),
    'pose_and_jacobian': Quantity(('q',), {'T': ('4', '4'), 'J': ('6', 'nv')}, ('frame',))}
TABLE = QUANTITIES | COMBINED


def gravity(robot: ModelData, q: ndarray, work: Workspace, tau: ndarray) -> None:
    """Write the efforts that hold the robot still at q: g(q)."""
    inverse_dynamics_with_wrenches(robot, q, work.rest, work.rest, work.unloaded, robot.base, work,
                                   tau)


def bias(robot: ModelData, q: ndarray, qd: ndarray, work: Workspace, tau: ndarray) -> None:
    """Write the efforts of motion without acceleration: C(q, q̇)q̇ + g(q)."""
    bias_with_wrenches(robot, q, qd, work.unloaded, robot.base, work, tau)


def bias_with_wrenches(robot: ModelData, q: ndarray, qd: ndarray, wrenches: ndarray, base: ndarray,
                       work: Workspace, tau: ndarray) -> None:
    """Write the efforts of motion without acceleration, with wrenches and a moving base."""
    inverse_dynamics_with_wrenches(robot, q, qd, work.rest, wrenches, base, work, tau)


def inverse_dynamics(robot: ModelData, q: ndarray, qd: ndarray, qdd: ndarray, work: Workspace,
                     tau: ndarray) -> None:
    """Write the efforts of a motion."""
    inverse_dynamics_with_wrenches(robot, q, qd, qdd, work.unloaded, robot.base, work, tau)


def inverse_dynamics_with_wrenches(robot: ModelData, q: ndarray, qd: ndarray, qdd: ndarray,
                                   wrenches: ndarray, base: ndarray, work: Workspace, tau: ndarray
                                   ) -> None:
    """Write the efforts of a motion, with external wrenches and a moving base."""
    place_joints(robot.bodies, q, work.joints)
    rnea(robot.bodies, base, work.joints, qd, qdd, wrenches, work.bodies, tau)


def mass_matrix(robot: ModelData, q: ndarray, work: Workspace, M: ndarray) -> None:
    """Write M(q) (nv, nv)."""
    place_joints(robot.bodies, q, work.joints)
    crba(robot.bodies, work.joints, work.bodies, M)


def coriolis_matrix(robot: ModelData, q: ndarray, qd: ndarray, work: Workspace, C: ndarray
                    ) -> None:
    """Write C(q, q̇) (nv, nv)."""
    place_joints(robot.bodies, q, work.joints)
    coriolis(robot.bodies, robot.base, work.joints, qd, work.bodies, C)


def velocity_terms(robot: ModelData, q: ndarray, work: Workspace, B: ndarray, C: ndarray) -> None:
    """Write B(q) (nv, nv (nv - 1) / 2) and C(q) (nv, nv) of the velocity term."""
    place_joints(robot.bodies, q, work.joints)
    B[:], C[:], work.e[:] = 0.0, 0.0, 0.0
    for k in range(q.shape[0]):
        work.e[k] = 1.0
        coriolis(robot.bodies, robot.base, work.joints, work.e, work.bodies, work.C)
        add_velocity_terms(k, work.C, B, C)
        work.e[k] = 0.0


def forward_dynamics(robot: ModelData, q: ndarray, qd: ndarray, tau: ndarray, work: Workspace,
                     qdd: ndarray) -> None:
    """Write the accelerations under efforts."""
    forward_dynamics_with_wrenches(robot, q, qd, tau, work.unloaded, robot.base, work, qdd)


def forward_dynamics_with_wrenches(robot: ModelData, q: ndarray, qd: ndarray, tau: ndarray,
                                   wrenches: ndarray, base: ndarray, work: Workspace, qdd: ndarray
                                   ) -> None:
    """Write the accelerations under efforts and external wrenches, on a moving base."""
    place_joints(robot.bodies, q, work.joints)
    _forward_dynamics(robot.bodies, base, robot.elimination_parent, work.joints, qd, tau,
                      work.rest, wrenches, work.bodies, work.M, qdd)


def factored_forward_dynamics(robot: ModelData, q: ndarray, qd: ndarray, tau: ndarray,
                              work: Workspace, qdd: ndarray, M: ndarray) -> None:
    """Write the accelerations under efforts, and the factors of M (:mod:`~.forward_dynamics`)."""
    place_joints(robot.bodies, q, work.joints)
    _forward_dynamics(robot.bodies, robot.base, robot.elimination_parent, work.joints, qd, tau,
                      work.rest, work.unloaded, work.bodies, M, qdd)
    for i in range(q.shape[0]):
        for j in range(i + 1, q.shape[0]):
            M[i, j] = 0.0


def solve(robot: ModelData, work: Workspace, b: ndarray) -> None:
    """Replace b by M(q)⁻¹ b, with the factors that the last forward dynamics left in ``work``."""
    ltdl_solve(robot.elimination_parent, work.M, b)


def inverse_dynamics_derivatives_with_wrenches(
        robot: ModelData, q: ndarray, qd: ndarray, qdd: ndarray, wrenches: ndarray,
        base: ndarray, work: Workspace, dtau_dq: ndarray, dtau_dqd: ndarray, M: ndarray) -> None:
    """Write ∂τ/∂q, ∂τ/∂q̇ and ∂τ/∂q̈ = M(q), (nv, nv) each."""
    inverse_dynamics_with_wrenches(robot, q, qd, qdd, wrenches, base, work, work.b)
    coriolis(robot.bodies, base, work.joints, qd, work.bodies, dtau_dqd)
    position_derivative(robot.bodies, work.joints, work.bodies, dtau_dq)
    dtau_dqd *= 2.0
    crba(robot.bodies, work.joints, work.bodies, M)


def forward_dynamics_derivatives_with_wrenches(
        robot: ModelData, q: ndarray, qd: ndarray, tau: ndarray, wrenches: ndarray,
        base: ndarray, work: Workspace, dqdd_dq: ndarray, dqdd_dqd: ndarray,
        dqdd_dtau: ndarray) -> None:
    """
    Write ∂q̈/∂q = -M⁻¹ ∂τ/∂q, ∂q̈/∂q̇ = -M⁻¹ ∂τ/∂q̇ and ∂q̈/∂τ = M⁻¹, (nv, nv) each.

    Carpentier and Mansard 2018, eq. 11; the derivatives of τ are those at q̈(τ).
    """
    forward_dynamics_with_wrenches(robot, q, qd, tau, wrenches, base, work, work.g)
    inverse_dynamics_derivatives_with_wrenches(robot, q, qd, work.g, wrenches, base, work, dqdd_dq,
                                               dqdd_dqd, work.M)
    ltdl(robot.elimination_parent, work.M)
    dqdd_dtau[:] = 0.0
    for k in range(q.shape[0]):
        dqdd_dtau[k, k] = 1.0
        ltdl_solve(robot.elimination_parent, work.M, dqdd_dtau[k])       # a row: M⁻¹ is symmetric
        for matrix in (dqdd_dq, dqdd_dqd):
            for i in range(q.shape[0]):
                work.b[i] = -matrix[i, k]
            ltdl_solve(robot.elimination_parent, work.M, work.b)
            for i in range(q.shape[0]):
                matrix[i, k] = work.b[i]


def pose(robot: ModelData, frame: ndarray, q: ndarray, work: Workspace, T: ndarray) -> None:
    """Write the pose of a frame in the frame of the base, (4, 4)."""
    place_joints(robot.bodies, q, work.joints)
    _pose(robot.bodies, work.joints, frame[0], T)


def pose_and_jacobian(robot: ModelData, frame: ndarray, q: ndarray, work: Workspace, T: ndarray,
                      J: ndarray) -> None:
    """Write the pose of a frame, (4, 4), and its Jacobian (6, nv) in the axes of the base."""
    place_joints(robot.bodies, q, work.joints)
    _pose_and_jacobian(robot.bodies, work.joints, frame[0], T, J)


def jacobian(robot: ModelData, frame: ndarray, reference: int, q: ndarray, work: Workspace,
             J: ndarray) -> None:
    """Write the Jacobian of a frame, (6, nv)."""
    place_joints(robot.bodies, q, work.joints)
    _jacobian(robot.bodies, work.joints, frame[0], reference, J)


def jacobian_dot(robot: ModelData, frame: ndarray, reference: int, q: ndarray, qd: ndarray,
                 work: Workspace, Jd: ndarray) -> None:
    """Write the time derivative of the Jacobian of a frame, (6, nv)."""
    place_joints(robot.bodies, q, work.joints)
    jacobian_rate(robot.bodies, work.joints, frame[0], reference, qd, work.J, Jd)


def task_space(robot: ModelData, frame: ndarray, reference: int, axes: ndarray, damping: float,
               q: ndarray, qd: ndarray, work: Workspace, inertia: ndarray, velocity: ndarray,
               gravity_x: ndarray) -> None:
    """Write M_x (k, k), V_x (k,) and G_x (k,) of chosen axes of a frame."""
    bias(robot, q, qd, work, work.b)
    gravity(robot, q, work, work.g)
    work.b[:] -= work.g
    crba(robot.bodies, work.joints, work.bodies, work.M)
    ltdl(robot.elimination_parent, work.M)
    jacobian_rate(robot.bodies, work.joints, frame[0], reference, qd, work.J, work.Jd)
    _task_space(robot.elimination_parent, axes, damping, work.M, work.b, work.g, work.J, work.Jd,
                qd, work.X, inertia, velocity, gravity_x)


def task_velocity_terms(robot: ModelData, frame: ndarray, reference: int, axes: ndarray,
                        damping: float, q: ndarray, work: Workspace, B: ndarray, C: ndarray
                        ) -> None:
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
        task_coriolis_matrix(robot.elimination_parent, axes, work.M, work.C, inertia, work.J,
                             work.Jd, work.b, work.X)
        add_velocity_terms(i, work.X, B, C)
        work.e[i] = 0.0


def kinetic_energy(robot: ModelData, q: ndarray, qd: ndarray, work: Workspace, energy: ndarray
                   ) -> None:
    """Write the kinetic energy (1,)."""
    place_joints(robot.bodies, q, work.joints)
    _kinetic_energy(robot.bodies, robot.base, work.joints, qd, work.bodies, energy)


def potential_energy(robot: ModelData, q: ndarray, work: Workspace, energy: ndarray) -> None:
    """Write the potential energy (1,)."""
    place_joints(robot.bodies, q, work.joints)
    _potential_energy(robot.bodies, robot.base, work.joints, work.bodies, energy)


def center_of_mass(robot: ModelData, q: ndarray, work: Workspace, center: ndarray) -> None:
    """Write the common center of mass (3,)."""
    place_joints(robot.bodies, q, work.joints)
    _center_of_mass(robot.bodies, work.joints, work.bodies, center)


def regressor(robot: ModelData, q: ndarray, qd: ndarray, qdd: ndarray, work: Workspace, Y: ndarray
              ) -> None:
    """Write Y (nv, 10 nb) with τ = Y φ."""
    inverse_dynamics(robot, q, qd, qdd, work, work.b)
    _regressor(robot.bodies, robot.axes, robot.origins, work.joints, work.bodies, Y)


def friction(robot: ModelData, qd: ndarray, work: Workspace, tau: ndarray) -> None:
    """Write the efforts that overcome friction."""
    _friction(robot.friction, qd, tau)
