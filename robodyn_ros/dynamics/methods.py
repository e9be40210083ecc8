# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What can be asked of a robot, of one state or of many: each method once."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from ..model.robot import RobotModel
from .arguments import (
    BaseMotion,
    base_rows,
    check_rank,
    damping_value,
    link_wrenches,
    reference_code,
    task_axes,
)
from .bodies import frame_record, parameters, sizes
from .kinematics import BODY

Wrenches = ArrayLike | Mapping[str, ArrayLike]


class InverseDerivatives(NamedTuple):
    """How efforts change with the motion, (nv, nv) each: row i is that of τ[i]."""

    dtau_dq: ndarray
    dtau_dqd: ndarray
    mass_matrix: ndarray


class ForwardDerivatives(NamedTuple):
    """How accelerations change with state and efforts, (nv, nv) each: row i is that of q̈[i]."""

    dqdd_dq: ndarray
    dqdd_dqd: ndarray
    dqdd_dtau: ndarray


class TaskSpace(NamedTuple):
    """M_x (k, k), V_x (k,) and G_x (k,): τ = Jᵀ (M_x ẍ + V_x + G_x), J the chosen rows."""

    inertia: ndarray
    velocity: ndarray
    gravity: ndarray


class VelocityTerms(NamedTuple):
    """
    The velocity term, as ``coriolis @ products + centrifugal @ qd**2``.

    ``products`` are q̇₁q̇₂, q̇₁q̇₃, ..., q̇₂q̇₃, ...: ``(np.outer(qd, qd))[np.triu_indices(nv, 1)]``.
    """

    coriolis: ndarray
    centrifugal: ndarray


