# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""References of a controller: the trajectory, and the pose with its wrench and stiffness."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .status import STREAM_HORIZON
from ..declare import as_matrix
from ..inputs.pose_tracking import (
    Points, PosePoints, sample, STIFFNESS, STIFFNESS_LAW, WRENCH, WRENCH_END, WRENCH_IN_TOOL)
from ..laws import registry
from ..laws.law import POSE
from ..references.pose_planning import (
    at_rest, at_twist, checked_pose, checked_stiffness, checked_wrench, pose_limits, PoseState,
    sample_pose, splice_poses, to_pose)
from ..references.reference_planning import from_now_on, plan_motion, PlannedReference
from ..references.trajectory import is_streamed, splice, Waypoints
from ..settings.motion_limits import motion_limits, MotionLimits
from ..settings.settings import Settings
from ..settings.task_and_bounds import reach
from ..steps import guard
from ..steps.acceleration_limits import VELOCITY_SHARE
from ...dynamics import Dynamics
from ...errors import TrajectoryError, TrajectoryLateError

if TYPE_CHECKING:
    from .controller import Controller

# Names of the elements of Settings.basis
BASIS_NAMES = 'mode', 'task_frame', 'velocity_scale', 'bounds of the motion'
MAX_LATENESS = 0.05    # s after its start, within which a trajectory is accepted


