# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Arming of a running controller, which waits for states and for the guard, and stopping."""

from collections.abc import Callable
import time
from typing import NamedTuple

from .control_loop import ControlLoop
from ..control import guard

POLL = 0.002        # s
STANDING = 0.2      # s for which a refusal must last to be the answer of ~/reset


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
    :param subscribers: called when the joint states are there; returns why no commands must be
        sent, '' if they may, None while they have no subscriber.
    """

    def __init__(self, loop: ControlLoop, timeout: float, standing: float,
                 sentence: Callable[[str, int], str], subscribers: Callable[[], str | None]):
        self._loop, self._standing, self._sentence = loop, standing, sentence
        self._subscribers = subscribers
        self._deadline = time.monotonic() + timeout
        self._asked = False
        self._code, self._since = guard.NO_STATE, time.monotonic()

    def poll(self) -> Answer | None:
        """Continue the attempt; return its answer, None while there is none."""
        loop, controller, now = self._loop, self._loop.controller, time.monotonic()
        late = now >= self._deadline or not loop.running
        if not self._asked:
            if missing := loop.decoder.missing:
                return Answer(f'no joint state yet of {", ".join(missing)} on joint_states',
                              guard.NO_STATE) if late else None
            if refusal := self._subscribers():
                return Answer(refusal)
            if refusal is None:
                over = late or now - self._since >= self._standing
                return Answer(self._sentence(guard.REASONS['NOBODY_LISTENS'],
                                             guard.NOBODY_LISTENS),
                              guard.NOBODY_LISTENS) if over else None
            controller.arm()
            self._asked = True
        if not controller.arming:
            return ARMED
        code = guard.NO_REASON if controller.asked else int(
            controller.memory['arming_refusal'][0])
        if code in (guard.NO_REASON, guard.NO_STATE):       # too few states so far
            self._since = now
        elif code != self._code:
            self._code, self._since = code, now
        if not late and now - self._since < self._standing:
            return None
        return self.give_up()

    def give_up(self) -> Answer:
        """Withdraw the request and return the present refusal."""
        controller = self._loop.controller
        code = int(controller.memory['arming_refusal'][0])
        refusal = self._sentence(controller.arming_refusal, guard.NO_REASON
                                 if controller.asked else code)
        controller.disarm()
        return Answer(refusal, self._code)

    def wait(self, over: Callable[[], bool]) -> Answer:
        """Block until there is an answer, or ``over()``; return the answer."""
        while (answer := self.poll()) is None:
            if over():
                return self.give_up()
            time.sleep(POLL)
        return answer


def wait_for_rest(loop: ControlLoop) -> None:
    """
    Wait until an arm that was asked to stop is at rest, for a bounded time; end the thread.

    Efforts of a fault that no stop replaces run to their end.
    """
    controller, begin = loop.controller, time.monotonic()
    s = controller.settings
    longest = 1.0 + (max(s.stop_timeout, s.fault_hold_time + s.fault_ramp_time)
                     if controller.phase == guard.FAULT else s.stop_timeout)
    while loop.running and time.monotonic() - begin < (
            longest if controller.driving else 0.1 if controller.asked else 0.0):
        time.sleep(POLL)
        if controller.phase in (guard.RISING, guard.RUNNING) and not controller.asked:
            controller.stop()       # another request had replaced the first one
    loop.stop()
