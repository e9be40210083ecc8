# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What can be asked of a robot, of one state or of many: each method once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from ..errors import InertiaError
from ..model.robot import RobotModel
from .arguments import (
    BaseMotion,
    base_rows,
    check_options,
    check_rank,
    damping_value,
    reference_code,
    task_axes,
)
from .bodies import Robot, frame_record, parameters, sizes
from .default_reference import ALIGNED, chosen
from .kernels import Kernels
from .kinematics import BODY
from .quantities import QUANTITIES
from .results import ForwardDerivatives, InverseDerivatives, TaskSpace, VelocityTerms
from .specialise import bind
from .wrenches import Wrenches, effort_slopes, in_frame, link_wrenches


class Loads(NamedTuple):
    """What may act on the robot besides its joints."""

    wrenches: Wrenches | None
    reference: str
    base: BaseMotion | None


def _acting(wrenches: Wrenches | None, reference: str, base: BaseMotion | None) -> Loads | None:
    """Return what acts on a robot; None where nothing does, and the base is at rest."""
    if wrenches is None:
        return None if base is None else Loads(None, 'body', base)
    return Loads(wrenches, chosen(reference, 'body', 'wrenches'), base)


# How the options of quantities that are names become what compiled functions take, in their order
RESOLVE: tuple[Callable[[RobotModel, Robot, Any], Any], ...] = (
    frame_record, lambda _, __, reference: reference_code(reference),
    lambda _, __, axes: task_axes(axes))