class TrajectoryReference:
    """The trajectory that a controller follows, where its law follows one."""

    def __init__(self, controller: Controller):
        self._controller = controller
        self.begin()

    def begin(self) -> None:
        """Forget the reference."""
        #: The newest reference; serial 0 before the first one.
        self.points = Points.none(self._controller.model.nv)
        self.streamed = 0       # short trajectories in a row

    @property
    def serial(self) -> int:
        """Serial number of the newest reference, 0 before the first one."""
        return int(self.points.header['serial'][0])

    def follow(self, waypoints: Waypoints, start: float) -> None:
        """
        Follow a trajectory from ``start`` on.

        Joints that are not named keep their present reference. No waypoints: the reference
        decelerates to rest. One at time 0 is a target to be reached as soon as the limits of
        velocity, acceleration and jerk allow, from any state, as in teleoperation. One within
        MAX_STREAM_TIME belongs to a stream, and the next one replaces it: see
        :func:`.joint_requests.plan_waypoint`.

        Every other trajectory ends at rest, and a new one may replace it on the way. If one starts
        up to ``trajectory_start_tolerance`` from the reference, as a plan from the measured pose
        does, the reference joins it within the limits. A stream of trajectories has to
        look ahead: give each of them waypoints for the next half second or more, and send the next
        one before it brakes. With a few waypoints over a few hundredths of a second the arm stops
        and goes with each of them, which ends in EFFORT_LIMITED or EFFORT_OSCILLATES, and
        :attr:`reason` explains it.

        :param start: time [s] on the clock of :meth:`step`.
        :raises TrajectoryError: the trajectory is refused; the present reference stays in force.
        """
        planned = self.prepare(waypoints, start)
        with self._controller.changing:
            if self._superseded(planned):       # the mode has changed meanwhile, for instance
                planned = self.prepare(waypoints, start)
            self.commit(planned)

    def prepare(self, waypoints: Waypoints, start: float) -> PlannedReference:
        """Plan the reference of :meth:`follow`, with its errors, and change nothing."""
        c, m = self._controller, self._controller.memory
        mode, law = following_mode(c), int(m['law'][0])
        if m['guided'][0]:
            raise TrajectoryError('the arm is guided by hand', name='guiding',
                                  remedy='let it go: it follows where ~/guiding is not true')
        if not registry.find(mode).follows:
            raise TrajectoryError(f'{mode} follows no reference', name='mode',
                                  remedy=f'set mode to one of {", ".join(registry.FOLLOWING)}')
        start -= float(m['lag'][0])       # on the clock of references
        old, following = self.points, self._follows()
        limits = motion_limits(c.model, c.settings,
                               VELOCITY_SHARE * c.records.joints['velocity_limit'],
                               c.records.joints['effort_limit'])
        held = c.vectors.target.copy()
        asked = from_now_on(limits, waypoints, sample(old, start)[0] if following else held)
        new, end = plan_motion(limits, asked, old if following else None, held, start,
                               self.serial + 1)
        return PlannedReference(asked, start, following, old, new, end, law)

    def _superseded(self, planned: PlannedReference) -> bool:
        """Return whether the reference that a planned one continues is no longer in force."""
        c = self._controller
        law = int(c.memory['law'][0])       # with another one, the present pose is held
        return bool(self.points is not planned.old or c.basis_changes
                    or planned.following and not self._follows()
                    or not planned.following and law != planned.law)

    def _follows(self) -> bool:
        """Return whether the reference is followed, or will be from the next cycle on."""
        m = self._controller.memory
        return bool(m['following'][0] or m['serial'][0] != self.serial)

    def commit(self, planned: PlannedReference) -> None:
        """
        Follow a reference from :meth:`prepare`.

        :raises TrajectoryError: it is too late, or does not continue the reference any more,
            which stays in force.
        """
        c = self._controller
        asked, start, following, old, new, *_ = planned
        now = c.reference_time
        if now > start + MAX_LATENESS:
            raise TrajectoryLateError(f'it was planned {now - start:.3f} s after its start',
                                      name='start',
                                      remedy='let it start further in the future')
        if self._superseded(planned):
            raise TrajectoryError('the reference has changed while it was planned',
                                  name='reference', remedy='send it again')
        streamed = (following and start < old.header['start'][0] + old.times[-1] + MAX_LATENESS
                    and 0.0 < np.max(asked.times, initial=0.0) - asked.elapsed < STREAM_HORIZON
                    and not is_streamed(asked))
        self.streamed = self.streamed + 1 if streamed else 0
        new = splice(old, new, now) if following else new
        c.history.add(new)
        self.points = new
        c.changed()

    def ended_by(self, settings: Settings) -> str:
        """
        Return why these settings would end the reference under way.

        :returns: '' if they would not, as new gains do not, or if there is no such reference.
        """
        c = self._controller
        points, follows = ((c.pose.points, 'pose_following')
                           if c.records.record['follows_pose'][0] else (self.points, 'following'))
        if (c.phase != guard.RUNNING or not c.memory[follows][0]
                or c.reference_time >= points.header['start'][0] + points.times[-1]):
            return ''
        differs = [what for what, old, new in zip(BASIS_NAMES, c.settings.basis, settings.basis,
                                                  strict=True) if old != new]
        return (f'the reference under way ends: {" and ".join(differs)} changed; the present pose '
                'is held' if differs else '')

    def check_received(self, received: float) -> None:
        """
        Refuse a reference received before the arm was RUNNING.

        :param received: time [s] on the clock of :meth:`.Controller.step`.
        :raises TrajectoryError: it would start an unexpected motion.
        """
        c = self._controller
        begun = float(c.memory['since'][0])
        if c.phase == guard.RUNNING and received < begun:
            raise TrajectoryError(f'it came {begun - received:.3f} s before the arm was RUNNING',
                                  name='phase', remedy='send it once the arm is RUNNING')


def following_mode(c: Controller) -> str:
    """
    Return the mode of an arm that can be given a reference.

    :raises TrajectoryError: the arm is not RUNNING; or :attr:`Settings.basis` has changed, and the
        present pose will become the reference in the next cycle.
    """
    if c.phase != guard.RUNNING:
        raise TrajectoryError(f'the controller is {c.phase.name}', name='phase',
                              remedy='activate it first; it follows when RUNNING')
    if c.basis_changes:
        raise TrajectoryError('mode, frame, speed or bounds have just been changed',
                              name='mode', remedy='send it again, after the next cycle')
    return registry.mode_name(int(c.memory['mode'][0]))


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
                                      name='start', remedy='let it start further in the future')
            with c.changing:
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
        with self._controller.changing:
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
        mode = following_mode(self._controller)
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
