# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Injections into what the controller sees: values, rate, latency and time stamps of samples."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .injection import (
    Active, ALL_ARMS, BY_NODES, CONTINUOUS, FLOATING, FOLLOWING, GUIDED, IMPEDANCE, injection,
    NODES, PANDA, PANDA_IMPEDANCE, Scene, SEEN, STIFF, TWO_ARMS)
from .plant_step import TICK
from .sensing import Sample
from ..control.steps.guard import CODES

TURN = 2.0 * np.pi
BRIEF_STIFF = tuple(replace(scene, seconds=2.0) for scene in STIFF)
COMPUTED = Scene('panda', 'computed_torque', 'trajectory', seconds=2.0)
AFTER_STOP = 0.3        # s, in which an arm that is braked has nearly come to rest
SLOW = 0.4              # velocity limits below which a contact may stop a joint unnoticed
STILL = 0.05            # velocity limits below which an arm is at rest
MOVED = tuple(replace(IMPEDANCE, path=path, seconds=2.0) for path in NODES)
STOPPED = tuple(scene for floating, following in zip(GUIDED, FOLLOWING)
                for scene in (replace(floating, motion='still'), following))
SHORT_FOLLOWING = tuple(replace(scene, seconds=3.0) for scene in FOLLOWING)
LIES = (*SHORT_FOLLOWING,
        *(replace(scene, loop_delay=0.002, share=1.0) for scene in SHORT_FOLLOWING),
        *(replace(scene, mode='computed_torque') for scene in SHORT_FOLLOWING), *GUIDED)
FILTER_TIME = 0.03      # s
PLAYED, TURNING = 0.4, 0.1      # s of a recording, and of a change of its speed by one
CREEP = 0.02            # velocity limits


def edits(name: str, field: str, edit: Callable[[Any, Active], Any], *, of_all: bool = False,
          **more: Any) -> None:
    """
    Register an injection that edits one field of each sample.

    :param edit: returns what is seen of a value; of a vector, of that of the injection's joint, or
        ``of_all`` joints.
    """
    def act(a: Active, s: Sample) -> None:
        seen = getattr(s, field)
        if not isinstance(seen, np.ndarray):
            setattr(s, field, edit(seen, a))
        elif of_all:
            seen[:] = edit(seen, a)
        else:
            seen[a.joint] = edit(seen[a.joint], a)
    injection(name, SEEN, **more)(act)


def _limit(a: Active, name: str) -> float:
    return getattr(a.world.arm.model, name)[a.joint]


edits('one sample q + 2π', 'position', lambda q, a: q + TURN, once=True,
      scenes=(*TWO_ARMS, *BY_NODES))
edits('one sample q + 0.3', 'position', lambda q, a: q + 0.3, once=True,
      scenes=(FLOATING, PANDA_IMPEDANCE))
edits('q + 2π for good', 'position', lambda q, a: q + TURN, scenes=(FLOATING, PANDA_IMPEDANCE))
edits('position of a joint frozen', 'position', lambda q, a: a.first('position', float(q)),
      scenes=(IMPEDANCE,))
edits('position frozen', 'position', lambda q, a: a.first('position', q.copy()), of_all=True,
      scenes=TWO_ARMS)
edits('position in degrees', 'position', lambda q, a: q * (180.0 / np.pi), of_all=True)
edits('position outside by a little', 'position', lambda q, a: a.world.arm.upper[a.joint] + 0.005,
      scenes=(FLOATING, PANDA_IMPEDANCE))
edits('position outside by much', 'position', lambda q, a: a.world.arm.upper[a.joint] + 1.0,
      scenes=(FLOATING, PANDA_IMPEDANCE))
edits('position drifts 0.2 rad/s', 'position', lambda q, a: q + 0.2 * a.since)
edits('NaN position', 'position', lambda q, a: np.nan)
edits('one sample 5 x velocity limit', 'velocity',
      lambda qd, a: 5.0 * _limit(a, 'velocity_limit'), once=True, scenes=TWO_ARMS)
edits('one sample velocity limit', 'velocity', lambda qd, a: -_limit(a, 'velocity_limit'),
      once=True)
edits('velocity sign flipped', 'velocity', lambda qd, a: -qd,
      scenes=(FLOATING, IMPEDANCE, PANDA, *MOVED))
edits('velocity zero', 'velocity', lambda qd, a: 0.0, of_all=True,
      scenes=(FLOATING, IMPEDANCE, PANDA_IMPEDANCE))
edits('velocity in degrees', 'velocity', lambda qd, a: qd * 57.3, of_all=True,
      scenes=(FLOATING, IMPEDANCE, PANDA))
edits('NaN velocity', 'velocity', lambda qd, a: np.nan)
edits('one sample NaN velocity', 'velocity', lambda qd, a: np.nan, once=True)
edits('NaN effort', 'effort', lambda tau, a: np.nan)
edits('effort measured wrong', 'effort', lambda tau, a: tau + 0.5 * _limit(a, 'effort_limit'))
edits('states stop', 'lost', lambda lost, a: True,
      scenes=(FLOATING, Scene(motion='still'), PANDA_IMPEDANCE, *BY_NODES))
