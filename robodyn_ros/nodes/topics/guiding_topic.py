# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Topic ``~/guiding``, std_msgs/Bool: *true*, repeated, while a hand may guide the arm.

*False*, silence for ``guiding_timeout``, and two publishers end it: the arm then holds its pose. A
thread receives the messages independently of the executor, and tells the control cycle until when
the arm may be guided; the cycle sees to the end of it, whatever becomes of the thread.
"""

from collections.abc import Callable
from math import inf
import threading
import time

from rclpy.node import Node
from std_msgs.msg import Bool

from .command_publishers import named, publisher_names
from .stop_topics import POLL_PERIOD, word
from ..middleware import qos
from ..middleware.executor_subscription import open_subscription

TOPIC = '~/guiding'
IDLE_PERIOD = 0.2    # [s] before the first message


class GuidingTopic:
    """
    The topic, with its thread.

    :param timeout: returns the longest time between two messages [s].
    :param now: returns the time of the last control cycle [s].
    :param guide: called with the end of the permission on that clock [s].
    """

    def __init__(self, node: Node, timeout: Callable[[], float], now: Callable[[], float],
                 guide: Callable[[float], None]):
        self._node, self._timeout, self._now, self._guide = node, timeout, now, guide
        self._subscription = open_subscription(node, Bool, TOPIC, qos.HEARTBEAT)
        self._topic = node.resolve_topic_name(TOPIC)
        self._heard, self._allowed, self._count_again = -inf, False, 0.0
        self._publishers: list[str] = []
        #: Why the arm may not be guided now, '' for no reason.
        self.trouble = f'no word yet on {TOPIC}'
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name='guiding', daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            while not self._over.is_set():
                period = POLL_PERIOD if self._heard > -inf else IDLE_PERIOD
                self._subscription.wait(round(1e9 * period))
                self._look()
        except Exception as error:      # the thread ends
            self.trouble = f'{TOPIC} cannot be heard: {error}'
            self._guide(-inf)

    def _look(self) -> None:
        words = [word(m) for m in self._subscription.drain()]
        if words:                       # one false among them counts, however short it was
            self._heard, self._allowed = time.monotonic(), all(w is True for w in words)
        left = self._timeout() - (time.monotonic() - self._heard)
        if left > 0.0 and time.monotonic() >= self._count_again:
            self._count_again = time.monotonic() + POLL_PERIOD
            self._publishers = publisher_names(self._node, self._topic)
        if len(self._publishers) > 1:
            self.trouble = (f'{len(self._publishers)} publishers of {TOPIC}: '
                            f'{named(sorted(self._publishers))}')
        elif self._heard == -inf:
            self.trouble = f'no word yet on {TOPIC}'
        elif not self._allowed:
            self.trouble = f'{TOPIC} says false'
        elif left <= 0.0:
            self.trouble = f'silence on {TOPIC} for more than {self._timeout():g} s'
        else:
            self.trouble = ''
        self._guide(-inf if self.trouble else self._now() + left)

    def close(self) -> None:
        """End the thread, the subscription and the permission."""
        self._over.set()
        self._subscription.wake()
        self._thread.join()
        self._subscription.destroy()
        self._guide(-inf)
