# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subscriber of trajectories, which accepts or refuses each of them."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from math import nan
import time
from typing import NamedTuple, NoReturn, Protocol, TypeVar

import numpy as np
from numpy import ndarray
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from .publishers import LET_ONE_REMAIN, several
from ..middleware import raw_waitable
from ..middleware.executor import Throttle
from ...control.controller.controller import Controller
from ...control.references.compile_planner import planner_is_being_compiled
from ...control.references.trajectory import (
    is_streamed, is_target, joint_order, MAX_WAYPOINTS, Waypoints)
from ...errors import TrajectoryError, TrajectoryLateError
from ...wire.joint_trajectory import JointTrajectoryMessage

TRANSIT_WINDOW = 5    # messages; their least transit time counts
MAX_AHEAD, MAX_BEHIND = 0.05, 0.5   # [s]
# [s]; larger offsets mean another epoch, not skew
MAX_CLOCK_OFFSET = 1e6
REMEDY = 'synchronize the hosts (chrony, ptp4l)'


class ClockSkew:
    """
    Difference between the clock of a publisher and that of this host.

    The transit time of a message is its time of receipt on this host's clock minus its time of
    publication on the publisher's. With synchronized clocks, the least of several is short and
    not negative.
    """

    def __init__(self) -> None:
        self._transits: deque[float] = deque(maxlen=TRANSIT_WINDOW)
        self._told = False

    @property
    def offset(self) -> float:
        """Return the least transit time of the latest messages [s], 0 without messages."""
        return min(self._transits, default=0.0)

    def note(self, transit: float, what: str) -> str:
        """
        Note the transit time [s] of a message; return a sentence when a difference appears.

        :param what: comes from the other clock, e.g. ``'joint_trajectory'``.
        """
        if abs(transit) > MAX_CLOCK_OFFSET:
            return ''
        self._transits.append(transit)
        sentence = skew(self.offset, what) if (
            len(self._transits) == TRANSIT_WINDOW or self.offset < 0.0) else ''
        news, self._told = bool(sentence) and not self._told, bool(sentence)
        return sentence if news else ''


def skew(transit: float, what: str) -> str:
    """Return a sentence on the clock that a transit time [s] is relative to, '' if it agrees."""
    if -MAX_AHEAD <= transit <= MAX_BEHIND or abs(transit) > MAX_CLOCK_OFFSET:
        return ''
    if transit < 0.0:
        return f"the clock of {what} is {-transit:.3f} s ahead of this host's; {REMEDY}"
    return (f'{what} comes {transit:.3f} s after it was stamped: its clock is behind this '
            f"host's, or the link is slow; {REMEDY}")


RATE_WINDOW = 100    # intervals
STREAM_TIMEOUT = 1.0    # [s] without a message ends a stream


class StreamRate:
    """Intervals between the latest messages of a stream."""

    def __init__(self):
        self._times: deque[float] = deque(maxlen=RATE_WINDOW + 1)

    def add(self, now: float) -> None:
        """Add a message that arrived at ``now`` [s]; after a pause a new stream begins."""
        if self._times and not 0.0 <= now - self._times[-1] <= STREAM_TIMEOUT:
            self._times.clear()
        self._times.append(now)

    def rate(self, now: float) -> tuple[float, float]:
        """
        Return mean rate [Hz] and standard deviation of the intervals [s] of a present stream.

        Without one the rate is 0 and the deviation NaN.
        """
        if len(self._times) < 3 or now - self._times[-1] > STREAM_TIMEOUT:
            return 0.0, nan
        intervals = np.diff(self._times)
        mean = float(intervals.mean())
        return (1.0 / mean if mean > 0.0 else 0.0), float(intervals.std())


# s from a trajectory's arrival to its start, and for each waypoint: planning it takes a moment
LEAD, LEAD_PER_WAYPOINT = 0.01, 5e-5
TOPIC = '~/joint_trajectory'
MAX_PLAIN_WAYPOINTS = 2000    # planned without machine code, in about a second
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


def clock_offset(node: Node, follower: Follower) -> float:
    """Return the time of a follower minus that of stamps [s], 0 on ROS time."""
    if follower.on_ros_time:
        return 0.0
    return follower.now() - 1e-9 * node.get_clock().now().nanoseconds


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
        begun = self.follower.now()
        try:
            return follow(self)
        except TrajectoryLateError:
            if not self.at_once:
                raise
        now, elapsed = self.follower.now(), self.asked.elapsed
        # Planning it again takes as long as it has taken, or longer on a busy machine
        start = now + BUSY_LEAD + max(2.0 * (now - begun),
                                      LEAD_PER_WAYPOINT * len(self.asked.times))
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
            _refuse(self.trouble, 'joint_trajectory', LET_ONE_REMAIN)
        message = JointTrajectoryMessage(data)
        if message.waypoints > MAX_WAYPOINTS:
            _refuse(f'{message.waypoints} waypoints', 'points', f'use at most {MAX_WAYPOINTS}')
        if message.waypoints > MAX_PLAIN_WAYPOINTS and planner_is_being_compiled():
            _refuse(f'{message.waypoints} waypoints while the planner is being compiled', 'points',
                    f'send them again in a minute, or at most {MAX_PLAIN_WAYPOINTS}')
        joint_order(follower.controller.model.joint_names, message.joint_names, partial=True)
        if size > len(data):
            _refuse(f'a message of {size} bytes', 'points', f'use at most {MAX_MESSAGE_BYTES}')
        start, elapsed, at_once = self._start(message, follower, now, lead)
        if message.waypoints == 0:          # it asks to stop
            return Request(follower, Waypoints(message.joint_names, np.zeros(0), np.zeros((0, 0))),
                           start, at_once)
        times, (positions, velocities, accelerations, effort) = message.points()
        return Request(follower, Waypoints(message.joint_names, times, positions, velocities,
                                           accelerations, effort, elapsed), start, at_once)

    def _start(self, message: JointTrajectoryMessage, follower: Follower, now: float,
               lead: float) -> tuple[float, float, bool]:
        """Return start on the clock of the follower, time since the stamp [s], whether at once."""
        at_once = now + lead + LEAD_PER_WAYPOINT * message.waypoints
        if message.stamp_ns == 0:
            return at_once, 0.0, True
        start = 1e-9 * message.stamp_ns + clock_offset(self._node, follower)
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
