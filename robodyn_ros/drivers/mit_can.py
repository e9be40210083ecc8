# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Driver of arms of Damiao and RobStride motors on a CAN bus."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from pathlib import Path
import time

import numpy as np
from numpy import ndarray

from .arm import Arm, load_arm, Motor
from .codec import Answer, Command, Damiao
from .frames import Bus, open_bus
from .motors import INTRUSION, Motors
from ..driver import DriverFacts, DriverLost, Fault, INLINE, Reading
from ..errors import ParameterError
from ..model.robot import RobotModel

CATCH_UP = 1.0      # periods that a late cycle is caught up at most
PERIODS = 4         # without a command that a motor has to admit
# Of the times that a motor takes to answer: a busy machine, not the adapter, has made others long
SAMPLES, QUICK = 5, 0.1
ENABLE_TIMEOUT = 0.02   # [s] for one answer, within the control loop
SLACK = 1.2         # of the time of an exchange
MOST_FRAMES = 200   # that are received in a cycle
REST_MOTION, REST_TIME = 0.005, 0.5     # an arm that moves less [rad] for so long [s] is at rest

UNCONFIRMED_SPEED = 0.3     # [rad/s] of an arm whose file nobody has seen on hardware


class MitCan:
    """
    Driver of an arm whose motors take torques by their MIT mode; see :mod:`robodyn_ros.driver`.

    Each command is answered with the state, so that a cycle is one exchange with each motor. While
    no efforts are written the motors are off, and are asked for their state.

    :param arm: its description; its motors are put into the order of the model's joints.
    :param model: of the arm; None: all motors in their order.
    :param bus: None: that of the arm, opened.
    :param clock, sleep: as of :mod:`time`, for simulated time.
    :param accept_unconfirmed: whether an arm that is `unconfirmed` may be faster than
        UNCONFIRMED_SPEED.
    :raises ParameterError: a motor does not answer, is on already, or is not as the arm says.
    """

    reading = INLINE

    def __init__(self, arm: Arm, model: RobotModel | None = None, *, bus: Bus | None = None,
                 clock: Callable[[], float] = time.monotonic,
                 sleep: Callable[[float], None] = time.sleep,
                 accept_unconfirmed: bool = False):
        motors = arm.motors if model is None else in_order(arm, model)
        self.arm, self.period = arm, 0.002      # that of the controller, which sets it [s]
        self._bus = open_bus(arm.bus) if bus is None else bus
        self._clock, self._sleep = clock, sleep
        self.motors = Motors(self._bus, motors, clock)
        try:
            for motor in motors:
                self._prepare(motor)
        except BaseException:
            self._bus.close()
            raise
        self.motors.strange.clear()
        self.motors.timeout = ENABLE_TIMEOUT
        # All motors are asked at once, so that what an adapter adds to one answer counts once
        busy = sum(exchange_time(motor, arm) for motor in motors[1:]) + max(
            exchange_time(motors[0], arm), float(np.quantile(self.motors.round_trips, QUICK)))
        armature = [motor.armature for motor in motors]
        ranges = [found for found in self.motors.ranges if found is not None]
        self._sign = np.array([motor.sign for motor in motors], float)
        self._offset = np.array([motor.offset for motor in motors])
        self._saturated = 0
        confirmed = accept_unconfirmed or not arm.unconfirmed
        self._notices = [] if confirmed else [Fault('', (
            f'that {arm.name} is unconfirmed, nobody has seen its file on hardware: at most '
            f'{UNCONFIRMED_SPEED:g} rad/s until accept_unconfirmed is true'), stop=False)]
        self.facts = DriverFacts(
            compensates_gravity=False, brakes=arm.brakes,
            effort_limit=[min(m.limit or r.effort, r.effort) for m, r in zip(motors, ranges)],
            velocity_limit=[min(m.velocity_limit or r.velocity, r.velocity,
                                inf if confirmed else UNCONFIRMED_SPEED)
                            for m, r in zip(motors, ranges)],
            armature=None if None in armature else np.array(armature, float),
            max_rate=round(1.0 / busy, 1))
        self._busy = SLACK * busy   # after it, no answer to what was asked comes [s]
        self._on = False            # the motors have been switched on for efforts
        self._written = self._asked = -np.inf   # times of the last efforts and questions [s]
        self._due, self._driven = clock(), False    # driven: efforts were written in this cycle
        self._pose, self._share, self._damps = [0.0] * len(motors), 0.0, False
        self._rested_at, self._rested = np.full(len(motors), np.inf), 0.0

    def read(self) -> Reading:
        """Return the state at the end of the period; ask for the next one if nothing was sent."""
        now = self._clock()
        self._due = max(self._due + self.period, now - CATCH_UP * self.period)
        if self._due > now:
            self._sleep(self._due - now)
        self._listen()
        now, driven = self._clock(), self._driven
        reading, self._driven = self._reading(now), False
        if now - self._written > self.arm.timeout and not driven:
            if self._on:            # efforts have ended, and the motors have stopped by themselves
                self._tell_all(lambda motor: motor.codec.disable())
            else:
                self._tell_all(lambda motor: motor.codec.refresh(self._code(motor)))
            self._on = False
        return reading

    def write(self, tau: ndarray) -> None:
        """
        Send efforts (nv,) [N·m].

        :raises OSError: some could not be sent; those motors stop by themselves after `timeout`.
        """
        if not np.isfinite(tau).all():
            raise ValueError(f'efforts {tau.tolist()} are not finite')
        share, damps = self._share, self._damps
        self._damps = False
        self._command([
            Command(pose, 0.0, share * motor.stiffness, motor.damping if damps else
                    share * motor.damping, effort)
            for motor, pose, effort in zip(self.motors.motors, self._pose,
                                           (self._sign * tau).tolist())])

    def fade(self, share: float) -> None:
        """Leave a share of the spring in which the motors hold the arm, from the next write on."""
        self._share = share

    def rest(self, dt: float) -> bool:
        """Damp the next write; return whether no joint has moved for a while."""
        self._damps = True
        position = np.array([answer.position for answer in self.motors.answers if answer])
        if (np.abs(position - self._rested_at) > REST_MOTION).any():
            self._rested_at, self._rested = position, 0.0
        self._rested += dt
        return self._rested >= REST_TIME

    def enable(self) -> None:
        """
        Switch the motors on, in a spring that holds the present pose.

        :raises ParameterError: one reports an error, which only a person may clear, is on already,
            or is not on afterwards.
        """
        if (most := self.arm.timeout / PERIODS) < self.period:
            raise ParameterError(
                f'the motors stop after {self.arm.timeout:g} s without commands, which come every '
                f'{self.period:g} s', name='rate', value=1.0 / self.period,
                remedy=f'use a rate of at least {1.0 / most:g} Hz')
        self._listen()      # frames that switch a motor off must not come after those below
        for motor, answer in zip(self.motors.motors, self.motors.answers):
            if answer is not None and answer.enabled and not self._on:
                raise _on_already(motor)
            if answer is not None and (words := motor.codec.words(answer.status)):
                if not (isinstance(motor.codec, Damiao) and answer.status == Damiao.LOST):
                    raise ParameterError(f'{motor} reports {words}', name=motor.joint, value=words,
                                         remedy='remove the cause, then switch it off and on')
                self.motors.confirm(motor, motor.codec.clear(), lambda answer: not answer.status)
            self._configure(motor)
        self._on = True     # if one of them fails, `read` switches the others off
        for i, motor in enumerate(self.motors.motors):
            answer = self.motors.confirm(motor, motor.codec.enable(), lambda a: a.enabled)
            if not answer.enabled:
                words = motor.codec.words(answer.status) or 'off'
                raise ParameterError(f'{motor} cannot be switched on: it reports {words}',
                                     name=motor.joint, value=words,
                                     remedy='remove the cause, then switch it off and on')
            self._pose[i] = answer.position
            self.motors.command(i, Command(answer.position, 0.0, motor.stiffness, motor.damping))
        self._due = self._written = self._asked = self._clock()
        self._share = 1.0
        self._listen()

    def spring(self, position: ndarray, stiffness: ndarray, damping: ndarray) -> None:
        """Hold joints (nv,) by springs of their motors, without efforts of the controller."""
        self._command([Command(p, 0.0, kp, kd) for p, kp, kd in zip(
            (self._sign * position + self._offset).tolist(), stiffness.tolist(),
            damping.tolist())])

    def switch_off(self) -> None:
        """Switch the motors off, whose present state this brings."""
        self._listen()      # late answers are none to this
        for motor in self.motors.motors:
            self.motors.confirm(motor, motor.codec.disable(), lambda a: not a.enabled)
        self._on = self._driven = False

    def diagnostics(self) -> dict[str, object]:
        """Return temperatures, errors of the bus and lost answers."""
        told: dict[str, object] = {}
        for motor, answer in zip(self.motors.motors, self.motors.answers):
            if answer is not None:
                told[f'{motor.joint} MOSFET [°C]'] = round(answer.mosfet, 1)
                if np.isfinite(answer.rotor):
                    told[f'{motor.joint} rotor [°C]'] = answer.rotor
        for counts, name in ((self.motors.lost, '{} lost answers'), (self.motors.strange, '{}'),
                             (self._bus.errors, '{}')):
            told.update({name.format(key): count for key, count in list(counts.items()) if count})
        if self._saturated:
            told['efforts beyond the range'] = self._saturated
        return told

    def close(self) -> None:
        """Switch the motors off, and end the connection."""
        try:
            self._tell_all(lambda motor: motor.codec.disable())
        except DriverLost:          # they stop by themselves
            pass
        self._bus.close()

    def _prepare(self, motor: Motor) -> None:
        """Check a motor against its description, and configure it."""
        codec = motor.codec
        self.motors.read_ranges(motor)
        if isinstance(codec, Damiao) and (
                reply := self.motors.read_register(motor, codec.REPLY)) != motor.reply:
            raise ParameterError(f'register {codec.REPLY} (MST_ID) of {motor} is {reply:#x} and '
                                 f'not {motor.reply:#x}', name=motor.joint, value=reply,
                                 remedy='correct the reply of the motor')
        if any(self.motors.refresh(motor).enabled for _ in range(SAMPLES)):
            raise _on_already(motor)
        self._configure(motor)

    def _configure(self, motor: Motor) -> None:
        """Set mode and timeout, which a motor forgets when its power fails."""
        for register, value in ((motor.codec.MODE, motor.codec.MIT),
                                (motor.codec.TIMEOUT, self._code(motor))):
            if self.motors.read_register(motor, register) != value:
                self.motors.write_register(motor, register, value)

    def _code(self, motor: Motor) -> int:
        """Return the value of the register TIMEOUT."""
        return round(self.arm.timeout / motor.codec.TIMEOUT_UNIT)

    def _listen(self) -> None:
        """Receive what has arrived, and the answers that are still to come."""
        for _ in range(MOST_FRAMES):        # others may flood the bus
            if not self.motors.take(self._asked + self._busy - self._clock()
                                    if self.motors.waiting else 0.0):
                break

    def _reading(self, now: float) -> Reading:
        answers = [answer for answer in self.motors.answers if answer is not None]
        q, qd, tau = np.array([[a.position, a.velocity, a.effort if a.enabled else np.nan]
                               for a in answers]).T
        faults, self._notices = [*self._notices, *self._faults(now, answers)], []
        return Reading(self._sign * (q - self._offset), self._sign * qd, self._sign * tau,
                       now - self.motors.measured, faults)

    def _faults(self, now: float, answers: list[Answer]) -> list[Fault]:
        faults = []
        if self._bus.off:
            faults.append(Fault('', 'the CAN controller is off the bus'))
        for motor, answer in zip(self.motors.motors, answers):
            words = motor.codec.words(answer.status)
            if self._driven and not answer.enabled:
                faults.append(Fault(motor.joint, words or 'switched off'))
            elif words and not (isinstance(motor.codec, Damiao) and answer.status == Damiao.LOST):
                faults.append(Fault(motor.joint, words))
            if answer.at_end:
                faults.append(Fault(motor.joint, 'its position is at the end of its range'))
        for joint, when in list(self.motors.intruded.items()):
            if now - when < INTRUSION:
                faults.append(Fault(joint, 'another host commands it'))
        return faults

    def _command(self, commands: list[Command]) -> None:
        failed, why = [], None
        for i, command in enumerate(commands):
            ranges = self.motors.ranges[i]
            if ranges is not None and abs(command.effort) > ranges.effort:
                self._saturated += 1
            try:
                self.motors.command(i, command)
            except OSError as error:
                failed.append(self.motors.motors[i].joint)
                why = error
        self._driven, self._written = True, self._clock()
        self._asked = self._written
        if why is not None:
            raise OSError(why.errno, f'no command to {", ".join(failed)}: {why.strerror}')

    def _tell_all(self, frame: Callable[[Motor], tuple[int, bytes]]) -> None:
        for i, motor in enumerate(self.motors.motors):
            try:
                self.motors.ask(i, frame(motor))
            except OSError:         # counted by the bus; its age grows, and it stops by itself
                pass
        self._asked = self._clock()


