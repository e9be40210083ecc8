# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Arming as somebody asks for it: a wait for states, then for the guard, and an answer."""

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.executors import Executor
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from rclpy.task import Future
from std_srvs.srv import Trigger

from ..control import guard
from .control_loop import ControlLoop

STANDING = 0.2      # s after which an objection is the answer of ~/reset
RETRY = 0.5         # s between two attempts of autostart

# What the start of a system is expected to bring; anything else is for a person to look at
WAITED_FOR = guard.NO_STATE, guard.NOBODY_LISTENS


class Answer(NamedTuple):
    """What came of an attempt to arm."""

    refusal: str = ''       # empty: armed
    code: int = guard.NO_REASON


ARMED = Answer()


class Arming:
    """
    One attempt to arm a running loop; it ends armed, or with what stands against it.

    :param timeout: for which joint states, and good ones, are waited for [s].
    :param standing: after which an objection of the guard that has not changed is final [s].
    :param sentence: makes the refusal of the guard's sentence and reason code.
    """

    def __init__(self, loop: ControlLoop, timeout: float, standing: float,
                 sentence: Callable[[str, int], str]):
        self._loop, self._standing, self._sentence = loop, standing, sentence
        self._deadline = time.monotonic() + timeout
        self._asked = False
        self._objection, self._since = guard.NO_STATE, time.monotonic()

    def poll(self) -> Answer | None:
        """Go on; return the answer when there is one."""
        loop, controller, now = self._loop, self._loop.controller, time.monotonic()
        late = now >= self._deadline or not loop.running
        if not self._asked:
            if missing := loop.decoder.missing:
                return Answer(f'no joint state yet of {", ".join(missing)} on joint_states',
                              guard.NO_STATE) if late else None
            controller.arm()
            self._asked = True
        if not controller.arming:
            return ARMED
        objection = guard.NO_REASON if controller.asked else int(
            controller.memory['arming_refusal'][0])
        if objection in (guard.NO_REASON, guard.NO_STATE):      # too few states so far
            self._since = now
        elif objection != self._objection:
            self._objection, self._since = objection, now
        if not late and now - self._since < self._standing:
            return None
        return self.give_up()

    def give_up(self) -> Answer:
        """Take the request back and return what stands against it."""
        controller = self._loop.controller
        code = int(controller.memory['arming_refusal'][0])
        refusal = self._sentence(controller.objection, guard.NO_REASON if controller.asked
                                 else code)
        controller.disarm()
        return Answer(refusal, self._objection)

    def wait(self, over: Callable[[], bool]) -> Answer:
        """Block until there is an answer, or ``over`` says so."""
        while (answer := self.poll()) is None:
            if over():
                return self.give_up()
            time.sleep(0.002)
        return answer


class ResetService:
    """
    The service ``~/reset``, which waits for its answer without holding up the executor.

    A thread that looks every now and then, see :meth:`look`, finds the answer.

    :param begin: begins to arm, or returns why it cannot.
    """

    def __init__(self, node: LifecycleNode, begin: Callable[[], 'Arming | str']):
        self._begin = begin
        self._arming: Arming | None = None
        self._future: Future[Answer] | None = None
        self._lock = threading.Lock()
        # A group of its own: others go on meanwhile, and a second reset waits for the first
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
        response.success, response.message = not answer.refusal, answer.refusal or 'armed'
        return response

    def look(self, executor: Executor) -> None:
        """See whether the attempt under way has come to its end; for a thread that looks often."""
        with self._lock:
            if self._arming is None or (answer := self._arming.poll()) is None:
                return
            self._finish(answer)
        executor.wake()             # it polls a coroutine only when something happens

    def cancel(self, why: str) -> None:
        """End the attempt under way, in the executor: the loop is about to stop."""
        with self._lock:
            if self._arming is not None:
                self._arming.give_up()
                self._finish(Answer(why))

    def _finish(self, answer: Answer) -> None:
        self._arming = None
        if self._future is not None:
            self._future.set_result(answer)


class Autostart:
    """
    Configures and activates a node by itself, once.

    It tries again while there is no robot description, no joint state or no listener yet. Any
    other refusal, and whatever a person does with the node, ends it.

    :param waits_for_robot: whether configuring has just failed for want of a robot description.
    :param refusal: the answer to the last attempt to arm.
    """

    def __init__(self, node: LifecycleNode, configured: Callable[[], bool],
                 waits_for_robot: Callable[[], bool], refusal: Callable[[], Answer]):
        self._node, self._configured = node, configured
        self._waits_for_robot, self._refusal = waits_for_robot, refusal
        self._timer = node.create_timer(RETRY, self._try,
                                        clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _try(self) -> None:
        done = TransitionCallbackReturn.SUCCESS
        if not self._configured():
            if self._node.trigger_configure() != done and not self._waits_for_robot():
                self.end('autostart ends: not configured')
        elif self._node.trigger_activate() != done and self._refusal().code not in WAITED_FOR:
            self.end(f'autostart ends: {self._refusal().refusal or "not activated"}; activate '
                     'when that is over')

    def end(self, why: str = '') -> None:
        """Do not try again."""
        if not self._timer.is_canceled():
            self._timer.cancel()
            if why:
                self._node.get_logger().error(why)
