# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Topics ``~/heartbeat`` and ``~/emergency_stop``, which enable or stop the arm.

Both are std_msgs/Bool, and for both silence is a stop:

- a heartbeat is *true*, published repeatedly while the arm is to be enabled; *false*, or no
  message for ``heartbeat_timeout``, is a stop;
- an emergency stop is *true* to stop and *false* to release; no message yet, and no publisher any
  more, are a stop.

Two publishers of one topic are a stop as well: the second would hide that the first has died, or
overwrite its message. Each topic has a thread that receives its messages independently of the
executor and of ROS time, and writes the result to the input of the control cycle.

This is no certified safety function: it needs the network, the operating system and Python.
"""

from collections.abc import Callable
from math import inf
import threading
import time

from numpy import ndarray
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import Bool

from .command_publishers import named, publisher_names
from ..middleware import qos
from ..middleware.executor_subscription import open_subscription
from ...control.steps import guard

POLL_PERIOD = 0.02    # [s], at most
MIN_STOP_DURATION = 0.1    # [s]
CDR_HEADER_BYTES = 4
PERMITTING_VALUE = {guard.HEARTBEAT_LOST: True, guard.EMERGENCY_STOP: False}


class StopTopic:
    """
    One of the two topics, with its thread.

    :param reason: EMERGENCY_STOP or HEARTBEAT_LOST.
    :param timeout: longest time without a message [s].
    :param profiles: of the subscriptions: the first is waited for, others receive messages that
        were published before it.
    :param changed: called by the thread after each check.
    """

    def __init__(self, node: Node, topic: str, reason: int, timeout: float,
                 profiles: tuple[QoSProfile, ...], changed: Callable[[], None]):
        self.reason, self._node, self._timeout, self._changed = reason, node, timeout, changed
        self._name = topic
        self._subscriptions = [open_subscription(node, Bool, topic, q) for q in profiles]
        self._topic = node.resolve_topic_name(topic)
        self._stop_word, self._heard, self._late = False, -inf, False
        self._publishers: list[str] = []
        self._count_again = 0.0                 # s, when to look again who publishes
        #: Why the arm must not be driven now, '' for no reason.
        self.trouble = f'no message yet on {topic}'
        #: The newest such reason, kept until the arm has stopped.
        self.told, self._told_at = '', 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name=topic.strip('~/'), daemon=True)
        self._thread.start()

    def _run(self) -> None:
        period = min(POLL_PERIOD, 0.25 * self._timeout)
        try:
            while not self._over.is_set():
                self._subscriptions[0].wait(round(1e9 * period))
                self._look()
                self._changed()
        except Exception as error:      # the thread ends
            self.trouble = self.told = f'{self._name} cannot be heard: {error}'
            self._changed()

    def _look(self) -> None:
        words = self._subscriptions[0].drain()
        for latched in self._subscriptions[1:]:
            earlier = latched.drain()
            if self._heard == -inf and not words:       # later messages arrive on both
                words = earlier[-1:]
        allows = [word(m) is PERMITTING_VALUE[self.reason] for m in words]
        if words:
            self._heard, self._stop_word = time.monotonic(), not allows[-1]
        if (now := time.monotonic()) >= self._count_again:
            self._count_again = now + POLL_PERIOD
            self._publishers = publisher_names(self._node, self._topic)
        if len(self._publishers) > 1:
            trouble = (f'{len(self._publishers)} publishers of {self._name}: '
                       f'{named(sorted(self._publishers))}')
        elif self.reason == guard.EMERGENCY_STOP and not self._publishers:
            self._heard = -inf                  # the next publisher decides
            trouble = f'no publisher of {self._name}'
        elif self._heard == -inf:
            trouble = f'no message yet on {self._name}'
        elif not all(allows) or self._stop_word:
            trouble = f'{self._name} says {str(not PERMITTING_VALUE[self.reason]).lower()}'
        elif now - self._heard > self._timeout:
            trouble = f'silence on {self._name} for more than {self._timeout:g} s'
        else:
            trouble = ''
        self.trouble = trouble
        if trouble:
            self.told, self._told_at = trouble, now

    def forget(self) -> None:
        """Forget a stop that is over; to be called while the arm is not driven."""
        if time.monotonic() - self._told_at > MIN_STOP_DURATION:
            self.told = self.trouble

    def close(self) -> None:
        """End the thread and the subscriptions."""
        self._over.set()
        for subscription in self._subscriptions:
            subscription.wake()
        self._thread.join()
        for subscription in self._subscriptions:
            subscription.destroy()


class StopTopics:
    """
    Heartbeat and emergency stop for the guard, if enabled.

    :param cycle_input: (1,) ``CYCLE_INPUT``, of which ``stop_reason`` is written.
    :param driving: returns whether the arm is driven; a stop is latched while it is.
    :param heartbeat_timeout: longest time without a heartbeat [s]; 0: no heartbeat is required.
    :param emergency_stop: whether ``~/emergency_stop`` is subscribed to.
    """

    def __init__(self, node: Node, cycle_input: ndarray, driving: Callable[[], bool], *,
                 heartbeat_timeout: float, emergency_stop: bool):
        self._cycle_input, self._driving, self._lock = cycle_input, driving, threading.Lock()
        self._topics: list[StopTopic] = []
        self._detail: dict[int, str] = {}
        self._reported: list[int] = []
        with self._lock:                        # the threads wait until all of them are there
            if emergency_stop:
                self._topics.append(StopTopic(
                    node, '~/emergency_stop', guard.EMERGENCY_STOP, inf,
                    (qos.STOP, qos.LATCHED_STOP), self._tell))
            if heartbeat_timeout > 0.0:
                self._topics.append(StopTopic(
                    node, '~/heartbeat', guard.HEARTBEAT_LOST, heartbeat_timeout,
                    (qos.HEARTBEAT,), self._tell))
            self._write()

    def _tell(self) -> None:
        with self._lock:
            self._write()

    def _write(self) -> None:
        idle = not self._driving()
        for topic in self._topics:
            if idle:
                topic.forget()
        reason = self._reported[0] if self._reported else guard.NO_REASON
        for topic in reversed(self._topics):
            if topic.trouble or topic.told:
                reason = topic.reason
                self._detail[topic.reason] = topic.trouble or topic.told
        self._cycle_input['stop_reason'] = reason

    def report(self, reason: int, detail: str) -> None:
        """Stop the arm for a reason that is not a topic; empty details withdraw it."""
        with self._lock:
            self._detail[reason] = detail
            others = [other for other in self._reported if other != reason]
            self._reported = [*others, reason] if detail else others
            self._write()

    def detail(self, code: int) -> str:
        """Return details on a reason code of these topics, '' for others."""
        return self._detail.get(code, '')

    def close(self) -> None:
        """End the threads; the last stop stays latched."""
        for topic in self._topics:
            topic.close()


def word(message: bytes) -> bool | None:
    """Return the value of a serialized Bool; None if it is neither true nor false."""
    value = message[CDR_HEADER_BYTES:CDR_HEADER_BYTES + 1]
    return {b'\x00': False, b'\x01': True}.get(bytes(value))
