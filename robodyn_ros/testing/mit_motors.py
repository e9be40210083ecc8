# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Motors of Damiao and RobStride that are simulated on a CAN bus, as the counterpart of a driver.

They quantise, take the time of a bus, stop without commands, warm up and report errors, and move
an arm. :class:`LockstepBus` runs them on simulated time in the thread of the driver,
:class:`Served` in real time behind a socket, a pseudo-terminal or a bus of python-can.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
import os
from pathlib import Path
import select
import socket
import struct
import threading
from time import monotonic, sleep

import numpy as np
from numpy import ndarray

from ..driver import DriverLost
from ..drivers.arm import Arm, Motor
from ..drivers.codec import Command, Damiao, decoded, encoded, Ranges, RobStride
from ..drivers.frames import Bus, DamiaoSerial, EXTENDED, Frame, SocketBus
from ..drivers.mit_can import exchange_time
from ..dynamics import Dynamics
from ..model.robot import RobotModel

STEP = 0.5e-3           # [s] of the motion
TURNAROUND = 40e-6      # [s] from a command to the answer
ROOM = 25.0             # [°C]
COOLING = 60.0          # [s]
SUPPORT = 1.0           # [s] for which an arm that is switched on lies on something


@dataclass
class SimulatedMotor:
    """
    A motor; its true properties may differ from those that a driver believes.

    :param motor: as the driver knows it; ``ranges``: of its codes.
    :param scale: torque of the joint per torque that it reports.
    :param sign, offset: of the joint, as of :class:`.Motor`.
    :param noise: [codes] standard deviation of the position, the velocity and the effort.
    :param heating: [°C/s] at the torque of its range; ``hottest``: at which it stops [°C].
    :param silent: it neither takes nor answers anything.
    """

    motor: Motor
    ranges: Ranges
    scale: float = 1.0
    sign: float = 1.0
    offset: float = 0.0
    noise: tuple[float, float, float] = (0.0, 0.0, 0.0)
    heating: float = 1.0
    hottest: float = 120.0
    silent: bool = False
    registers: dict[int, float] = field(default_factory=dict)
    on: bool = False
    status: int = 0             # error of a Damiao, bits of a RobStride
    temperature: float = ROOM
    position: float = 0.0       # of the motor [rad]
    velocity: float = 0.0
    effort: float = 0.0         # that it reports
    command: Command = Command()
    commanded: float = -inf     # time [s]

    @classmethod
    def of(cls, motor: Motor, timeout: float = 0.0) -> SimulatedMotor:
        """Return a motor as its driver expects it, whose timeout is off."""
        codec = motor.codec
        ranges = Ranges(*(values[0] for values in motor.expected),
                        *codec.GAINS.get(motor.type, ()))
        registers = {codec.MODE: float(codec.MIT), codec.TIMEOUT: timeout / codec.TIMEOUT_UNIT}
        if isinstance(codec, Damiao):
            registers |= dict(zip(codec.RANGES, ranges)) | {codec.REPLY: motor.reply}
        else:
            registers[codec.TORQUE_LIMIT] = ranges.effort
        return cls(motor, ranges, sign=motor.sign, offset=motor.offset, registers=registers)

    def torque(self, now: float, dt: float) -> float:
        """Return the torque that it reports, of its law [N·m]; warm up, stop where it has to."""
        codec, c = self.motor.codec, self.command
        timeout = self.registers[codec.TIMEOUT] * codec.TIMEOUT_UNIT
        if self.on and 0.0 < timeout < now - self.commanded:
            self.on = False
            self.status = Damiao.LOST if isinstance(codec, Damiao) else 0
        if self.temperature > self.hottest:
            self.on, self.status = False, 0xC if isinstance(codec, Damiao) else 1 << 2
        most = self.ranges.effort if self.on else 0.0
        self.effort = max(-most, min(most, (
            c.effort + c.stiffness * (c.position - self.position)
            + c.damping * (c.velocity - self.velocity))))
        self.temperature += dt * (self.heating * (self.effort / self.ranges.effort) ** 2
                                  - (self.temperature - ROOM) / COOLING)
        return self.effort

    def addressed(self, identifier: int) -> bool:
        """Return whether a frame may be for this motor."""
        return identifier == Damiao.COMMON or identifier & 0xFF == self.motor.id

    def receive(self, identifier: int, data: bytes, now: float,
                random: np.random.Generator) -> Frame | None:
        """Take a frame of a host; return the answer, None if it is for another motor."""
        if self.silent or len(data) != 8:
            return None
        if isinstance(self.motor.codec, Damiao):
            return self._damiao(self.motor.codec, identifier, data, now, random)
        return self._robstride(self.motor.codec, identifier, data, now, random)

    def _damiao(self, codec: Damiao, identifier: int, data: bytes, now: float,
                random: np.random.Generator) -> Frame | None:
        if identifier == codec.COMMON:
            number, what, register, value = struct.unpack('<HBB4s', data)
            if number != codec.identifier:
                return None
            if what == codec.REFRESH:
                return self._state(random)
            kind = '<I' if register in codec.UNSIGNED else '<f'
            if what == codec.WRITE and register in self.registers:
                self.registers[register], = struct.unpack(kind, value)
            if what in (codec.READ, codec.WRITE) and register in self.registers:
                number = self.registers[register]
                value = struct.pack(kind, int(number) if kind == '<I' else number)
            elif what != codec.STORE:
                return None
            return codec.reply, struct.pack('<HBB4s', codec.identifier, what, register, value)
        if identifier != codec.identifier:
            return None
        if data[:7] == b'\xff' * 7:
            self._special({0xFC: 'on', 0xFD: 'off', 0xFE: 'zero', 0xFB: 'clear'}.get(data[7]), now)
        elif self.registers[codec.MODE] == codec.MIT:
            bits = int.from_bytes(data, 'big')
            r = self.ranges
            self.command, self.commanded = Command(
                decoded(bits >> 48, r.position, 16), decoded(bits >> 36 & 0xFFF, r.velocity, 12),
                (bits >> 24 & 0xFFF) / 4095 * r.stiffness, (bits >> 12 & 0xFFF) / 4095 * r.damping,
                decoded(bits & 0xFFF, r.effort, 12)), now
        return self._state(random)

    def _robstride(self, codec: RobStride, identifier: int, data: bytes, now: float,
                   random: np.random.Generator) -> Frame | None:
        if not identifier & EXTENDED or identifier & 0xFF != codec.identifier:
            return None
        kind, middle, r = identifier >> 24 & 0x1F, identifier >> 8 & 0xFFFF, self.ranges
        if kind == codec.CONTROL:
            p, v, kp, kd = struct.unpack('>4H', data)
            self.command, self.commanded = Command(
                decoded(p, r.position, 16), decoded(v, r.velocity, 16), kp / 0xFFFF * r.stiffness,
                kd / 0xFFFF * r.damping, decoded(middle, r.effort, 16)), now
        elif kind in (codec.READ, codec.WRITE):
            register = data[0] | data[1] << 8
            packing = ('<B3x' if register in codec.BYTES
                       else '<I' if register in codec.UNSIGNED else '<f')
            known = register in self.registers
            if kind == codec.WRITE and known:
                self.registers[register], = struct.unpack(packing, data[4:])
            elif kind == codec.READ:
                value = self.registers.get(register, 0.0)
                return (EXTENDED | codec.READ << 24 | (not known) << 16 | codec.identifier << 8
                        | codec.reply, data[:4] + struct.pack(
                            packing, value if packing == '<f' else int(value)))
        elif kind in (codec.ENABLE, codec.DISABLE, codec.ZERO):
            self._special({codec.ENABLE: 'on', codec.DISABLE: 'off', codec.ZERO: 'zero'}[kind],
                          now)
            if kind == codec.DISABLE and data[0] == 1:
                self._special('clear', now)
        return self._state(random)

    def _special(self, what: str | None, now: float) -> None:
        if what == 'on' and not self.status:
            self.on, self.command, self.commanded = True, Command(), now
        elif what == 'off':
            self.on = False
        elif what == 'clear':
            self.status = 0
        elif what == 'zero':
            self.offset -= self.position

    def _state(self, random: np.random.Generator) -> Frame:
        codec, r = self.motor.codec, self.ranges
        noise = random.normal(0.0, self.noise) if any(self.noise) else self.noise
        bits = 12 if isinstance(codec, Damiao) else 16
        p, v, t = (encoded(value + noise[k] * 2 * limit / ((1 << wide) - 1), limit, wide)
                   for k, (value, limit, wide) in enumerate((
                       (self.position, r.position, 16), (self.velocity, r.velocity, bits),
                       (self.effort, r.effort, bits))))
        hot = int(self.temperature)
        if isinstance(codec, Damiao):
            status = self.status or int(self.on)
            return codec.reply, bytes([
                status << 4 | codec.identifier & 0xF, p >> 8, p & 0xFF, v >> 4,
                (v & 0xF) << 4 | t >> 8, t & 0xFF, hot, hot])
        return (EXTENDED | codec.STATE << 24 | (codec.RUNNING * self.on) << 22 | self.status << 16
                | codec.identifier << 8 | codec.reply,
                struct.pack('>4H', p, v, t, int(10 * self.temperature)))


