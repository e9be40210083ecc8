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

# Refusals that the start of a system is expected to end; any other one needs a person
RETRIED_REASONS = guard.NO_STATE, guard.NOBODY_LISTENS, guard.ZERO_STATE


class Autostart:
    """
    Automatic configuration and activation of a node, once.

    It is retried while there is no robot description, no joint state or no listener yet. Any other
    refusal, and any transition that is requested from outside, ends it.

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
        self._acts = False          # the transition that runs is one of its own

    def _try(self) -> None:
        pause, self._acts = RETRY_INTERVAL, True
        try:
            if self._step():
                pause = FIRST_DELAY        # signals are served between the two calls
        finally:
            self._acts = False
            self._next(pause)       # counted from here: an attempt may last longer

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
        """Try again after a time [s], unless it has been ended meanwhile."""
        if not self._timer.is_canceled():
            self._timer.timer_period_ns = round(1e9 * pause)
            self._timer.reset()     # or the previous period would be in force once more

    def transition_begins(self) -> None:
        """End if somebody else has requested the transition that begins."""
        if not self._acts:
            self.end()

    def end(self, why: str = '') -> None:
        """Do not try again; ``why`` is logged as an error unless it is empty."""
        if not self._timer.is_canceled():
            self._timer.cancel()
            if why:
                self._node.get_logger().error(why)