edits('20 % of the states lost', 'lost', lambda lost, a: a.world.random.uniform() < 0.2 or lost,
      scenes=(IMPEDANCE,))
edits('50 % of the states lost', 'lost', lambda lost, a: a.world.random.uniform() < 0.5 or lost,
      scenes=(IMPEDANCE,))
edits('states at 50 Hz', 'lost', lambda lost, a: lost or round(1e3 * a.since) % 20 != 0,
      scenes=BRIEF_STIFF[:2])
edits('states at 25 Hz', 'lost', lambda lost, a: lost or round(1e3 * a.since) % 40 != 0,
      scenes=BRIEF_STIFF[:2])
edits('latency grows 50 ms/s', 'arrives', lambda time, a: time + 0.05 * a.since,
      scenes=BRIEF_STIFF[:2])
edits('latency 15 ms', 'arrives', lambda time, a: time + 0.015, scenes=BRIEF_STIFF[:2])
edits('time stamps drift', 'stamp', lambda time, a: time + 0.05 * a.since)
edits('time stamps jump', 'stamp', lambda time, a: time + 1.0)
edits('time stamps are zero', 'stamp', lambda time, a: 0.0)
edits('states of a second publisher', 'foreign', lambda foreign, a: True,
      scenes=(FLOATING, *BY_NODES))
edits('names twice', 'malformed', lambda how, a: 'names', paths=NODES, scenes=BY_NODES)
edits('wrong lengths', 'malformed', lambda how, a: 'lengths', paths=NODES, scenes=BY_NODES)
edits('bytes cut short', 'malformed', lambda how, a: 'cut', paths=NODES, scenes=BY_NODES)


@injection('one sample in 20 wild', SEEN)
def spikes(a: Active, s: Sample) -> None:
    if a.world.random.uniform() < 0.05:
        s.position[a.joint] += a.world.random.normal()


@injection('emergency stop, then all positions jump for good', SEEN, paths=('library',),
           scenes=STOPPED)
def stopped_and_jumped(a: Active, s: Sample) -> None:
    a.world.subject.tell(stop_reason=CODES.index('EMERGENCY_STOP'))
    a.memory['restore'] = lambda: a.world.subject.tell(stop_reason=0)
    if a.since > AFTER_STOP:
        s.position += 0.6


@injection('encoder wraps at π', SEEN, robots=(CONTINUOUS,), scenes=(
    Scene(CONTINUOUS, motion='hand'), Scene(CONTINUOUS, 'joint_impedance', 'trajectory')))
def wrapped(a: Active, s: Sample) -> None:
    # Wherever the joint is now shall be just before the end of the encoder's range
    end = np.copysign(np.pi - 0.01, s.velocity[a.joint])
    offset = a.first('offset', end - float(s.position[a.joint]))
    s.position[a.joint] = (s.position[a.joint] + offset + np.pi) % TURN - np.pi - offset


@injection('position and velocity frozen', SEEN, scenes=(*TWO_ARMS, *MOVED))
def frozen(a: Active, s: Sample) -> None:
    s.position[:] = a.first('position', s.position.copy())
    s.velocity[:] = a.first('velocity', s.velocity.copy())
    limit = a.world.arm.model.velocity_limit
    a.memory['unseen'] = (abs(s.velocity) < STILL * limit).all()


@injection('last reading repeated', SEEN, scenes=(*TWO_ARMS, *MOVED, *BRIEF_STIFF, COMPUTED))
def repeated(a: Active, s: Sample) -> None:
    limit = a.world.arm.model.velocity_limit
    at_rest = a.first('at rest', bool((abs(s.velocity) < STILL * limit).all()))
    undriven = a.world.motion.kind == 'still' and 'asked' not in a.memory
    a.memory['unseen'] = at_rest and (undriven or a.world.settings.mode == 'gravity_compensation')
    s.position[:] = a.first('position', s.position.copy())
    s.velocity[:] = 0.0


@injection('last reading of a joint repeated', SEEN, scenes=(*TWO_ARMS, *BRIEF_STIFF[:2]))
def repeated_joint(a: Active, s: Sample) -> None:
    slow = SLOW * a.world.arm.model.velocity_limit[a.joint]
    a.memory['unseen'] = a.first('slow', bool(abs(s.velocity[a.joint]) < slow))
    s.position[a.joint] = a.first('position', float(s.position[a.joint]))
    s.velocity[a.joint] = 0.0


@injection('last reading repeated for 150 ms', SEEN, scenes=tuple(
    replace(scene, duration=0.15) for scene in (*TWO_ARMS, *BRIEF_STIFF[:2])))
def repeated_for_a_while(a: Active, s: Sample) -> None:
    repeated(a, s)


@injection('last reading repeated from rest on, then a trajectory', SEEN, paths=('library',),
           scenes=tuple(replace(scene, motion='still') for scene in (IMPEDANCE, PANDA_IMPEDANCE,
                                                                     BRIEF_STIFF[2], COMPUTED)))
