# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Motors on a bus: what is asked of them, and what they answer."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from time import monotonic

import numpy as np
from numpy import ndarray

from .arm import Motor
from .codec import Answer, Command, Damiao, key_of, Ranges
from .frames import Bus, Frame
from ..errors import ParameterError

ANSWER_TIMEOUT = 0.2    # [s] for one answer, on a busy machine
TRIES = 3               # of a question
TOLERANCE = 1e-3        # relative, of a range: registers are single precision
INTRUSION = 1.0         # [s] for which another host is reported after its last frame


def agrees(value: float, expected: Iterable[float]) -> bool:
    """Return whether a range is one of those that are expected."""
    return any(abs(value - one) <= TOLERANCE * one for one in expected)


class Motors:
    """
    Motors on a bus, in the order of their arrays.

    :param clock: returns the time [s].
    """

    def __init__(self, bus: Bus, motors: Sequence[Motor], clock: Callable[[], float] = monotonic):
        self.bus, self.motors, self.clock = bus, tuple(motors), clock
        n = len(self.motors)
        #: For one answer [s].
        self.timeout = ANSWER_TIMEOUT
        #: Last answers of the motors, None of one that has never answered.
        self.answers: list[Answer | None] = [None] * n
        #: Ranges of the codes of each motor; None until :meth:`read_ranges`.
        self.ranges: list[Ranges | None] = [None] * n
        #: (n,) times before which the last answers were not measured [s]; -inf without one.
        self.measured: ndarray = np.full(n, -np.inf)
        #: Answers that did not come, by joint, and frames that are no answers, by kind.
        self.lost, self.strange = Counter[str](), Counter[str]()
        #: When another host has last commanded a joint [s].
        self.intruded: dict[str, float] = {}
        #: Times from questions to their answers, as :meth:`confirm` has seen them [s].
        self.round_trips: list[float] = []
        self._at = {motor.id: i for i, motor in enumerate(self.motors)}
        self._keys = {key: i for i, motor in enumerate(self.motors) for key in motor.codec.keys}
        self._asked: list[float | None] = [None] * n     # the oldest question without an answer

    @property
    def waiting(self) -> bool:
        """Whether an answer is still to come."""
        return self._asked.count(None) < len(self._asked)

    def ask(self, i: int, frame: Frame) -> None:
        """Send a frame to motor ``i``, which answers with its state; errors are those of a bus."""
        self.bus.send(*frame)
        if self._asked[i] is None:
            self._asked[i] = self.clock()
        else:
            self.lost[self.motors[i].joint] += 1

    def command(self, i: int, command: Command) -> None:
        """Send a command in the coordinates of motor ``i``, whose ranges are known."""
        ranges = self.ranges[i]
        assert ranges is not None
        self.ask(i, self.motors[i].codec.command(ranges, command))

    def take(self, timeout: float = 0.0) -> bool:
        """Receive and note one frame; return False if none comes within the timeout [s]."""
        if (frame := self.bus.receive(timeout)) is not None:
            self._note(*frame)
        return frame is not None

    def _note(self, identifier: int, data: bytes) -> None:
        i = self._keys.get(key_of(identifier))
        if i is None:
            self._note_stranger(identifier, data)
        elif len(data) != 8:
            self.strange['wrong length'] += 1
        elif (ranges := self.ranges[i]) is not None and (
                answer := self.motors[i].codec.answer(ranges, identifier, data)) is not None:
            self.answers[i] = answer
            if (asked := self._asked[i]) is not None:
                self.measured[i], self._asked[i] = asked, None
            else:       # late, to another host, or of another motor with the same id
                self.strange['answers that nobody asked for'] += 1
        else:
            self.strange['answers without a state'] += 1

    def read_register(self, motor: Motor, register: int) -> float:
        """
        Return the value of a register of a motor.

        :raises ParameterError: it does not answer.
        """
        for _ in range(TRIES):
            self._drain()
            self.bus.send(*motor.codec.read(register))
            end = self.clock() + self.timeout
            while (left := end - self.clock()) > 0 and (frame := self.bus.receive(left)):
                if len(frame[1]) == 8 and (
                        value := motor.codec.register(register, *frame)) is not None:
                    return value
                self._note(*frame)
        raise self._silent(motor)

    def write_register(self, motor: Motor, register: int, value: float) -> None:
        """
        Write a register of a motor until the next power cycle, and read it back.

        :raises ParameterError: it does not answer, or has not taken the value.
        """
        for _ in range(TRIES):
            self.bus.send(*motor.codec.write(register, value))
            self._drain()
            if (taken := self.read_register(motor, register)) in (value, np.float32(value)):
                return
        raise ParameterError(f'register {register:#x} of {motor} is {taken:g} and not {value:g}, '
                             'which was written', name=motor.joint, value=taken,
                             remedy='switch the motor off and on; update its firmware')

    def read_ranges(self, motor: Motor) -> Ranges:
        """
        Return the ranges of a motor's codes, from its registers where it has them.

        :raises ParameterError: it does not answer, or they are not those of its type.
        """
        codec, expected = motor.codec, motor.expected
        found = [values[0] for values in expected]
        if isinstance(codec, Damiao):
            for k, (register, name) in enumerate(codec.RANGES.items()):
                found[k] = self.read_register(motor, register)
                if not agrees(found[k], expected[k]):
                    raise ParameterError(
                        f'register {register} ({name}) of {motor} is {found[k]:g} and not '
                        f'{" or ".join(f"{value:g}" for value in expected[k])}', name=motor.joint,
                        value=found[k], remedy='correct the type or the ranges of the motor, or '
                        'the register')
        elif not (motor.limit or 0.0) <= (most := self.read_register(
                motor, codec.TORQUE_LIMIT)) <= found[2] * (1.0 + TOLERANCE):
            raise ParameterError(
                f'register {codec.TORQUE_LIMIT:#x} (limit_torque) of {motor} is {most:g}, not '
                f'from its limit, {motor.limit or 0.0:g}, to its range, {found[2]:g} N·m',
                name=motor.joint, value=most, remedy='correct the type, the ranges or the limit '
                'of the motor')
        ranges = Ranges(*found, *codec.GAINS.get(motor.type, ()))
        if motor.id in self._at:
            self.ranges[self._at[motor.id]] = ranges
        return ranges

    def refresh(self, motor: Motor) -> Answer:
        """
        Return the present state of a motor whose ranges are known.

        :raises ParameterError: it does not answer.
        """
        timeout = 0.0 if isinstance(motor.codec, Damiao) else self.read_register(
            motor, motor.codec.TIMEOUT)
        return self.confirm(motor, motor.codec.refresh(timeout))

    def confirm(self, motor: Motor, frame: Frame,
                wanted: Callable[[Answer], bool] = lambda answer: True) -> Answer:
        """
        Send a frame until a motor answers with a wanted state; return its last state.

        :raises ParameterError: it does not answer.
        """
        i, answered = self._at[motor.id], False
        for _ in range(TRIES):
            self._drain()
            self._asked[i] = None
            self.ask(i, frame)
            end = self.clock() + self.timeout
            while (left := end - self.clock()) > 0:
                self.take(left)
                answer = self.answers[i]
                if self._asked[i] is None and answer is not None:
                    self.round_trips.append(self.clock() - self.measured[i])
                    answered = True
                    if wanted(answer):
                        return answer
        if not answered or answer is None:
            raise self._silent(motor)
        return answer

    def _drain(self) -> None:
        while self.take():
            pass

    def _note_stranger(self, identifier: int, data: bytes) -> None:
        for motor in self.motors:
            if motor.codec.from_host(identifier, data):
                self.intruded[motor.joint] = self.clock()
                return
        self.strange['foreign frames'] += 1

    @staticmethod
    def _silent(motor: Motor) -> ParameterError:
        return ParameterError(f'{motor} does not answer', name=motor.joint, value=motor.id,
                              remedy='check its power, wiring, id and reply; robodyn driver scan '
                              'lists the motors on the bus')
