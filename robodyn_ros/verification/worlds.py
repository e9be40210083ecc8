# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Worlds files: the true robot, distributions of uncertain quantities, and accepted errors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, MISSING, replace
from functools import lru_cache
from pathlib import Path
from textwrap import wrap
from types import SimpleNamespace
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy import ndarray
from scipy.stats import qmc
import yaml

from .catalogue import drawable
from .injection import FOR_EVER
from .plant_step import TICK
from ..catalog.robots import one_line
from ..control.declare import checked
from ..control.laws import registry
from ..control.settings.friction import with_friction
from ..control.settings.motion_limits import default_tolerances, most_resting_error
from ..control.settings.settings import Settings
from ..control.settings.suggested_gains import with_assumed_rotors
from ..errors import ArgumentError, close_names, ParameterError, reading
from ..model.rigid_body import body_of, Inertial, of_body
from ..model.robot import RobotModel, with_payload

WIDTH = 96
MAX_RATE = 1.0 / TICK           # Hz
OWN = 'own choice'
RIPPLE_PERIOD = 0.0628          # rad: a turn of a motor behind gears of 100:1
DECLARED = 'loop_delay of the parameter file, divided among delay, jitter and drive_lag'


class Quantity(NamedTuple):
    """
    An uncertain quantity, uniform between two numbers.

    :param least, most: that both are within.
    :param source: of the default range; OWN where there is none.
    """

    name: str
    unit: str
    default: Callable[[Settings], tuple[float, float]]
    least: float
    most: float
    meaning: str
    source: str = OWN


def _fixed(low: float, high: float) -> Callable[[Settings], tuple[float, float]]:
    return lambda settings: (low, high)


def _delay(share: float) -> Callable[[Settings], tuple[float, float]]:
    """Return a range up to a share of ``loop_delay``; all of them together are within it."""
    return lambda settings: (0.0, round(share * settings.loop_delay, 6))


QUANTITIES = (
    Quantity('inertia_error', '', _fixed(0.0, 0.03), 0.0, 0.5,
             'Relative error of mass, size and center of mass of each body: a random affine map '
             'of its points, which keeps it physically consistent.',
             'own choice; CAD models leave out cables and tolerances: Bethge et al., '
             'FloBaRoID, 2017'),
    Quantity('payload_error', '', _fixed(-0.03, 0.03), -1.0, 10.0,
             'Relative error of the mass of the payload.'),
    Quantity('unknown_payload', 'kg', _fixed(0.0, 0.0), 0.0, 1000.0,
             'Undeclared mass at payload_frame. Raise the upper end to the heaviest part that may '
             'be attached by mistake.'),
    Quantity('friction_scale', '', _fixed(0.5, 1.5), 0.0, 10.0,
             'Factor of viscous and Coulomb friction, which change with temperature, load and '
             'wear.',
             'own choice; measured: Bittencourt, Gunnarsson, ASME J. Dynamic Systems 134(5), '
             '2012; Simoni et al., Robotica, 2017, doi 10.1017/S0263574717000509'),
    Quantity('friction_extra', 'effort limits', _fixed(0.0, 0.005), 0.0, 1.0,
             'Additional Coulomb friction of each joint.'),
    Quantity('stribeck', '', _fixed(0.0, 0.3), 0.0, 5.0,
             'Excess of static over Coulomb friction, relative to the latter.'),
    Quantity('delay', 's', _delay(0.5), 0.0, 0.2,
             'Time from the measurement of a state to the effect of its effort, in steps of 1 ms. '
             'The upper ends of delay, jitter and drive_lag should add up to the loop_delay of '
             'the parameter file.',
             DECLARED),
    Quantity('jitter', 's', _delay(0.25), 0.0, 0.2, 'Largest additional delay of single states.',
             DECLARED),
    Quantity('drive_lag', 's', _delay(0.25), 0.0, 0.2,
             'Time constant of the drives: 1/(2π · bandwidth in Hz).',
             DECLARED),
    Quantity('state_loss', '', _fixed(0.0, 0.02), 0.0, 1.0, 'Share of the states that are lost.'),
    Quantity('position_noise', 'rad or m', _fixed(0.0, 1e-4), 0.0, 0.1, 'Standard deviation.'),
    Quantity('velocity_noise', 'rad/s or m/s', _fixed(0.0, 1e-2), 0.0, 10.0,
             'Standard deviation.'),
    Quantity('resolution', 'rad or m', _fixed(0.0, 1e-4), 0.0, 0.1,
             'Step of the encoders; 16 bits per turn are 1e-4 rad.'),
    Quantity('drive_gain', '', _fixed(0.97, 1.03), 0.0, 10.0,
             'Effort of the drives per commanded effort.',
             'own choice; how to measure it: Gautier, Briot, IROS 2011'),
    Quantity('dead_zone', 'effort limits', _fixed(0.0, 0.002), 0.0, 1.0,
             'Largest commanded effort to which the drives do not respond.'),
    Quantity('tilt', 'rad', _fixed(0.0, 0.005), 0.0, 3.2,
             'Angle between the true and the assumed vertical, about a random horizontal axis.'),
    Quantity('stop_distance', 'rad or m', _fixed(0.02, 0.1), -1.0, 10.0,
             'Distance from the position limits out to the joint stops.'),
    Quantity('assumed_armature', '', _fixed(0.1, 2.0), 0.0, 10.0,
             'Factor of the rotor inertias that `robodyn init` has assumed, as long as armature '
             'repeats them.'))
