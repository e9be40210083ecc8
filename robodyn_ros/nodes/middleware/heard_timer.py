# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Timer of periodic publishing that exists only while somebody listens."""

from collections.abc import Callable, Collection

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.timer import Timer


class HeardTimer:
    """
    Timer on the steady clock that calls ``publish`` while one of the publishers is heard.

    A timer that would look for listeners at its own rate costs a turn of the executor each time,
    which holds the GIL for much longer than a control cycle takes: twenty a second double the p99
    of the loop's round trip.

    :param rate: [Hz]; 0: it never runs.
    """

    def __init__(self, node: Node, rate: float, publishers: Collection[Publisher],
                 publish: Callable[[], None]):
        self._node, self._rate, self._publishers = node, rate, publishers
        self._publish = publish
        self._timer: Timer | None = None

    def look(self) -> None:
        """Run while somebody listens now; for the executor, once in a while."""
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
