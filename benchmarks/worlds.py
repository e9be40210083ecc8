# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Simulated worlds of `robodyn verify` against loops in Python, timed in turn.

    python -m benchmarks.worlds [--robots two_link panda] [--rounds 9] [--worlds 20]

One line a contestant: processor time of 1 ms of a simulated arm under joint impedance at 1 kHz,
and how much faster than real time one core is. All integrate with four steps of 0.25 ms; those
called `plain` have no guard, no delays, no noise and no judge. The last lines are whole worlds, of
which one in four has an injected fault, with all that makes and judges them, and where their time
goes.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from time import process_time

import mujoco
import numpy as np
import pinocchio as pin
from robodyn_ros import Controller, load_urdf, RobotModel, Settings
from robodyn_ros.closed_loop import ClosedLoop
from robodyn_ros.control.settings.suggested_gains import suggest_gains
from robodyn_ros.model.resources import robot_path
from robodyn_ros.simulation.loading import load
from robodyn_ros.verification.plant import Plant
from robodyn_ros.verification.trial import Case, Player, rise
from robodyn_ros.verification.worlds import default_worlds, draw

from .interleaved_timer import Contestant, interleaved, timed
from .plant import ARMS
from .reference_libraries import pinocchio_model

SUBSTEPS, STEP = 4, 0.25e-3
SECONDS = 0.05          # of one turn


def case_of(name: str) -> Case:
    """Return an arm under joint impedance and computed torque."""
    model = load_urdf(robot_path(name), locked=ARMS[name].locked)
    plain = Settings(mode='joint_impedance', loop_delay=0.004)
    settings = replace(plain, **suggest_gains(model, settings=plain)._asdict())
    return Case(name, model, settings, default_worlds(model, settings), 0)


def contestants(case: Case) -> Iterator[tuple[str, Contestant]]:
    """Yield ways to compute one tick."""
    model, settings = case.model, case.settings

    def nothing(k: int) -> np.ndarray:
        return np.zeros(model.nv)
    player = Player(case)
    drawn = next(one for k in range(100) if (one := draw(case.worlds, model.nv, 0, k)).mode
                 == settings.mode and one.motion == 'still' and not one.injection)
    world = player.world(drawn, player.modes[settings.mode])
    world.subject = player.library
    player.library.begin(world)
    player.library.arm()
    assert rise(world)
    yield 'a world: sensing, controller, guard, drives, arm, judge', Contestant(
        timed(world.run), nothing)

    loop = ClosedLoop(model, settings, np.array(ARMS[case.name].pose))
    loop.start()
    yield 'simulate(): controller and guard, MuJoCo (RK4), in Python', Contestant(
        timed(lambda count: [loop.tick() for _ in range(count)]), nothing)

    mj, data = mujoco_of(case.name, model)
    full, order = pinocchio_model(robot_path(case.name).read_text(), model, ARMS[case.name].locked)
    theirs, goal = full.createData(), np.array(ARMS[case.name].pose)
    stiffness, damping = (settings.gain_of(model, name) for name in ('stiffness', 'damping'))

    def plain(count: int) -> None:
        for _ in range(count):
            q, qd = data.qpos, data.qvel
            gravity = pin.computeGeneralizedGravity(full, theirs, q)
            data.ctrl[:] = gravity + stiffness * (goal - q) - damping * qd
            mujoco.mj_step(mj, data, SUBSTEPS)
    yield 'plain: gravity by Pinocchio, MuJoCo (Euler), in Python', Contestant(
        timed(plain), nothing)

    state = [goal.copy(), np.zeros(model.nv)]

    def pinocchio(count: int) -> None:
        q, qd = state
        for _ in range(count):
            tau = (pin.computeGeneralizedGravity(full, theirs, q) + stiffness * (goal - q)
                   - damping * qd)
            for _ in range(SUBSTEPS):
                qd += STEP * pin.aba(full, theirs, q, qd, tau)
                q += STEP * qd
    yield 'plain: gravity and arm (ABA) by Pinocchio, in Python', Contestant(
        timed(pinocchio), nothing)

    resting, at_rest = mujoco_of(case.name, model)
    at_rest.ctrl[:] = pin.computeGeneralizedGravity(full, theirs, goal)
    yield 'MuJoCo alone (Euler)', Contestant(
        timed(lambda count: mujoco.mj_step(resting, at_rest, SUBSTEPS * count)), nothing)
    arm = Plant(world.plant.arm, goal, silence=np.inf)
    arm.data.numbers['command_time'] = 0.0          # it is released
    yield 'arm of a world alone', Contestant(timed(lambda count: arm.advance(count)), nothing)
    controller = Controller(model, settings)
    yield 'Controller.step alone, from Python', Contestant(
        timed(lambda count: [controller.step(1e-3 * k) for k in range(count)]), nothing)


def mujoco_of(name: str, model: RobotModel) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return the arm in MuJoCo, at rest in its pose."""
    mj, _ = load(robot_path(name).read_text(), model.joint_names, timestep=STEP,
                 locked=ARMS[name].locked, gravity=model.gravity_vector)
    data = mujoco.MjData(mj)
    data.qpos[:] = ARMS[name].pose
    return mj, data


def shown(name: str, rounds: int, worlds: int) -> None:
    """Print the lines of a robot."""
    case = case_of(name)
    times = interleaved(dict(contestants(case)), rounds, SECONDS)
    ours = next(iter(times.values()))
    print(f'\n{name}: processor time of 1 ms')
    for what, series in times.items():
        ratio = np.median(series / ours)
        print(f'  {np.median(series) / 1e3:8.2f} µs  {1e6 / np.median(series):6.0f} x real time  '
              f'{ratio:6.2f} x a world  {what}')
    player = Player(case)
    player.play(0)
    compiled, run = [0.0], Plant.run

    def measured(self: Plant, *arguments: int) -> int:
        begin = process_time()
        try:
            return run(self, *arguments)
        finally:
            compiled[0] += process_time() - begin
    Plant.run = measured        # type: ignore[method-assign]
    begin = process_time()
    for index in range(1, worlds + 1):
        player.play(index)
    each = (process_time() - begin) / worlds
    Plant.run = run             # type: ignore[method-assign]
    print(f'  whole worlds of {case.seconds:g} s: {1e3 * each:.1f} ms each, '
          f'{case.seconds / each:.0f} x real time; {1e3 * compiled[0] / worlds:.1f} ms of it in '
          'compiled ticks, the rest in making worlds, settings and faults')


def main() -> None:
    """Print all robots."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--robots', nargs='+', default=['two_link', 'panda'])
    parser.add_argument('--rounds', type=int, default=9)
    parser.add_argument('--worlds', type=int, default=20)
    options = parser.parse_args()
    for name in options.robots:
        shown(name, options.rounds, options.worlds)


if __name__ == '__main__':
    main()
