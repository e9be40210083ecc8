# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
A controller of the library and the arm that the test plays, in one process and in lockstep.

The control loop is that of the node, over clocks that the test makes: each effort, and the cycle
in which it changes, is exact. Messages are bytes, decoded as those of the middleware.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
import ctypes
from dataclasses import replace
from functools import cache
from itertools import count
import struct
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
import pytest
from robodyn_ros import Controller, Dynamics, load_urdf, Settings
from robodyn_ros.control.cycle import plain_cycle
from robodyn_ros.control.cycle.compile_ahead import plain
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.steps import robot_dynamics
from robodyn_ros.errors import RobodynError
from robodyn_ros.model.resources import robot_path
from robodyn_ros.model.robot import RobotModel
from robodyn_ros.nodes.controller.control_loop import PythonLoop, with_fields
from robodyn_ros.realtime.loop import begin
from robodyn_ros.realtime.loop_settings import LoopSettings
from robodyn_ros.realtime.statistics import Tally
from robodyn_ros.wire import decoders
from robodyn_ros.wire.cdr import Writer
from robodyn_ros.wire.codecs import JointStateDecoder

near = pytest.approx
START, PERIOD = 100.0, 0.001        # s
# For tests of other rows: an arm that is put elsewhere without the velocity that brings it there,
# or that stays although its velocity is not zero
TELEPORTED = {'consistency_tolerance': [0.0]}
ZERO = [0.0, 0.0]
# Shares of the fault efforts with FAULT_TIMES: until the ramp, in the ramp, and from the cycle of
# the fault to the last message, which is zero
FAULT_TIMES = {'fault_hold_time': 0.02, 'fault_ramp_time': 0.0495}      # s
RAMP = np.maximum(0.0, 1.0 - np.arange(51) / 49.5)
SHARES = np.concatenate([np.ones(20), RAMP])
STIFFNESS, DAMPING = np.array([400.0, 100.0]), np.array([40.0, 10.0])
SETTINGS: dict[str, Any] = {
    'motor_test_effort': 0.0, 'state_timeout': 0.05, 'missed_limit': 5000, 'late_limit': 1.0,
    'stiffness': STIFFNESS, 'damping': DAMPING, 'acceleration_kp': [400.0],
    'acceleration_kd': [40.0],
    'acceleration_limit': [20.0], **FAULT_TIMES}        # these gains can follow the acceleration
# A loop for which those gains are not made
FIXED_RATE: dict[str, Any] = {'trigger': 'timer', 'rate': 200.0, **dict.fromkeys(
    ('stiffness', 'damping', 'acceleration_kp', 'acceleration_kd'), [0.0])}
MOST = 3000             # ticks until something that must come
REFUSED = 300           # ticks of a refusal
LEAD = 0.01             # s from now to the start of a trajectory
MILLISECOND = 1_000_000     # ns


@cache
def dynamics() -> Dynamics:
    return Dynamics(load_urdf(robot_path('two_link')))