def connect(model: RobotModel, arm: str | Path, accept_unconfirmed: bool = False) -> MitCan:
    """Return the driver of an arm by its name in this package, or by the path of its file."""
    return MitCan(load_arm(arm), model, accept_unconfirmed=accept_unconfirmed)


def in_order(arm: Arm, model: RobotModel) -> tuple[Motor, ...]:
    """
    Return the motors in the order of the model's joints.

    :raises ParameterError: the arm has other joints than the model.
    """
    by_joint = {motor.joint: motor for motor in arm.motors}
    if set(by_joint) != set(model.joint_names):
        raise ParameterError(
            f'{arm.name} has motors of {", ".join(by_joint)}, and the URDF moves '
            f'{", ".join(model.joint_names)}', name='motors', value=list(by_joint),
            remedy='name the joints of the URDF; joints without a motor are locked there')
    return tuple(by_joint[name] for name in model.joint_names)


def _on_already(motor: Motor) -> ParameterError:
    return ParameterError(f'{motor} is on already: another program may control it',
                          name=motor.joint, value=motor.id, remedy='end that program; or support '
                          'the arm, then switch the motor off and on')


def exchange_time(motor: Motor, arm: Arm) -> float:
    """Return for how long a command and its answer keep the bus busy at most [s]."""
    bits, bitrate = motor.codec.BITS, arm.bus.get('bitrate', 1_000_000)
    if not arm.bus.get('fd'):
        return 2.0 * bits / bitrate
    # Arbitration, acknowledgement and pause at the nominal rate; the rest, 8 bytes, at the other
    data_bitrate = arm.bus.get('data_bitrate', 5_000_000)
    return 2.0 * ((bits - 95) / bitrate + 110 / data_bitrate)
