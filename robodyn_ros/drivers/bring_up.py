# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""First contact with the motors of an arm: which are on the bus, and whether its file is right."""

from collections import Counter
from collections.abc import Callable, Iterable
from math import nan
from time import monotonic
from typing import NamedTuple

from .arm import Arm, Motor
from .codec import CODECS, Damiao, RobStride
from .frames import Bus
from .motors import agrees, Motors
from ..errors import ParameterError

LISTENING_TIME = 0.5    # [s] in which the bus is listened to
# Those that are read, the first of which every motor has
REGISTERS: dict[type[Damiao] | type[RobStride], dict[int, str]] = {
    Damiao: {Damiao.TIMEOUT: 'TIMEOUT', Damiao.REPLY: 'MST_ID', Damiao.MODE: 'CTRL_MODE',
             **Damiao.RANGES, 14: 'sw_ver', 20: 'Gr'},
    RobStride: {RobStride.TIMEOUT: 'TIMEOUT', RobStride.TORQUE_LIMIT: 'limit_torque',
                RobStride.MODE: 'run_mode'}}
HOST = 0xFD    # reply of a RobStride in a scan


class Found(NamedTuple):
    """
    Motor on a bus.

    :param types: those that have its ranges; ``words``: its error, '' for none.
    :param timeout: [s]; 0: the motor never stops by itself.
    :param registers: by name, as they were read.
    """

    id: int
    reply: int
    types: tuple[str, ...]
    ranges: tuple[float, ...]
    timeout: float
    enabled: bool | None
    words: str
    temperature: float
    registers: dict[str, float]


class Scan(NamedTuple):
    """
    What a bus tells.

    :param motors: that answered; ``load``: share of the time in which others kept the bus busy.
    :param others: identifiers of frames that came without a question, by number.
    """

    motors: tuple[Found, ...]
    load: float
    others: Counter[int]


class Compared(NamedTuple):
    """Entry of an arm's file beside the motor; ``right`` is None where nothing is expected."""

    joint: str
    what: str
    file: str
    motor: str
    right: bool | None


def scan(bus: Bus, identifiers: Iterable[int], kind: type[Damiao] | type[RobStride] = Damiao,
         bitrate: float = 1e6, clock: Callable[[], float] = monotonic) -> Scan:
    """
    Listen to a bus, then ask each identifier for registers; nothing is enabled or written.

    :param kind: family of the motors; the state of a RobStride is not asked for, since the
        question would switch it off.
    """
    others, end = Counter[int](), clock() + LISTENING_TIME
    while (left := end - clock()) > 0.0 and (frame := bus.receive(left)):
        others[frame[0]] += 1
    load = others.total() * kind.BITS / bitrate / LISTENING_TIME
    return Scan(tuple(found for identifier in identifiers
                      if (found := _found(bus, identifier, kind, clock)) is not None),
                load, others)


def _found(bus: Bus, identifier: int, kind: type[Damiao] | type[RobStride],
           clock: Callable[[], float]) -> Found | None:
    motor = Motor('', identifier, HOST, next(iter(kind.TYPES)))
    asked = Motors(bus, [motor], clock)
    registers = {}
    for register, name in REGISTERS[kind].items():
        try:
            registers[name] = asked.read_register(motor, register)
        except ParameterError:          # none has this identifier; or firmware without it
            if not registers:
                return None
    timeout = registers['TIMEOUT'] * kind.TIMEOUT_UNIT
    if kind is not Damiao:
        return Found(identifier, HOST, (), (), timeout, None, '', nan, registers)
    ranges = tuple(registers[name] for name in Damiao.RANGES.values())
    types = tuple(name for name, known in Damiao.TYPES.items() if all(map(agrees, ranges, known)))
    reply = int(registers['MST_ID'])
    motor = Motor('', identifier, reply, types[0] if types else motor.type, ranges=ranges)
    asked = Motors(bus, [motor], clock)
    asked.read_ranges(motor)
    try:
        answer = asked.refresh(motor)
    except ParameterError:
        return Found(identifier, reply, types, ranges, timeout, None, 'tells no state', nan,
                     registers)
    return Found(identifier, reply, types, ranges, timeout, answer.enabled,
                 Damiao.words(answer.status), answer.rotor, registers)


def check(bus: Bus, arm: Arm, clock: Callable[[], float] = monotonic) -> list[Compared]:
    """Compare the file of an arm with the registers of its motors; nothing is changed."""
    rows = []
    for motor in (*arm.motors, *([arm.gripper] if arm.gripper else ())):
        joint = motor.joint or 'gripper'
        found = _found(bus, motor.id, type(motor.codec), clock)
        rows.append(Compared(joint, 'id', f'{motor.id:#04x}',
                             'no answer' if found is None else 'answers', found is not None))
        if found is None:
            continue
        if found.ranges:
            rows.append(Compared(joint, 'reply', f'{motor.reply:#04x}', f'{found.reply:#04x}',
                                 found.reply == motor.reply))
        for name, value, expected in zip(Damiao.RANGES.values(), found.ranges, motor.expected):
            rows.append(Compared(joint, f'{name} of {motor.type}',
                                 ' or '.join(f'{one:g}' for one in expected), f'{value:g}',
                                 agrees(value, expected)))
        rows.append(Compared(joint, 'timeout [s]', f'{arm.timeout:g}', f'{found.timeout:g}', None))
        if found.words or found.enabled is not None:
            rows.append(Compared(joint, 'state', 'off', found.words or (
                'on' if found.enabled else 'off'), not found.enabled and not found.words))
    return rows


def codec_named(name: str) -> type[Damiao] | type[RobStride]:
    """Return the family of motors of a name; raise ParameterError for another one."""
    for codec in CODECS:
        if codec.__name__.lower() == name.lower():
            return codec
    raise ParameterError(f'{name} is not a family of motors', name='--family', value=name,
                         remedy='use damiao or robstride')
