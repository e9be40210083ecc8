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
        """See :meth:`.Controller.follow`."""
        planned = self.prepare(waypoints, start)
        if self._superseded(planned):       # the mode has changed meanwhile, for instance
            planned = self.prepare(waypoints, start)
        self.commit(planned)

    def prepare(self, waypoints: Waypoints, start: float) -> PlannedReference:
        """See :meth:`.Controller.prepare`."""
        c, m = self._controller, self._controller.memory
        if c.phase != guard.RUNNING:
            raise TrajectoryError(f'the controller is {c.phase.name}', name='phase',
                                  remedy='activate it first; it follows when RUNNING')
        if m['guided'][0]:
            raise TrajectoryError('the arm is guided by hand', name='guiding',
                                  remedy='let it go: it follows where ~/guiding is not true')
        c.check_basis()
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
        """See :meth:`.Controller.commit`."""
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
