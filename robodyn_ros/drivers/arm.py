# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""An arm as data: its bus and its motors, read from a YAML file."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from math import isfinite, isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from .codec import Codec, codec_of, CODECS
from ..driver import ARM_FILES, ARMS
from ..errors import ParameterError, reading, UnknownNameError
from ..model.robot import RobotModel

MAX_TIMEOUT = 1.0       # [s]
# Stiffness [N·m/rad] and damping [N·m·s/rad] of motors below and from LARGE N·m on: for DM4310 and
# DM4340 half the stiffness that i2rt ships, and its damping
LARGE, SPRING = 20.0, ((5.0, 1.5), (40.0, 5.0))


@dataclass(frozen=True)
class Motor:
    """
    A motor of an arm; the position of its joint is sign (p - offset), with p that of the motor.

    :param joint: its name in the URDF; '' of a gripper.
    :param id: on the bus, and ``reply`` of its answers (Damiao) or of this host (RobStride).
    :param type: such as DM4310 or RS03.
    :param ranges: ±position [rad], ±velocity [rad/s], ±effort [N·m] of its codes; empty: those of
        the type. They have to agree with the registers of the motor.
    :param limit: of the effort [N·m]; ``velocity_limit`` [rad/s]; None: that of its range.
    :param armature: rotor inertia at the joint [kg·m²]; None: that of the URDF.
    :param stiffness, damping: of the spring in which the drives hold the arm when they are
        switched on [N·m/rad, N·m·s/rad]; the damping also while the arm comes down without it.
        NaN: SPRING, by the effort of its range.
    """

    joint: str
    id: int
    reply: int
    type: str
    sign: int = 1
    offset: float = 0.0
    ranges: tuple[float, ...] = ()
    limit: float | None = None
    velocity_limit: float | None = None
    armature: float | None = None
    stiffness: float = nan
    damping: float = nan
    codec: Codec = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if (kind := codec_of(self.type)) is None:
            raise UnknownNameError('type of motor', self.type,
                                   [name for codec in CODECS for name in codec.TYPES])
        for name, valid, right in (
                ('id', 0 <= self.id <= 0xFF, 'from 0 to 0xFF'),
                ('reply', 0 <= self.reply <= 0x7FF, 'from 0 to 0x7FF'),
                ('sign', self.sign in (1, -1), '1 or -1'),
                ('offset', isfinite(self.offset), 'a number [rad]'),
                ('ranges', len(self.ranges) in (0, 3) and all(r > 0 for r in self.ranges),
                 'three positive numbers'),
                ('limit', self.limit is None or self.limit > 0, 'positive [N·m]'),
                ('velocity_limit', self.velocity_limit is None or self.velocity_limit > 0,
                 'positive [rad/s]'),
                ('armature', self.armature is None or self.armature >= 0, 'not negative'),
                ('stiffness', not self.stiffness < 0, 'not negative'),
                ('damping', not self.damping < 0, 'not negative')):
            if not valid:
                value = getattr(self, name)
                raise ParameterError(f'{name} = {value} of motor {self.joint or self.id} is '
                                     'refused', name=name, value=value, remedy=f'it is {right}')
        object.__setattr__(self, 'codec', kind(self.id, self.reply))
        large = self.expected[2][0] >= LARGE
        for name, default in zip(('stiffness', 'damping'), SPRING[large]):
            if isnan(getattr(self, name)):
                object.__setattr__(self, name, default)

    @property
    def expected(self) -> tuple[tuple[float, ...], ...]:
        """Numbers that the motor may have: of ±position, ±velocity, ±effort."""
        return tuple((r,) for r in self.ranges) or self.codec.TYPES[self.type]

    def __str__(self) -> str:
        return f'{self.joint or "gripper"} ({self.type}, id {self.id:#04x})'


