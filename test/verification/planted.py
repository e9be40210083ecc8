# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Mistakes planted into the parameter file, the model or the law of a sound robot.

`python test/verification/planted.py [WORLDS]` prints which of them `robodyn verify` finds.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from pathlib import Path
import sys
from typing import NamedTuple

import numpy as np
from robodyn_ros import load_urdf
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.model.robot import RobotModel
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


def short(case: Case, seconds: float = 1.0, **changes) -> Case:
    """Return a case with short worlds, which may differ in more."""
    return replace(case, worlds=replace(case.worlds, seconds=seconds, **changes))


Change = Callable[[Case], Case]


def _settings(**changes) -> Change:
    return lambda case: replace(case, settings=replace(case.settings, **changes))


def _worlds(**changes) -> Change:
    return lambda case: replace(case, worlds=replace(case.worlds, **changes))


def _truth(**changes) -> Change:
    return lambda case: _worlds(truth=replace(case.worlds.truth, **changes))(case)


def _ranges(**values) -> Change:
    """Return other ranges; a number stands for both ends."""
    return lambda case: _worlds(ranges=case.worlds.ranges | {
        name: value if isinstance(value, tuple) else (value, value)
        for name, value in values.items()})(case)


def _true(changed: Callable[[RobotModel], RobotModel]) -> Change:
    """Let another robot move, as of another URDF or other locked joints."""
    return lambda case: replace(case, true=changed(case.model))


def _all(*changes: Change) -> Change:
    """Return one change after the other."""
    return lambda case: reduce(lambda made, change: change(made), changes, case)


def _longer(model: RobotModel) -> RobotModel:
    com = model.com.copy()
    com[1] *= 4.0 / 3.0
    return replace(model, com=com)


TOOL = {'payload_frame': 'link2', 'payload_mass': 2.0, 'payload_com': (0.2, 0.0, 0.0)}
_with_tool = _all(_settings(**TOOL), _truth(**TOOL))


def _elastic(frequency: float, **more) -> Change:
    """Let joints with rotors swing against them at a frequency [Hz], the motors being held."""
    rotor, inertia = (0.1, 0.02), (1.15, 0.16)
    stiffness = tuple((2.0 * np.pi * frequency)**2 * one for one in inertia)
    return _all(_settings(armature=list(rotor)),
                _truth(armature=rotor, joint_stiffness=stiffness, **more))


def _edge(case: Case) -> Case:
    """Return the highest gains that are accepted."""
    stiffness, damping = case.settings.stable(case.model, np.full(2, 1e6), np.full(2, 1e5))
    kp, kd = case.settings.stable_accelerations(case.model, np.full(2, 1e5), np.full(2, 1e4))
    return _settings(stiffness=stiffness, damping=damping, acceleration_kp=kp,
                     acceleration_kd=kd)(case)


OWN_LAW = 'singular_law:SINGULAR'
MISTAKES: dict[str, Change] = {
    'payload of 2 kg declared, none there': _settings(payload_mass=2.0, payload_frame='link2'),
    'payload of 2 kg there, none declared': _truth(payload_mass=2.0),
    'gains at the edge of the accepted set': _edge,
    'loop_delay of 2 ms declared, 5 to 10 ms true': _all(_edge, _ranges(delay=(0.005, 0.01))),
    'second motor wired in reverse': _truth(motor_gain=(1.0, -1.0)),
    'friction declared twice as high as it is, fully compensated': _settings(
        coulomb_friction=[2.0 * f for f in FRICTION], friction_compensation=[1.0]),
    'the same, compensated by 0.8 in an arm that floats': _all(
        _settings(mode='gravity_compensation', friction_compensation=[0.8],
                  coulomb_friction=[2.0 * f for f in FRICTION]),
        _worlds(modes=('gravity_compensation',))),
    'arm on a wall, gravity of a floor declared': _truth(gravity=(0.0, 9.81, 0.0)),
    'robot_compensates_gravity true, the robot does not': _settings(
        robot_compensates_gravity=True),
    'robot_compensates_gravity false, the robot does': _truth(compensates_gravity=True),
    'effort limits three times what the drives give': _truth(effort_limit=(80.0 / 3.0, 10.0)),
    'own law whose stiffness diverges at a singularity': _all(
        _settings(mode=OWN_LAW, gains={'spring': [115.0, 16.0]}), _worlds(modes=(OWN_LAW,))),
    'state_timeout of 1 s': _settings(state_timeout=1.0),
    'encoder of the first joint off by a right angle': _truth(encoder_offset=(0.5 * np.pi, 0.0)),
    'gear ratio of the second joint half of the true one': _truth(motor_gain=(1.0, 2.0)),
    'rotor inertia of 1 and 0.2 kg·m² left out': _truth(armature=(1.0, 0.2)),
    'velocity limits four times the true ones': _truth(velocity_limit=(2.0, 2.0)),
    'joint stops 0.3 rad within the position limits': _ranges(stop_distance=-0.3),
    'states at 100 Hz, 1 kHz declared': _truth(state_rate=100.0),
    'states at 250 Hz, 1 kHz declared': _truth(state_rate=250.0),
    'cycle at 500 Hz, 1 kHz declared': _truth(loop_rate=500.0),
    'loop_delay of 2 ms declared, 8 ms true': _ranges(delay=0.008),
    'tool of 2 kg 30 % heavier than declared': _all(_with_tool, _truth(payload_mass=2.6)),
    'center of a tool of 2 kg twice as far': _all(
        _with_tool, _truth(payload_com=(0.4, 0.0, 0.0))),
    'gear ratio of the second joint 1.3 times the true one': _truth(motor_gain=(1.0, 1.0 / 1.3)),
    'second drive at half its effort': _truth(motor_gain=(1.0, 0.5)),
    '12 bits, velocity by differences': _all(
        _ranges(resolution=2.0 * np.pi / 4096.0), _truth(velocity_by_differences=True)),
    'second link a third longer': _true(_longer),
    'elastic joints of 10 Hz': _elastic(10.0),
    'play of 10 mrad behind the encoders': _elastic(100.0, backlash=(0.01, 0.01))}


