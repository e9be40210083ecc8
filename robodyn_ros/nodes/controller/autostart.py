# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Automatic configuration and activation of the controller at start-up."""

from collections.abc import Callable

from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn

from .arming import Answer
from ...control.steps import guard

FIRST_DELAY = 0.001    # [s] after the start, or after configuring
RETRY_INTERVAL = 0.5    # [s]

# Transient refusals at start-up; any other one needs an operator
RETRIED_REASONS = guard.NO_STATE, guard.NOBODY_LISTENS, guard.ZERO_STATE


class Autostart:
    """
    Automatic configuration and activation of a node, once.

    It is retried while the robot description, joint states or the subscriber are missing. Any
    other refusal and any transition requested from outside end it.

    :param configured: returns whether the node is configured.
    :param waits_for_robot: returns whether configuring has just failed for want of a robot
        description.
    :param refusal: returns the answer to the last attempt to arm.
    """

    def __init__(self, node: LifecycleNode, configured: Callable[[], bool],
                 waits_for_robot: Callable[[], bool], refusal: Callable[[], Answer]):
        self._node, self._configured = node, configured
        self._waits_for_robot, self._refusal = waits_for_robot, refusal
        self._timer = node.create_timer(FIRST_DELAY, self._try,
                                        clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._acts = False          # whether it requested the current transition

    def _try(self) -> None:
        pause, self._acts = RETRY_INTERVAL, True
        try:
            if self._step():
                pause = FIRST_DELAY        # signals are served between the two calls
        finally:
            self._acts = False
            self._next(pause)

    def _step(self) -> bool:
        """Configure, or activate; return whether the node has been configured."""
        done = TransitionCallbackReturn.SUCCESS
        if not self._configured():
            if self._node.trigger_configure() == done:
                return True
            if not self._waits_for_robot():
                self.end('autostart ends: not configured')
        elif self._node.trigger_activate() != done and self._refusal().code not in RETRIED_REASONS:
            self.end(f'autostart ends: {self._refusal().refusal or "not activated"}; activate '
                     'when that is over')
        return False

    def _next(self, pause: float) -> None:
        """Retry after a time [s], unless ended meanwhile."""
        if not self._timer.is_canceled():
            self._timer.timer_period_ns = round(1e9 * pause)
            self._timer.reset()     # otherwise the old period is used once more

    def transition_begins(self) -> None:
        """End if the transition that begins was requested from outside."""
        if not self._acts:
            self.end()

    def end(self, why: str = '') -> None:
        """Stop retrying; log ``why`` as an error unless it is empty."""
        if not self._timer.is_canceled():
            self._timer.cancel()
            if why:
                self._node.get_logger().error(why)