class MotorBus:
    """
    Simulated motors on a bus that moves one frame at a time, and the arm that they move.

    :param arm: its motors; ``model``: of the moving arm, None: the motors stand still.
    :param position: (nv,) of the joints at the start [rad]; None: zero.
    :param friction: (nv,) viscous friction of the gears [N·m·s/rad].
    :param supported: whether the arm lies on something, until motors have been on for a second.
    """

    def __init__(self, arm: Arm, model: RobotModel | None = None,
                 position: Sequence[float] | ndarray | None = None,
                 friction: Sequence[float] | ndarray | float = 0.1, supported: bool = True,
                 seed: int = 0):
        self.arm, self.model, self.supported = arm, model, supported
        by_joint = {motor.joint: motor for motor in arm.motors}
        ordered = arm.motors if model is None else [by_joint[n] for n in model.joint_names]
        gripper = [arm.gripper] if arm.gripper else []
        #: The motors, those of the joints first, in the order of the model.
        self.motors = [SimulatedMotor.of(motor) for motor in (*ordered, *gripper)]
        n = len(ordered)
        self.q = np.zeros(n) if position is None else np.array(position, float)
        self.qd, self.now, self.n = np.zeros(n), 0.0, n
        self.friction = np.broadcast_to(np.asarray(friction, float), n)
        #: Changes frames on their way to the host: returns what arrives. For faults of a bus.
        self.spoil: Callable[[Frame], Sequence[Frame]] = lambda frame: [frame]
        self._dynamics = Dynamics(model) if model is not None else None
        if self._dynamics is not None:      # compiles it
            self._dynamics.forward_dynamics(self.q, self.qd, self.qd)
        self._random = np.random.default_rng(seed)
        self._frame_time = max(0.5 * exchange_time(motor.motor, arm) for motor in self.motors)
        # Frames that wait for the bus: when they may be sent [s], identifier, data, of a motor
        self._queue: list[tuple[float, int, bytes, bool]] = []
        self._free = 0.0            # when the bus is free again [s]
        self._moved = self._on_for = 0.0    # until when the arm has moved, with motors on [s]
        #: Frames that have arrived at the host.
        self.arrived: deque[Frame] = deque()
        self._place()

    def place(self, position: Sequence[float] | ndarray, support: float = SUPPORT) -> None:
        """Carry the arm to a pose [rad], and support it until motors have been on so long [s]."""
        self.q, self.qd = np.array(position, float), np.zeros(self.n)
        self.supported, self._on_for = True, SUPPORT - support
        self._place()

    def send(self, identifier: int, data: bytes, of_motor: bool = False,
             delay: float = 0.0) -> None:
        """Queue a frame for the bus: of the host, or of a motor, which the host receives."""
        self._queue.append((self.now + delay, identifier, data, of_motor))

    def next_end(self) -> float:
        """Return when the next frame will have been transferred [s]; infinite without any."""
        return self._next_start() + self._frame_time

    def receive(self, until: float) -> Frame | None:
        """Let time pass until a frame arrives at the host, or to a time [s] (None)."""
        while not self.arrived and (start := self._next_start()) + self._frame_time <= until:
            frame = min((frame for frame in self._queue if frame[0] <= start),
                        key=lambda frame: frame[1])     # that the arbitration lets pass
            self._queue.remove(frame)
            self._free = start + self._frame_time
            self.advance(self._free)
            _, identifier, data, of_motor = frame
            if of_motor:
                self.arrived += self.spoil((identifier, data))
                continue
            for motor in self.motors:
                if motor.addressed(identifier) and (answer := motor.receive(
                        identifier, data, self.now, self._random)) is not None:
                    self.send(*answer, of_motor=True, delay=TURNAROUND)
        if self.arrived:
            return self.arrived.popleft()
        self.advance(until)
        return None

    def advance(self, until: float) -> None:
        """Move the arm until a time [s]."""
        self.now = max(self.now, until)
        while self._moved <= self.now - STEP:
            self._moved += STEP
            torque = np.array([motor.sign * motor.scale * motor.torque(self._moved, STEP)
                               for motor in self.motors])
            self._on_for += STEP * any(motor.on for motor in self.motors)
            self.supported = self.supported and self._on_for < SUPPORT
            if self._dynamics is not None and self.model is not None and not self.supported:
                self._move(self._dynamics, self.model, torque[:self.n])
                self._place()

    def _next_start(self) -> float:
        if not self._queue:
            return inf
        return max(self._free, min(ready for ready, *_ in self._queue))

    def _move(self, dynamics: Dynamics, model: RobotModel, torque: ndarray) -> None:
        self.qd = self.qd + STEP * dynamics.forward_dynamics(self.q, self.qd,
                                                             torque - self.friction * self.qd)
        q = self.q + STEP * self.qd
        self.q = np.minimum(np.maximum(q, model.position_lower), model.position_upper)
        self.qd[self.q != q] = 0.0      # at a joint stop

    def _place(self) -> None:
        for motor, q, qd in zip(self.motors, self.q.tolist(), self.qd.tolist()):
            motor.position, motor.velocity = motor.sign * q + motor.offset, motor.sign * qd