class PlayedArm:
    """The textbook 2R arm, at rest at a pose, moved by nobody but the test."""

    def __init__(self) -> None:
        self.dynamics = dynamics()
        self.model: RobotModel = self.dynamics.model
        self.names = list(self.model.joint_names)
        self.position, self.velocity = np.array([0.3, 0.5]), np.zeros(2)
        self.effort = self.gravity
        self.time = START
        self._measured, self._jitters = -np.inf, False

    @property
    def gravity(self) -> np.ndarray:
        """g(q), (2,) [N·m]."""
        return self.dynamics.gravity(self.position)

    @property
    def damping(self) -> np.ndarray:
        """Safe damping of the motion, -λ M(q) q̇ with λ = 10 1/s, (2,) [N·m]."""
        return -10.0 * self.dynamics.mass_matrix(self.position) @ self.velocity

    def state(self, **fields) -> dict[str, list]:
        """Return the fields of the joint state of now; ``fields`` replace some of them."""
        if self.time != self._measured:
            self._measured, self._jitters = self.time, not self._jitters
        # Readings that are equal bit for bit while the arm is driven are those of a dead driver
        position = np.nextafter(self.position, np.inf) if self._jitters else self.position
        return {'name': self.names, 'position': list(position), 'velocity': list(self.velocity),
                'effort': list(self.effort), **fields}

    def send(self, seconds: float = PERIOD, **fields) -> None:
        """Let time pass and send a state, whatever comes of it."""
        raise NotImplementedError

    def pass_time(self, seconds: float = PERIOD) -> None:
        raise NotImplementedError

    def answer(self) -> np.ndarray:
        """Return the next efforts that the controller publishes (2,)."""
        raise NotImplementedError

    def tick(self, seconds: float = PERIOD, **fields) -> np.ndarray:
        """Let time pass, send a state, and return the efforts that answer it (2,)."""
        self.send(seconds, **fields)
        return self.answer()

    def ticks(self, count: int, **fields) -> np.ndarray:
        """Return efforts (count, 2), one for each tick."""
        return np.array([self.tick(**fields) for _ in range(count)])

    def moving(self, count: int, **fields) -> np.ndarray:
        """Return efforts (count, 2) of ticks of an arm that moves as its velocity says."""
        efforts = []
        for _ in range(count):
            self.position = self.position + PERIOD * self.velocity
            efforts.append(self.tick(**fields))
        return np.array(efforts)

    def activate(self) -> None:
        """Arm, or arm again, and rise: RUNNING."""
        raise NotImplementedError

    def resumes(self) -> None:
        """Check that the arm can be armed again, and that gravity compensation carries it."""
        self.activate()
        assert self.tick() == near(self.gravity)

    def steady(self, count: int = 20) -> None:
        """Check that so many ticks are answered by gravity compensation."""
        assert self.ticks(count) == near(np.tile(self.gravity, (count, 1)), abs=1e-9)


class Loop(PythonLoop):
    """
    Control loop whose clocks and messages the test provides.

    :ivar steady: steady time [ns]; ``clock``: newest simulation time [s]; ``day``: time of day
        minus steady time [ns].
    :ivar listeners: number of subscribers to the commands; ``published``: every command (2,).
    """

    most = 1000

    def __init__(self, trigger: str, controller: Controller, decoder: JointStateDecoder):
        self.inbox: deque[SimpleNamespace] = deque()
        self.published: list[np.ndarray] = []
        self.steady, self.clock, self.listeners, self.day = 10**9, 0.0, 1, 10**18
        self._budget, self._timed, self._inputs = 0, trigger == 'timer', None
        self.tally = Tally(decoder.state['sequence'])
        super().__init__(
            LoopSettings(trigger=trigger, rate=controller.settings.rate), controller, decoder,
            self.tally, self, None, lambda: self.listeners, lambda: self.clock)
        begin(self.loop_state, self.steady)
        controller.changed = self.call

    def call(self) -> None:
        """Read the inputs of the cycle anew."""
        self._inputs = None

    def play(self, cycles: int = 0) -> None:
        """Answer the messages that wait; then run cycles on the grid, or for silence."""
        self._budget = cycles
        self.loop_state[0].called = 0
        if self._inputs is None:
            self._inputs = with_fields(self._controller.inputs)
        self._loop(self, self._inputs, self._controller.tau)

    def steady_ns(self) -> int:
        return self.steady

    def wall_clock_ns(self) -> int:
        return self.steady + self.day

    def sleep_until(self, deadline: int) -> None:
        self.steady = max(self.steady, int(deadline))

    def wait_until(self, deadline: int) -> bool:
        if self.inbox:
            return True
        if self._budget:
            self._budget -= 1
            self.sleep_until(deadline)
        else:
            self.loop_state[0].called = 1
        return False

    def idle(self) -> None:
        """No drives damp the arm."""

    def take(self) -> bool:
        self._taken = self.inbox.popleft() if self.inbox else None
        return self._taken is not None

    def advance(self, *arguments) -> bool:
        if self._timed:
            self._budget -= 1
            self.loop_state[0].called = int(self._budget <= 0)
        return super().advance(*arguments)

    def publish(self, tau: np.ndarray) -> None:
        self.published.append(tau.copy())


