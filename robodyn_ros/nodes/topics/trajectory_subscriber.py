# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subscriber of trajectories, which accepts or refuses each of them."""

from collections.abc import Callable
from dataclasses import replace
import time
from typing import NamedTuple, NoReturn, Protocol, TypeVar

import numpy as np
from numpy import ndarray
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from .command_publishers import several
from ..middleware import raw_waitable
from ..middleware.message_timing import ClockSkew, StreamRate
from ...control.controller.controller import Controller
from ...control.references.trajectory import (
    is_streamed,
    is_target,
    joint_order,
    MAX_WAYPOINTS,
    Waypoints,
)
from ...errors import TrajectoryError, TrajectoryLateError
from ...wire.joint_trajectory import JointTrajectoryMessage

# s from a trajectory's arrival to its start, and for each waypoint: planning it takes a moment
LEAD, LEAD_PER_WAYPOINT = 0.01, 5e-5
TOPIC = '~/joint_trajectory'
BUSY_LEAD = 0.5    # [s] of one that a busy machine takes longer to plan
MAX_START_DELAY = 600.0    # [s]; a later start has a stamp of another clock
QUEUE_DEPTH = 4    # messages may be of different joints; a stream needs few
MAX_MESSAGE_BYTES = 1 << 24    # the maximum number of waypoints, with all fields, of 34 joints
BURST, RATE = 50.0, 2.0     # warnings at once, and per second for ever
INFO_BURST, INFO_RATE = 10.0, 0.2       # the same of what goes well


Followed = TypeVar('Followed')


class Follower(Protocol):
    """Interface of the control loop that follows the trajectories."""

    @property
    def controller(self) -> Controller:
        """Return the controller that follows the trajectories."""

    @property
    def on_ros_time(self) -> bool:
        """Whether its clock is ROS time."""

    def now(self) -> float:
        """Return the time on the clock of the controller [s]."""


class Request(NamedTuple):
    """Requested waypoints; ``start`` [s] on the clock of ``follower``, perhaps ``at_once``."""

    follower: Follower
    asked: Waypoints
    start: float
    at_once: bool

    def followed(self, follow: Callable[['Request'], Followed]) -> Followed:
        """
        Return the result of ``follow``; a request that starts at once, and comes too late, waits.

        :raises TrajectoryError: it is refused.
        """
        try:
            return follow(self)
        except TrajectoryLateError:
            if not self.at_once:
                raise
        start, elapsed = self.follower.now() + BUSY_LEAD, self.asked.elapsed
        start += LEAD_PER_WAYPOINT * len(self.asked.times)
        return follow(self._replace(start=start, asked=replace(
            self.asked, elapsed=elapsed and elapsed + start - self.start)))


