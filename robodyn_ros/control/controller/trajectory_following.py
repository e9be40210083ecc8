# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Reference trajectory of a controller."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .status_sentences import STREAM_HORIZON
from ..inputs.points import Points, sample
from ..laws import registry
from ..references.reference_planning import from_now_on, plan_motion, PlannedReference
from ..references.trajectory import is_streamed, splice, Waypoints
from ..settings.motion_limits import motion_limits
from ..settings.settings import Settings
from ..steps import guard
from ..steps.acceleration_limits import VELOCITY_SHARE
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
        if self._superseded(planned):       # the mode has changed meanwhile, for instance
            planned = self.prepare(waypoints, start)
        self.commit(planned)

    def prepare(self, waypoints: Waypoints, start: float) -> PlannedReference:
        """Plan the reference of :meth:`follow`, with its errors, and change nothing."""
        c, m = self._controller, self._controller.memory
        if c.phase != guard.RUNNING:
            raise TrajectoryError(f'the controller is {c.phase.name}', name='phase',
                                  remedy='activate it first; it follows when RUNNING')
        if m['guided'][0]:
            raise TrajectoryError('the arm is guided by hand', name='guiding',
                                  remedy='let it go: it follows where ~/guiding is not true')
        check_basis(c)
        mode, law = registry.mode_name(int(m['mode'][0])), int(m['law'][0])
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
                                      remedy='give it a start further in the future')
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


def check_basis(c: Controller) -> None:
    """
    Refuse a reference between a change of :attr:`Settings.basis` and the next cycle.

    :raises TrajectoryError: the present pose is about to become the reference.
    """
    if c.basis_changes:
        raise TrajectoryError('mode, frame, speed or bounds have just been changed',
                              name='mode', remedy='send it again, after the next cycle')