class LockstepBus(Bus):
    """A bus of simulated motors on simulated time, with a clock and a sleep."""

    def __init__(self, motors: MotorBus):
        super().__init__()
        self.motors = motors

    def clock(self) -> float:
        """Return the simulated time [s]."""
        return self.motors.now

    def sleep(self, duration: float) -> None:
        """Let time pass [s]; frames that arrive meanwhile wait."""
        arrived, end = [], self.motors.now + duration
        while (frame := self.motors.receive(end)) is not None:
            arrived.append(frame)
        self.motors.arrived.extend(arrived)

    def send(self, identifier: int, data: bytes) -> None:
        """See :class:`.Bus`."""
        self.motors.send(identifier, data)

    def receive(self, timeout: float) -> Frame | None:
        """See :class:`.Bus`."""
        return self.motors.receive(self.motors.now + timeout)

    def close(self) -> None:
        """See :class:`.Bus`."""


class Served:
    """
    Simulated motors in real time, in a thread, behind a bus.

    :param bus: the end of the motors: of :func:`socket_pair`, a :class:`SerialBridge`, or others.
    """

    def __init__(self, motors: MotorBus, bus: Bus):
        self.motors, self.bus = motors, bus
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._run, name='motors', daemon=True)
        self.thread.start()

    def close(self) -> None:
        """Switch the motors off."""
        self.over.set()
        self.thread.join()
        self.bus.close()

    def _run(self) -> None:
        motors, begun = self.motors, monotonic() - self.motors.now
        with suppress(DriverLost):
            while not self.over.is_set():
                if (left := motors.next_end() - monotonic() + begun) < inf:
                    sleep(max(left, 0.0))       # finer than the waits of sockets
                while frame := self.bus.receive(0.0 if motors.next_end() < inf else 1e-3):
                    motors.advance(monotonic() - begun)
                    motors.send(*frame)
                while answer := motors.receive(monotonic() - begun):
                    with suppress(OSError):     # a host that does not read
                        self.bus.send(*answer)
        for _ in range(2):      # a socket reports once that its other end closed, then goes on
            with suppress(DriverLost):
                while frame := self.bus.receive(0.0):   # what the host has sent before it closed
                    motors.send(*frame)
        while (end := motors.next_end()) < inf:
            motors.receive(end)


