# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Injections of samples whose positions and velocities agree with each other, not with the arm."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .injection import Active, injection, Scene, SEEN
from .plant import TICK
from .sensing import Sample

ROBOTS = 'two_link', 'panda', 'ur5'
FOLLOWING = tuple(Scene(robot, 'joint_impedance', 'trajectory', seconds=3.0) for robot in ROBOTS)
STIFF = tuple(replace(scene, loop_delay=0.002, share=1.0) for scene in FOLLOWING)
COMPUTED = tuple(replace(scene, mode='computed_torque') for scene in FOLLOWING)
GUIDED = tuple(Scene(robot) for robot in ROBOTS)
SCENES = (*FOLLOWING, *STIFF, *COMPUTED, *GUIDED)
FILTER_TIME = 0.03      # s
PLAYED, TURNING = 0.4, 0.1      # s of a recording, and of a change of its speed by one
CREEP = 0.02            # velocity limits


def lie(name: str) -> Callable[[Callable], Callable]:
    """Register a false state that nothing in the states reveals; none is drawn at random."""
    return injection(name, SEEN, random=False, scenes=SCENES)


def _late(a: Active, s: Sample, seconds: float) -> None:
    history = a.memory.setdefault('history', [])
    history.append((s.position.copy(), s.velocity.copy()))
    s.position[:], s.velocity[:] = history[max(0, len(history) - 1 - round(seconds / TICK))]


@lie('states 20 ms late under fresh stamps')
def late_by_20_ms(a: Active, s: Sample) -> None:
    _late(a, s, min(0.02, 0.5 * a.since))


@lie('states 40 ms late under fresh stamps')
def late_by_40_ms(a: Active, s: Sample) -> None:
    _late(a, s, min(0.04, 0.5 * a.since))


@lie('states filtered by 30 ms')
def filtered(a: Active, s: Sample) -> None:
    position = a.first('position', s.position.copy())
    velocity = a.first('velocity', s.velocity.copy())
    for filtered_, value in ((position, s.position), (velocity, s.velocity)):
        filtered_ += (value - filtered_) * TICK / FILTER_TIME
        value[:] = filtered_


def _scaled(a: Active, s: Sample, factor: float) -> None:
    origin = a.first('origin', s.position.copy())
    s.position[:] = origin + factor * (s.position - origin)
    s.velocity *= factor


@lie('motion of all joints scaled by 0.1')
def scaled(a: Active, s: Sample) -> None:
    _scaled(a, s, 0.1)


@lie('motion of all joints reversed')
def reversed_motion(a: Active, s: Sample) -> None:
    _scaled(a, s, -1.0)


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
