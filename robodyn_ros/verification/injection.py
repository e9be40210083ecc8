# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Injected faults: small functions that edit samples, the plant or the requests."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TYPE_CHECKING

import numpy as np
from numpy import ndarray

from .arm import changed
from .plant import Plant
from .plant_step import START, TICK

if TYPE_CHECKING:
    from .world import World

SEEN, PLANT, ASKED = 'seen', 'plant', 'asked'
NEAR, FAR = 3, 10**9                    # ticks
FOR_EVER = float('inf')
CONTINUOUS = 'two_link_continuous'      # name of the textbook arm without position limits


@dataclass(frozen=True)
class Scene:
    """Situation in which the table shows an injection."""

    robot: str = 'two_link'
    mode: str = 'gravity_compensation'
    motion: str = 'hand'                # still | hand | trajectory, see world.Motion
    seconds: float = 4.0                # after the injection
    loop_delay: float = 0.008
    share: float = 0.25                 # of the highest accepted gains
    rate: float = 1000.0                # Hz, of the cycle
    duration: float = FOR_EVER
    path: str = 'library'               # library | native | python
    trigger: str = 'state'
    collision_threshold: float = 0.0    # effort limits; 0: collisions are not detected


NODES = ('native', 'python')
ROBOTS = ('two_link', 'panda', 'ur5')
GUIDED = FLOATING, PANDA, UR5 = tuple(map(Scene, ROBOTS))
FOLLOWING = IMPEDANCE, PANDA_IMPEDANCE, UR5_IMPEDANCE = tuple(
    replace(scene, mode='joint_impedance', motion='trajectory') for scene in GUIDED)
STIFF = tuple(replace(scene, loop_delay=0.002, share=1.0) for scene in FOLLOWING)
STILL, STILL_PANDA = (replace(scene, motion='still') for scene in (FLOATING, PANDA))
DETECTING = replace(IMPEDANCE, collision_threshold=0.03)
PANDA_DETECTING = replace(PANDA_IMPEDANCE, collision_threshold=0.05)
TWO_ARMS = (FLOATING, IMPEDANCE, PANDA, PANDA_IMPEDANCE)
ALL_ARMS = (*TWO_ARMS, UR5, UR5_IMPEDANCE)
BY_NODES = tuple(Scene(path=path, seconds=2.0) for path in NODES)


@dataclass(frozen=True)
class Injection:
    """
    A fault: ``act`` is called with an :class:`Active` and what it edits.

    :param hook: SEEN: each sample on its way; PLANT: the plant before each tick; ASKED: the world
        before each tick, whose ``subject`` may be asked for something.
    :param once: the first time only.
    :param steady: what it has done lasts: it need not act in each tick.
    :param throws: it may itself move joints beyond their velocity limit.
    :param disobeys: while it lasts, joints do not do what their efforts ask for, or far too
        late.
    :param clock: it is one of simulation time, whose jumps are no stalls.
    :param random: may be drawn in a random composition.
    :param robots: the only arms that it makes sense for.
    :param paths: likewise, of library, native and python.
    """

    name: str
    hook: str
    act: Callable[['Active', Any], None]
    once: bool = False
    steady: bool = False
    throws: bool = False
    disobeys: bool = False
    clock: bool = False
    random: bool = True
    robots: tuple[str, ...] = ()
    paths: tuple[str, ...] = ('library', *NODES)
    scenes: tuple[Scene, ...] = (FLOATING,)


CATALOGUE: dict[str, Injection] = {}


def injection(name: str, hook: str, **more: Any) -> Callable[[Callable], Callable]:
    """Put a function into the catalogue."""
    def register(act: Callable) -> Callable:
        assert name not in CATALOGUE
        CATALOGUE[name] = Injection(name, hook, act, **more)
        return act
    return register


class Active:
    """An injection in a run, from ``start`` to ``end`` [s]."""

    def __init__(self, what: Injection, world: 'World', start: float, end: float, joint: int):
        self.what, self.world, self.joint = what, world, joint
        self.start, self.end = start, end
        self.memory: dict[str, Any] = {}        # of the function, across calls
        self._done = False

    @property
    def since(self) -> float:
        """Seconds since it began."""
        return self.world.time - self.start

    @property
    def over(self) -> bool:
        """Return whether its time has passed."""
        return self.world.time >= self.end - 1e-9

    def first(self, key: str, value: Any) -> Any:
        """Return the value that the key had at the first call."""
        return self.memory.setdefault(key, value)

    def undisturbed(self, now: int) -> int:
        """
        Return the number of ticks from ``now`` for which it neither acts nor begins nor ends.

        Near its begin and its end it is asked in each tick.
        """
        for time in (self.start, self.end):
            ticks = (time - START) / TICK - now
            if ticks > NEAR:
                return int(min(ticks, FAR)) - NEAR
            if ticks > -NEAR or not self._rests:
                return 0
        return FAR

    @property
    def _rests(self) -> bool:
        """Return whether there is nothing to do in each tick."""
        return self._done or self.what.steady and 'called' in self.memory

    def apply(self, hook: str, edited: Any) -> None:
        """Act while the injection is active."""
        if hook != self.what.hook or self._done or self.world.time < self.start - 1e-9:
            return
        if self.over and not (self.what.once and not self.memory.get('called')):
            if self.memory.get('called') and (restore := self.memory.get('restore')):
                restore()
            self._done = True
            return
        self.memory['called'] = True
        self.what.act(self, edited)
        self._done = self.what.once


