# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Injections of samples whose positions and velocities agree with each other, not with the arm."""

from dataclasses import replace

from .injection import Active, injection, Scene, SEEN
from .sensing import Sample

ROBOTS = 'two_link', 'panda', 'ur5'
FOLLOWING = tuple(Scene(robot, 'joint_impedance', 'trajectory', seconds=3.0) for robot in ROBOTS)
STIFF = tuple(replace(scene, loop_delay=0.002, share=1.0) for scene in FOLLOWING)
COMPUTED = tuple(replace(scene, mode='computed_torque') for scene in FOLLOWING)
GUIDED = tuple(Scene(robot) for robot in ROBOTS)
SCENES = (*FOLLOWING, *STIFF, *COMPUTED, *GUIDED)
FILTER_TIME = 0.03      # s
PLAYED = 0.4            # s of a recording
CREEP = 0.02            # velocity limits


def lie(name: str):
    """Put a lie into the catalogue: nothing in the states shows it, so that none is drawn."""
    return injection(name, SEEN, random=False, scenes=SCENES)


def _late(a: Active, s: Sample, seconds: float) -> None:
    history = a.memory.setdefault('history', [])
    history.append((s.position.copy(), s.velocity.copy()))
    s.position[:], s.velocity[:] = history[max(0, len(history) - 1 - round(1e3 * seconds))]


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
        filtered_ += (value - filtered_) * 1e-3 / FILTER_TIME
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


@lie('the last 0.4 s played back and forth')
def played(a: Active, s: Sample) -> None:
    """The arm moves on, as the samples say it did before, in the other direction at first."""
    recorded = a.memory.setdefault('recorded', [])
    if a.since < PLAYED:
        recorded.append((s.position.copy(), s.velocity.copy()))
        return
    k = round(1e3 * (a.since - PLAYED)) % (2 * len(recorded))
    back = k < len(recorded)
    position, velocity = recorded[len(recorded) - 1 - k if back else k - len(recorded)]
    s.position[:], s.velocity[:] = position, -velocity if back else velocity


@lie('positions creep away at 0.02 velocity limits')
def creeping(a: Active, s: Sample) -> None:
    rate = CREEP * a.world.arm.model.velocity_limit
    s.position += rate * a.since
    s.velocity += rate