class Methods:
    """The methods of :class:`~.api.Dynamics` and of its batches; shapes are those of one state."""

    def __init__(self, model: RobotModel):
        self._model = model
        self._robot = parameters(model)
        self._sizes = sizes(model.nb, model.nv)
        self._axes = self._robot.axes.reshape(-1, 3, 3)
        self._frames: dict[str, ndarray] = {}
        self._unloaded = np.zeros((model.nb, 6))

    @property
    def model(self) -> RobotModel:
        """The robot."""
        return self._model

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                         wrenches: Wrenches | None = None, reference: str = 'body',
                         base: BaseMotion | None = None) -> ndarray:
        """Return the joint efforts (nv,) [N·m | N] of a motion (:mod:`~.rnea`)."""
        motion = self._vectors(q=q, qd=qd, qdd=qdd)
        return self._ask('inverse_dynamics', (), motion,
                         self._loads(motion[0], wrenches, reference, base))[0]

    def gravity(self, q: ArrayLike) -> ndarray:
        """Return g(q) (nv,) [N·m | N]: the efforts that hold the robot still."""
        return self._ask('gravity', (), self._vectors(q=q))[0]

    def bias(self, q: ArrayLike, qd: ArrayLike, wrenches: Wrenches | None = None,
             reference: str = 'body', base: BaseMotion | None = None) -> ndarray:
        """Return C(q, q̇)q̇ + g(q) (nv,) [N·m | N]: the efforts of motion without acceleration."""
        state = self._vectors(q=q, qd=qd)
        return self._ask('bias', (), state, self._loads(state[0], wrenches, reference, base))[0]

    def mass_matrix(self, q: ArrayLike) -> ndarray:
        """Return M(q) (nv, nv) [kg·m² | kg·m | kg], symmetric and positive (:mod:`~.crba`)."""
        return self._ask('mass_matrix', (), self._vectors(q=q))[0]

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike) -> ndarray:
        """Return C(q, q̇) (nv, nv) of Christoffel's symbols: Ṁ = C + Cᵀ (:mod:`~.coriolis`)."""
        return self._ask('coriolis_matrix', (), self._vectors(q=q, qd=qd))[0]

    def velocity_terms(self, q: ArrayLike) -> VelocityTerms:
        """Return B(q) (nv, nv (nv - 1) / 2) and C(q) (nv, nv) (:mod:`~.velocity_terms`)."""
        return VelocityTerms(*self._ask('velocity_terms', (), self._vectors(q=q)))

    def forward_dynamics(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike,
                         wrenches: Wrenches | None = None, reference: str = 'body',
                         base: BaseMotion | None = None) -> ndarray:
        """Return the accelerations q̈ (nv,) [rad/s² | m/s²] efforts cause (:mod:`~.forward`)."""
        given = self._vectors(q=q, qd=qd, tau=tau)
        return self._ask('forward_dynamics', (), given,
                         self._loads(given[0], wrenches, reference, base))[0]

    def inverse_dynamics_derivatives(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                                     wrenches: Wrenches | None = None,
                                     base: BaseMotion | None = None) -> InverseDerivatives:
        """
        Return ∂τ/∂q, ∂τ/∂q̇ and ∂τ/∂q̈ = M (:mod:`~.derivatives`).

        Wrenches are in body axes ('body'), and stay so while q changes.
        """
        motion = self._vectors(q=q, qd=qd, qdd=qdd)
        return InverseDerivatives(*self._ask('inverse_dynamics_derivatives', (), motion,
                                             self._loads(motion[0], wrenches, 'body', base)))

    def forward_dynamics_derivatives(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike,
                                     wrenches: Wrenches | None = None,
                                     base: BaseMotion | None = None) -> ForwardDerivatives:
        """
        Return ∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ = M⁻¹ (:mod:`~.derivatives`).

        Wrenches are in body axes ('body'), and stay so while q changes.
        """
        given = self._vectors(q=q, qd=qd, tau=tau)
        return ForwardDerivatives(*self._ask('forward_dynamics_derivatives', (), given,
                                             self._loads(given[0], wrenches, 'body', base)))

    def pose(self, q: ArrayLike, frame: str) -> ndarray:
        """Return the frame in the frame of the base (4, 4): rotation, origin [m], 0 0 0 1."""
        return self._ask('pose', (self._frame(frame),), self._vectors(q=q))[0]

    def jacobian(self, q: ArrayLike, frame: str, reference: str = 'world') -> ndarray:
        """
        Return J (6, nv): linear (3) and angular (3) velocity of a frame are J q̇.

        :param reference: 'body': of the frame's origin, in its axes; 'aligned': of the frame's
            origin, in the axes of the base; 'world': of the point that passes the origin of the
            base, in its axes (:mod:`~.kinematics`).
        """
        return self._ask('jacobian', (self._frame(frame), reference_code(reference)),
                         self._vectors(q=q))[0]

    def jacobian_dot(self, q: ArrayLike, qd: ArrayLike, frame: str,
                     reference: str = 'world') -> ndarray:
        """Return J̇ (6, nv), the derivative of :meth:`jacobian` in time at the velocity q̇."""
        return self._ask('jacobian_dot', (self._frame(frame), reference_code(reference)),
                         self._vectors(q=q, qd=qd))[0]

    def task_space(self, q: ArrayLike, qd: ArrayLike, frame: str, axes: str = 'xyzrpy',
                   reference: str = 'body', damping: float = 0.0) -> TaskSpace:
        """
        Return M_x, V_x and G_x of chosen axes of a frame (:mod:`~.operational`).

        At a singularity, where the chosen rows of the Jacobian depend on each other, M_x does not
        exist: without ``damping`` the call is refused there. With it, M_x stays bounded and the
        direction that is lost is not pushed at; elsewhere the result is off by about the share
        ``damping``.

        :param axes: letters of 'xyzrpy', the rows of the Jacobian that are the task's: linear
            velocity along x, y, z and angular velocity about them, in the axes that ``reference``
            says.
        :param damping: share of its mean that is added to the diagonal of J M⁻¹ Jᵀ; say 1e-3.
        :raises SingularityError: the task is singular here, and there is no damping.
        :raises ArgumentError: no such axes, more of them than joints, or negative damping.
        """
        state = self._vectors(q=q, qd=qd)
        return TaskSpace(*self._ask(
            'task_space', self._task(state[0], frame, axes, reference, damping), state))

    def task_velocity_terms(self, q: ArrayLike, frame: str, axes: str = 'xyzrpy',
                            reference: str = 'body', damping: float = 0.0) -> VelocityTerms:
        """Return V_x of :meth:`task_space` as :meth:`velocity_terms`: (k, ...) each."""
        state = self._vectors(q=q)
        return VelocityTerms(*self._ask(
            'task_velocity_terms', self._task(state[0], frame, axes, reference, damping), state))

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike) -> Any:
        """Return the kinetic energy [J], that of the rotors included (:mod:`~.energy`)."""
        return self._number(*self._ask('kinetic_energy', (), self._vectors(q=q, qd=qd)))

    def potential_energy(self, q: ArrayLike) -> Any:
        """Return the potential energy [J]: zero with the centre of mass level with the base."""
        return self._number(*self._ask('potential_energy', (), self._vectors(q=q)))

    def center_of_mass(self, q: ArrayLike) -> ndarray:
        """Return the common centre of mass (3,) [m] of the moving bodies, in the base frame."""
        return self._ask('center_of_mass', (), self._vectors(q=q))[0]

    def regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> ndarray:
        """
        Return Y (nv, 10 nb): Y @ ``model.inertial_parameters`` is τ without armature.

        Per body m [kg], m c (3) [kg·m], Ixx, Ixy, Iyy, Ixz, Iyz, Izz [kg·m²] about the origin of
        its frame (:mod:`~.regressor`).
        """
        return self._ask('regressor', (), self._vectors(q=q, qd=qd, qdd=qdd))[0]

    def friction(self, qd: ArrayLike) -> ndarray:
        """Return the efforts (nv,) [N·m | N] that overcome friction (:mod:`~.friction`)."""
        return self._ask('friction', (), self._vectors(qd=qd))[0]

    def _vectors(self, **arguments: ArrayLike) -> Sequence[ndarray]:
        raise NotImplementedError

    def _ask(self, name: str, options: Sequence[Any], inputs: Sequence[ndarray],
             loads: Sequence[ndarray] = ()) -> list[ndarray]:
        raise NotImplementedError

    def _number(self, array: ndarray) -> Any:
        raise NotImplementedError

    def _size(self, word: str, options: Sequence[Any]) -> int:
        return len(options[2]) if word == 'k' else self._sizes[word]

    def _frame(self, name: str) -> ndarray:
        if name not in self._frames:
            self._frames[name] = frame_record(self._model, self._robot, name)
        return self._frames[name]

    def _task(self, q: ndarray, frame: str, axes: str, reference: str,
              damping: float) -> tuple[ndarray, int, ndarray, float]:
        rows, damping = task_axes(axes), damping_value(damping)
        if damping == 0.0:
            check_rank(self.jacobian(q, frame, reference), rows, axes, frame)
        return self._frame(frame), reference_code(reference), rows, damping

    def _loads(self, q: ndarray, wrenches: Wrenches | None, reference: str,
               base: BaseMotion | None) -> tuple[ndarray, ndarray]:
        """Wrenches (..., nb, 6) in the axes of the records, and the motion of the base."""
        moved = self._robot.base if base is None else base_rows(base, self._robot.base)
        if wrenches is None:
            return self._unloaded, moved
        named = wrenches if isinstance(wrenches, Mapping) else self._model.link_names
        poses = {name: self.pose(q, name) for name in named
                 } if reference_code(reference) != BODY else {}
        on_links = link_wrenches(self._model, wrenches, poses, reference, q.ndim - 1)
        w = on_links.reshape(*on_links.shape[:-1], 2, 3) @ self._axes
        w[..., 1, :] += np.cross(self._robot.origins, w[..., 0, :])
        return np.ascontiguousarray(w.reshape(on_links.shape)), moved

