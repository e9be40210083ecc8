# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The test plays the arm, over real ROS messages: each state it sends is answered by one command.

The controller runs with `trigger: state` on simulation time, which the test makes, so that every
effort, and the cycle in which it changes, is exact however slow the machine is.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
import threading
import time

import numpy as np
from processes import Process
from robodyn_ros import Dynamics, load_urdf, RobotModel
from robodyn_ros.model.resources import robot_path
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

START, PERIOD = 100.0, 0.001        # s
ANSWER = 10.0       # s, wall time for one answer
PATIENCE = 10.0     # s, the same for a message that may come any time
GRANTED, REFUSED = 3.0, 1.0         # s of arming_timeout, where it is waited for in vain
MOST = 3000         # ticks until a message, on a machine that is quicker
# For tests of other rows: an arm that is put elsewhere without the velocity that brings it there,
# or that stays although its velocity is not zero
TELEPORTED = {'consistency_tolerance': [0.0]}
# Share of the efforts in each tick of the ramp of conftest.EXACT; the last message is zero
RAMP = np.maximum(0.0, 1.0 - np.arange(51) / 49.5)


@cache
def dynamics() -> Dynamics:
    """Return the dynamics of the arm."""
    return Dynamics(load_urdf(robot_path('two_link')))


class Arm:
    """
    The textbook 2R arm, at rest at a pose, moved by nobody but the test.

    :param remote: `nodes.remote.Remote`; ``controller``: the process under test.
    """

    def __init__(self, remote, controller: Process):
        self.remote, self.controller = remote, controller
        self.dynamics = dynamics()
        self.model: RobotModel = self.dynamics.model
        self.names = list(self.model.joint_names)
        self.position, self.velocity = np.array([0.3, 0.5]), np.zeros(2)
        self.effort = self.gravity
        self.time = START
        self._clock = remote.node.create_publisher(Clock, '/clock', 1)
        self.states = remote.node.create_publisher(JointState, 'joint_states', 10)
        self._answered, self._measured, self._jitters = 0, -np.inf, False

    @property
    def gravity(self) -> np.ndarray:
        """g(q), (2,) [N·m]."""
        return self.dynamics.gravity(self.position)

    @property
    def damping(self) -> np.ndarray:
        """Safe damping of the motion, -λ M(q) q̇ with λ = 10 1/s, (2,) [N·m]."""
        return -10.0 * self.dynamics.mass_matrix(self.position) @ self.velocity

    def message(self, **fields) -> JointState:
        """Return the joint state of now; ``fields`` replace some of it."""
        if self.time != self._measured:
            self._measured, self._jitters = self.time, not self._jitters
        # Readings that are equal bit for bit while the arm is driven are those of a dead driver
        position = np.nextafter(self.position, np.inf) if self._jitters else self.position
        state = JointState(**{'name': self.names, 'position': list(position),
                              'velocity': list(self.velocity), 'effort': list(self.effort),
                              **fields})
        state.header.stamp = self.stamp()
        return state

    def stamp(self):
        """Return the time of now as messages carry it."""
        seconds, nanoseconds = divmod(round(self.time * 1e9), 10**9)
        stamp = JointState().header.stamp
        stamp.sec, stamp.nanosec = seconds, nanoseconds
        return stamp

    def send(self, seconds: float = PERIOD, **fields) -> None:
        """Let time pass and send a state, whatever comes of it."""
        self.time += seconds
        self.states.publish(self.message(**fields))

    def tick(self, seconds: float = PERIOD, **fields) -> np.ndarray:
        """Let time pass, send a state, and return the efforts that answer it (2,)."""
        self.send(seconds, **fields)
        return self.answer()

    def ticks(self, count: int, **fields) -> np.ndarray:
        """Return efforts (count, 2), one for each tick."""
        return np.array([self.tick(**fields) for _ in range(count)])

    def pass_time(self, seconds: float = PERIOD) -> None:
        """Let time pass without any state."""
        self.time += seconds
        self._clock.publish(Clock(clock=self.stamp()))

    def silence(self, seconds: float = PERIOD) -> np.ndarray:
        """Let time pass without any state and return the efforts of the cycle that notices."""
        self.pass_time(seconds)
        return self.answer()

    def answer(self) -> np.ndarray:
        """Return the next efforts that the controller publishes (2,)."""
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

    def forget(self) -> None:
        """States go on for 0.4 s of their time, so that what they contradicted is forgotten."""
        for _ in range(40):
            self.send(0.01)
            time.sleep(0.001)
        assert self.remote.commands[self._answered:] == []

    def until(self, last: list[float], **fields) -> np.ndarray:
        """Efforts of ticks up to one that is answered by this last message (K, 2)."""
        efforts, end = [self.tick(**fields)], time.monotonic() + PATIENCE
        while list(efforts[-1]) != last:
            assert len(efforts) < MOST or time.monotonic() < end, f'{last} never came'
            efforts.append(self.tick(**fields))
        return np.array(efforts)

    def bring_up(self) -> None:
        """Configure, activate, rise: RUNNING, and every effort so far was gravity's."""
        self.configure()
        self.activate()

    def configure(self) -> None:
        """Configure, until the controller would hear a state; the test does not hear them."""
        self.remote.ignore_states()
        assert self.remote.change('configure')
        self.remote.until(lambda: self.states.get_subscription_count()
                          and self._clock.get_subscription_count(), 'the controller')

    def activate(self) -> None:
        """Activate and rise."""
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

    def faulted(self, code: str) -> None:
        """Wait until the diagnostics tell of a latched fault, with its code, as an error."""
        self.remote.until(lambda: self.phase == 'FAULT', f'FAULT, {code}')
        assert self.remote.diagnostics['reason code'] == code, self.remote.diagnostics['reason']
        assert self.remote.diagnostics['level'] == '2'


class Simulation(Arm):
    """An arm in a simulation that publishes its clock, for a controller with `trigger: timer`."""

    def send(self, seconds=PERIOD, **fields):
        """Send the state, and the time it is of."""
        super().send(seconds, **fields)
        self.pass_time(0.0)

    def hears(self, number):
        """Return the next commands to come (number, 2)."""
        begin = self.remote.command_count
        self.remote.until(lambda: self.remote.command_count >= begin + number, 'commands')
        return np.array(self.remote.commands[begin:begin + number])
