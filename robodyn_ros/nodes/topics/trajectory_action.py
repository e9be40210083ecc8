# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Action server of trajectories, control_msgs/FollowJointTrajectory, as MoveIt sends them."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
import time
from typing import Any, NamedTuple

from builtin_interfaces.msg import Duration
from numpy import ndarray
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from rclpy.serialization import serialize_message
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectoryPoint

from .trajectory_subscriber import LEAD, Request, TrajectorySubscriber
from ..middleware.raw_subscription import RCLError
from ...control.controller.controller import Controller
from ...control.controller.trajectory_goal import (
    CODES, INVALID_GOAL, Progress, refusal_code, Result, Status, TrajectoryGoal)
from ...control.references.reference_planning import PlannedReference
from ...control.references.trajectory import MAX_WAYPOINTS
from ...control.settings.motion_limits import (
    default_tolerances, goal_tolerances, GoalTolerances, JointTolerance)
from ...errors import TrajectoryError

NAME = '~/follow_joint_trajectory'
CONTROL_MSGS = 'no wheel has it, a ROS installation does (ros-<distro>-control-msgs)'
CHECK_PERIOD = 0.05    # [s] of the tolerances and the feedback
SLOW_REQUEST = 0.05    # [s]; accepting a request for longer is logged
GOAL_LEAD = 2 * LEAD    # s until a goal starts: it is accepted between planning and start


def serve_trajectories(node: Node, references: TrajectorySubscriber,
                       fault: Callable[[], str]) -> 'TrajectoryAction | None':
    """
    Serve the action if control_msgs is installed; else log that it is not, and return None.

    :param references: by whose rules goals are accepted and refused.
    :param fault: returns the reason of a fault in words.
    """
    try:
        from control_msgs.action import FollowJointTrajectory
    except ImportError as error:
        node.get_logger().info(f'no action {NAME}, which MoveIt needs: control_msgs is not '
                               f'installed ({error}): {CONTROL_MSGS}; ~/joint_trajectory is '
                               'subscribed')
        return None
    try:
        return TrajectoryAction(node, FollowJointTrajectory, references, fault)
    except RCLError as error:           # security does not allow it, for instance
        node.get_logger().warning(f'no action {NAME}: {error}')
        return None


class _Pending(NamedTuple):
    """A goal that is being accepted."""

    goal: Any
    request: Request
    controller: Controller
    planned: PlannedReference
    tolerances: GoalTolerances


class _Active(NamedTuple):
    """The goal that is followed."""

    handle: Any
    goal: TrajectoryGoal
    names: Sequence[str]
    done: Future