class Arm(PlayedArm):
    """
    The arm and its controller, INACTIVE.

    :param model: the robot, other than the 2R arm; ``trigger``: timer or state.
    :param settings: that differ from SETTINGS.
    :ivar states: numbers of the messages of its publisher of joint states.
    """

    def __init__(self, model: RobotModel | None = None, trigger: str = 'state', **settings):
        super().__init__()
        if model is not None:
            self.model, self.dynamics = model, Dynamics(model)
        self._timed = trigger == 'timer'
        decoder = JointStateDecoder(self.names)
        if plain():
            decoder._decode = decoders.joint_state      # of which a row may disable a line
        self.controller = Controller(self.model, Settings(**{**SETTINGS, **settings}),
                                     decoder.state)
        self.controller.cycle_input['simulated_time'] = 1
        self.loop = Loop(trigger, self.controller, decoder)
        self.states, self._answered = count(1), 0

    @property
    def commands(self) -> np.ndarray:
        """Every command so far (N, 2)."""
        return np.array(self.loop.published)

    @property
    def phase(self) -> str:
        return self.controller.phase.name

    def counted(self, name: str) -> int:
        """Return a counter of the controller."""
        return int(self.controller.memory[name][0])

    def send(self, seconds: float = PERIOD, *, source: Iterator[int] | None = None,
             stamp: float | None = None, **fields) -> None:
        """Let time pass and send a state, by another publisher or of another time [s]."""
        self.time += seconds
        if self._timed:
            self.loop.clock = self.time
        message = encoded(self.time if stamp is None else stamp, **self.state(**fields))
        self.loop.inbox.append(SimpleNamespace(message=message, published=0, age=None,
                                               number=float(next(source or self.states))))
        if not self._timed:
            self.loop.steady += MILLISECOND
            self.loop.play()

    def pass_time(self, seconds: float = PERIOD) -> None:
        self.time += seconds
        self.loop.clock = self.time

    def silence(self, seconds: float = PERIOD) -> np.ndarray:
        """Let time pass without any state and return the efforts of the cycle that notices."""
        self.pass_time(seconds)
        self.loop.play(1)
        return self.answer()

    def cycles(self, number: int) -> np.ndarray:
        """Return the efforts of so many cycles of a fixed rate (number, 2)."""
        self.loop.play(number)
        self._answered = len(self.loop.published)
        return self.commands[-number:]

    def answer(self) -> np.ndarray:
        assert self._answered < len(self.loop.published), (
            f'no answer: {self.phase}, {self.controller.reason_code}')
        self._answered += 1
        return self.loop.published[self._answered - 1]

    def nothing(self) -> None:
        """Send states and see that nothing is published."""
        answered = self._answered
        self.goes_on(REFUSED)
        assert len(self.loop.published) == answered, self.commands[answered:]

    def forget(self) -> None:
        """States go on for 0.4 s of their time, so that what they contradicted is forgotten."""
        for _ in range(40):
            self.send(0.01)
        assert len(self.loop.published) == self._answered

    def goes_limp(self, step: Callable[[], np.ndarray], held: np.ndarray, first: int = 0) -> None:
        """Check what follows a fault: ``held`` (2,) for a time, a ramp to zero, nothing."""
        for share in SHARES[first:]:
            efforts = step()
            assert efforts == near(share * held, abs=1e-9), f'{efforts}, not {share * held}'
        assert efforts.tolist() == ZERO
        self.nothing()

    def until(self, last: Sequence[float] = ZERO, **fields) -> np.ndarray:
        """Efforts of ticks up to one that is answered by this last message (K, 2)."""
        efforts = [self.tick(**fields)]
        while list(efforts[-1]) != list(last):
            assert len(efforts) < MOST, f'{last} never came'
            efforts.append(self.tick(**fields))
        return np.array(efforts)

    def goes_on(self, count: int = 1, **fields) -> None:
        """States and time go on for so many ticks, whatever is answered."""
        for _ in range(count):
            self.send(**fields)
            self.loop.clock = self.time
            if self._timed:
                self.loop.play(1)
        self._answered = len(self.loop.published)

    def activate(self, **fields) -> None:
        self.controller.arm()
        for _ in range(MOST):
            self.goes_on(**fields)
            if self.phase == 'RUNNING':
                return
        raise AssertionError(f'{self.phase}: {self.controller.arming_refusal}')

    def refuses(self, because: str, **fields) -> None:
        """Arming is refused while states go on like this, with a reason."""
        self.controller.arm()
        self.goes_on(REFUSED, **fields)
        assert self.controller.arming and because in self.controller.arming_refusal, (
            self.controller.arming_refusal)
        assert self.controller.memory['arming_refusal_joint'][0] >= -1      # -1: no joint
        self.controller.disarm()

    def faulted(self, code: str, *words: str) -> None:
        """Check that a fault is latched, with its code and words of its reason."""
        controller = self.controller
        assert (self.phase, controller.reason_code) == ('FAULT', code), controller.reason
        assert controller.memory['joint'][0] >= -1
        for word in words:
            assert word in controller.reason, controller.reason

    def set(self, **changes) -> str:
        """Change settings, and return the reason of a refusal or ''."""
        try:
            self.controller.use(replace(self.controller.settings, **changes))
        except RobodynError as error:
            return str(error)
        return ''

    def follow(self, position: ArrayLike, seconds: float = 1.0, velocity: ArrayLike = (0.0, 0.0),
               efforts: ArrayLike | None = None, **fields) -> None:
        """Follow a trajectory to a position; ``fields`` are of its :class:`Waypoints`."""
        waypoints = Waypoints(**{
            'joint_names': self.names, 'times': np.array([seconds]),
            'positions': np.atleast_2d(position), 'velocities': np.atleast_2d(velocity),
            'efforts': None if efforts is None else np.atleast_2d(efforts), **fields})
        self.controller.follow(waypoints, self.time + LEAD)