def repeated_from_rest(a: Active, s: Sample) -> None:
    repeated(a, s)
    if a.since > AFTER_STOP and not a.memory.get('asked'):
        a.memory['asked'] = True
        a.world.motion.ask(a.world, 3.0)


@injection('values of two joints swapped', SEEN, scenes=(FLOATING, PANDA, IMPEDANCE))
def swapped(a: Active, s: Sample) -> None:
    i, j = a.joint, (a.joint + 1) % s.position.shape[0]
    for values in (s.position, s.velocity, s.effort):
        values[[i, j]] = values[[j, i]]


@injection('encoder behind a backlash of 2 mrad', SEEN, scenes=ALL_ARMS)
def backlash(a: Active, s: Sample) -> None:
    seen = a.first('seen', s.position.copy())
    before = seen.copy()
    np.clip(seen, s.position - 1e-3, s.position + 1e-3, out=seen)
    s.position[:], s.velocity[:] = seen, np.where(seen == before, 0.0, s.velocity)


@injection('12 bits, velocity by differences', SEEN, scenes=ALL_ARMS)
def coarse_differences(a: Active, s: Sample) -> None:
    step = TURN / 4096.0
    s.position[:] = step * np.round(s.position / step)
    before, at = a.memory.get('before', (s.position.copy(), s.stamp - 1e-3))
    s.velocity[:] = (s.position - before) / max(s.stamp - at, 1e-3)
    a.memory['before'] = s.position.copy(), s.stamp


@injection('nothing', SEEN, random=False, scenes=(*ALL_ARMS, *BRIEF_STIFF[:2]))
def nothing(a: Active, s: Sample) -> None:
    pass


# Samples whose positions and velocities agree with each other, and not with the arm
def lie(name: str) -> Callable[[Callable], Callable]:
    """Register a false state that nothing in the states reveals; none is drawn at random."""
    return injection(name, SEEN, random=False, scenes=LIES)


def _late(a: Active, s: Sample, most: float) -> None:
    history = a.memory.setdefault('history', [])
    history.append((s.position.copy(), s.velocity.copy()))
    seconds = min(most, 0.5 * a.since)
    s.position[:], s.velocity[:] = history[max(0, len(history) - 1 - round(seconds / TICK))]


def _scaled(a: Active, s: Sample, factor: float) -> None:
    origin = a.first('origin', s.position.copy())
    s.position[:] = origin + factor * (s.position - origin)
    s.velocity *= factor


for _name, _act in (
        ('states 20 ms late under fresh stamps', partial(_late, most=0.02)),
        ('states 40 ms late under fresh stamps', partial(_late, most=0.04)),
        ('motion of all joints scaled by 0.1', partial(_scaled, factor=0.1)),
        ('motion of all joints reversed', partial(_scaled, factor=-1.0))):
    lie(_name)(_act)


@lie('states filtered by 30 ms')
def filtered(a: Active, s: Sample) -> None:
    position = a.first('position', s.position.copy())
    velocity = a.first('velocity', s.velocity.copy())
    for filtered_, value in ((position, s.position), (velocity, s.velocity)):
        filtered_ += (value - filtered_) * TICK / FILTER_TIME
        value[:] = filtered_


@lie('motion of a joint reversed')
def reversed_joint(a: Active, s: Sample) -> None:
    i = a.joint
    origin = a.first('origin', float(s.position[i]))
    s.position[i], s.velocity[i] = 2.0 * origin - s.position[i], -s.velocity[i]


@lie('a recording played back and forth')
def played(a: Active, s: Sample) -> None:
    """Play what has been measured since the start, with a smooth speed that changes its sign."""
    recorded = a.memory.setdefault('recorded', [])
    recorded.append((s.position.copy(), s.velocity.copy()))
    clock, speed = a.memory.get('clock', (0.0, 1.0))        # of the recording: s, s/s
    if clock > PLAYED:
        a.memory['side'] = -1.0
    elif clock < TURNING:
        a.memory['side'] = 1.0
    speed = float(np.clip(speed + a.memory['side'] * TICK / TURNING, -1.0, 1.0))
    clock = min(clock + speed * TICK, a.since)
    a.memory['clock'] = clock, speed
    k, share = divmod(clock / TICK, 1.0)
    before, after = recorded[int(k)], recorded[min(int(k) + 1, len(recorded) - 1)]
    s.position[:] = before[0] + share * (after[0] - before[0])
    s.velocity[:] = speed * (before[1] + share * (after[1] - before[1]))


@lie('positions creep away at 0.02 velocity limits')
def creeping(a: Active, s: Sample) -> None:
    rate = CREEP * a.world.arm.model.velocity_limit
    s.position += rate * a.since
    s.velocity += rate


@lie('readings frozen but for noise of 1 µrad')
def noisy_rest(a: Active, s: Sample) -> None:
    noise = 1e-6 * a.world.random.standard_normal((2, s.position.shape[0]))
    s.position[:] = a.first('position', s.position.copy()) + noise[0]
    s.velocity[:] = noise[1]