class TrajectoryAction:
    """
    Action server that follows one goal at a time; a new one replaces the one before it.

    A goal is planned, by the rules of the topic, before it is accepted; the arm begins to move
    afterwards. All methods are called by the executor, and a timer runs only during a goal.
    """

    def __init__(self, node: Node, action: Any, references: TrajectorySubscriber,
                 fault: Callable[[], str]):
        self._node, self._action, self._references = node, action, references
        self._fault = fault
        self._pending: _Pending | None = None
        self._active: _Active | None = None
        self._results: dict[bytes, Future] = {}     # by goal, until they are awaited
        self._timer = node.create_timer(CHECK_PERIOD, self._step,
                                        clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._timer.cancel()
        self._server = _TimedServer(
            node, action, NAME, self._execute, goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted, cancel_callback=self._on_cancel)

    def end(self, why: str) -> None:
        """Abort the goal that is under way."""
        if self._active is not None:
            self._finish(Result(Status.ABORTED, INVALID_GOAL, why))

    def destroy(self) -> None:
        """Withdraw the action."""
        self._node.destroy_timer(self._timer)
        self._server.destroy()

    # Accepting

    def _on_goal(self, goal: Any) -> GoalResponse:
        try:
            self._pending = self._plan(goal)
        except TrajectoryError as error:
            self._references.refused += 1
            self._references.warn(f'goal rejected, {CODES[refusal_code(error)]}: {error}')
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _plan(self, goal: Any) -> _Pending:
        """Plan a goal without following it yet."""
        number = len(goal.trajectory.points)
        if not number:
            raise TrajectoryError('the goal has no waypoints', name='points',
                                  remedy='use one at least; to stop, cancel the goal')
        if number > MAX_WAYPOINTS:
            raise TrajectoryError(f'{number} waypoints', name='points',
                                  remedy=f'use at most {MAX_WAYPOINTS}')
        for name in ('component_path_tolerance', 'component_goal_tolerance'):
            if getattr(goal, name, None):
                raise TrajectoryError(f'the goal has a {name}', name=name,
                                      remedy='joints have one degree of freedom: leave it empty')
        if getattr(goal, 'multi_dof_trajectory', None) and (
                goal.multi_dof_trajectory.points or goal.multi_dof_trajectory.joint_names):
            raise TrajectoryError('the goal has a multi_dof_trajectory',
                                  name='multi_dof_trajectory', remedy='leave it empty')
        data = serialize_message(goal.trajectory)
        request = self._references.request(data, len(data), GOAL_LEAD)
        controller = request.follower.controller
        tolerances = goal_tolerances(
            controller.model, default_tolerances(controller.model, controller.settings),
            _tolerances(goal.path_tolerance), _tolerances(goal.goal_tolerance),
            _seconds(goal.goal_time_tolerance), request.asked.joint_names)
        planned = controller.prepare(request.asked, request.start)
        return _Pending(goal, request, controller, planned, tolerances)

    def _on_accepted(self, handle: Any) -> None:
        """Follow a goal that the client knows to be accepted."""
        pending, self._pending = self._pending, None
        assert pending is not None and pending.goal is handle.request
        done = self._results[bytes(handle.goal_id.uuid)] = Future()
        handle.execute()            # which awaits the result
        controller, planned = pending.controller, pending.planned

        def begin(request: Request) -> TrajectoryGoal:
            return TrajectoryGoal(
                controller, planned if request is pending.request else controller.prepare(
                    request.asked, request.start), pending.tolerances, self._fault)
        try:
            goal = pending.request.followed(begin)
        except TrajectoryError as error:
            self._conclude(handle, done,
                           Result(Status.ABORTED, refusal_code(error), str(error)))
            return
        if (before := self._active) is not None:
            self._conclude(before.handle, before.done, before.goal.preempted())
        self._active = _Active(handle, goal, planned.asked.joint_names, done)
        self._references.accepted += 1
        number = len(planned.asked.times)
        self._references.inform(f'following a goal of {number} waypoints')
        self._timer.reset()

    def _on_cancel(self, handle: Any) -> CancelResponse:
        if self._active is None or self._active.handle is not handle:
            return CancelResponse.REJECT
        if refusal := self._active.goal.cancel():
            self._references.warn(f'the goal is not canceled: {refusal}')
            return CancelResponse.REJECT
        return CancelResponse.ACCEPT

    # Following

    async def _execute(self, handle: Any) -> Any:
        """Return the result of a goal when there is one; the executor goes on meanwhile."""
        return await self._results.pop(bytes(handle.goal_id.uuid))

    def _step(self) -> None:
        """Conclude the active goal, or publish its feedback."""
        if self._active is None:
            self._timer.cancel()
        elif (result := self._active.goal.step()) is not None:
            self._finish(result)
        else:
            with suppress(RCLError, InvalidHandle):     # the client or the context has gone
                self._active.handle.publish_feedback(self._feedback(self._active))

    def _finish(self, result: Result) -> None:
        active, self._active = self._active, None
        self._timer.cancel()
        assert active is not None
        self._conclude(active.handle, active.done, result)

    def _conclude(self, handle: Any, done: Future, result: Result) -> None:
        """End a goal and send its result."""
        said = f'goal {result.status.name.lower()}'
        if result.status == Status.SUCCEEDED:
            self._references.inform(said)
        else:
            self._references.warn(f'{said}, {CODES[result.code]}: {result.text}')
        try:
            {Status.SUCCEEDED: handle.succeed, Status.CANCELED: handle.canceled,
             Status.ABORTED: handle.abort}[result.status]()
        except (RCLError, InvalidHandle) as error:      # the context has gone
            self._references.warn(f'the end of a goal is not published: {error}')
        message = self._action.Result(error_code=result.code)
        message.error_string = result.text
        done.set_result(message)

    def _feedback(self, active: _Active) -> Any:
        """Return the feedback of the joints that the goal names, in its order."""
        order = [active.goal.controller.model.joint_names.index(name) for name in active.names]
        progress = active.goal.progress()
        feedback = self._action.Feedback(joint_names=list(active.names))
        feedback.header.stamp = self._node.get_clock().now().to_msg()
        feedback.desired = _point(progress, progress.desired[:, order])
        feedback.actual = _point(progress, progress.actual[:, order])
        feedback.error = _point(progress, (progress.desired[:2] - progress.actual)[:, order])
        if hasattr(feedback, 'index'):              # since control_msgs 5
            feedback.index = progress.waypoint
        return feedback


class _TimedServer(ActionServer):
    """
    Action server that logs requests whose deserialization stops the executor.

    rclpy makes an object of every waypoint before anybody can ask how many there are.
    """

    def take_data(self) -> Any:
        """Take the received requests."""
        begin = time.monotonic()
        data = super().take_data()
        if (taken := time.monotonic() - begin) > SLOW_REQUEST:
            self._node.get_logger().warning(
                f'a request to {NAME} took {taken:.2f} s to deserialize, in which the executor '
                'stalled: send fewer waypoints, or large trajectories to ~/joint_trajectory')
        return data


def _tolerances(given: Iterable[Any]) -> list[JointTolerance]:
    return [JointTolerance(t.name, t.position, t.velocity, t.acceleration) for t in given]


def _seconds(duration: Any) -> float:
    return duration.sec + 1e-9 * duration.nanosec


def _point(progress: Progress, rows: ndarray) -> JointTrajectoryPoint:
    """Return a point of position, velocity and perhaps acceleration (2 | 3, n)."""
    fields = dict(zip(('positions', 'velocities', 'accelerations'), rows.tolist(), strict=False))
    since = Duration(sec=int(progress.time // 1.0), nanosec=int(progress.time % 1.0 * 1e9))
    return JointTrajectoryPoint(time_from_start=since, **fields)
