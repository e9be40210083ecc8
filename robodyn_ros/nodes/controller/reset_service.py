# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Service ``~/reset``, which re-arms the controller after a fault."""

from collections.abc import Callable
import threading

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.executors import Executor
from rclpy.lifecycle import LifecycleNode
from rclpy.task import Future
from std_srvs.srv import Trigger

from .arming import Answer, Arming


class ResetService:
    """
    Service ``~/reset``, which waits for its answer without blocking the executor.

    The answer is found by a thread that calls :meth:`poll` periodically.

    :param begin: starts to arm and returns the attempt, or returns the reason of a refusal.
    :param end: called by the executor once the arm is armed; returns a refusal or ''.
    """

    def __init__(self, node: LifecycleNode, begin: Callable[[], Arming | str],
                 end: Callable[[], str]):
        self._begin, self._end = begin, end
        self._arming: Arming | None = None
        self._future: Future | None = None
        self._lock = threading.Lock()
        # Own group: other callbacks continue, and a second reset waits for the first
        self._service = node.create_service(Trigger, '~/reset', self._on_reset,
                                            callback_group=MutuallyExclusiveCallbackGroup())

    async def _on_reset(self, request: Trigger.Request,
                        response: Trigger.Response) -> Trigger.Response:
        arming = self._begin()
        if isinstance(arming, str):
            response.success, response.message = False, arming
            return response
        self._future, self._arming = Future(), arming
        answer = await self._future
        assert answer is not None
        refusal = answer.refusal or self._end()
        response.success, response.message = not refusal, refusal or 'armed'
        return response

    def poll(self, executor: Executor) -> None:
        """Answer the pending request if its attempt has ended; for a periodic thread."""
        # Without the lock: it may wait for seconds, and `cancel` must not
        if (arming := self._arming) is None or (answer := arming.poll()) is None:
            return
        with self._lock:
            if self._arming is not arming:
                return
            self._finish(answer)
        executor.wake()             # it polls a coroutine only when something happens

    def cancel(self, why: str) -> None:
        """Cancel the pending attempt; called by the executor before the loop stops."""
        with self._lock:
            if self._arming is not None:
                self._arming.give_up()
                self._finish(Answer(why))

    def _finish(self, answer: Answer) -> None:
        self._arming = None
        if self._future is not None:
            self._future.set_result(answer)
