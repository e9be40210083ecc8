# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The test plays the arm for a controller node, over real ROS messages.

The controller runs with `trigger: state` on simulation time, which the test makes, so that every
effort, and the cycle in which it changes, is exact however slow the machine is.
"""

from collections.abc import Iterator
from contextlib import contextmanager
import threading
import time

from faults.arm import PERIOD, PlayedArm, RAMP, ZERO
from faults.conftest import GRANTED
import numpy as np
from processes import Process
import pytest
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

near = pytest.approx
ANSWER = 10.0       # s, wall time for one answer
PATIENCE = 10.0     # s, the same for a message that may come any time
REFUSED = 1.0       # s of arming_timeout, where it is waited for in vain
MOST = 3000         # ticks until a message, on a machine that is quicker


class LiveArm(PlayedArm):
    """
    The arm of a controller node.

    :param remote: `nodes.remote.Remote`; ``controller``: the process under test.
    """

    def __init__(self, remote, controller: Process):
        super().__init__()
        self.remote, self.controller = remote, controller
        self._clock = remote.node.create_publisher(Clock, '/clock', 1)
        self.states = remote.node.create_publisher(JointState, 'joint_states', 10)
        self._answered = 0

    def message(self, **fields) -> JointState:
        """Return the joint state of now; ``fields`` replace some of it."""
        state = JointState(**self.state(**fields))
        state.header.stamp = self.stamp()
        return state

    def stamp(self):
        """Return the time of now as messages carry it."""
        seconds, nanoseconds = divmod(round(self.time * 1e9), 10**9)
        stamp = JointState().header.stamp
        stamp.sec, stamp.nanosec = seconds, nanoseconds
        return stamp

    def send(self, seconds: float = PERIOD, **fields) -> None:
        self.time += seconds
        self.states.publish(self.message(**fields))

    def pass_time(self, seconds: float = PERIOD) -> None:
        self.time += seconds
        self._clock.publish(Clock(clock=self.stamp()))

    def answer(self) -> np.ndarray:
        if (efforts := self.remote.command(self._answered, ANSWER)) is None:
            self.send()                 # a loop that stalled in its cycle says so in the next one
            time.sleep(0.5)
            raise AssertionError(f'no answer\n{self.controller.text}')
        self._answered += 1
        return np.array(efforts)

    def nothing(self, seconds: float = 0.3, **fields) -> None:
        """Send states for a while, in wall time too, and see that nothing is published."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.send(**fields)
            time.sleep(0.005)
        assert self.remote.commands[self._answered:] == []

    def until(self, last: list[float] = ZERO, **fields) -> np.ndarray:
        """Efforts of ticks up to one that is answered by this last message (K, 2)."""
        efforts, end = [self.tick(**fields)], time.monotonic() + PATIENCE
        while list(efforts[-1]) != last:
            assert len(efforts) < MOST or time.monotonic() < end, f'{last} never came'
            efforts.append(self.tick(**fields))
        return np.array(efforts)

    def let_down(self, code: str, why: str) -> None:
        """Check a fault with its reason, after which the arm is let down by a ramp."""
        efforts = self.until()
        assert efforts[-len(RAMP):] == near(RAMP[:, None] * self.gravity)
        self.faulted(code)
        assert why in self.remote.diagnostics['message'] and why in self.controller.text

    def bring_up(self) -> None:
        """Configure, activate, rise: RUNNING."""
        self.configure()
        self.activate()

    def configure(self) -> None:
        """Configure, until the controller would hear a state; the test does not hear them."""
        self.remote.ignore_states()
        assert self.remote.change('configure')
        self.remote.until(lambda: self.states.get_subscription_count()
                          and self._clock.get_subscription_count(), 'the controller')

    def activate(self) -> None:
        self.asked('activate', lambda: self.remote.change('activate'))
        assert self.phase == 'RUNNING'

    @contextmanager
    def streaming(self, **fields) -> Iterator[None]:
        """States go on at their rate, whatever is answered, while the test asks for something."""
        over = threading.Event()

        def stream() -> None:
            while not over.wait(0.002):
                self.send(**fields)

        # Not by a timer of the node: that takes its executor four times as long
        thread = threading.Thread(target=stream)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
        for _ in range(10):             # until all answers have come, however slow the machine
            heard = self.remote.command_count
            self.remote.listen(0.1)
            if self.remote.command_count == heard:
                break
        self._answered = self.remote.command_count

    def deactivate(self) -> None:
        """Deactivate: the stopping phase ends with zero."""
        answer = self.remote.begin('deactivate')
        self.until()
        self.remote.until(answer.done, 'deactivate')
        assert answer.result().success

    def asked(self, what: str, ask) -> None:
        """Ask for something while states go on at their rate; it must be granted."""
        with self.streaming():
            assert ask(), f'{what}\n{self.controller.text}'
            self.remote.until(lambda: self.phase == 'RUNNING', 'rising')

    def reset(self) -> None:
        """~/reset arms again, and the arm rises."""
        self.asked('reset', lambda: self.remote.trigger('controller/reset')[0])

    def reset_in_time(self) -> None:
        """~/reset arms again once the controller has heard of what has changed."""
        with self.streaming():
            self.remote.until(lambda: self.remote.trigger('controller/reset')[0], 'a reset')
            self.remote.until(lambda: self.phase == 'RUNNING', 'rising')

    def refuses_reset(self, because: str, **fields) -> None:
        """~/reset is refused while states go on like this, with a reason."""
        with self.streaming(**fields):
            granted, why = self.remote.trigger('controller/reset')
        assert not granted and because in why, why

    def refuses_activation(self, because: str, **fields) -> None:
        """Activating is refused while states go on like this, and the diagnostics say why."""
        assert self.remote.set('controller', arming_timeout=REFUSED) == ''
        with self.streaming(**fields):
            assert not self.remote.change('activate')
            self.remote.until(lambda: because in self.remote.diagnostics.get('message', ''),
                              because)
        assert self.remote.diagnostics['level'] == '2'
        assert self.remote.set('controller', arming_timeout=GRANTED) == ''

    def hear(self) -> None:
        """Listen to the commands again, after `Remote.ignore_commands`."""
        self.remote.hear_commands()
        self._answered = 0

    @property
    def phase(self) -> str:
        """Phase, as last told on /diagnostics."""
        return self.remote.diagnostics.get('phase', '')

    def faulted(self, code: str, *words: str) -> None:
        """Wait until the diagnostics tell of a latched fault, with its code, as an error."""
        self.remote.until(lambda: self.phase == 'FAULT', f'FAULT, {code}')
        assert self.remote.diagnostics['reason code'] == code, self.remote.diagnostics['reason']
        assert self.remote.diagnostics['level'] == '2'
        self.remote.until(lambda: all(w in self.remote.diagnostics['reason'] for w in words),
                          f'{words} in the reason')

    def ends(self) -> None:
        """Wait for the end of the process, with exit code 0, while states go on."""
        with self.streaming():
            self.remote.until(lambda: self.controller.popen.poll() is not None, 'the end')
        assert self.controller.wait() == 0


class Button:
    """Somebody who says a word on a topic, again and again while it is pressed."""

    PERIOD = 0.08       # s

    def __init__(self, remote, topic, qos=10):
        self._node = remote.node
        self.publisher = remote.node.create_publisher(Bool, topic, qos)
        remote.until(self.publisher.get_subscription_count, 'the controller')
        self._timer = None

    def say(self, word):
        """Say it once."""
        self.publisher.publish(Bool(data=word))

    def press(self, word=True):
        """Say it again and again, from now on."""
        self._timer = self._node.create_timer(self.PERIOD, lambda: self.say(word))

    @contextmanager
    def pressed(self, word):
        """Say it meanwhile: that one has met the other does not say that he has met one."""
        self.press(word)
        yield
        self.release()

    def release(self):
        """Be silent."""
        self._node.destroy_timer(self._timer)

    def leave(self):
        """Be no publisher any more."""
        self._node.destroy_publisher(self.publisher)
