# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Topics that enable or stop the arm: ``~/heartbeat``, ``~/emergency_stop``, ``~/guiding``.

All are std_msgs/Bool, and for all silence is a stop:

- a heartbeat is *true*, published repeatedly while the arm is to be enabled; *false*, or no
  message for ``heartbeat_timeout``, is a stop;
- an emergency stop is *true* to stop and *false* to release; no message yet, and no publisher any
  more, are a stop;
- guiding is *true*, repeated, while a hand may guide the arm; *false*, or no message for
  ``guiding_timeout``, makes it hold its pose.

Two publishers of one topic are a stop as well: the second would hide that the first has died, or
overwrite its message. A stop that either of them says ends when the one that is left permits
motion. Each topic has a thread that receives its messages independently of the
executor and of ROS time, and writes the result to the input of the control cycle, which itself
sees to the end of a permission.

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

from .publishers import named, publisher_names
from ..middleware import qos
from ..middleware.raw_subscription import open_subscription
from ...control.steps import guard

POLL_PERIOD = 0.02    # [s], at most
IDLE_PERIOD = 0.2    # [s] of ~/guiding before its first message
MIN_STOP_DURATION = 0.1    # [s]
CDR_HEADER_BYTES = 4
PERMITTING_VALUE = {guard.HEARTBEAT_LOST: True, guard.EMERGENCY_STOP: False}


def word(message: bytes) -> bool | None:
    """Return the value of a serialized Bool; None if it is neither true nor false."""
    value = message[CDR_HEADER_BYTES:CDR_HEADER_BYTES + 1]
    return {b'\x00': False, b'\x01': True}.get(bytes(value))


class BoolTopic:
    """
    A topic of words, true or false, with its thread.

    :param profiles: of the subscriptions: the first is waited for, others receive messages that
        were published before it, and later ones as well.
    :param changed: called by the thread after each check.
    """

    def __init__(self, node: Node, topic: str, profiles: tuple[QoSProfile, ...],
                 changed: Callable[[], None]):
        self._node, self._name, self._changed = node, topic, changed
        self._subscriptions = [open_subscription(node, Bool, topic, q) for q in profiles]
        self._topic = node.resolve_topic_name(topic)
        self._heard, self._count_again = -inf, 0.0      # s, when to look again who publishes
        self._publishers: list[str] = []
        #: Why the arm must not be driven, or guided, now; '' for no reason.
        self.trouble = f'no message yet on {topic}'
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name=topic.strip('~/'), daemon=True)

    def _period(self) -> float:
        """Return the longest time between two looks [s]."""
        raise NotImplementedError

    def _look(self) -> None:
        """Take the messages, and find out :attr:`trouble`."""
        raise NotImplementedError

    def _run(self) -> None:
        try:
            while not self._over.is_set():
                self._subscriptions[0].wait(round(1e9 * self._period()))
                self._look()
                self._changed()
        except Exception as error:      # the thread ends
            self.trouble = f'{self._name} cannot be heard: {error}'
            self._changed()

    def _count(self, *, at_once: bool = False) -> None:
        """Find out who publishes, once in POLL_PERIOD or ``at_once``."""
        if (now := time.monotonic()) >= self._count_again or at_once:
            self._count_again = now + POLL_PERIOD
            self._publishers = publisher_names(self._node, self._topic)

    def _several(self) -> str:
        return (f'{len(self._publishers)} publishers of {self._name}: '
                f'{named(sorted(self._publishers))}')

    def _silence(self, timeout: float) -> str:
        return f'silence on {self._name} for more than {timeout:g} s'

    def close(self) -> None:
        """End the thread and the subscriptions."""
        self._over.set()
        for subscription in self._subscriptions:
            subscription.wake()
        self._thread.join()
        for subscription in self._subscriptions:
            subscription.destroy()


class StopTopic(BoolTopic):
    """
    Heartbeat or emergency stop.

    :param reason: EMERGENCY_STOP or HEARTBEAT_LOST.
    :param timeout: longest time without a message [s].
    """

    def __init__(self, node: Node, topic: str, reason: int, timeout: float,
                 profiles: tuple[QoSProfile, ...], changed: Callable[[], None]):
        super().__init__(node, topic, profiles, changed)
        self.reason, self._timeout = reason, timeout
        self._stop_word = False
        #: The newest such reason, kept until the arm has stopped.
        self.told, self._told_at = '', 0.0
        self._thread.start()

    def _period(self) -> float:
        return min(POLL_PERIOD, 0.25 * self._timeout)

    def _look(self) -> None:
        allows = [word(message) is PERMITTING_VALUE[self.reason]
                  for subscription in reversed(self._subscriptions)
                  for message in subscription.drain()]
        now = time.monotonic()
        self._count(at_once=bool(allows) and self._stop_word)
        if allows:
            stopped = self._stop_word or not all(allows)
            self._heard = now
            self._stop_word = not allows[-1] or len(self._publishers) > 1 and stopped
        if len(self._publishers) > 1:
            trouble = self._several()
        elif self.reason == guard.EMERGENCY_STOP and not self._publishers:
            self._heard = -inf                  # the next publisher decides
            trouble = f'no publisher of {self._name}'
        elif self._heard == -inf:
            trouble = f'no message yet on {self._name}'
        elif not all(allows) or self._stop_word:
            trouble = f'{self._name} says {str(not PERMITTING_VALUE[self.reason]).lower()}'
        elif now - self._heard > self._timeout:
            trouble = self._silence(self._timeout)
        else:
            trouble = ''
        self.trouble = trouble
        if trouble:
            self.told, self._told_at = trouble, now

    def forget(self) -> None:
        """Forget a stop that is over; to be called while the arm is not driven."""
        if time.monotonic() - self._told_at > MIN_STOP_DURATION:
            self.told = self.trouble


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




class GuidingTopic(BoolTopic):
    """
    Enabling signal of hand guiding.

    :param timeout: returns the longest time between two messages [s].
    :param now: returns the time of the last control cycle [s].
    :param guide: called with the end of the permission on that clock [s].
    """

    def __init__(self, node: Node, timeout: Callable[[], float], now: Callable[[], float],
                 guide: Callable[[float], None]):
        super().__init__(node, '~/guiding', (qos.HEARTBEAT,), self._permit)
        self._timeout, self._now, self._guide = timeout, now, guide
        self._allowed, self._left = False, 0.0
        self._thread.start()

    def _period(self) -> float:
        return POLL_PERIOD if self._heard > -inf else IDLE_PERIOD

    def _look(self) -> None:
        words = [word(m) for m in self._subscriptions[0].drain()]
        if words:                       # one false among them counts, however short it was
            self._heard, self._allowed = time.monotonic(), all(w is True for w in words)
        self._left = left = self._timeout() - (time.monotonic() - self._heard)
        if left > 0.0:
            self._count()
        if len(self._publishers) > 1:
            self.trouble = self._several()
        elif self._heard == -inf:
            self.trouble = f'no message yet on {self._name}'
        elif not self._allowed:
            self.trouble = f'{self._name} says false'
        elif left <= 0.0:
            self.trouble = self._silence(self._timeout())
        else:
            self.trouble = ''

    def _permit(self) -> None:
        self._guide(-inf if self.trouble else self._now() + self._left)

    def close(self) -> None:
        """End the thread, the subscription and the permission."""
        super().close()
        self._guide(-inf)
