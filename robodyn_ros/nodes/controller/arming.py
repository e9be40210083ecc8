# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Arming of a running controller, which waits for states and for the guard, and stopping."""

from collections.abc import Callable, Sequence
from math import isinf
import threading
import time
from typing import NamedTuple

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.executors import Executor
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from rclpy.task import Future
from std_srvs.srv import Trigger

from .control_loop import ControlLoop
from ...control.steps import guard
from ...control.steps.lowering import LONGEST_DESCENT

POLL_PERIOD = 0.002    # [s]
REFUSAL_DURATION = 0.2    # [s] that a refusal must last to be the answer of ~/reset


class Answer(NamedTuple):
    """Result of an attempt to arm."""

    refusal: str = ''       # in words; empty: armed
    code: int = guard.NO_REASON


ARMED = Answer()


class Arming:
    """
    One attempt to arm a running loop, which ends with an :class:`Answer`.

    :param timeout: maximum time to wait for joint states and for the guard [s].
    :param standing: time after which an unchanged refusal of the guard is final [s].
    :param sentence: returns the refusal in words for the guard's sentence and reason code.
    :param subscribers: called with a function that returns whether to stop waiting, when the joint
        states are there; returns why no commands must be sent, '' if they may, None while they
        have no subscriber.
    :param ended: returns whether the process is about to end.
    """

    def __init__(self, loop: ControlLoop, timeout: float, standing: float,
                 sentence: Callable[[str, int], str],
                 subscribers: Callable[[Callable[[], bool]], str | None],
                 ended: Callable[[], bool]):
        self._loop, self._standing, self._sentence = loop, standing, sentence
        self._subscribers, self._ended = subscribers, ended
        self._deadline = time.monotonic() + timeout
        self._asked = self._given_up = False
        self._lock = threading.Lock()   # of a request to arm, which must not follow `give_up`
        self._code, self._since = guard.NO_STATE, time.monotonic()
        self._begun = loop.now()        # -inf before the first cycle

    def poll(self) -> Answer | None:
        """Continue the attempt; return its answer, None while there is none."""
        loop, controller, now = self._loop, self._loop.controller, time.monotonic()
        if isinf(self._begun):
            self._begun = loop.now()
        late = now >= self._deadline or not loop.running
        if not self._asked:
            if missing := loop.decoder.missing:
                return self._missing(missing) if late else None
            refusal = self._subscribers(self._over)
            if self._over():
                return self.give_up()
            if refusal:
                return Answer(refusal)
            if refusal is None:
                over = late or now - self._since >= self._standing
                return Answer(self._sentence(guard.REASONS['NOBODY_LISTENS'],
                                             guard.NOBODY_LISTENS),
                              guard.NOBODY_LISTENS) if over else None
            with self._lock:
                if self._given_up:
                    return None
                controller.arm()
                self._asked = True
        if not controller.arming:
            return ARMED
        code = guard.NO_REASON if controller.asked else int(
            controller.memory['arming_refusal'][0])
        # Too few states yet, or fault efforts are still active
        if code in (guard.NO_REASON, guard.NO_STATE) or (
                code == guard.STATE_INCONSISTENT and controller.driving):
            self._since = now
        elif code != self._code:
            self._code, self._since = code, now
        if not late and now - self._since < self._standing:
            return None
        return self.give_up()

    def give_up(self) -> Answer:
        """Withdraw the request and return the present refusal; thread-safe."""
        controller = self._loop.controller
        with self._lock:
            again, self._given_up = self._given_up, True
        code = int(controller.memory['arming_refusal'][0])
        refusal = self._sentence(controller.arming_refusal + self._timeless(), guard.NO_REASON
                                 if controller.asked else code)
        if not again:           # it would replace a later request to stop
            controller.disarm()
        return Answer(refusal, self._code)

    def _missing(self, joints: Sequence[str]) -> Answer:
        """Return the answer while the states of some joints are missing, with the likely cause."""
        text = f'no joint state yet of {", ".join(joints)} on joint_states'
        if refused := self._loop.refused_states:
            text += f'; messages are refused: {refused}'
        return Answer(self._sentence(text + self._timeless(), guard.NO_STATE), guard.NO_STATE)

    def _timeless(self) -> str:
        """Return a note that simulation time is stopped, or ''."""
        loop = self._loop
        if not loop.on_ros_time or loop.now() > max(self._begun, 0.0):
            return ''
        return ('; use_sim_time is true, and '
                + ('the stamps of joint_states do not advance' if loop.settings.trigger == 'state'
                   else '/clock does not advance'))

    def wait(self) -> Answer:
        """Block until there is an answer, or the process is about to end; return the answer."""
        while (answer := self.poll()) is None:
            if self._over():
                return self.give_up()
            time.sleep(POLL_PERIOD)
        return answer

    def _over(self) -> bool:
        return self._given_up or self._ended()


def wait_for_rest(loop: ControlLoop) -> None:
    """
    Wait, for a bounded time, until the stopping arm is at rest; end the thread.

    Fault efforts run to their end.
    """
    controller, begin = loop.controller, time.monotonic()
    s = controller.settings
    longest = 1.0 + (max(s.stop_timeout, s.fault_hold_time + s.fault_ramp_time)
                     if controller.phase == guard.FAULT else s.stop_timeout)
    if s.lower_to_rest:
        longest += LONGEST_DESCENT
    while loop.running and time.monotonic() - begin < (
            longest if controller.driving or loop.resting else 0.1 if controller.asked else 0.0):
        time.sleep(POLL_PERIOD)
        if controller.phase in (guard.RISING, guard.RUNNING) and not controller.asked:
            controller.stop()       # another request had replaced the first one
    loop.stop()


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