BY_NAME = {quantity.name: quantity for quantity in QUANTITIES}


def _entry(meaning: str, least: float = 0.0, most: float = 1e6, default: Any = MISSING) -> Any:
    """Return the field of an entry: its comment, and the least and largest number in it."""
    return field(default=default, metadata={'meaning': meaning, 'lower': least, 'upper': most})


@dataclass(frozen=True)
class Truth:
    """The true robot; a list holds one number a joint, in the order of the model."""

    gravity: tuple[float, ...] = _entry('m/s², in the base frame', -100.0, 100.0)
    compensates_gravity: bool = _entry('whether the drives add g(q) themselves')
    payload_frame: str = _entry('frame of the payload, declared or not')
    payload_mass: float = _entry('kg', most=1000.0)
    payload_com: tuple[float, ...] = _entry('m, in payload_frame', -100.0, 100.0)
    viscous_friction: tuple[float, ...] = _entry('N·m·s/rad or N·s/m')
    coulomb_friction: tuple[float, ...] = _entry('N·m or N')
    armature: tuple[float, ...] = _entry('rotor inertia, kg·m² or kg')
    velocity_limit: tuple[float, ...] = _entry('rad/s or m/s', 1e-6, 1e9)
    effort_limit: tuple[float, ...] = _entry('at which the drives saturate, N·m or N', 1e-6, 1e9)
    motor_gain: tuple[float, ...] = _entry(
        'effort per commanded effort; -1: wired in reverse', -10.0, 10.0)
    encoder_offset: tuple[float, ...] = _entry(
        'measured less true position, rad or m', -10.0, 10.0)
    joint_stiffness: tuple[float, ...] = _entry(
        'between motor and joint, N·m/rad or N/m; 0: rigid. The rotor is behind it')
    backlash: tuple[float, ...] = _entry('of such a transmission, rad or m', most=1.0)
    ripple: tuple[float, ...] = _entry('amplitude of the ripple of the efforts, N·m or N')
    ripple_period: tuple[float, ...] = _entry('of the motion of the joint, rad or m', 1e-6, 100.0)
    measures_effort: bool = _entry('whether the joint states carry efforts')
    motor_encoders: bool = _entry('whether encoders are on the motors, not on the joints')
    velocity_by_differences: bool = _entry('whether velocities are differences of positions')
    state_rate: float = _entry('Hz, of the joint states', 1.0, MAX_RATE)
    loop_rate: float = _entry('Hz, of the cycle of the controller on a timer', 1.0, MAX_RATE)
    stamped: bool = _entry('whether the joint states have time stamps', default=True)
    stamp_error: float = _entry('s, by which the time stamps are ahead of the measurement', -1.0,
                                1.0, 0.0)
    base_stiffness: float = _entry(
        'N·m/rad, of a base that rocks about its x and y axes; 0: rigid', default=0.0)
    base_inertia: float = _entry('kg·m², of that base', 1e-3, default=1.0)
    urdf: str = _entry('another URDF, of the true robot; empty: that of the controller',
                       default='')
    locked_positions: tuple[float, ...] = _entry(
        'true positions of the locked joints; empty: those of the parameter file', -1e3, 1e3, ())