def call_kernels() -> None:
    """Have the plain cycle call the kernels of its robot: half of its time is dynamics."""
    def call(address: int, arrays: tuple) -> None:
        kernel = ctypes.CFUNCTYPE(None, *len(arrays) * [ctypes.c_void_p])(int(address))
        kernel(*[array.ctypes.data for array in arrays])

    def readable(inputs: plain_cycle.Cycle) -> plain_cycle.Cycle:
        fields = fields_readable(inputs)
        return fields._replace(robot=fields.robot._replace(addresses=inputs.robot.addresses))
    fields_readable = plain_cycle.fields_readable
    plain_cycle.fields_readable, robot_dynamics.invoke = readable, call


if plain():
    call_kernels()


@cache
def layout(names: Sequence[str], *sizes: int) -> tuple[bytearray, list[np.ndarray]]:
    """Return a serialized joint state and its numbers: position, velocity, effort."""
    out = Writer()
    out.pack('i', 0)
    out.pack('I', 0)
    out.string('')
    out.pack('I', len(names))
    for name in names:
        out.string(name)
    return out.finish(*sizes)


def encoded(time: float, name: Sequence[str], **numbers: Sequence[float]) -> bytes:
    """Return a serialized joint state of a time [s]."""
    buffer, parts = layout(tuple(name), *map(len, numbers.values()))
    struct.pack_into('<iI', buffer, 4, *divmod(round(time * 1e9), 10**9))
    for part, given in zip(parts, numbers.values(), strict=True):
        part[:] = given
    return bytes(buffer)


def running(**settings) -> Arm:
    arm = Arm(**settings)
    arm.activate()
    return arm