class Graded(NamedTuple):
    """A mistake by its size, in a robot that is accurate; what is not found, has little effect."""

    name: str
    sizes: tuple[float, ...]
    planted: Callable[[float], Change]


GRADED = (
    Graded('tilt of the mount [°]', (5.0, 7.0, 10.0), lambda x: _ranges(tilt=np.radians(x))),
    Graded('offset of the second encoder [rad]', (0.05, 0.1),
           lambda x: _truth(encoder_offset=(0.0, x))),
    Graded('ripple [effort limits]', (0.02, 0.05), lambda x: _truth(ripple=(80.0 * x, 30.0 * x))),
    Graded('encoders [bits]', (12.0, 10.0, 8.0),
           lambda x: _ranges(resolution=2.0 * np.pi / 2.0**x)),
    Graded('declared rotor inertia that is absent [of M]', (1.0, 2.0, 4.0), lambda x: _all(
        _settings(armature=[1.15 * x, 0.16 * x]), _truth(armature=(0.0, 0.0)))),
    Graded('inertia left out [kg·m² of each link]', (0.01, 0.05, 0.1), lambda x: _true(
        lambda model: replace(model, inertia=model.inertia + x * np.eye(3)))),
    Graded('stiffness of the base [kN·m/rad]', (20.0, 2.0, 0.5, 0.2),
           lambda x: _truth(base_stiffness=1e3 * x, base_inertia=5.0)),
    Graded('time stamps early [s]', (0.02, 0.1, 0.2), lambda x: _truth(stamp_error=-x)),
    Graded('time stamps late [s]', (0.02, 0.5), lambda x: _truth(stamp_error=x)),
    Graded('no time stamps', (1.0,), lambda x: _truth(stamped=False)),
    Graded('effort_rate_limit [times]', (100.0,), lambda x: _settings(
        effort_rate_limit=[800.0 * x, 300.0 * x])))


def accurate() -> Case:
    """Return a sound robot without declared friction that rests within 35 mrad."""
    return _worlds(modes=('computed_torque',))(sound(
        mode='computed_torque', coulomb_friction=[0.0], goal_tolerance=[0.035, 0.035]))


def largest(case: Case, worlds: int) -> tuple[Outcome | None, dict[str, float]]:
    """Return the first outcome that breaks a criterion, and else the largest healthy figures."""
    player, figures = Player(case), {'resting': 0.0, 'tracking': 0.0, 'velocity': 0.0}
    for index in range(worlds):
        if (one := player.play(index)).bad:
            return one, figures
        if not one.injection:
            figures = {name: max(most, one.figures.get(name) or 0.0)
                       for name, most in figures.items()}
    return None, figures


def first_bad(case: Case, worlds: int, specialize: bool = True) -> Outcome | str | None:
    """Return the first outcome that breaks a criterion, or why the settings are refused."""
    player = Player(case, specialize)
    return next((one for k in range(worlds) if (one := player.play(k)).bad), None)


def main(worlds: int) -> None:
    """Print the world in which each mistake is found first."""
    print('| mistake | found in world | as |\n|---|---|---|')
    for name, planted in {'none': _all(), **MISTAKES}.items():
        try:
            found = first_bad(planted(sound()), worlds)
        except Exception as error:  # noqa: BLE001  (a refusal is a finding)
            print(f'| {name} | before the first | refused: {error} |', flush=True)
            continue
        print(f'| {name} | {found.index} | {problem(found)} |' if found else
              f'| {name} | none of {worlds} | |', flush=True)
    print('| mistake in the accurate robot | size | found in world | as, or largest error at '
          'rest, tracking error [accepted], velocity [limits] |\n|---|---|---|---|')
    for graded in (Graded('none', (0.0,), lambda x: _all()), *GRADED):
        for size in graded.sizes:
            one, figures = largest(graded.planted(size)(accurate()), worlds)
            print(f'| {graded.name} | {size:g} | ' + (
                f'{one.index} | {problem(one)} |' if one else f'none of {worlds} | '
                + ', '.join(f'{most:.2f}' for most in figures.values()) + ' |'), flush=True)
            if one:
                break


if __name__ == '__main__':
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