class Methods:
    """The methods of :class:`~.api.Dynamics` and of its batches; shapes are those of one state."""

    def __init__(self, model: RobotModel, specialize: bool):
        self._model, self._specialize = model, specialize
        self._robot = parameters(model)
        self._sizes = sizes(model.nb, model.nv)
        self._axes = self._robot.axes.reshape(-1, 3, 3)
        self._options: dict[tuple, list[Any]] = {}
        self._unloaded = np.zeros((model.nb, 6))

    @property
    def model(self) -> RobotModel:
        """The robot."""
        return self._model

    @cached_property
    def kernels(self) -> Kernels:
        """The same functions bare: for compiled code and for loops that cannot spare a check."""
        def make(name: str, options: tuple) -> Callable[..., None]:
            self._check_inverse(name)
            return bind(name, self._robot, self._specialize, self._built_in(name, options))
        return Kernels(make)

    def _check_inverse(self, name: str) -> None:
        """Refuse a quantity that needs M⁻¹ of a robot that has none."""
        if QUANTITIES[name].inverts:
            self._model.require_inertia(name)

    def _built_in(self, name: str, options: tuple) -> dict[str, Any]:
        return dict(zip(QUANTITIES[name].options, self._values(options)))

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                         wrenches: Wrenches | None = None, reference: str = ALIGNED,
                         base: BaseMotion | None = None) -> ndarray:
        """Return the joint efforts (nv,) [N·m | N] of a motion (:mod:`~.rnea`)."""
        return self._ask('inverse_dynamics', (q, qd, qdd),
                         loads=_acting(wrenches, reference, base))[0]

    def gravity(self, q: ArrayLike) -> ndarray:
        """Return g(q) (nv,) [N·m | N]: the efforts that hold the robot still."""
        return self._ask('gravity', (q,))[0]

    def bias(self, q: ArrayLike, qd: ArrayLike, wrenches: Wrenches | None = None,
             reference: str = ALIGNED, base: BaseMotion | None = None) -> ndarray:
        """Return C(q, q̇)q̇ + g(q) (nv,) [N·m | N]: the efforts of motion without acceleration."""
        return self._ask('bias', (q, qd), loads=_acting(wrenches, reference, base))[0]

    def mass_matrix(self, q: ArrayLike) -> ndarray:
        """Return M(q) (nv, nv) [kg·m² | kg·m | kg], symmetric and positive (:mod:`~.crba`)."""
        return self._ask('mass_matrix', (q,))[0]

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike) -> ndarray:
        """Return C(q, q̇) (nv, nv) of Christoffel's symbols: Ṁ = C + Cᵀ (:mod:`~.coriolis`)."""
        return self._ask('coriolis_matrix', (q, qd))[0]

    def velocity_terms(self, q: ArrayLike) -> VelocityTerms:
        """Return B(q) (nv, nv (nv - 1) / 2) and C(q) (nv, nv) (:mod:`~.velocity_terms`)."""
        return VelocityTerms(*self._ask('velocity_terms', (q,)))

    def forward_dynamics(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike,
                         wrenches: Wrenches | None = None, reference: str = ALIGNED,
                         base: BaseMotion | None = None) -> ndarray:
        """Return the accelerations q̈ (nv,) [rad/s² | m/s²] efforts cause (:mod:`~.forward`)."""
        return self._ask('forward_dynamics', (q, qd, tau),
                         loads=_acting(wrenches, reference, base))[0]

    def inverse_dynamics_derivatives(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                                     wrenches: Wrenches | None = None,
                                     base: BaseMotion | None = None, *,
                                     reference: str = ALIGNED) -> InverseDerivatives:
        """
        Return ∂τ/∂q, ∂τ/∂q̇ and ∂τ/∂q̈ = M (:mod:`~.derivatives`).

        Wrenches stay as they are in ``reference`` while q changes.
        """
        loads = _acting(wrenches, reference, base)
        out = InverseDerivatives(*self._ask('inverse_dynamics_derivatives', (q, qd, qdd),
                                            loads=loads))
        slopes = self._slopes(q, loads)
        return out if slopes is None else out._replace(dtau_dq=out.dtau_dq + slopes)

    def forward_dynamics_derivatives(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike,
                                     wrenches: Wrenches | None = None,
                                     base: BaseMotion | None = None, *,
                                     reference: str = ALIGNED) -> ForwardDerivatives:
        """Return ∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ = M⁻¹ (:mod:`~.derivatives`); wrenches as above."""
        loads = _acting(wrenches, reference, base)
        out = ForwardDerivatives(*self._ask('forward_dynamics_derivatives', (q, qd, tau),
                                            loads=loads))
        slopes = self._slopes(q, loads)
        return out if slopes is None else out._replace(
            dqdd_dq=out.dqdd_dq - out.dqdd_dtau @ slopes)

    def pose(self, q: ArrayLike, frame: str) -> ndarray:
        """Return the frame in the frame of the base (4, 4): rotation, origin [m], 0 0 0 1."""
        return self._ask('pose', (q,), (frame,))[0]

    def jacobian(self, q: ArrayLike, frame: str, reference: str = ALIGNED) -> ndarray:
        """
        Return J (6, nv): linear (3) and angular (3) velocity of a frame are J q̇.

        :param reference: 'body': of the frame's origin, in its axes; 'aligned': of the frame's
            origin, in the axes of the base; 'world': of the point that passes the origin of the
            base, in its axes (:mod:`~.kinematics`).
        """
        return self._ask('jacobian', (q,), (frame, chosen(reference, 'world', 'jacobian()')))[0]

    def jacobian_dot(self, q: ArrayLike, qd: ArrayLike, frame: str,
                     reference: str = ALIGNED) -> ndarray:
        """Return J̇ (6, nv), the derivative of :meth:`jacobian` in time at the velocity q̇."""
        reference = chosen(reference, 'world', 'jacobian_dot()')
        return self._ask('jacobian_dot', (q, qd), (frame, reference))[0]

    def task_space(self, q: ArrayLike, qd: ArrayLike, frame: str, axes: str = 'xyzrpy',
                   reference: str = ALIGNED, damping: float = 0.0) -> TaskSpace:
        """
        Return M_x, V_x and G_x of chosen axes of a frame (:mod:`~.operational`).

        At a singularity, where the chosen rows of the Jacobian depend on each other, M_x does not
        exist: without ``damping`` the call is refused there. With it, M_x stays bounded as long as
        one of the axes can move, and the direction that is lost is not pushed at; elsewhere the
        result is off by about the share ``damping``. Where none can move, which is where a task of
        one axis is singular, there is nothing to take a share of, and the call is refused.

        :param axes: letters of 'xyzrpy', the rows of the Jacobian that are the task's: linear
            velocity along x, y, z and angular velocity about them, in the axes that ``reference``
            says.
        :param damping: share of its mean that is added to the diagonal of J M⁻¹ Jᵀ; say 1e-3.
            With it, the code for any robot is used.
        :raises SingularityError: the task is singular here, and there is no damping, or nothing
            to damp.
        :raises ArgumentError: no such axes; negative damping; without it, more axes than joints.
        """
        reference = chosen(reference, 'body', 'task_space()')
        self._check_task(q, frame, axes, reference, damping)
        return TaskSpace(*self._ask('task_space', (q, qd), (frame, reference, axes, damping)))

    def task_velocity_terms(self, q: ArrayLike, frame: str, axes: str = 'xyzrpy',
                            reference: str = ALIGNED, damping: float = 0.0) -> VelocityTerms:
        """Return V_x of :meth:`task_space` as :meth:`velocity_terms`: (k, ...) each."""
        reference = chosen(reference, 'body', 'task_velocity_terms()')
        self._check_task(q, frame, axes, reference, damping)
        return VelocityTerms(*self._ask('task_velocity_terms', (q,),
                                        (frame, reference, axes, damping)))

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike) -> Any:
        """Return the kinetic energy [J], that of the rotors included (:mod:`~.energy`)."""
        return self._number(*self._ask('kinetic_energy', (q, qd)))

    def potential_energy(self, q: ArrayLike) -> Any:
        """Return the potential energy [J]: zero with the centre of mass level with the base."""
        return self._number(*self._ask('potential_energy', (q,)))

    def center_of_mass(self, q: ArrayLike) -> ndarray:
        """
        Return the common centre of mass (3,) [m] of the moving bodies, in the base frame.

        :raises InertiaError: no body has mass.
        """
        if not self._model.mass.any():
            raise InertiaError(f'no moving body of {self._model.name!r} has mass',
                               name=self._model.name, value=self._model.mass,
                               remedy='give one of them mass: there is no centre of nothing')
        return self._ask('center_of_mass', (q,))[0]

    def regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> ndarray:
        """
        Return Y (nv, 10 nb): Y @ ``model.inertial_parameters`` is τ without armature.

        Per body m [kg], m c (3) [kg·m], Ixx, Ixy, Iyy, Ixz, Iyz, Izz [kg·m²] about the origin of
        its frame (:mod:`~.regressor`).
        """
        return self._ask('regressor', (q, qd, qdd))[0]

    def friction(self, qd: ArrayLike) -> ndarray:
        """Return the efforts (nv,) [N·m | N] that overcome friction (:mod:`~.friction`)."""
        return self._ask('friction', (qd,))[0]

    def _ask(self, name: str, given: tuple[ArrayLike, ...], options: tuple = (),
             loads: Loads | None = None) -> list[ndarray]:
        """Return the outputs of a quantity; options by the names that the methods take."""
        raise NotImplementedError

    def _number(self, array: ndarray) -> Any:
        raise NotImplementedError

    def _values(self, options: tuple) -> list[Any]:
        """Return options as the compiled functions take them."""
        # Damping, which may be another in each call, is not kept: it would fill the memory
        named, numbers = options[:3], options[3:]
        try:
            known = self._options[named]
        except (KeyError, TypeError):       # TypeError: what cannot be looked up is no name
            check_options(options)
            known = self._options[named] = [resolve(self._model, self._robot, value)
                                            for resolve, value in zip(RESOLVE, named)]
        return known + [damping_value(value) for value in numbers]

    def _has_code(self, options: tuple, loads: Loads | None) -> bool:
        """
        Whether there is code for this robot alone.

        It is without loads, and would have to be compiled for each value of damping.
        """
        return self._specialize and loads is None and not any(options[3:])

    def _empty(self, name: str, options: Sequence[Any], first: tuple[int, ...] = ()
               ) -> list[ndarray]:
        """Return new arrays for the outputs of a quantity."""
        size = self._sizes | {'k': len(options[2])} if len(options) > 2 else self._sizes
        return [np.empty(first + tuple(size[word] for word in shape))
                for shape in QUANTITIES[name].outputs.values()]

    def _check_task(self, q: ArrayLike, frame: str, axes: str, reference: str,
                    damping: float) -> None:
        _, _, rows, share = self._values((frame, reference, axes, damping))
        check_rank(self.jacobian(q, frame, reference), rows, axes, frame, damped=share > 0.0)

    def _loads(self, name: str, q: ndarray, loads: Loads | None) -> tuple[ndarray, ...]:
        """Wrenches (..., nb, 6) in the axes of the records, and the motion of the base."""
        if not QUANTITIES[name].loaded:
            return ()
        wrenches, reference, base = loads or Loads(None, 'body', None)
        moved = self._robot.base if base is None else base_rows(base, self._robot.base)
        if wrenches is None:
            return self._unloaded, moved
        named = wrenches if isinstance(wrenches, Mapping) else self._model.link_names
        poses = {name: self.pose(q, name) for name in named
                 } if reference_code(reference) != BODY else {}
        on_links = link_wrenches(self._model, wrenches, poses, reference,
                                 len(q) if q.ndim > 1 else None)
        w = on_links.reshape(*on_links.shape[:-1], 2, 3) @ self._axes
        w[..., 1, :] += np.cross(self._robot.origins, w[..., 0, :])
        return np.ascontiguousarray(w.reshape(on_links.shape)), moved

    def _slopes(self, q: ArrayLike, loads: Loads | None) -> ndarray | None:
        """What wrenches that do not turn with their bodies add to ∂τ/∂q; None: nothing."""
        if loads is None or loads.wrenches is None or loads.reference == 'body':
            return None
        wrenches, reference, _ = loads
        named = wrenches if isinstance(wrenches, Mapping) else dict(
            zip(self._model.link_names, np.moveaxis(np.asarray(wrenches, float), -2, 0)))
        parts = [effort_slopes(self.jacobian(q, name, 'body'),
                               in_frame(np.asarray(wrench, float), reference, self.pose(q, name)),
                               reference) for name, wrench in named.items()]
        return np.sum(parts, axis=0) if parts else None