@dataclass(frozen=True)
class Worlds:
    """
    Content of a worlds file.

    :param ranges: lower and upper end by the name of one of :data:`QUANTITIES`.
    """

    truth: Truth
    ranges: dict[str, tuple[float, float]]
    modes: tuple[str, ...] = _entry('control modes, drawn with equal probability')
    seconds: float = _entry('s of motion in each world', 0.5, 600.0, 4.0)
    fault_share: float = _entry('share of the worlds in which one fault is injected', 0.0, 1.0,
                                0.25)
    faults: tuple[str, ...] = _entry(
        'their names; empty: all that `robodyn verify two_link --faults` lists, one in ten '
        '`states stop`', default=())
    resting_error: tuple[float, ...] = _entry(
        'rad or m: largest distance from the target at rest after a motion', 1e-6, 1e9, ())
    tracking_share: float = _entry(
        'share of the motion of a joint that its distance from the reference may reach, besides '
        'resting_error', 0.0, 1e9, 0.1)
    settled_velocity: float = _entry(
        'velocity limits: largest velocity at the end of a motion', 1e-6, 1e9, 0.1)
    reaction_time: float = _entry(
        's: longest time from the last state to the fault, when states stop', 1e-3, 600.0, 0.1)


def _entries(of: type) -> dict[str, Mapping[str, Any]]:
    return {f.name: f.metadata for f in fields(of) if f.metadata}


TRUTH, REST = _entries(Truth), _entries(Worlds)


def default_worlds(model: RobotModel, settings: Settings) -> Worlds:
    """Return worlds around the robot that a URDF and a parameter file describe."""
    joints = settings.joint_records(model)
    loaded = settings.loaded(model)
    frame = settings.payload_frame or model.link_names[int(model.leaders[-1])]
    truth = Truth(
        _numbers(model.gravity_vector), settings.robot_compensates_gravity, frame,
        settings.payload_mass, _numbers(settings.payload_com), _numbers(loaded.viscous_friction),
        _numbers(loaded.coulomb_friction), _numbers(loaded.armature),
        _numbers(joints['velocity_limit']), _numbers(joints['effort_limit']), (1.0,) * model.nv,
        (0.0,) * model.nv, (0.0,) * model.nv, (0.0,) * model.nv, (0.0,) * model.nv,
        (RIPPLE_PERIOD,) * model.nv, True, True, False, min(settings.rate, MAX_RATE),
        min(settings.rate, MAX_RATE))
    modes = [settings.mode, *(mode for mode, gains in (
        ('joint_impedance', settings.stiffness), ('computed_torque', settings.acceleration_kp))
        if gains and mode != settings.mode)]
    # Its default, for actions, is not what a user has declared to accept
    declared = (default_tolerances(model, settings).goal[0] if settings.goal_tolerance
                else np.full(model.nv, np.inf))
    return Worlds(truth, {q.name: q.default(settings) for q in QUANTITIES}, tuple(modes),
                  resting_error=_numbers(np.where(np.isfinite(declared), declared,
                                                  most_resting_error(model))))


def text(worlds: Worlds, heading: str) -> str:
    """Return a worlds file with a comment on each entry."""
    lines = [*_comment(heading), '', 'truth:']
    for name, entry in TRUTH.items():
        lines.append(f'  {name}: {one_line(getattr(worlds.truth, name))}    # {entry["meaning"]}')
    lines += ['', *_comment('Uncertain quantities, each uniform between two numbers.'),
              'distributions:']
    for q in QUANTITIES:
        unit = f' [{q.unit}]' if q.unit else ''
        lines += [*_comment(f'{q.meaning} Range: {q.source}.', '  '),
                  f'  {q.name}: {one_line(worlds.ranges[q.name])}' + (f'    #{unit}' * bool(unit))]
    lines.append('')
    for name, entry in REST.items():
        lines.append(f'{name}: {one_line(getattr(worlds, name))}    # {entry["meaning"]}')
    return '\n'.join(lines) + '\n'