@dataclass(frozen=True)
class Arm:
    """
    An arm of motors on a bus.

    :param bus: arguments of :func:`.open_bus`.
    :param timeout: after which a motor without commands stops by itself [s].
    :param brakes: whether something holds the arm without efforts.
    :param urdf: correction of the public one, as data.
    :param source: where the numbers come from; ``confirmed``: by whom they were seen on hardware.
    :param unconfirmed: nobody has: the driver limits the velocity, see :class:`.MitCan`.
    """

    name: str
    bus: Mapping[str, Any]
    motors: tuple[Motor, ...]
    timeout: float = 0.05
    brakes: bool = False
    gripper: Motor | None = None
    urdf: Mapping[str, Any] = field(default_factory=dict)
    source: str = ''
    confirmed: str = ''
    unconfirmed: bool = False

    def __post_init__(self) -> None:
        if not 0.0 < self.timeout <= MAX_TIMEOUT:
            raise ParameterError(f'timeout = {self.timeout} of {self.name} is refused',
                                 name='timeout', value=self.timeout,
                                 remedy=f'it is above 0 and at most {MAX_TIMEOUT:g} s')
        seen: dict[object, Motor] = {}
        for motor in (*self.motors, *([self.gripper] if self.gripper else [])):
            for key in (motor.joint, ('id', motor.id), *motor.codec.keys, *(
                    [motor.id] if motor.reply in motor.codec.keys else [])):
                if key in seen:
                    raise ParameterError(f'{motor} and {seen[key]} of {self.name} have the same '
                                         'joint, id or reply', name='motors', value=motor.id,
                                         remedy='give each its own')
                seen[key] = motor


def with_friction(arm: Arm, model: RobotModel) -> RobotModel:
    """
    Return the model with the friction that the arm's file states, where it does.

    :raises ParameterError: it is not one number for each motor.
    """
    names = {motor.joint: i for i, motor in enumerate(arm.motors)}
    order = [names[joint] for joint in model.joint_names]
    try:
        stated: dict[str, Any] = {key: np.array(arm.urdf[key], float)[order] for key in (
            'coulomb_friction', 'viscous_friction') if key in arm.urdf}
    except (IndexError, TypeError, ValueError) as error:
        raise ParameterError(f'the friction of {arm.name} cannot be used ({error})', name='urdf',
                             value=arm.urdf, remedy='state one number for each motor') from error
    return replace(model, **stated)


def load_arm(name: str | Path) -> Arm:
    """
    Load an arm by its name in this package, or from a file.

    :raises ParameterError: the file cannot be read, or is no arm; :raises UnknownNameError: there
        is no arm of that name.
    """
    path = Path(name)
    if path.suffix not in ARM_FILES:
        path = ARMS / f'{name}.yaml'
        if not path.exists():
            raise UnknownNameError('arm', str(name), arm_names())
    with reading(path, ParameterError, 'driver', 'pass the file of an arm'):
        return arm_of(path.stem, yaml.safe_load(path.read_text('utf-8')))


def arm_names() -> list[str]:
    """Return the names of the arms in this package."""
    return sorted(path.stem for path in ARMS.glob('*.yaml'))


def arm_of(name: str, content: Any) -> Arm:
    """Return the arm that the content of its file describes."""
    given = dict(_checked(name, content, Arm, {'driver', 'name'}))
    if (driver := given.pop('driver', 'mit_can')) != 'mit_can':
        raise ParameterError(f'the driver of {name} is {driver!r}', name='driver', value=driver,
                             remedy='it is mit_can')
    motors = tuple(_motor(name, motor) for motor in given.pop('motors', ()))
    if not motors or not isinstance(given.get('bus'), Mapping):
        raise ParameterError(f'{name} has no motors or no bus', name='motors', value=None,
                             remedy='list them, as the arms of this package')
    gripper = given.pop('gripper', None)
    return Arm(name=given.pop('name', name), motors=motors, gripper=gripper and _motor(
        name, {'joint': '', **gripper}), **given)


def _motor(name: str, content: Any) -> Motor:
    given = dict(_checked(name, content, Motor, {'force'}))
    given.pop('force', None)
    for needed in ('joint', 'id', 'type'):
        if needed not in given:
            raise ParameterError(f'a motor of {name} has no {needed}', name=needed, value=None,
                                 remedy='add it')
    given.setdefault('reply', given['id'] + 0x10)
    return Motor(**given | {'ranges': tuple(given.get('ranges', ()))})


def _checked(name: str, content: Any, kind: type, others: set[str]) -> Mapping[str, Any]:
    if not isinstance(content, Mapping):
        raise ParameterError(f'{name} is not a mapping', name=name, value=content,
                             remedy='write name: value')
    known = {entry.name for entry in fields(kind) if entry.init} | others
    for key in content:
        if key not in known:
            raise UnknownNameError(f'entry of {name}', str(key), sorted(known))
    return content