CLEARANCE = 0.01    # m between the tool and the plane, when the injection begins
MIN_STIFFNESS, MAX_STIFFNESS = 1e3, 1e5    # N/m: foam to a wooden table, drawn log-uniformly
MAX_CONTACT_RATE = 0.3    # of a tick: the vibration of the tool on the plane is slower than this
DAMPING_RATIO = 0.5
MIN_APPROACH_VELOCITY = 0.02    # m/s, below which the plane is below the tool


@injection('thrown at 1.5 x velocity limit', PLANT, once=True, throws=True,
           scenes=(FLOATING, PANDA, PANDA_IMPEDANCE))
def thrown(a: Active, plant: Plant) -> None:
    plant.qd[a.joint] = 1.5 * a.world.arm.model.velocity_limit[a.joint]


@injection('hand leans at a limit', PLANT, throws=True,
           scenes=tuple(replace(scene, seconds=6.0, duration=5.0)
                        for scene in (STILL, STILL_PANDA)))
def leaning(a: Active, plant: Plant) -> None:
    model = a.world.arm.model
    plant.external[a.joint] += 0.18 * model.effort_limit[a.joint]


@injection('hand pushes', PLANT, throws=True, scenes=(FLOATING, IMPEDANCE, PANDA_IMPEDANCE))
def pushing(a: Active, plant: Plant) -> None:
    if round(1e3 * a.since) % 200 == 0:
        moved = np.diag(plant.arm.dynamics.mass_matrix(plant.q))
        a.memory['push'] = (a.world.random.uniform(-0.2, 0.2, len(moved)) * moved / moved.max()
                            * a.world.arm.model.effort_limit)    # a light wrist gets less
    plant.external += a.first('push', np.zeros(plant.q.shape[0]))


@injection('hand pulls at 0.9 x effort limit', PLANT, throws=True,
           scenes=(replace(IMPEDANCE, duration=1.0),))
def pulling(a: Active, plant: Plant) -> None:
    plant.external[a.joint] += 0.9 * a.world.arm.model.effort_limit[a.joint]


def _other(a: Active, plant: Plant, kind: str) -> None:
    plant.dynamics = changed(a.world.arm, kind)
    a.memory['restore'] = lambda: setattr(plant, 'dynamics', plant.arm.dynamics)


_scenes: tuple[Scene, ...]
for _name, _kind, _scenes in (
        ('3 kg unknown', 'payload', (*TWO_ARMS, replace(IMPEDANCE, mode='computed_torque',
                                                        share=1.0))),
        ('masses 20 % higher', 'heavier', (IMPEDANCE, PANDA)),
        ('masses 20 % lower', 'lighter', (IMPEDANCE, PANDA))):
    injection(_name, PLANT, steady=True, robots=ROBOTS, scenes=_scenes)(
        partial(_other, kind=_kind))


def _late(a: Active, plant: Plant, delay: float) -> None:
    before = a.first('delay', plant.delay)
    plant.delay = max(delay, before)
    a.memory['restore'] = lambda: setattr(plant, 'delay', before)


for _name, _delay, _disobeys, _scenes in (
        ('8 ms of delay', 0.008, False, STIFF[:2]),
        ('15 ms of delay', 0.015, True, STIFF[:2]),
        ('efforts 40 ms late', 0.04, True, ALL_ARMS)):
    injection(_name, PLANT, steady=True, disobeys=_disobeys, scenes=_scenes)(
        partial(_late, delay=_delay))


@injection('joint blocked, then free', PLANT, steady=True, throws=True, scenes=tuple(
    replace(scene, seconds=21.0, duration=20.0) for scene in (IMPEDANCE, PANDA_IMPEDANCE)))
def blocked(a: Active, plant: Plant) -> None:
    plant.blocked = a.joint
    a.memory['restore'] = lambda: setattr(plant, 'blocked', -1)


def _motor(a: Active, plant: Plant, factor: float) -> None:
    plant.motor[a.joint] = factor
    a.memory['restore'] = lambda: plant.motor.fill(1.0)


