# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Methods of :class:`~.api.Dynamics` and its batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .arguments import (
    BaseMotion, check_rank, effort_slopes, ForwardDerivatives, in_frame, InverseDerivatives,
    TaskSpace, VelocityTerms, Wrenches)
from .evaluation import Evaluation, external_loads, Loads
from ..errors import InertiaError


class Queries(Evaluation):
    """
    All quantities of a robot; shapes are those of one state.

    A quantity of one array and without options is evaluated by ``self._evaluate[name]``, a
    function of joint vectors that :meth:`_evaluator` makes, and everything else by
    :meth:`_compute`.
    """

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                         wrenches: Wrenches | None = None, reference: str = 'aligned',
                         base: BaseMotion | None = None) -> ndarray:
        """
        Return the joint efforts of a motion, τ = M(q) q̈ + C(q, q̇) q̇ + g(q) - Σ Jᵀ w.

        Recursive Newton-Euler algorithm (Luh, Walker and Paul 1980; Featherstone 2008, table
        5.1). Armature is included, friction is not (:meth:`friction`).

        :param q: (nv,) [rad | m].
        :param qd: (nv,) [rad/s | m/s].
        :param qdd: (nv,) [rad/s² | m/s²].
        :param wrenches: external wrenches on the robot, see :class:`Dynamics`.
        :param reference: 'aligned', 'body' or 'world', point and axes of the wrenches.
        :param base: motion of the base, at rest by default.
        :return: (nv,) [N·m | N].
        :raises ArgumentError: wrong shape, or a number that is not finite.
        :raises UnknownNameError: the model has no such frame, or there is no such reference.

        >>> from robodyn_ros import Dynamics, load_urdf
        >>> dynamics = Dynamics(load_urdf('two_link'))
        >>> tau = dynamics.inverse_dynamics([0.3, 0.5], [1.0, 0.0], [0.0, 2.0])
        >>> dynamics.forward_dynamics([0.3, 0.5], [1.0, 0.0], tau).round(9).tolist()
        [0.0, 2.0]
        """
        if wrenches is None and base is None:
            return self._evaluate['inverse_dynamics'](q, qd, qdd)
        return self._compute('inverse_dynamics', (q, qd, qdd),
                             loads=external_loads(wrenches, reference, base))[0]

    def gravity(self, q: ArrayLike) -> ndarray:
        """
        Return the gravity term g(q): the efforts that hold the robot at rest.

        :param q: (nv,) [rad | m].
        :return: (nv,) [N·m | N].
        :raises ArgumentError: wrong shape, or a number that is not finite.

        >>> from robodyn_ros import DhLink, Dynamics, from_dh
        >>> pendulum = from_dh([DhLink(theta=0, d=0, a=0.5, alpha=0, mass=2)],
        ...                    gravity=(0, -9.81, 0))
        >>> Dynamics(pendulum).gravity([0.0]).tolist()      # 2 kg at 0.5 m, held horizontally
        [9.81]
        """
        return self._evaluate['gravity'](q)

    def bias(self, q: ArrayLike, qd: ArrayLike, wrenches: Wrenches | None = None,
             reference: str = 'aligned', base: BaseMotion | None = None) -> ndarray:
        """
        Return the bias C(q, q̇) q̇ + g(q) - Σ Jᵀ w: the efforts of motion without acceleration.

        :param q: (nv,) [rad | m].
        :param qd: (nv,) [rad/s | m/s].
        :param wrenches, reference, base: as in :meth:`inverse_dynamics`.
        :return: (nv,) [N·m | N].
        :raises ArgumentError, UnknownNameError: as in :meth:`inverse_dynamics`.
        """
        if wrenches is None and base is None:
            return self._evaluate['bias'](q, qd)
        return self._compute('bias', (q, qd), loads=external_loads(wrenches, reference, base))[0]

    def mass_matrix(self, q: ArrayLike) -> ndarray:
        """
        Return the mass matrix M(q), with armature.

        Composite-rigid-body algorithm (Walker and Orin 1982, method 3; Featherstone 2008, table
        6.2). M is symmetric, and positive definite unless the model has ``massless_joints``.

        :param q: (nv,) [rad | m].
        :return: (nv, nv) [kg·m² | kg·m | kg].
        :raises ArgumentError: wrong shape, or a number that is not finite.
        """
        return self._evaluate['mass_matrix'](q)

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike) -> ndarray:
        """
        Return the Coriolis matrix C(q, q̇) of the Christoffel symbols: Ṁ = C + Cᵀ.

        Siciliano et al. 2009, eq. 7.45.

        :param q: (nv,) [rad | m].
        :param qd: (nv,) [rad/s | m/s].
        :return: (nv, nv) [kg·m²/s | kg·m/s | kg/s].
        :raises ArgumentError: wrong shape, or a number that is not finite.
        """
        return self._evaluate['coriolis_matrix'](q, qd)

    def velocity_terms(self, q: ArrayLike) -> VelocityTerms:
        """
        Return B(q) and C(q) of the velocity term B [q̇ᵢ q̇ⱼ] + C [q̇ᵢ²], i < j.

        Craig 2005, eqs. 6.63-6.65; the order of the products is in :class:`VelocityTerms`.

        :param q: (nv,) [rad | m].
        :return: ``coriolis`` (nv, nv (nv - 1) / 2) and ``centrifugal`` (nv, nv).
        :raises ArgumentError: wrong shape, or a number that is not finite.
        """
        return VelocityTerms(*self._compute('velocity_terms', (q,)))

    def forward_dynamics(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike,
                         wrenches: Wrenches | None = None, reference: str = 'aligned',
                         base: BaseMotion | None = None) -> ndarray:
        """
        Return the joint accelerations under efforts, the inverse of :meth:`inverse_dynamics`.

        Inertia matrix method with the sparse factors M = LᵀDL (Featherstone 2008, sections 6.1
        and 6.5).

        :param q: (nv,) [rad | m].
        :param qd: (nv,) [rad/s | m/s].
        :param tau: (nv,) [N·m | N], without those of friction.
        :param wrenches, reference, base: as in :meth:`inverse_dynamics`.
        :return: (nv,) [rad/s² | m/s²].
        :raises ArgumentError, UnknownNameError: as in :meth:`inverse_dynamics`.
        :raises InertiaError: no inertia resists some joint.
        """
        if wrenches is None and base is None:
            return self._evaluate['forward_dynamics'](q, qd, tau)
        return self._compute('forward_dynamics', (q, qd, tau),
                             loads=external_loads(wrenches, reference, base))[0]

    def inverse_dynamics_derivatives(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                                     wrenches: Wrenches | None = None,
                                     base: BaseMotion | None = None, *,
                                     reference: str = 'aligned') -> InverseDerivatives:
        """
        Return the partial derivatives ∂τ/∂q, ∂τ/∂q̇ and ∂τ/∂q̈ = M of :meth:`inverse_dynamics`.

        The algorithm is derived in :func:`~.coriolis.position_derivative`. The components of
        the wrenches in ``reference`` are constant.

        :param q, qd, qdd, wrenches, reference, base: as in :meth:`inverse_dynamics`.
        :return: ``dtau_dq``, ``dtau_dqd`` and ``mass_matrix``, (nv, nv) each; row i is that of
            τ[i].
        :raises ArgumentError, UnknownNameError: as in :meth:`inverse_dynamics`.
        """
        loads = external_loads(wrenches, reference, base)
        out = InverseDerivatives(*self._compute('inverse_dynamics_derivatives', (q, qd, qdd),
                                                loads=loads))
        slopes = self._effort_slopes(q, loads)
        return out if slopes is None else out._replace(dtau_dq=out.dtau_dq + slopes)

    def forward_dynamics_derivatives(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike,
                                     wrenches: Wrenches | None = None,
                                     base: BaseMotion | None = None, *,
                                     reference: str = 'aligned') -> ForwardDerivatives:
        """
        Return the derivatives ∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ = M⁻¹ of :meth:`forward_dynamics`.

        Carpentier and Mansard 2018, eq. 11. The components of the wrenches in ``reference`` are
        constant.

        :param q, qd, tau, wrenches, reference, base: as in :meth:`forward_dynamics`.
        :return: ``dqdd_dq``, ``dqdd_dqd`` and ``dqdd_dtau``, (nv, nv) each; row i is that of
            q̈[i].
        :raises ArgumentError, UnknownNameError, InertiaError: as in :meth:`forward_dynamics`.
        """
        loads = external_loads(wrenches, reference, base)
        out = ForwardDerivatives(*self._compute('forward_dynamics_derivatives', (q, qd, tau),
                                                loads=loads))
        slopes = self._effort_slopes(q, loads)
        return out if slopes is None else out._replace(
            dqdd_dq=out.dqdd_dq - out.dqdd_dtau @ slopes)

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike) -> Any:
        """
        Return the kinetic energy ½ q̇ᵀ M(q) q̇, with that of the rotors.

        Siciliano et al. 2009, eqs. 7.13 and 7.19.

        :param q: (nv,) [rad | m].
        :param qd: (nv,) [rad/s | m/s].
        :return: float [J]; of a batch, (N,).
        :raises ArgumentError: wrong shape, or a number that is not finite.
        """
        return self._number(*self._compute('kinetic_energy', (q, qd)))

    def potential_energy(self, q: ArrayLike) -> Any:
        """
        Return the potential energy of the moving bodies, whose gradient is :meth:`gravity`.

        It is zero where their center of mass is level with the origin of the base (Siciliano et
        al. 2009, eq. 7.36).

        :param q: (nv,) [rad | m].
        :return: float [J]; of a batch, (N,).
        :raises ArgumentError: wrong shape, or a number that is not finite.
        """
        return self._number(*self._compute('potential_energy', (q,)))

    def center_of_mass(self, q: ArrayLike) -> ndarray:
        """
        Return the common center of mass of the moving bodies in the base frame.

        :param q: (nv,) [rad | m].
        :return: (3,) [m].
        :raises InertiaError: no body has mass.
        :raises ArgumentError: wrong shape, or a number that is not finite.
        """
        if not self._model.mass.any():
            raise InertiaError(f'no moving body of {self._model.name!r} has mass',
                               name=self._model.name, value=self._model.mass,
                               remedy='give one of them mass: without, there is no center of mass')
        return self._compute('center_of_mass', (q,))[0]

    def regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> ndarray:
        """
        Return the regressor Y: Y @ ``model.inertial_parameters`` is τ without armature.

        Atkeson, An and Hollerbach 1986, eqs. 5-11; Siciliano et al. 2009, section 7.3.3. The
        parameters of a body are m [kg], m c (3) [kg·m], and Ixx, Ixy, Iyy, Ixz, Iyz, Izz [kg·m²]
        about the origin of its frame, in its axes.

        :param q: (nv,) [rad | m].
        :param qd: (nv,) [rad/s | m/s].
        :param qdd: (nv,) [rad/s² | m/s²].
        :return: (nv, 10 nb).
        :raises ArgumentError: wrong shape, or a number that is not finite.
        """
        return self._evaluate['regressor'](q, qd, qdd)

    def friction(self, qd: ArrayLike) -> ndarray:
        """
        Return the efforts that overcome joint friction, which have the sign of q̇.

        Stribeck curve of Armstrong-Hélouvry, Dupont and Canudas de Wit 1994, section 2, smooth at
        rest (:func:`~.friction.friction`).

        :param qd: (nv,) [rad/s | m/s].
        :return: (nv,) [N·m | N].
        :raises ArgumentError: wrong shape, or a number that is not finite.
        """
        return self._evaluate['friction'](qd)

    def _effort_slopes(self, q: ArrayLike, loads: Loads | None) -> ndarray | None:
        """Return what wrenches that are not constant in body axes add to ∂τ/∂q, None: nothing."""
        if loads is None or loads.wrenches is None or loads.reference == 'body':
            return None
        wrenches, reference, _ = loads
        named = wrenches if isinstance(wrenches, Mapping) else dict(
            zip(self._model.link_names, np.moveaxis(np.asarray(wrenches, float), -2, 0)))
        parts = [effort_slopes(self.jacobian(q, name, 'body'),
                               in_frame(np.asarray(wrench, float), reference, self.pose(q, name)),
                               reference) for name, wrench in named.items()]
        return np.sum(parts, axis=0) if parts else None

    def pose(self, q: ArrayLike, frame: str) -> ndarray:
        """
        Return the pose of a frame in the base frame.

        :param q: (nv,) [rad | m].
        :param frame: one of ``model.frame_names``.
        :return: (4, 4) homogeneous transform: rotation, origin [m], and 0 0 0 1.
        :raises ArgumentError: wrong shape, or a number that is not finite.
        :raises UnknownNameError: the model has no such frame.

        >>> from robodyn_ros import Dynamics, load_urdf
        >>> dynamics = Dynamics(load_urdf('two_link'))
        >>> dynamics.pose([0.0, 0.0], 'tool0')[:3, 3].round(3).tolist()
        [0.9, 0.0, 0.0]
        """
        return self._compute('pose', (q,), (frame,))[0]

    def jacobian(self, q: ArrayLike, frame: str, reference: str = 'aligned') -> ndarray:
        """
        Return the geometric Jacobian J of a frame: its velocity is J q̇.

        Siciliano et al. 2009, eq. 3.30; Lynch and Park 2017, section 5.1 ('body', 'world').

        :param q: (nv,) [rad | m].
        :param frame: one of ``model.frame_names``.
        :param reference: point and axes of the velocity. 'aligned': origin of the frame, axes of
            the base; 'body': origin and axes of the frame; 'world': the point of the frame's body
            that coincides with the origin of the base, axes of the base.
        :return: (6, nv), rows 0-2 linear [m/rad | 1], rows 3-5 angular [1 | rad/m].
        :raises ArgumentError: wrong shape, or a number that is not finite.
        :raises UnknownNameError: the model has no such frame, or there is no such reference.

        >>> from robodyn_ros import Dynamics, load_urdf
        >>> dynamics = Dynamics(load_urdf('two_link'))
        >>> J = dynamics.jacobian([0.3, 0.5], 'tool0')
        >>> J.shape
        (6, 2)
        """
        return self._compute('jacobian', (q,), (frame, reference))[0]

    def jacobian_dot(self, q: ArrayLike, qd: ArrayLike, frame: str,
                     reference: str = 'aligned') -> ndarray:
        """
        Return the time derivative J̇ of :meth:`jacobian`: the acceleration is J q̈ + J̇ q̇.

        Featherstone 2008, eq. 2.45, for the derivative of a motion vector in moving coordinates.

        :param q: (nv,) [rad | m].
        :param qd: (nv,) [rad/s | m/s].
        :param frame: one of ``model.frame_names``.
        :param reference: 'aligned', 'body' or 'world', as in :meth:`jacobian`.
        :return: (6, nv) [1/s times the units of J].
        :raises ArgumentError: wrong shape, or a number that is not finite.
        :raises UnknownNameError: the model has no such frame, or there is no such reference.
        """
        return self._compute('jacobian_dot', (q, qd), (frame, reference))[0]

    def task_space(self, q: ArrayLike, qd: ArrayLike, frame: str, axes: str = 'xyzrpy',
                   reference: str = 'aligned', damping: float = 0.0) -> TaskSpace:
        """
        Return the terms M_x, V_x and G_x of the equation of motion of a task.

        τ = Jᵀ (M_x ẍ + V_x + G_x), with J the chosen rows of :meth:`jacobian`, k of them (Khatib
        1987, eqs. 25-27 and 51). At a singularity, where these rows are linearly dependent, M_x
        does not exist, and without ``damping`` an error is raised. With damping (Chiaverini,
        Siciliano and Egeland 1994, section III), M_x stays bounded as long as one of the axes can
        move, and there is no force along the lost direction; elsewhere the result deviates by
        about the fraction ``damping``. If no axis can move, which is the singularity of a task of
        one axis, the error is raised in any case.

        :param q: (nv,) [rad | m].
        :param qd: (nv,) [rad/s | m/s].
        :param frame: one of ``model.frame_names``.
        :param axes: letters of 'xyzrpy', the rows of the Jacobian that form the task: linear
            velocity along x, y, z and angular velocity about them (r, p, y). A y that follows
            y, z, r or p is the rotation; upper-case R, P, Y are always rotations.
        :param reference: point and axes of the task, as in :meth:`jacobian`.
        :param damping: fraction of the mean diagonal of J M⁻¹ Jᵀ that is added to its diagonal,
            such as 1e-3. With it, the generic kernel is used.
        :return: ``inertia`` M_x (k, k) [kg | kg·m | kg·m²], ``velocity`` V_x (k,) [N | N·m] and
            ``gravity`` G_x (k,) [N | N·m].
        :raises SingularityError: the task is singular here, and there is no damping, or none of
            the axes can move.
        :raises ArgumentError: there are no such axes, or, without damping, more axes than joints;
            damping is negative; wrong shape, or a number that is not finite.
        :raises UnknownNameError: the model has no such frame, or there is no such reference.
        :raises InertiaError: no inertia resists some joint.

        >>> from robodyn_ros import Dynamics, load_urdf
        >>> dynamics = Dynamics(load_urdf('two_link'))
        >>> task = dynamics.task_space([0.3, 0.5], [0.0, 0.0], 'tool0', 'xz')
        >>> task.inertia.shape, task.velocity.tolist()
        ((2, 2), [0.0, 0.0])
        """
        self._check_task(q, frame, axes, reference, damping)
        return TaskSpace(*self._compute('task_space', (q, qd), (frame, reference, axes, damping)))

    def task_velocity_terms(self, q: ArrayLike, frame: str, axes: str = 'xyzrpy',
                            reference: str = 'aligned', damping: float = 0.0) -> VelocityTerms:
        """
        Return V_x of :meth:`task_space` decomposed as in :meth:`velocity_terms`.

        :param q: (nv,) [rad | m].
        :param frame, axes, reference, damping: as in :meth:`task_space`.
        :return: ``coriolis`` (k, nv (nv - 1) / 2) and ``centrifugal`` (k, nv).
        :raises SingularityError, ArgumentError, UnknownNameError, InertiaError: as in
            :meth:`task_space`.
        """
        self._check_task(q, frame, axes, reference, damping)
        return VelocityTerms(*self._compute('task_velocity_terms', (q,),
                                            (frame, reference, axes, damping)))

    def _check_task(self, q: ArrayLike, frame: str, axes: str, reference: str,
                    damping: float) -> None:
        _, _, rows, share = self._values((frame, reference, axes, damping))
        check_rank(self.jacobian(q, frame, reference), rows, axes, frame, damped=share > 0.0)