def read(path: Path, model: RobotModel, settings: Settings) -> Worlds:
    """
    Read a worlds file; what it leaves out has the value of :func:`default_worlds`.

    :raises ArgumentError: naming the entry that is unknown, of the wrong type, or out of range.
    """
    with reading(path, ArgumentError, '--worlds', 'write one with --write-worlds and edit it'):
        return _read(path, model, settings)


def _read(path: Path, model: RobotModel, settings: Settings) -> Worlds:
    content = yaml.safe_load(path.read_text(encoding='utf-8'))
    default = default_worlds(model, settings)
    content = _mapping(path, 'the file', content, ('truth', 'distributions', *REST))
    truth, given = (
        _mapping(path, name, {} if content.get(name) is None else content[name], tuple(known))
        for name, known in (('truth', TRUTH), ('distributions', BY_NAME)))
    values = {name: _as(path, f'truth.{name}', truth.get(name), getattr(default.truth, name),
                        entry) for name, entry in TRUTH.items()}
    found = Worlds(
        Truth(**values), default.ranges | {name: _range(path, BY_NAME[name], ends)
                                           for name, ends in given.items()},
        **{name: _as(path, name, content.get(name), getattr(default, name), entry)
           for name, entry in REST.items()})
    _check(path, found, model)
    return found


def _check(path: Path, worlds: Worlds, model: RobotModel) -> None:
    truth = worlds.truth
    for name, of, needed in (('joint_stiffness', truth.joint_stiffness, 'armature'),
                             ('backlash', truth.backlash, 'joint_stiffness')):
        for joint, value, other in zip(model.joint_names, of, getattr(truth, needed)):
            if value > 0.0 and other == 0.0:
                _refuse(path, name, f'has a {name} of {joint} without {needed}',
                        f'enter the {needed} of {joint}')
    if 0.0 in truth.motor_gain:
        _refuse(path, 'motor_gain', 'has the motor_gain 0', 'use another number')
    model.frame(truth.payload_frame)
    if not worlds.modes:
        _refuse(path, 'modes', 'has no modes', f'name some of {", ".join(registry.MODES)}')
    for mode in worlds.modes:
        if ':' not in mode and mode not in registry.MODES:
            _unknown(path, 'mode', mode, registry.MODES)
        registry.find(mode)
    for name in worlds.faults:
        if name not in drawable():
            _unknown(path, 'fault', name, tuple(drawable()))


def _range(path: Path, quantity: Quantity, ends: Any) -> tuple[float, float]:
    """Return both ends; one number stands for both."""
    low, high = _as(path, quantity.name, ends if isinstance(ends, list) else [ends, ends],
                    (0.0, 0.0), {'lower': quantity.least, 'upper': quantity.most})
    if low > high:
        _refuse(path, quantity.name, f'has {quantity.name}: [{low:g}, {high:g}]',
                'use the lower end first')
    return low, high


def _as(path: Path, name: str, value: Any, default: Any, entry: Mapping[str, Any]) -> Any:
    """Return a value of the type, and if it is a list of numbers the length, of the default."""
    if value is None:
        return default
    if name in ('modes', 'faults'):
        if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
            _refuse(path, name, f'has {name}: {value!r}', 'use a list of names')
        return tuple(value)
    given = value
    if not isinstance(default, str):
        given = [_number(x) for x in value] if isinstance(value, list) else _number(value)
    try:
        return checked(SimpleNamespace(  # type: ignore[arg-type]
            name=name, default=default, metadata={'unit': '', **entry}), given)
    except ParameterError as error:
        _refuse(path, name, f'has {name}: {value!r}', error.remedy)