for _name, _factor, _scenes in (
        ('motor reversed', -1.0, (*TWO_ARMS, DETECTING, PANDA_DETECTING)),
        ('motor without torque', 0.0, (FLOATING, IMPEDANCE, DETECTING, PANDA_DETECTING)),
        ('motor at half its torque', 0.5, (FLOATING, IMPEDANCE)),
        ('motor at 2.5 times its torque', 2.5, ALL_ARMS)):
    injection(_name, PLANT, steady=True, disobeys=True, scenes=_scenes)(
        partial(_motor, factor=_factor))


@injection('motor swapped with the next one', PLANT, steady=True, disobeys=True,
           scenes=(FLOATING, IMPEDANCE, DETECTING, PANDA_DETECTING))
def swapped_motor(a: Active, plant: Plant) -> None:
    other = (a.joint + 1) % plant.q.shape[0]
    plant.wired[[a.joint, other]] = other, a.joint
    a.memory['restore'] = lambda: plant.wired.sort()


@injection('motor keeps its effort', PLANT, steady=True, disobeys=True, scenes=ALL_ARMS)
def stuck_motor(a: Active, plant: Plant) -> None:
    plant.stuck[a.joint] = a.first('effort', float(plant.effort[a.joint]))
    a.memory['restore'] = lambda: plant.stuck.fill(np.nan)


@injection('motors without power for 60 ms', PLANT, steady=True, disobeys=True, scenes=tuple(
    replace(scene, duration=0.06) for scene in ALL_ARMS))
def powerless(a: Active, plant: Plant) -> None:
    plant.motor[:] = 0.0
    a.memory['restore'] = lambda: plant.motor.fill(1.0)


def _jerked(a: Active, plant: Plant, factor: float) -> None:
    """Let a hand pull at a joint for 0.1 s twice a second, with other motors than declared."""
    plant.motor[:] = factor
    a.memory['restore'] = lambda: plant.motor.fill(1.0)
    inertia = np.diag(plant.arm.dynamics.mass_matrix(plant.q))
    if a.since % 0.5 < 0.1:
        plant.external[a.joint] += 0.3 * a.world.arm.model.effort_limit[a.joint] * min(
            1.0, 3.0 * inertia[a.joint] / inertia.max())


for _name, _factor in (('hand jerks, motors at half their torque', 0.5),
                       ('hand jerks, motors at 2.5 times their torque', 2.5)):
    injection(_name, PLANT, throws=True, disobeys=True, scenes=ALL_ARMS)(
        partial(_jerked, factor=_factor))


def _jump(a: Active, plant: Plant, seconds: float) -> None:
    a.world.jump(seconds)


for _name, _seconds in (('time jumps back', -1.0), ('time jumps forward', 1.0)):
    injection(_name, PLANT, once=True, clock=True)(partial(_jump, seconds=_seconds))
injection('clock stops, states go on', PLANT, clock=True, scenes=(FLOATING, *BY_NODES))(
        partial(_jump, seconds=-1e-3))


def _plane(a: Active, frame: str, velocity: ndarray) -> tuple[ndarray, float, float]:
    """Return the unit vector into a plane (3,), its distance from the base [m], its stiffness."""
    speed, model = float(np.linalg.norm(velocity)), a.world.plant.dynamics.model
    ahead = velocity if speed > MIN_APPROACH_VELOCITY else model.gravity_vector
    normal = ahead / max(np.linalg.norm(ahead), 1e-9)
    position = a.world.plant.dynamics.pose(a.world.plant.q, frame)[:3, 3]
    stiffness = np.exp(a.world.random.uniform(np.log(MIN_STIFFNESS), np.log(MAX_STIFFNESS)))
    return normal, float(normal @ position) + CLEARANCE, float(stiffness)


@injection('tool meets a table', PLANT, throws=True,
           scenes=TWO_ARMS)
def table(a: Active, plant: Plant) -> None:
    """Press back as a damped spring does, perpendicular to the plane, without pulling."""
    dynamics, q = plant.dynamics, plant.q
    frame = dynamics.model.frame_names[-1]
    J = dynamics.jacobian(q, frame)[:3]
    if 'plane' not in a.memory:
        a.memory['plane'] = _plane(a, frame, J @ plant.qd)
    normal, level, stiffness = a.memory['plane']
    depth = float(normal @ dynamics.pose(q, frame)[:3, 3]) - level
    if depth <= 0.0:
        return
    row = normal @ J
    inertia = 1.0 / max(float(row @ np.linalg.solve(dynamics.mass_matrix(q), row)), 1e-9)
    stiffness = min(stiffness, inertia * (MAX_CONTACT_RATE / TICK)**2)
    damping = 2.0 * DAMPING_RATIO * np.sqrt(stiffness * inertia)
    plant.external -= max(0.0, stiffness * depth + damping * float(row @ plant.qd)) * row
