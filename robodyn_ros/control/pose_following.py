# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Methods of :class:`~.controller.Controller` that concern the reference pose of a task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from ..errors import TrajectoryError
from ..model.robot import RobotModel
from . import guard
from .history import History, Version
from .laws import registry
from .laws.law import POSE
from .motion_limits import MotionLimits
from .pose_planning import (
    PoseState,
    at_twist,
    checked_pose,
    pose_limits,
    sample_pose,
    splice_poses,
    to_pose,
)
from .pose_tracking import PosePoints
from .settings import Settings
from .task_frame import reach

LATEST = 0.05       # s after its start for which a reference is still accepted
Plan = Callable[[MotionLimits, PoseState, float, int], PosePoints]


class PoseFollowing:
    """Reference poses and twists, for laws that control a frame in task space."""

    model: RobotModel
    settings: Settings
    memory: ndarray
    history: History
    changed: Callable[[], None]
    _records: Version
    _poses: PosePoints

    def follow_pose(self, position: ArrayLike, quaternion: ArrayLike, start: float) -> None:
        """
        Move the reference of ``task_frame`` to a pose, as soon as the limits allow.

        A target may replace another one at any time and from any motion: the reference continues
        with limited velocity, acceleration and jerk (``task_velocity_limit``, ...), so that one
        that jumps does no harm.

        :param position: (3,) [m] in the frame of the base.
        :param quaternion: (4,) x, y, z, w: orientation in the frame of the base.
        :param start: time [s] on the clock of :meth:`step` at which the motion begins.
        :raises TrajectoryError: the controller is not RUNNING, the law follows no pose, or the
            pose is not finite, no rotation, or out of reach. The reference stays as it is.
        """
        self._check_follows_pose()
        center, longest = reach(self.model, self.settings.task_frame)
        where, rotation = checked_pose(position, quaternion, center, longest)
        self._follow(lambda limits, now, begin, serial: to_pose(
            limits, now, where, rotation, begin, serial), start)

    def follow_twist(self, twist: ArrayLike, start: float) -> None:
        """
        Move the reference of ``task_frame`` at a twist, for ``twist_timeout``; then it rests.

        :param twist: (6,) linear and angular velocity [m/s, rad/s] in the axes of the base.
        :param start: time [s] on the clock of :meth:`step` at which the motion begins.
        :raises TrajectoryError: as for :meth:`follow_pose`; the twist is above
            ``task_velocity_limit``.
        """
        self._follow(lambda limits, now, begin, serial: at_twist(
            limits, now, twist, self.settings.twist_timeout, begin, serial), start)

    @property
    def pose_serial(self) -> int:
        """Serial number of the newest reference pose, 0 before the first one."""
        return int(self._poses.header['serial'][0])

    def _follow(self, plan: Plan, asked: float) -> None:
        """Plan a reference and put it in force; again if the present one has changed meanwhile."""
        for _ in range(2):
            self._check_follows_pose()
            start = asked - float(self.memory['lag'][0])
            old, following = self._poses, bool(self.memory['pose_following'][0])
            present = sample_pose(old, start) if following else self._held()
            new = plan(pose_limits(self.settings), present, start, self.pose_serial + 1)
            now = float(self.memory['time'][0] - self.memory['lag'][0])
            if now > start + LATEST:
                raise TrajectoryError(f'it was planned {now - start:.3f} s after its start',
                                      name='start', remedy='give it a start further in the future')
            if self._poses is old and bool(self.memory['pose_following'][0]) == following:
                new = splice_poses(old, new, now) if following else new
                self.history.add(new)
                self._poses = new
                self.changed()
                return
        raise TrajectoryError('the reference has changed while it was planned', name='reference',
                              remedy='send it again')

    def _check_follows_pose(self) -> None:
        phase = int(self.memory['phase'][0])
        if phase != guard.RUNNING:
            raise TrajectoryError(f'the controller is {guard.PHASES[phase]}', name='phase',
                                  remedy='activate it first; it follows when RUNNING')
        mode = registry.mode_name(int(self.memory['mode'][0]))
        if registry.find(mode).reference != POSE or not self.memory['pose_held'][0]:
            raise TrajectoryError(f'{mode} follows no pose', name='mode', value=mode,
                                  remedy='set mode to cartesian_impedance or operational_space')

    def _held(self) -> PoseState:
        """Return the pose that is held."""
        m: Any = self.memory[0]
        return PoseState(m['pose_position'].copy(), m['pose_rotation'].reshape(3, 3).copy(),
                         np.zeros(6), np.zeros(6))
