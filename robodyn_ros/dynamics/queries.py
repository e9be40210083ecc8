# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Methods of :class:`~.api.Dynamics` and its batches that concern the joints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .arguments import (
    BaseMotion,
    effort_slopes,
    ForwardDerivatives,
    in_frame,
    InverseDerivatives,
    VelocityTerms,
    Wrenches,
)
from .evaluation import external_loads, Loads
from .frame_queries import FrameQueries
from ..errors import InertiaError


class Queries(FrameQueries):
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

        The algorithm is derived in :func:`~.derivatives.position_derivative`. The components of
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