def _number(value: Any) -> Any:
    """Return a number that YAML 1.1 reads as text (1e-3), or the value itself."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _mapping(path: Path, what: str, found: Any, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(found, dict):
        _refuse(path, what, f'{what} is {"empty" if found is None else "not a mapping"}',
                f'choose some of {", ".join(known)}')
    for name in found:
        if name not in known:
            _unknown(path, 'entry', str(name), known)
    return found


def _unknown(path: Path, kind: str, name: str, known: tuple[str, ...]) -> NoReturn:
    close = close_names(name, known)
    _refuse(path, name, f'has the unknown {kind} {name!r}',
            f'did you mean {" or ".join(close)}?' if close else f'choose {", ".join(known)}')


def _refuse(path: Path, name: str, problem: str, remedy: str) -> NoReturn:
    raise ArgumentError(f'{path}: {problem}', name=name, value=str(path), remedy=remedy)


def _numbers(values: Any) -> tuple[float, ...]:
    return tuple(np.asarray(values, float).tolist())


def _comment(sentence: str, indent: str = '') -> list[str]:
    return [f'{indent}# {line}' for line in wrap(sentence, WIDTH - len(indent))]


def plain(worlds: Worlds) -> Mapping[str, Any]:
    """Return the worlds as JSON would hold them, for fingerprints."""
    return {'truth': vars(worlds.truth), **{f.name: getattr(worlds, f.name)
                                            for f in fields(Worlds) if f.name != 'truth'}}


# Dimensions of the Sobol sequence. Another one would change all worlds: what came later is drawn
# by itself
LATER = ('assumed_armature',)
CHOICES = ('mode', 'motion', 'fault', 'injection', 'start', 'duration')
DIMENSIONS = (*(q.name for q in QUANTITIES if q.name not in LATER), *CHOICES)
STILL = 0.3             # share of the worlds in which nothing moves the arm on purpose
START = 0.5             # s: latest start of a fault
SHORT, LONG = 0.02, 0.6             # s, of a fault
LASTING = 0.4           # share of the faults that do not end
STOPPED = 'states stop'         # the fault after which another one has to latch soon
STOPPED_COUNT = 6       # times that it is listed besides, so that few worlds show slow watchdogs


@dataclass(frozen=True)
class Draw:
    """
    A world before it is played.

    :param values: of the quantities, by name.
    :param motion: still, hand or tour.
    :param injection: name of the fault that is injected; '' for none.
    :param start, duration: [s] of it, after the arm has begun to move; ``joint``: its joint.
    """

    seed: int
    index: int
    values: Mapping[str, float]
    mode: str
    motion: str
    injection: str = ''
    start: float = 0.0
    duration: float = 0.0
    joint: int = 0

    def random(self, stream: int) -> np.random.Generator:
        """Return one of the independent random generators of this world."""
        return np.random.default_rng([self.seed, self.index, stream])

    def plain(self) -> dict[str, Any]:
        """Return it as JSON would hold it."""
        return {**vars(self), 'values': dict(self.values),
                'duration': None if self.duration == FOR_EVER else self.duration}


@lru_cache(4)
def _engine(seed: int) -> qmc.Sobol:
    return qmc.Sobol(len(DIMENSIONS), scramble=True, seed=np.random.default_rng(seed))


def point(seed: int, index: int) -> ndarray:
    """Return a point of the scrambled Sobol sequence, uniform in [0, 1)."""
    engine = _engine(seed)
    if engine.num_generated > index:
        engine.reset()
    if index > engine.num_generated:
        engine.fast_forward(index - engine.num_generated)
    return engine.random(1)[0]


def draw(worlds: Worlds, nv: int, seed: int, index: int) -> Draw:
    """Return the world of an index for an arm with ``nv`` joints."""
    own = np.random.default_rng([seed, index, 3]).random(len(LATER))
    at = dict(zip((*DIMENSIONS, *LATER), (*point(seed, index), *own)))
    values = {}
    for q in QUANTITIES:
        low, high = worlds.ranges[q.name]
        values[q.name] = float(low + (high - low) * at[q.name])
    mode = worlds.modes[int(at['mode'] * len(worlds.modes))]
    moving = 'tour' if registry.find(mode).follows else 'hand'
    motion = 'still' if at['motion'] < STILL else moving
    one = Draw(seed, index, values, mode, motion)
    if at['fault'] >= worlds.fault_share:
        return one
    names = worlds.faults or (*drawable(), *STOPPED_COUNT * (STOPPED,))
    lasts = (FOR_EVER if at['duration'] < LASTING else
             SHORT + (LONG - SHORT) * (at['duration'] - LASTING) / (1.0 - LASTING))
    return replace(one, injection=names[int(at['injection'] * len(names))],
                   start=float(START * at['start']), duration=float(lasts),
                   joint=int(one.random(2).integers(nv)))


def nominal_model(model: RobotModel, truth: Truth) -> RobotModel:
    """Return the true robot without any uncertainty; of a URDF without payload."""
    moved = with_friction(model, {name: np.array(getattr(truth, name)) for name in (
        'viscous_friction', 'coulomb_friction')})
    offset = np.array(truth.encoder_offset)         # positions are those that are measured
    moved = replace(moved, armature=np.array(truth.armature),
                    gravity_vector=np.array(truth.gravity),
                    shift=model.shift - model.ratio * offset[model.driver],
                    position_lower=model.position_lower + offset,
                    position_upper=model.position_upper + offset)
    if truth.payload_mass == 0.0:
        return moved
    return with_payload(moved, truth.payload_frame, truth.payload_mass, truth.payload_com)


def true_model(model: RobotModel, truth: Truth, drawn: Draw) -> RobotModel:
    """Return the robot that moves in a world, without the limits of its drives."""
    v, random = drawn.values, drawn.random(0)
    changed = replace(truth, payload_mass=0.0)
    moved = _deformed(nominal_model(model, changed), v['inertia_error'], random)
    payload = truth.payload_mass * (1.0 + v['payload_error'])
    for mass in (payload, v['unknown_payload']):
        if mass > 0.0:
            moved = with_payload(moved, truth.payload_frame, mass, truth.payload_com)
    effort = np.array(truth.effort_limit)
    coulomb = (v['friction_scale'] * moved.coulomb_friction
               + v['friction_extra'] * effort * random.uniform(0.5, 1.0, model.nv))
    moved = with_friction(moved, {
        'viscous_friction': v['friction_scale'] * moved.viscous_friction,
        'coulomb_friction': coulomb, 'static_friction': (1.0 + v['stribeck']) * coulomb})
    assumed = (model.armature == 0.0) & (moved.armature == with_assumed_rotors(model).armature)
    return replace(moved, gravity_vector=_tilted(moved.gravity_vector, v['tilt'], random),
                   armature=np.where(assumed, v['assumed_armature'], 1.0) * moved.armature)


def _deformed(model: RobotModel, size: float, random: np.random.Generator) -> RobotModel:
    """
    Return the model with random affine maps of its bodies, and their densities scaled.

    The pseudo-inertia of mapped points is A P Aᵀ, which stays positive semidefinite.
    """
    masses, coms, inertias = model.mass.copy(), model.com.copy(), model.inertia.copy()
    for b in range(len(masses)):
        P = of_body(Inertial(model.mass[b], model.com[b], model.inertia[b]))
        A = np.eye(4)
        A[:3] += size * random.uniform(-1.0, 1.0, (3, 4)) * [1.0, 1.0, 1.0, _radius(P)]
        body = body_of((1.0 + size * random.uniform(-1.0, 1.0)) * A @ P @ A.T)
        masses[b], coms[b], inertias[b] = body.mass, body.com, body.inertia
    return replace(model, mass=masses, com=coms, inertia=inertias)


def _radius(P: ndarray) -> float:
    """Return the radius of gyration about the center of mass [m], 0 without mass."""
    mass = P[3, 3]
    if mass <= 0.0:
        return 0.0
    return float(np.sqrt(max(0.0, np.trace(P[:3, :3]) / mass - P[:3, 3] @ P[:3, 3] / mass**2)))


def _tilted(gravity: ndarray, angle: float, random: np.random.Generator) -> ndarray:
    """Return the gravity vector (3,) turned by an angle [rad] about a random horizontal axis."""
    axis = np.cross(gravity, random.standard_normal(3))
    if not (norm := np.linalg.norm(axis)):
        return gravity
    return np.cos(angle) * gravity + np.sin(angle) * np.cross(axis / norm, gravity)
