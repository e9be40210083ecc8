# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Playback of a trajectory file to a controller, whose execution is monitored."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import remainder, tau
import time

from builtin_interfaces.msg import Duration
from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
from numpy import ndarray
from rcl_interfaces.msg import Log
import rclpy.duration
from rclpy.time import Time
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from .running_controller import beside, full, reported, warning
from ..middleware import qos
from ..middleware.client_session import never, Session
from ..topics.publishers import full_name, LOOP, publisher_names, told_name, UNKNOWN
from ...control.references.trajectory import QUINTIC_PEAK_RATIO, Waypoints
from ...control.settings.settings import Settings
from ...errors import RosError, TrajectoryError
from ...identification.excitation import trajectory_file
from ...model.robot import RobotModel

ANSWER_TIMEOUT = 15.0   # [s]; reports come once a second
LOG_TIMEOUT = 1.0    # [s] for the log line that explains a refusal
SETTLE_TIME = 0.5    # [s] at rest after the approach, and after the motion
APPROACH_SPEED_SHARE = 0.5    # of the highest velocity of each joint in the motion
MAX_APPROACH_TIME = 300.0    # [s]
START_TOLERANCE = 1e-3    # [rad | m] within which no approach is needed
# Counters of the diagnostics
ACCEPTED, REFUSED = 'accepted trajectories', 'refused trajectories'


def trajectory_message(asked: Waypoints | trajectory_file.JointTrajectory) -> JointTrajectory:
    """Return the message of a trajectory that starts on arrival."""
    message = JointTrajectory(joint_names=list(asked.joint_names))
    rows = [asked.positions, asked.velocities, asked.accelerations,
            getattr(asked, 'efforts', None)]
    for k, at in enumerate(np.round(1e9 * np.asarray(asked.times)).astype(int).tolist()):
        sec, nanosec = divmod(at, 10**9)
        x, xd, xdd, effort = ([] if row is None else row[k].tolist() for row in rows)
        message.points.append(JointTrajectoryPoint(
            positions=x, velocities=xd, accelerations=xdd, effort=effort,
            time_from_start=Duration(sec=sec, nanosec=nanosec)))
    return message


def approach(motion: trajectory_file.JointTrajectory, pose: ndarray, shortest: float,
             robot: RobotModel | None = None) -> trajectory_file.JointTrajectory:
    """
    Return a trajectory of one waypoint, from rest at ``pose`` to the start of the motion.

    No joint is faster than half of its greatest velocity in the motion. Obstacles are not
    considered.

    :param pose: (nv,) [rad | m].
    :param shortest: least duration [s].
    :param robot: whose continuous joints go the shortest way.
    :raises TrajectoryError: it would take longer than MAX_APPROACH_TIME.
    """
    start = motion.positions[0]
    periodic = dict(zip(robot.joint_names, robot.periodic)) if robot else {}
    turns = np.round((start - pose) / tau) * [periodic.get(name, 0) for name in motion.joint_names]
    away = np.abs(start - pose - tau * turns)
    # At a waypoint, or on average between two
    between = np.diff(motion.positions, axis=0) / np.diff(motion.times)[:, None]
    allowed = APPROACH_SPEED_SHARE * np.abs(np.vstack((motion.velocities, between))).max(0)
    with np.errstate(divide='ignore', invalid='ignore'):
        needed = np.where(away > START_TOLERANCE, QUINTIC_PEAK_RATIO * away / allowed, 0.0)
    if (longest := needed.max()) > MAX_APPROACH_TIME:
        i = int(needed.argmax())
        raise TrajectoryError(
            f'{motion.joint_names[i]} is {away[i]:.4g} away from its start, and at most '
            f'{2 * allowed[i]:.4g} per second fast in the motion', name=motion.joint_names[i],
            value=float(pose[i]), remedy=f'bring it to {start[i]:.6g} in another way')
    rest = np.zeros((1, len(start)))
    return trajectory_file.JointTrajectory(
        motion.joint_names, np.array([max(shortest, longest)]), start[None], rest, rest)


def slowed(robot: RobotModel, settings: Settings) -> RobotModel:
    """Return the robot with the limits of the controller, where they are lower."""
    return replace(robot, effort_limit=settings.per_joint(robot, 'effort_limit'),
                   velocity_limit=settings.velocity_scale * settings.per_joint(
                       robot, 'velocity_limit'))


