# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Methods of :class:`~.controller.Controller` that concern its reference trajectory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy import ndarray

from .controller_status import ControllerStatus, STREAM_HORIZON
from .history import History
from ..inputs.points import Points, sample
from ..inputs.pose_tracking import PosePoints
from ..laws import registry
from ..references.reference_planning import from_now_on, plan_motion, PlannedReference
from ..references.trajectory import is_streamed, splice, Waypoints
from ..settings.motion_limits import motion_limits
from ..settings.settings import Settings
from ..steps import guard
from ..steps.acceleration_limits import VELOCITY_SHARE
from ...errors import TrajectoryError, TrajectoryLateError

# Names of the elements of Settings.basis
BASIS_NAMES = 'mode', 'task_frame', 'velocity_scale', 'bounds of the motion'
MAX_LATENESS = 0.05    # s after its start, within which a trajectory is accepted


class TrajectoryFollowing(ControllerStatus):
    """Reference trajectories of laws that follow one."""

    history: History
    changed: Callable[[], None]
    _points: Points
    _poses: PosePoints

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
        if self._superseded(planned):       # the mode has changed meanwhile, for instance
            planned = self.prepare(waypoints, start)
        self.commit(planned)

    def prepare(self, waypoints: Waypoints, start: float) -> PlannedReference:
        """Plan the reference of :meth:`follow`, with its errors, and change nothing."""
        if self.phase != guard.RUNNING:
            raise TrajectoryError(f'the controller is {self.phase.name}', name='phase',
                                  remedy='activate it first; it follows when RUNNING')
        if self.memory['guided'][0]:
            raise TrajectoryError('the arm is guided by hand', name='guiding',
                                  remedy='let it go: it follows where ~/guiding is not true')
        self.check_basis()
        mode, law = registry.mode_name(int(self.memory['mode'][0])), int(self.memory['law'][0])
        if not registry.find(mode).follows:
            raise TrajectoryError(f'{mode} follows no reference', name='mode',
                                  remedy=f'set mode to one of {", ".join(registry.FOLLOWING)}')
        start -= float(self.memory['lag'][0])       # on the clock of references
        old, following = self._points, self._follows()
        limits = motion_limits(self.model, self.settings,
                               VELOCITY_SHARE * self._records.joints['velocity_limit'],
                               self._records.joints['effort_limit'])
        held = self._v.target.copy()
        asked = from_now_on(limits, waypoints, sample(old, start)[0] if following else held)
        new, end = plan_motion(limits, asked, old if following else None, held, start,
                               self.reference_serial + 1)
        return PlannedReference(asked, start, following, old, new, end, law)

    def _superseded(self, planned: PlannedReference) -> bool:
        """Return whether the reference that a planned one continues is no longer in force."""
        law = int(self.memory['law'][0])        # with another one, the present pose is held
        return bool(self._points is not planned.old or self._basis_changes()
                    or planned.following and not self._follows()
                    or not planned.following and law != planned.law)

    def _follows(self) -> bool:
        """Return whether the reference is followed, or will be from the next cycle on."""
        return bool(self.memory['following'][0]
                    or self.memory['serial'][0] != self.reference_serial)

    def commit(self, planned: PlannedReference) -> None:
        """
        Follow a reference from :meth:`prepare`.

        :raises TrajectoryError: it is too late, or does not continue the reference any more,
            which stays in force.
        """
        asked, start, following, old, new, *_ = planned
        now = self.reference_time
        if now > start + MAX_LATENESS:
            raise TrajectoryLateError(f'it was planned {now - start:.3f} s after its start',
                                      name='start',
                                      remedy='give it a start further in the future')
        if self._superseded(planned):
            raise TrajectoryError('the reference has changed while it was planned',
                                  name='reference', remedy='send it again')
        streamed = (following and start < old.header['start'][0] + old.times[-1] + MAX_LATENESS
                    and 0.0 < np.max(asked.times, initial=0.0) - asked.elapsed < STREAM_HORIZON
                    and not is_streamed(asked))
        self._streamed = self._streamed + 1 if streamed else 0
        new = splice(old, new, now) if following else new
        self.history.add(new)
        self._points = new
        self.changed()

    def reference_ended_by(self, settings: Settings) -> str:
        """
        Return why these settings would end the reference under way.

        :returns: '' if they would not, as new gains do not, or if there is no such reference.
        """
        pose, time = self._records.record['follows_pose'][0], self.reference_time
        points, follows = ((self._poses, 'pose_following') if pose
                           else (self._points, 'following'))
        if (self.phase != guard.RUNNING or not self.memory[follows][0]
                or time >= points.header['start'][0] + points.times[-1]):
            return ''
        differs = [what for what, old, new in zip(BASIS_NAMES, self.settings.basis, settings.basis,
                                                  strict=True) if old != new]
        return (f'the reference under way ends: {" and ".join(differs)} changed; the present pose '
                'is held' if differs else '')

    @property
    def reference(self) -> ndarray:
        """Reference (nv,) [rad | m] of the last step, NaN while no trajectory is followed."""
        follows = registry.find(registry.mode_name(int(self.memory['mode'][0]))).follows
        if self.phase != guard.RUNNING or not follows:
            return np.full(self.model.nv, np.nan)
        return self._v.target.copy()

    @property
    def reference_time(self) -> float:
        """Time [s] of the clock of references, which lags where bounds slow them down."""
        return float(self.memory['time'][0] - self.memory['lag'][0])

    @property
    def reference_serial(self) -> int:
        """Return the serial number of the newest reference, 0 before the first one."""
        return int(self._points.header['serial'][0])
