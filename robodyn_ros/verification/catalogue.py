# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""All injections by name, and the faults that each of them may cause."""

from . import plant_faults, request_faults, sensor_faults
from .injection import CATALOGUE, Injection

__all__ = ['CATALOGUE', 'drawable', 'EXCUSES', 'excused', 'plant_faults', 'request_faults',
           'sensor_faults']
EVERYWHERE = ('two_link', 'panda', 'ur5')       # with these robots: any arm will do

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
    'nobody listens on commands': (('NOBODY_LISTENS',), ('nobody listens',)),
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
                else what.robots in ((), EVERYWHERE))}
