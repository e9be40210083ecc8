# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Injected requests and loop faults; all injections by name, and the faults they may cause."""

from dataclasses import replace
from functools import partial

import numpy as np

from .arm import arm_of, gains, MODES
from . import sensor_faults as sensor_faults  # which registers them
from .injection import (
    Active, ASKED, BY_NODES, CATALOGUE, FLOATING, FOLLOWING, IMPEDANCE, Injection, injection,
    NODES, PANDA, PANDA_IMPEDANCE, ROBOTS, Scene, STILL, STILL_PANDA)
from .world import World
from ..control.references.trajectory import Waypoints
from ..control.steps.guard import CODES
from ..model.robot import with_payload

LIBRARY = ('library',)
STOPPED = tuple(Scene(path=path, trigger=trigger, seconds=3.0, rate=rate)
                for path, trigger, rate in (('native', 'timer', 100.0), ('native', 'state', 1e3),
                                            ('python', 'timer', 100.0)))


def _payload(a: Active, world: World, mass: float) -> None:
    link = world.arm.model.link_names[-1]
    world.subject.use(payload_mass=mass, payload_frame=link)
    # Gravity of the load in the efforts changes, too, when the arm moves
    world.plant.data.judge.gravity_rate[:] = arm_of(
        world.arm.name, with_payload(world.arm.model, link, mass)).gravity_rate


for _name, _mass in (('payload 0 to 3 kg', 3.0), ('payload 0 to 20 kg', 20.0)):
    injection(_name, ASKED, once=True, scenes=(STILL, STILL_PANDA))(
        partial(_payload, mass=_mass))


injection('friction_offset 10 N·m', ASKED, once=True, scenes=(STILL, STILL_PANDA))(
    lambda a, world: world.subject.use(friction_offset=[10.0], friction_compensation=[0.8]))
injection('friction of 20 N·m compensated', ASKED, once=True, scenes=(STILL,))(
    lambda a, world: world.subject.use(coulomb_friction=[20.0], friction_velocity=[0.01],
                                       friction_compensation=[0.8]))
injection('highest accepted gains', ASKED, once=True, scenes=(IMPEDANCE, PANDA_IMPEDANCE))(
    lambda a, world: world.subject.use(**gains(world.arm, 1.0, world.settings.loop_delay,
                                               world.settings.rate)))


@injection('mode switches at random', ASKED, scenes=(FLOATING, PANDA_IMPEDANCE))
def modes(a: Active, world: World) -> None:
    if round(1e3 * a.since) % 60 == 0:
        world.subject.use(mode=str(world.random.choice(MODES)))


@injection('gains change at random', ASKED, scenes=(IMPEDANCE, PANDA_IMPEDANCE))
def changing_gains(a: Active, world: World) -> None:
    if round(1e3 * a.since) % 60 == 0:
        world.subject.use(**gains(world.arm, 10.0**round(world.random.uniform(-3.0, 0.0)),
                                       world.settings.loop_delay, world.settings.rate))


@injection('effort_rate_limit 100 times higher', ASKED, once=True, scenes=(IMPEDANCE,),
           random=False)
def effort_rate(a: Active, world: World) -> None:
    rate = 1000.0 * world.arm.model.effort_limit
    if world.subject.use(effort_rate_limit=[float(x) for x in rate]):
        world.effort_rate[:] = rate


@injection('reference jumps', ASKED, scenes=(IMPEDANCE, PANDA_IMPEDANCE))
def jumping_reference(a: Active, world: World) -> None:
    if round(1e3 * a.since) % 100 == 0:
        world.motion.ask(world, world.random.uniform(1.6, 20.0), near=True)


injection('NaN reference', ASKED, once=True, scenes=(IMPEDANCE,))(
    lambda a, world: world.subject.follow(Waypoints(
        world.arm.model.joint_names, np.array([0.1]), np.full((1, world.arm.model.nv), np.nan),
        np.zeros((1, world.arm.model.nv)))))


@injection('trajectories at the limits', ASKED, scenes=(*FOLLOWING[:2], *(
    replace(scene, mode='computed_torque', share=1.0) for scene in FOLLOWING[:2])))
def fastest(a: Active, world: World) -> None:
    if round(1e3 * a.since) % 150 == 0:
        for slowness in (1.55, 1.7, 2.0, 3.0):
            if world.motion.ask(world, slowness, everywhere=True):
                return


