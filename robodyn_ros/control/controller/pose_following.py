# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Reference pose of a controller, with the wrench and stiffness that go with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .trajectory_following import check_basis
from ..declare.semidefinite import as_matrix
from ..inputs.pose_tracking import (
    PosePoints,
    STIFFNESS,
    STIFFNESS_LAW,
    WRENCH,
    WRENCH_END,
    WRENCH_IN_TOOL,
)
from ..laws import registry
from ..laws.law import POSE
from ..references.pose_planning import (
    at_rest,
    at_twist,
    checked_pose,
    checked_stiffness,
    checked_wrench,
    pose_limits,
    PoseState,
    sample_pose,
    splice_poses,
    to_pose,
)
from ..settings.motion_limits import MotionLimits
from ..settings.task_frame import reach
from ..steps import guard
from ...dynamics import Dynamics
from ...errors import TrajectoryError

if TYPE_CHECKING:
    from .controller import Controller

MAX_LATENESS = 0.05    # s after its start, within which a reference is accepted
Plan = Callable[[MotionLimits, PoseState, float, int], PosePoints]


class PoseReference:
    """The pose that a controller follows, where its law is one in task space."""

    def __init__(self, controller: Controller):
        self._controller = controller
        self.begin()

    def begin(self) -> None:
        """Forget the reference."""
        #: The newest reference, with its command; serial 0 before the first one.
        self.points = PosePoints.none()

    @property
    def serial(self) -> int:
        """Serial number of the newest reference pose, 0 before the first one."""
        return int(self.points.header['serial'][0])

    def follow_pose(self, position: ArrayLike, quaternion: ArrayLike, start: float) -> None:
        """
        Move the reference of ``task_frame`` to a pose, as soon as the limits allow.

        A target may replace another one at any time and from any motion: the reference continues
        with limited velocity, acceleration and jerk (``task_velocity_limit``, ...), even if the
        target jumps.

        :param position: (3,) [m] in the frame of the base.
        :param quaternion: (4,) x, y, z, w: orientation in the frame of the base.
        :param start: time [s] on the clock of :meth:`step` at which the motion begins.
        :raises TrajectoryError: the controller is not RUNNING, the law follows no pose, or the
            pose is not finite, no rotation, or out of reach. The reference stays as it is.
        """
        self._check_follows_pose()
        center, longest = reach(self._controller.model, self._controller.settings.task_frame)
        where, turned = checked_pose(position, quaternion, center, longest)
        self._follow(lambda limits, now, begin, serial: to_pose(
            limits, now, where, turned, begin, serial), start)

    def follow_twist(self, twist: ArrayLike, start: float) -> None:
        """
        Move the reference of ``task_frame`` at a twist, for ``twist_timeout``; then it rests.

        :param twist: (6,) linear and angular velocity [m/s, rad/s] in the axes of the base.
        :param start: time [s] on the clock of :meth:`step` at which the motion begins.
        :raises TrajectoryError: as for :meth:`follow_pose`; the twist is above
            ``task_velocity_limit``.
        """
        self._follow(lambda limits, now, begin, serial: at_twist(
            limits, now, twist, self._controller.settings.twist_timeout, begin, serial), start)

    def _follow(self, plan: Plan, asked: float) -> None:
        """Plan a reference and put it in force; again if the present one has changed meanwhile."""
        c, m = self._controller, self._controller.memory
        for _ in range(2):
            self._check_follows_pose()
            start = asked - float(m['lag'][0])
            old, following = self.points, bool(m['pose_following'][0])
            law = int(m['law'][0])
            present = sample_pose(old, start) if following else self._held()
            new = plan(pose_limits(c.settings), present, start, self.serial + 1)
            now = c.reference_time
            if now > start + MAX_LATENESS:
                raise TrajectoryError(f'it was planned {now - start:.3f} s after its start',
                                      name='start', remedy='give it a start further in the future')
            if (self.points is old and bool(m['pose_following'][0]) == following
                    and m['law'][0] == law and not c.basis_changes):
                new = splice_poses(old, new, now) if following else new
                if following or self._waits(old):
                    new = new._replace(command=old.command)
                self._put(new)
                return
        raise TrajectoryError('the reference has changed while it was planned', name='reference',
                              remedy='send it again')

    def follow_wrench(self, wrench: ArrayLike, start: float, *, tool_axes: bool = False) -> None:
        """
        Exert a wrench with ``task_frame`` for ``wrench_timeout``, in addition to the law.

        It then fades within 0.1 s, even if the sender disappears.

        :param wrench: (6,) force and torque [N, N·m] on the environment, at the origin of the
            frame, in the axes of the base, or of the frame.
        :param start: time [s] on the clock of :meth:`step` from which ``wrench_timeout`` counts.
        :raises TrajectoryError: as for :meth:`follow_pose`; the wrench is not finite, or above
            ``task_wrench_limit``.
        """
        settings = self._controller.settings
        most = settings.task_wrench_limit
        w = checked_wrench(wrench, (most[0], most[1]))

        def change(command: ndarray) -> None:
            command[WRENCH:WRENCH + 6], command[WRENCH_IN_TOOL] = w, tool_axes
            command[WRENCH_END] = start + settings.wrench_timeout
        self._command(change, start)

    def follow_stiffness(self, stiffness: ArrayLike, start: float) -> None:
        """
        Ask for a stiffness of cartesian_impedance, in no direction above ``task_stiffness``.

        It is reached within some tenths of a second, later where it would add more energy than
        the tank has (``tank_energy``); it stays until another one is asked for, or until the law
        or its gains change.

        :param stiffness: (6,) [N/m, N·m/rad] along and about ``task_axes``, or a symmetric,
            positive semi-definite matrix (6, 6), or its 36 elements by rows.
        :param start: time [s] on the clock of :meth:`step`.
        :raises TrajectoryError: as for :meth:`follow_pose`; a number is not finite, or
            the matrix is not symmetric, has a negative direction, or one in which it is above
            ``task_stiffness``, for which the gains were judged.
        """
        c = self._controller
        law = int(c.records.record['law'][0])
        K = checked_stiffness(stiffness, as_matrix(c.settings.task_stiffness, 6))

        def change(command: ndarray) -> None:
            command[STIFFNESS_LAW], command[STIFFNESS:] = law, K.ravel()
        self._command(change, start)

    def _command(self, change: Callable[[ndarray], None], start: float) -> None:
        """Change the command that goes with the reference; keep the reference."""
        self._check_follows_pose()
        m = self._controller.memory
        old, following = self.points, bool(m['pose_following'][0])
        new = old if following or self._waits(old) else at_rest(self._held(), start, 0)
        header, command = new.header.copy(), new.command.copy()
        header['serial'] = self.serial + 1
        change(command)
        if bool(m['pose_following'][0]) != following:
            raise TrajectoryError('the reference has changed meanwhile', name='reference',
                                  remedy='send it again')
        self._put(new._replace(header=header, command=command))

    def _waits(self, points: PosePoints) -> bool:
        """Return whether no cycle has seen a reference yet, which the next one will follow."""
        return int(points.header['serial'][0]) != int(
            self._controller.memory['pose_serial'][0])

    def _put(self, new: PosePoints) -> None:
        """Put a reference in force."""
        self._controller.history.add(new)
        self.points = new
        self._controller.changed()

    def _check_follows_pose(self) -> None:
        c = self._controller
        if c.phase != guard.RUNNING:
            raise TrajectoryError(f'the controller is {c.phase.name}', name='phase',
                                  remedy='activate it first; it follows when RUNNING')
        check_basis(c)
        mode = registry.mode_name(int(c.memory['mode'][0]))
        if registry.find(mode).reference != POSE:
            raise TrajectoryError(f'{mode} follows no pose', name='mode', value=mode,
                                  remedy='set mode to cartesian_impedance or operational_space')

    def _held(self) -> PoseState:
        """Return the pose that is held; the present one, where the law has not run yet."""
        c, m = self._controller, self._controller.memory[0]
        if not m['pose_held']:
            T = Dynamics(c.model).pose(c.vectors.q, c.settings.task_frame)
            return PoseState(T[:3, 3], T[:3, :3], np.zeros(6), np.zeros(6))
        return PoseState(m['pose_position'].copy(), m['pose_rotation'].reshape(3, 3).copy(),
                         np.zeros(6), np.zeros(6))
