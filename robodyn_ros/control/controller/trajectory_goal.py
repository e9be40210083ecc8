# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Goal of a trajectory: from its acceptance to the result, with tolerances, cancellation, preemption.

Result codes and tolerances are those of control_msgs/FollowJointTrajectory, their evaluation that
of the joint_trajectory_controller of ros2_controllers.
"""

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from .controller import Controller
from ..references.reference_planning import PlannedReference
from ..references.trajectory import Waypoints
from ..settings.motion_limits import GoalTolerances
from ..steps import guard
from ...errors import TrajectoryError, TrajectoryJointsError, TrajectoryOverError

SUCCESSFUL, INVALID_GOAL, INVALID_JOINTS = 0, -1, -2
OLD_HEADER_TIMESTAMP, PATH_TOLERANCE_VIOLATED, GOAL_TOLERANCE_VIOLATED = -3, -4, -5
#: Names of the codes of control_msgs.
CODES = {SUCCESSFUL: 'SUCCESSFUL', INVALID_GOAL: 'INVALID_GOAL', INVALID_JOINTS: 'INVALID_JOINTS',
         OLD_HEADER_TIMESTAMP: 'OLD_HEADER_TIMESTAMP',
         PATH_TOLERANCE_VIOLATED: 'PATH_TOLERANCE_VIOLATED',
         GOAL_TOLERANCE_VIOLATED: 'GOAL_TOLERANCE_VIOLATED'}
STOP_LEAD = 0.01            # s from the decision to stop to the start of the deceleration
STOP_ATTEMPTS = 3           # the cycle may pass the start while the deceleration is planned
QUANTITIES = ('position', 'velocity')


class Status(Enum):
    """Outcome of a goal."""

    SUCCEEDED, ABORTED, CANCELED = range(3)


class Result(NamedTuple):
    """End of a goal: its status, the code of control_msgs, and the reason as text."""

    status: Status
    code: int
    text: str


class Progress(NamedTuple):
    """
    Reference and state of the arm in the last cycle.

    ``time`` [s] since the start; ``desired`` (3, nv): position, velocity and acceleration of the
    reference [rad | m, per s, per s²]; ``actual`` (2, nv): position and velocity; ``waypoint``:
    index of the one that is approached.
    """

    time: float
    desired: ndarray
    actual: ndarray
    waypoint: int


class TrajectoryGoal:
    """
    One goal that a controller follows, supervised by repeated calls of :meth:`step`.

    The clock is that of the controller's last cycle, so that a goal waits in a paused simulation.
    Tolerances are checked when :meth:`step` is called, the guard checks in every cycle.

    :param planned: from :meth:`.Controller.prepare`.
    :param fault: returns the reason of a fault; None: :attr:`.Controller.reason`.
    :raises TrajectoryError: the controller cannot follow it any more, see
        :meth:`.Controller.commit`; its reference stays in force.
    """

    def __init__(self, controller: Controller, planned: PlannedReference,
                 tolerances: GoalTolerances, fault: Callable[[], str] | None = None):
        self.controller, self.tolerances = controller, tolerances
        self.start, self.end = planned.start, planned.end
        self._fault = fault or (lambda: controller.reason)
        self._times = np.asarray(planned.asked.times, float) - planned.asked.elapsed
        self._faults = int(controller.memory['faults'][0])
        self._dropped = False           # at the last step, its reference was not in force
        #: Whether the arm decelerates because the goal is canceled.
        self.canceling = False
        controller.commit(planned)
        self._serial = controller.trajectory.serial

    @property
    def time(self) -> float:
        """Time of the clock of references in the last cycle [s]."""
        return self.controller.reference_time

    def progress(self) -> Progress:
        """
        Return reference and state of the last cycle.

        A cycle may run meanwhile: then some of the numbers are one period younger.
        """
        v = self.controller.vectors
        since = self.time - self.start
        waypoint = int(np.searchsorted(self._times, since))
        return Progress(since, np.array([v.target, v.target_qd, v.target_qdd]),
                        np.array([v.q, v.qd]), min(waypoint, len(self._times) - 1))

    def step(self) -> Result | None:
        """Return the result of the goal, None while it is under way."""
        if lost := self._lost():
            return Result(Status.ABORTED, INVALID_GOAL, lost)
        if self.canceling:
            return (Result(Status.CANCELED, SUCCESSFUL, 'canceled, the reference is at rest')
                    if self.time >= self.end else None)
        if self.time < self.start:
            return None
        if self.time < self.end:
            if not (violated := self._violated(self.tolerances.path)):
                return None
            self.decelerate()
            return Result(Status.ABORTED, PATH_TOLERANCE_VIOLATED, violated)
        if not (violated := self._violated(self.tolerances.goal)):
            return Result(Status.SUCCEEDED, SUCCESSFUL, 'the goal is reached')
        if self.time - self.end <= self.tolerances.goal_time:
            return None
        return Result(Status.ABORTED, GOAL_TOLERANCE_VIOLATED,
                      f'{violated}, {self.time - self.end:.3f} s after the end')

    def cancel(self) -> str:
        """
        Decelerate within the limits of acceleration; the result comes when the reference rests.

        :returns: why the arm does not decelerate, '' if it does.
        """
        if self.canceling:
            return ''
        if lost := self._lost():
            return lost
        refusal = self.decelerate()
        self.canceling = not refusal
        return refusal

    def decelerate(self) -> str:
        """Bring the reference to rest if it is that of this goal; return why it cannot be."""
        refusal = ''
        for _ in range(STOP_ATTEMPTS):
            if lost := self._lost():
                return lost
            now = float(self.controller.memory['time'][0])
            try:
                stop = self.controller.prepare(Waypoints((), np.zeros(0), np.zeros((0, 0))),
                                               now + STOP_LEAD)
                self.controller.commit(stop)
            except TrajectoryError as error:
                refusal = str(error)
                continue
            self.end, self._serial = stop.end, self.controller.trajectory.serial
            self._dropped = False
            return ''
        return refusal

    def preempted(self) -> Result:
        """Return the result of a goal that another one has replaced."""
        return Result(Status.CANCELED if self.canceling else Status.ABORTED, INVALID_GOAL,
                      'a new goal has replaced it')

    def _lost(self) -> str:
        """Return why the reference of the goal is no longer in force, '' while it is."""
        controller, m = self.controller, self.controller.memory
        if controller.phase == guard.FAULT:
            return f'FAULT: {self._fault()}'
        if m['faults'][0] != self._faults:
            return 'there has been a fault'
        if controller.phase != guard.RUNNING:
            return f'the controller is {controller.phase.name}'
        if controller.trajectory.serial != self._serial:
            return 'another trajectory has replaced it'
        # The cycle writes the two one after the other: only twice in a row is it a loss
        before, self._dropped = self._dropped, bool(
            m['serial'][0] == self._serial and not m['following'][0])
        if before and self._dropped and controller.held_by:
            return f'the motion is held: {controller.held_by}'
        return ('the present pose has become the reference: the law has changed, time has jumped, '
                'or no subscriber to the commands' if before and self._dropped else '')

    def _violated(self, tolerance: ndarray) -> str:
        """Return which joint violates a tolerance (2, nv) most, and by how much, or ''."""
        progress = self.progress()
        error = np.abs(progress.desired[:2] - progress.actual)
        excess = error / tolerance
        if (excess <= 1.0).all():
            return ''
        k, i = np.unravel_index(int(excess.argmax()), excess.shape)
        return (f'{QUANTITIES[k]} of {self.controller.model.joint_names[i]} is {error[k, i]:.4g} '
                f'from the reference, more than {tolerance[k, i]:.4g}')


def refusal_code(error: TrajectoryError) -> int:
    """Return the code of control_msgs for a trajectory that is refused."""
    if isinstance(error, TrajectoryOverError):
        return OLD_HEADER_TIMESTAMP
    return INVALID_JOINTS if isinstance(error, TrajectoryJointsError) else INVALID_GOAL
