# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Mistakes planted into the parameter file, the model or the law of a sound robot.

`python test/verification/planted.py [WORLDS]` prints which of them `robodyn verify` finds.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
import sys
from typing import NamedTuple

import numpy as np
from robodyn_ros import load_urdf
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.verification.trial import Case, Outcome, Player, problem
from robodyn_ros.verification.worlds import default_worlds

sys.path.insert(0, str(Path(__file__).parent))
ROBOT = 'two_link'
FRICTION = [2.0, 1.0]           # N·m


def sound(**more) -> Case:
    """Return a robot, settings and worlds in which nothing is wrong; its friction is tolerated."""
    model = load_urdf(ROBOT)
    settings = Settings(**{
        'mode': 'joint_impedance', 'stiffness': [115.0, 16.0], 'damping': [23.0, 3.2],
        'acceleration_kp': [100.0], 'acceleration_kd': [20.0], 'loop_delay': 0.002,
        'coulomb_friction': FRICTION, 'friction_velocity': [0.05],
        'goal_tolerance': [0.15, 0.5], **more})
    return Case(ROBOT, model, settings, default_worlds(model, settings), 0)


class Mistake(NamedTuple):
    """A mistake, and how it is made."""

    name: str
    planted: Callable[[Case], Case]


def _settings(**changes) -> Callable[[Case], Case]:
    return lambda case: replace(case, settings=replace(case.settings, **changes))


def _truth(**changes) -> Callable[[Case], Case]:
    return lambda case: replace(case, worlds=replace(
        case.worlds, truth=replace(case.worlds.truth, **changes)))


def _edge(case: Case) -> Case:
    """Return the highest gains that are accepted."""
    stiffness, damping = case.settings.stable(case.model, np.full(2, 1e6), np.full(2, 1e5))
    kp, kd = case.settings.stable_accelerations(case.model, np.full(2, 1e5), np.full(2, 1e4))
    return _settings(stiffness=stiffness, damping=damping, acceleration_kp=kp,
                     acceleration_kd=kd)(case)


def _undeclared_delay(case: Case) -> Case:
    """Return gains for a delay of 2 ms in worlds whose delay is up to 10 ms."""
    worlds = replace(case.worlds, ranges=case.worlds.ranges | {'delay': (0.005, 0.01)})
    return replace(_edge(case), worlds=worlds)


def _own_law(case: Case) -> Case:
    mode = 'singular_law:SINGULAR'
    settings = replace(case.settings, mode=mode, gains={'spring': [115.0, 16.0]})
    return replace(case, settings=settings, worlds=replace(case.worlds, modes=(mode,)))


MISTAKES = (
    Mistake('payload of 2 kg declared, none there',
            _settings(payload_mass=2.0, payload_frame='link2')),
    Mistake('payload of 2 kg there, none declared', _truth(payload_mass=2.0)),
    Mistake('gains at the edge of the accepted set', _edge),
    Mistake('loop_delay of 2 ms declared, 5 to 10 ms true', _undeclared_delay),
    Mistake('second motor wired in reverse', _truth(motor_gain=(1.0, -1.0))),
    Mistake('friction declared twice as high as it is, fully compensated',
            _settings(coulomb_friction=[2.0 * f for f in FRICTION],
                      friction_compensation=[1.0])),
    Mistake('the same, compensated by 0.8 in an arm that floats', lambda case: replace(
        _settings(mode='gravity_compensation', friction_compensation=[0.8],
                  coulomb_friction=[2.0 * f for f in FRICTION])(case),
        worlds=replace(case.worlds, modes=('gravity_compensation',)))),
    Mistake('arm on a wall, gravity of a floor declared', _truth(gravity=(0.0, 9.81, 0.0))),
    Mistake('robot_compensates_gravity true, the robot does not',
            _settings(robot_compensates_gravity=True)),
    Mistake('robot_compensates_gravity false, the robot does', _truth(compensates_gravity=True)),
    Mistake('effort limits three times what the drives give',
            _truth(effort_limit=(80.0 / 3.0, 10.0))),
    Mistake('own law whose stiffness diverges at a singularity', _own_law),
    Mistake('state_timeout of 1 s', _settings(state_timeout=1.0)),
    Mistake('encoder of the first joint off by a right angle',
            _truth(encoder_offset=(0.5 * np.pi, 0.0))),
    Mistake('gear ratio of the second joint half of the true one',
            _truth(motor_gain=(1.0, 2.0))),
    Mistake('rotor inertia of 1 and 0.2 kg·m² left out', _truth(armature=(1.0, 0.2))),
    Mistake('velocity limits four times the true ones', _truth(velocity_limit=(2.0, 2.0))),
    Mistake('joint stops 0.3 rad within the position limits', lambda case: replace(
        case, worlds=replace(case.worlds, ranges=case.worlds.ranges | {
            'stop_distance': (-0.3, -0.3)}))),
    Mistake('states at 100 Hz, 1 kHz declared', _truth(state_rate=100.0)))


def first_bad(case: Case, worlds: int, specialize: bool = True) -> Outcome | str | None:
    """Return the first outcome that breaks a criterion, or why the settings are refused."""
    player = Player(case, specialize)
    return next((one for k in range(worlds) if (one := player.play(k)).bad), None)


def main(worlds: int) -> None:
    """Print the world in which each mistake is found first."""
    print('| mistake | found in world | as |\n|---|---|---|')
    for name, planted in (('none', lambda case: case), *MISTAKES):
        try:
            found = first_bad(planted(sound()), worlds)
        except Exception as error:  # noqa: BLE001  (a refusal is a finding)
            print(f'| {name} | before the first | refused: {error} |', flush=True)
            continue
        print(f'| {name} | {found.index} | {problem(found)} |' if found else
              f'| {name} | none of {worlds} | |', flush=True)


if __name__ == '__main__':
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