def socket_pair(fd: bool = False) -> tuple[SocketBus, SocketBus]:
    """Return both ends of a bus of datagrams with frames of SocketCAN."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    return SocketBus(ends[0], fd), SocketBus(ends[1], fd)


class SerialBridge(Bus):
    """Damiao's USB-CAN adapter on a pseudo-terminal, ``port``: the end of the motors."""

    def __init__(self) -> None:
        import tty

        super().__init__()
        self._end, child = os.openpty()
        tty.setraw(child)
        self.port, self._child = os.ttyname(child), child
        os.set_blocking(self._end, False)
        self._bytes = bytearray()

    def send(self, identifier: int, data: bytes) -> None:
        """See :class:`.Bus`."""
        extended = bool(identifier & EXTENDED)
        os.write(self._end, DamiaoSerial.TAKE.pack(
            DamiaoSerial.HEAD, DamiaoSerial.RECEIVED, len(data) | extended << 6,
            identifier & ~EXTENDED, data, DamiaoSerial.TAIL))

    def receive(self, timeout: float) -> Frame | None:
        """See :class:`.Bus`."""
        size = DamiaoSerial.SEND.size
        if len(self._bytes) < size and select.select([self._end], [], [], timeout)[0]:
            with suppress(BlockingIOError):
                self._bytes += os.read(self._end, 4096)
        if len(self._bytes) < size:
            return None
        head, _, _, extended, identifier, _, length, _, _, data, _ = DamiaoSerial.SEND.unpack_from(
            self._bytes)
        if head != b'\x55\xaa\x1e\x03':
            del self._bytes[0]
            return None
        del self._bytes[:size]
        return identifier | (EXTENDED if extended else 0), data[:length]

    def close(self) -> None:
        """See :class:`.Bus`."""
        for end in (self._end, self._child):
            os.close(end)


def serve(motors: MotorBus, path: str | Path, over: Callable[[], bool]) -> None:
    """Serve the motors at a socket, ``bus: {interface: socket, channel: PATH}``, to one host."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(path))
        listening.listen(1)
        listening.settimeout(0.1)
        while not over():
            with suppress(TimeoutError):
                served = Served(motors, SocketBus(listening.accept()[0]))
                while served.thread.is_alive() and not over():
                    served.thread.join(0.1)
                served.close()

