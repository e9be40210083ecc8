# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Timer of periodic publishing that runs only while there are subscribers."""

from collections.abc import Callable, Collection

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.timer import Timer


class HeardTimer:
    """
    Timer on the steady clock that calls ``publish`` while one of the publishers has a subscriber.

    Looking for subscribers in the timer itself would cost a turn of the executor each time, which
    holds the GIL for much longer than a control cycle.

    :param rate: [Hz]; 0: it never runs.
    """

    def __init__(self, node: Node, rate: float, publishers: Collection[Publisher],
                 publish: Callable[[], None]):
        self._node, self._rate, self._publishers = node, rate, publishers
        self._publish = publish
        self._timer: Timer | None = None

    def look(self) -> None:
        """Start or stop the timer by the present subscribers; for the executor, occasionally."""
        heard = self._rate > 0.0 and any(p.get_subscription_count() for p in self._publishers)
        if heard and self._timer is None:
            self._timer = self._node.create_timer(
                1.0 / self._rate, self._publish, clock=Clock(clock_type=ClockType.STEADY_TIME))
        elif not heard:
            self.close()

    def close(self) -> None:
        """Destroy the timer."""
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None