class Player:
    """
    Publisher of trajectories for one controller.

    :param controller: its name, with its namespace.
    :param states: topic of sensor_msgs/JointState; '': `joint_states` in that namespace.
    :param confirm: whether it is a controller of this package, whose diagnostics are checked.
    :param within: longest time to wait for the controller and its messages [s].
    :param option: of the command line, names another controller; '': there is none.
    """

    def __init__(self, here: Session, controller: str, states: str = '', *, confirm: bool = True,
                 within: float, option: str = ''):
        self._here, self._confirm, self._within = here, confirm, within
        self._option = option
        self._topic = here.node.resolve_topic_name(f'{full(controller)}/joint_trajectory')
        #: Topic of the joint states.
        self.states = here.node.resolve_topic_name(states or beside(controller, 'joint_states'))
        #: Name of the controller that was found, with its namespace and without leading slash.
        self.listener = ''
        self._why = ''
        self._report: dict[str, str] = {}
        self._pose: dict[str, float] = {}
        self._publisher = here.node.create_publisher(JointTrajectory, self._topic, 1)
        self._reference: dict[str, float] = {}
        self._seen, self._moved = self._reference, time.monotonic()     # when it moved last
        here.node.create_subscription(DiagnosticArray, '/diagnostics', self._on_report, 10)
        here.node.create_subscription(JointState, f'{self._topic.rpartition("/")[0]}/reference',
                                      self._on_reference, qos.STATES_IN)
        here.node.create_subscription(Log, '/rosout', self._on_log, 100)

    def find(self) -> None:
        """
        Wait until the controller is discovered and RUNNING.

        :raises RosError: there is no controller, or several; another node publishes trajectories;
            the controller publishes no diagnostics, or is not RUNNING.
        """
        node, topic = self._here.node, self._topic
        self._here.until(self._one_listener, self._within)
        listeners = node.get_subscriptions_info_by_topic(topic)
        if len(listeners) != 1:
            names = sorted(map(full_name, listeners))
            raise RosError(f'{len(names)} nodes listen to {topic} ({", ".join(names)})'
                           if names else f'no subscriber to {topic}', name=topic, value=names,
                           remedy='let one remain' if names else
                           'start a controller, and activate it'
                           + (f', or give another {self._option}' if self._option else ''))
        name, space = listeners[0].node_name, listeners[0].node_namespace
        if name == UNKNOWN:
            raise RosError(f'the subscriber of {topic} is not known by name yet', name=topic,
                           remedy='wait longer: --wait SECONDS')
        self.listener = name = told_name(space, name)
        if not self._confirm:
            return
        self._report = {}
        self._here.until(lambda: self._report and self._report.get('phase') != 'RISING',
                         self._within)
        if not self._report:
            raise RosError(f'{name} says nothing on /diagnostics', name=name, remedy='is it a '
                           'controller of this package? --unconfirmed plays to another one')
        self._check()
        self._alone()

    def pose(self, joint_names: Sequence[str]) -> ndarray:
        """
        Return the present positions (nv,) of these joints [rad | m].

        :raises RosError: there is no joint state of some of them.
        """
        self._pose.clear()
        # Only for now: at the rate of a driver it would take all the time of this thread
        heard = self._here.node.create_subscription(JointState, self.states,
                                                    self._on_state, qos.STATES_IN)
        self._here.until(lambda: {*joint_names} <= {*self._pose}, self._within)
        self._here.node.destroy_subscription(heard)
        if missing := [name for name in joint_names if name not in self._pose]:
            raise RosError(f'no joint state of {", ".join(missing)} on {self.states}',
                           name=missing[0], value=sorted(self._pose),
                           remedy='see that it is published, or give another --states')
        return np.array([self._pose[name] for name in joint_names])

    def play(self, motion: Waypoints | trajectory_file.JointTrajectory,
             tell: Callable[[float, float], None]) -> None:
        """
        Publish a trajectory, which starts on arrival, and wait until it has been executed.

        A signal (:class:`KeyboardInterrupt`) stops the motion.

        :param tell: called with time and end of the motion [s].
        :raises TrajectoryError: the controller refuses it.
        :raises RosError: the controller is gone, in fault, or publishes no diagnostics; a bound
            holds the motion before its end.
        """
        self._alone()
        if not self._here.until(self._now, self._within):
            raise RosError('simulation time is still zero', name='/clock',
                           remedy='see that the simulation runs, or go without --sim-time')
        try:
            self._play(motion, tell)
        except KeyboardInterrupt:
            self._publisher.publish(JointTrajectory())      # without waypoints: it stops
            self._publisher.wait_for_all_acked(rclpy.duration.Duration(seconds=1))
            raise

    def _play(self, motion: Waypoints | trajectory_file.JointTrajectory,
              tell: Callable[[float, float], None]) -> None:
        began = self._now()
        self.send(motion)
        end, late = float(motion.times[-1]) + SETTLE_TIME, False
        while (at := self._now() - began) < end or self._lags(motion):
            late = at >= end
            tell(min(at, end), end)
            self._here.poll()
            if not self._publisher.get_subscription_count():
                raise RosError(f'{self.listener} is gone', name=self.listener,
                               remedy='see its log')
            if self._confirm:
                self._check()
        if late:
            self._here.until(never, SETTLE_TIME)
        if self._away(motion) and self._report.get('held by', 'nothing') != 'nothing':
            raise RosError(f'{self.listener} does not go to the end: {self._report["message"]}',
                           name=self.listener, value=self._report['held by'],
                           remedy='choose another way, or change what holds it')
        tell(end, end)

    def send(self, motion: Waypoints | trajectory_file.JointTrajectory,
             start: Time | None = None) -> None:
        """
        Publish a trajectory and wait until the controller has accepted it.

        :param start: on the clock of the controller; None: as soon as it arrives.
        :raises TrajectoryError: the controller refuses it.
        :raises RosError: the controller does not answer.
        """
        before = {kind: self._count(kind) for kind in (ACCEPTED, REFUSED)}
        self._why = ''
        message = trajectory_message(motion)
        if start is not None:
            message.header.stamp = start.to_msg()
        self._publisher.publish(message)
        if self._confirm:
            self._confirmed(before)

    def _lags(self, motion: Waypoints | trajectory_file.JointTrajectory) -> bool:
        """
        Return whether the reference of the controller is still on its way to the end.

        It starts on arrival, later than it was sent, and bounds may slow it down; without
        telemetry this is not known.
        """
        if self._reference != self._seen:
            self._seen, self._moved = self._reference, time.monotonic()
        return time.monotonic() < self._moved + ANSWER_TIMEOUT and self._away(motion)

    def _away(self, motion: Waypoints | trajectory_file.JointTrajectory) -> bool:
        """Return whether the reference is known not to be at the end, in whatever turn."""
        return any(abs(remainder(self._reference.get(name, x) - x, tau)) >= START_TOLERANCE
                   for name, x in zip(motion.joint_names, np.asarray(motion.positions)[-1]))

    def _now(self) -> float:
        node = self._here.node
        return 1e-9 * node.get_clock().now().nanoseconds if node.get_parameter(
            'use_sim_time').value else time.monotonic()

    def _one_listener(self) -> bool:
        found = self._here.node.get_subscriptions_info_by_topic(self._topic)
        return (len(found) == 1 and found[0].node_name != UNKNOWN
                and self._publisher.get_subscription_count() == 1)

    def _alone(self) -> None:
        """Raise :class:`RosError` for another publisher: of two the controller follows none."""
        if self._here.node.count_publishers(self._topic) > 1:
            names = sorted(publisher_names(self._here.node, self._topic))
            raise RosError(f'{len(names)} publish {self._topic} ({", ".join(names)})',
                           name=self._topic, value=names, remedy='end the others; one that was '
                           'killed is gone after 20 s')

    def _confirmed(self, before: dict[str, int]) -> None:
        """Wait until the controller has counted the trajectory as accepted or refused."""
        heard = self._here.until(lambda: any(
            self._count(kind) != count for kind, count in before.items()), ANSWER_TIMEOUT)
        if self._count(REFUSED) > before[REFUSED]:
            self._here.until(lambda: self._why, LOG_TIMEOUT)
            raise TrajectoryError(f'{self.listener} refuses it', name=self._topic,
                                  remedy=self._why or 'its log says why')
        if not heard:
            self._check()
            raise RosError(f'{self.listener} did not accept or refuse the trajectory within '
                           f'{ANSWER_TIMEOUT:g} s', name=self.listener, remedy='see its log')

    def _count(self, kind: str) -> int:
        return int(self._report.get(kind, 0))

    def _check(self) -> None:
        if self._report.get('phase') != 'RUNNING':
            raise RosError(f'{self.listener} is not running: {self._report["message"]}',
                           name=self.listener, value=self._report.get('phase'),
                           remedy='`robodyn reset` arms it again')

    def _on_report(self, message: DiagnosticArray) -> None:
        if self.listener:
            self._report = reported(message, self.listener).get(LOOP, self._report)

    def _on_reference(self, message: JointState) -> None:
        self._reference = {name: x for name, x in zip(message.name, message.position)
                           if np.isfinite(x)}

    def _on_log(self, message: Log) -> None:
        self._why = warning(message, self.listener).partition(
            'trajectory refused: ')[2] or self._why

    def _on_state(self, message: JointState) -> None:
        if len(message.position) == len(message.name):
            self._pose.update((name, x) for name, x in zip(message.name, message.position)
                              if np.isfinite(x))