def _stall(a: Active, world: World, seconds: float) -> None:
    world.subject.stall(seconds)


for _seconds in (0.06, 0.2, 1.0, 2.0):
    injection(f'loop stalls {_seconds:g} s', ASKED, once=True, paths=LIBRARY,
              scenes=(FLOATING, replace(IMPEDANCE, trigger='timer')))(
                  partial(_stall, seconds=_seconds))

for _seconds in (0.9, 2.0):
    injection(f'SIGSTOP {_seconds:g} s', ASKED, once=True, paths=NODES, random=False,
              scenes=STOPPED)(partial(_stall, seconds=_seconds))


@injection('nobody listens', ASKED, steady=True, paths=LIBRARY, scenes=(FLOATING, IMPEDANCE))
def unheard(a: Active, world: World) -> None:
    _listeners(world, 0)
    a.memory['restore'] = lambda: _listeners(world, 1)


def _listeners(world: World, count: int) -> None:
    world.unheard = int(count == 0)
    world.subject.tell(listeners=count)


@injection('second publisher of commands', ASKED, scenes=(
    FLOATING, *BY_NODES))
def other_commands(a: Active, world: World) -> None:
    if a.first('begun', world.time) == world.time:
        world.subject.second_publisher(True)
        a.memory['restore'] = lambda: world.subject.second_publisher(False)
    if world.ticks % 10 == 0:
        world.intrude(0.5 * world.plant.effort)


def _told_to_stop(a: Active, world: World, code: str) -> None:
    world.subject.tell(stop_reason=CODES.index(code))
    a.memory['restore'] = lambda: world.subject.tell(stop_reason=0)


for _name, _code, _scenes in (('emergency stop', 'EMERGENCY_STOP', (IMPEDANCE, FLOATING)),
                              ('heartbeat is lost', 'HEARTBEAT_LOST', (FLOATING,))):
    injection(_name, ASKED, steady=True, paths=LIBRARY, scenes=_scenes)(
        partial(_told_to_stop, code=_code))


@injection('periods are missed', ASKED, steady=True, paths=LIBRARY, scenes=(
    Scene(trigger='timer', motion='hand'),))
def missed(a: Active, world: World) -> None:
    world.subject.tell(missed=3)
    a.memory['restore'] = lambda: world.subject.tell(missed=0)


injection('stop in motion', ASKED, once=True, paths=LIBRARY, scenes=(IMPEDANCE, PANDA))(
    lambda a, world: world.subject.stop())
injection('malformed set_parameters request', ASKED, once=True, paths=NODES, random=False,
          scenes=(Scene(path='native', seconds=1.0),))(
    lambda a, world: world.subject.malformed_request())

FROZEN = ('position frozen', 'position and velocity frozen', 'position of a joint frozen',
          'last reading repeated', 'last reading of a joint repeated',
          'last reading repeated for 150 ms',
          'last reading repeated from rest on, then a trajectory')
JUMPS = ('q + 2π for good', 'one sample in 20 wild', 'position in degrees', 'encoder wraps at π',
         'position outside by a little', 'position outside by much',
         'emergency stop, then all positions jump for good', 'clock stops, states go on')
WRONG = ('velocity sign flipped', 'velocity zero', 'velocity in degrees',
         'values of two joints swapped', 'position drifts 0.2 rad/s',
         'encoder behind a backlash of 2 mrad', '12 bits, velocity by differences')
RARE = ('20 % of the states lost', '50 % of the states lost', 'states at 50 Hz', 'states at 25 Hz')
TIMES = ('time jumps back', 'time jumps forward')
LATE = ('8 ms of delay', '15 ms of delay', 'efforts 40 ms late')
MOTORS = ('motor reversed', 'motor without torque', 'motor at half its torque',
          'motor at 2.5 times its torque', 'motor swapped with the next one',
          'motor keeps its effort', 'motors without power for 60 ms')
HANDS = ('thrown at 1.5 x velocity limit', 'hand leans at a limit', 'hand pushes',
         'hand pulls at 0.9 x effort limit', 'joint blocked, then free', 'tool meets a table',
         'hand jerks, motors at half their torque',
         'hand jerks, motors at 2.5 times their torque')
LOADS = ('3 kg unknown', 'masses 20 % higher', 'masses 20 % lower', 'payload 0 to 3 kg',
         'payload 0 to 20 kg', 'friction_offset 10 N·m', 'friction of 20 N·m compensated')
