# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Methods of :class:`~.api.Dynamics` and its batches that concern a frame of the robot."""

from __future__ import annotations

from numpy import ndarray
from numpy.typing import ArrayLike

from .arguments import check_rank, TaskSpace, VelocityTerms
from .evaluation import Evaluation


class FrameQueries(Evaluation):
    """Pose, Jacobian and task-space dynamics of a frame; shapes are those of one state."""

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