class TrajectorySubscriber:
    """
    Subscriber of trajectories; a refused one is logged and leaves the reference as it is.

    :param follower: returns the loop that follows, None while there is none.
    """

    def __init__(self, node: Node, follower: Callable[[], Follower | None]):
        self._node, self._follower = node, follower
        self._topic = node.resolve_topic_name(TOPIC)        # queries of the graph do not remap
        #: Why every trajectory is refused (several publishers), '' for no reason.
        self.trouble = ''
        self.accepted, self.refused = 0, 0
        #: Rate of the targets without a time, and of waypoints of streams.
        self.targets = StreamRate()
        #: Clock of the publisher.
        self.skew = ClockSkew()
        self._warnings, self._successes = Throttle(BURST, RATE), Throttle(INFO_BURST, INFO_RATE)
        self._messages = raw_waitable.subscribe(
            node, JointTrajectory, TOPIC, QUEUE_DEPTH, MAX_MESSAGE_BYTES, self._take)

    def _take(self, data: ndarray, size: int) -> None:
        if sentence := self.skew.note(self._messages.transit, 'joint_trajectory'):
            self._node.get_logger().warning(sentence)
        try:
            number = self._follow(data, size)
        except TrajectoryError as error:
            self.refused += 1
            self.warn(f'trajectory refused: {error}')
        else:
            self.accepted += 1
            said = f'following a trajectory of {number} waypoints' if number else 'coming to rest'
            self.inform(said)

    def _follow(self, data: ndarray, size: int) -> int:
        """Follow a trajectory and return how many waypoints it has."""
        request = self.request(data, size)
        check_received(request.follower, self._messages.waited)
        request.followed(lambda r: r.follower.controller.follow(r.asked, r.start))
        if is_target(request.asked) or is_streamed(request.asked):
            self.targets.add(time.monotonic())
        return len(request.asked.times)

    def request(self, data: bytes | ndarray, size: int, lead: float = LEAD) -> 'Request':
        """
        Return what a serialized trajectory asks for, by the rules of the topic.

        :param size: bytes of the whole message, of which ``data`` may be the first.
        :param lead: time [s] from now to the start of a trajectory that starts at once.
        :raises TrajectoryError: it is refused.
        """
        follower = self._follower()
        if follower is None:
            _refuse('the controller is not active', 'joint_trajectory', 'activate it first')
        now = follower.now()
        self.look()
        if self.trouble:
            _refuse(self.trouble, 'joint_trajectory', 'let one remain; one that was killed is '
                                                      'gone after 20 s')
        message = JointTrajectoryMessage(data)
        if message.waypoints > MAX_WAYPOINTS:
            _refuse(f'{message.waypoints} waypoints', 'points', f'give at most {MAX_WAYPOINTS}')
        joint_order(follower.controller.model.joint_names, message.joint_names, partial=True)
        if size > len(data):
            _refuse(f'a message of {size} bytes', 'points', f'give at most {MAX_MESSAGE_BYTES}')
        start, elapsed, at_once = self._start(message, follower, now, lead)
        if message.waypoints == 0:          # it asks to stop
            return Request(follower, Waypoints(message.joint_names, np.zeros(0), np.zeros((0, 0))),
                           start, at_once)
        times, (positions, velocities, accelerations, effort) = message.points()
        return Request(follower, Waypoints(message.joint_names, times, positions, velocities,
                                           accelerations, effort, elapsed), start, at_once)

    def _start(self, message: JointTrajectoryMessage, follower: Follower, now: float,
               lead: float) -> tuple[float, float, bool]:
        """
        Return the start on the clock of the follower, and the time elapsed since the stamp [s].

        And whether it starts at once, as soon as it is planned.
        """
        at_once = now + lead + LEAD_PER_WAYPOINT * message.waypoints
        if message.stamp_ns == 0:
            return at_once, 0.0, True
        start = 1e-9 * message.stamp_ns
        if not follower.on_ros_time:
            start += now - 1e-9 * self._node.get_clock().now().nanoseconds
        if start < now:
            return at_once, at_once - start, True
        if start > now + MAX_START_DELAY:
            _refuse(f'the trajectory would start in {start - now:.0f} s', 'header.stamp',
                    f'stamp it at most {MAX_START_DELAY:g} s ahead, or with zero for now')
        return start, 0.0, False

    def look(self) -> None:
        """
        Count publishers; log when trajectories begin or cease to be refused for that.

        To be called between trajectories by the reports.
        """
        before, self.trouble = self.trouble, several(self._node, self._topic, 'joint_trajectory')
        if self.trouble and not before:
            self.warn(f'{self.trouble}: trajectories are refused')
        elif before and not self.trouble:
            self._node.get_logger().info('trajectories are accepted again: one publisher is left')

    def inform(self, text: str) -> None:
        """Log what goes well, of a stream only some."""
        if line := self._successes.line(text):
            self._node.get_logger().info(line)

    def warn(self, text: str) -> None:
        """Log a warning, of a stream only some."""
        if line := self._warnings.line(text):
            self._node.get_logger().warning(line)


class Throttle:
    """
    Rate limiter of log lines, which counts those it suppresses (token bucket).

    :param burst: number of lines at once.
    :param rate: lines per second in the long run.
    """

    def __init__(self, burst: float, rate: float):
        self._burst, self._rate = burst, rate
        self._left, self._when, self._unsaid = burst, time.monotonic(), 0

    def line(self, text: str) -> str:
        """Return the line to log, with the number of suppressed ones before it, or ''."""
        now = time.monotonic()
        self._left = min(self._burst, self._left + self._rate * (now - self._when))
        self._when = now
        if self._left < 1.0:
            self._unsaid += 1
            return ''
        before = f' ({self._unsaid} more before it)' if self._unsaid else ''
        self._left, self._unsaid = self._left - 1.0, 0
        return f'{text}{before}'


def check_received(follower: Follower, waited: float) -> None:
    """
    Refuse a message that has waited [s] since before the arm was RUNNING.

    A reset may keep the executor busy for seconds. In a simulation that has its own time this is
    not known, and not checked.
    """
    if not follower.on_ros_time:
        follower.controller.trajectory.check_received(follower.now() - waited)


def _refuse(problem: str, name: str, remedy: str) -> NoReturn:
    raise TrajectoryError(problem, name=name, remedy=remedy)