REQUESTS = ('highest accepted gains', 'gains change at random', 'mode switches at random',
            'reference jumps', 'trajectories at the limits')
STALLS = tuple(name for name in CATALOGUE if name.startswith(('loop stalls', 'SIGSTOP')))

#: Faults and injections that may cause them, by their row in docs/safety.md.
EXCUSES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    'state stale': (('STALE_STATE',), ('states stop', *RARE, *JUMPS, *TIMES)),
    'NaN/Inf position, wrong lengths, duplicate names': (('STALE_STATE',), (
        'NaN position', 'names twice', 'wrong lengths', 'bytes cut short')),
    'velocity empty or NaN': (('NO_VELOCITY',), (
        'NaN velocity', 'one sample NaN velocity', 'velocity in degrees')),
    "two publishers of the same joint's state": (('TWO_STATE_PUBLISHERS',), (
        'states of a second publisher',)),
    'position and velocity contradict each other': (('STATE_INCONSISTENT',), (
        *FROZEN, *JUMPS, *WRONG)),
    'velocity above its limit': (('VELOCITY_ABOVE_LIMIT',), (
        *FROZEN, *WRONG, *LATE, *MOTORS, *HANDS, *LOADS)),
    'states come late': (('STATE_LATE',), (
        'latency grows 50 ms/s', 'latency 15 ms', 'time stamps drift', 'time stamps jump', *TIMES,
        *RARE)),
    'effort above the limit; step above the rate limit': (
        ('EFFORT_LIMITED', 'GRAVITY_ABOVE_LIMIT'), (
            *FROZEN, *WRONG, *LATE, *MOTORS, *HANDS, *LOADS, *REQUESTS)),
    'measured efforts contradict who compensates gravity': (('GRAVITY_CONTRADICTED',), (
        'effort measured wrong',)),
    'the arm runs into something': (('COLLISION',), (
        *FROZEN, *WRONG, *LATE, *MOTORS, *HANDS, *LOADS)),
    'the arm is pushed too hard': (('PUSHED',), (*MOTORS, *HANDS, *LOADS)),
    'position outside its limits by more than a margin': (('POSITION_OUTSIDE',), (
        *FROZEN, *JUMPS, *LATE, *MOTORS, *HANDS, *LOADS)),
    'the arm does not follow its reference': (('FOLLOWING_ERROR',), (
        *FROZEN, *WRONG, *LATE, *MOTORS, *HANDS, *LOADS, *REQUESTS)),
    'a joint is driven and does not move': (('JOINT_BLOCKED',), (*FROZEN, *MOTORS, *HANDS)),
    'a joint accelerates against its effort': (('WRONG_DIRECTION',), (
        *FROZEN, *WRONG, *LATE, *MOTORS, *HANDS, *LOADS)),
    'the effort oscillates at its limits': (('EFFORT_OSCILLATES',), (
        *FROZEN, *WRONG, *LATE, *MOTORS, *HANDS, *LOADS, *RARE, *REQUESTS)),
    'mechanical power above its limit': (('POWER_ABOVE_LIMIT',), (
        *FROZEN, *LATE, *MOTORS, *HANDS, *LOADS)),
    'missed periods': (('PERIODS_MISSED',), ('periods are missed', *STALLS)),
    'control loop stands still': (('LOOP_STALLED',), STALLS),
    'clock of the simulation stops, states go on': (('CLOCK_STOPPED',), (
        'clock stops, states go on',)),
    'no subscriber of the commands': (('NOBODY_LISTENS',), ('nobody listens',)),
    'a second publisher on commands': (('OTHER_COMMANDS',), ('second publisher of commands',)),
    'the heartbeat is silent or false': (('HEARTBEAT_LOST',), ('heartbeat is lost',)),
    'emergency stop': (('EMERGENCY_STOP',), (
        'emergency stop', 'emergency stop, then all positions jump for good'))}


def excused(injection: str) -> frozenset[str]:
    """Return the codes of the faults that an injection may cause; '' stands for none."""
    return frozenset(code for codes, injections in EXCUSES.values() if injection in injections
                     for code in codes)


def drawable(path: str = 'library', robot: str = '') -> dict[str, Injection]:
    """Return the injections that make sense for a robot, '' for any arm, sorted by name."""
    return {name: what for name, what in sorted(CATALOGUE.items())
            if what.random and path in what.paths and (
                robot in what.robots if robot and what.robots
                else what.robots in ((), ROBOTS))}     # which stand for any arm
