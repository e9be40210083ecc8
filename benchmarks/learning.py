# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Iterative learning with a wrong model, in MuJoCo: `python -m benchmarks.learning [ROBOT ...]`.

The arm carries out the same motion again and again. Its masses differ from those of the model by
up to 20 %, its joints have friction beyond that of the model (which is compensated), and efforts
act 2 ms after the state that they were computed from. The gains are those that the
controller suggests. Prints the error of each repeat, and draws it to
learning.png.
"""

from collections.abc import Callable
from dataclasses import replace
from math import inf
import sys
from typing import Any

import numpy as np
from numpy import ndarray
from robodyn_ros import Controller, RobotModel, Settings, Waypoints
from robodyn_ros.catalog.robots import CatalogRobot, load_robot
from robodyn_ros.control.learning.iterative_learning import IterativeLearning, Outcome, Repeat
from robodyn_ros.control.references.sine_motion import amplitudes, waypoints
from robodyn_ros.control.settings.suggested_gains import suggest_gains
from robodyn_ros.control.steps import guard
from robodyn_ros.simulation.drive import Drive
from robodyn_ros.simulation.plant import Plant

PERIOD, DELAY = 1e-3, 1e-3      # s; the state is another period old
WRONG = 0.2                     # of the masses
FRICTION = 0.01                 # Coulomb friction, and viscous at 1 rad/s, in effort limits
AFTER = 0.3                     # s at rest between two repeats
LAWS = ('joint_impedance', 'computed_torque')
COUNTERS = ['saturated', 'rate_limited', 'joint_limited']


class RepeatedMotion:
    """
    Controller of a model, and an arm in MuJoCo that differs from it, on a clock of their own.

    :param arm: the true arm; ``pose`` (nv,) where it begins.
    :param push: (repeat, time since its start [s]) -> (nv,) effort [N·m | N] of a person.
    """

    def __init__(self, model: RobotModel, settings: Settings, arm: RobotModel, pose: ndarray, *,
                 push: Callable[[int, float], Any] | None = None):
        self.controller = Controller(model, settings, specialize=False)
        self._drive = Drive(Plant(arm.to_urdf(), model=arm), initial=pose, timeout=inf,
                            delay=DELAY)
        self._push, self._k, self.repeats = push, 0, 0
        self.controller.arm()
        while self.controller.phase != guard.RUNNING and self.now < 5.0:
            self.step()
        if self.controller.phase != guard.RUNNING:
            raise RuntimeError(self.controller.arming_refusal)
        for _ in range(round(1.0 / PERIOD)):        # it sags, where the model is wrong
            self.step()

    @property
    def now(self) -> float:
        """Time of the next cycle [s]."""
        return self._k * PERIOD

    def step(self, effort: Any = 0.0) -> ndarray:
        """Advance by a period; return the position (nv,) that the controller has seen."""
        seen, controller = self._drive.state(), self.controller
        for name in ('position', 'velocity', 'effort'):
            controller.state[name] = getattr(seen, name)
        controller.state['received'] = self.now
        if controller.step(self.now):
            self._drive.command(controller.tau + effort, self.now)
        self._drive.advance()
        self._k += 1
        return seen.position.copy()

    def run(self, asked: Waypoints) -> Repeat:
        """Follow waypoints from the present pose of the reference, and return what happened."""
        controller, start = self.controller, self.now + 2 * PERIOD
        controller.follow(asked, start)
        before = self._limited()
        rows, times = [], []
        while self.now < start + asked.times[-1] + AFTER and controller.phase == guard.RUNNING:
            times.append(self.now - start)
            rows.append(self.step(0.0 if self._push is None else self._push(
                self.repeats, times[-1])))
        self.repeats += 1
        fault = controller.reason if controller.phase == guard.FAULT else ''
        limited = (self._limited() - before) / max(len(rows), 1)
        return Repeat(np.array(times), np.array(rows), limited, fault)

    def _limited(self) -> int:
        return max(int(self.controller.memory[name][0]) for name in COUNTERS)


def wrong_model(arm: RobotModel, seed: int = 0) -> RobotModel:
    """Return the arm with masses, and inertias alike, that are wrong by up to WRONG."""
    factor = 1.0 + np.random.default_rng(seed).uniform(-WRONG, WRONG, len(arm.mass))
    return replace(arm, mass=arm.mass * factor, inertia=arm.inertia * factor[:, None, None])


def with_friction(arm: RobotModel) -> RobotModel:
    """Return the arm with FRICTION that its model does not have."""
    more = FRICTION * arm.effort_limit
    return replace(arm, viscous_friction=arm.viscous_friction + more,
                   coulomb_friction=arm.coulomb_friction + more)


def learned(robot: CatalogRobot, mode: str, repeats: int, duration: float = 6.0,
            **more: Any) -> list[Outcome]:
    """Return the outcomes of ``repeats`` repeats after the first, which has no efforts."""
    given = robot.parameters['controller'].get('effort_rate_limit', ())
    arm = robot.model
    model = wrong_model(arm)
    settings = Settings(mode=mode, loop_delay=2e-3, effort_rate_limit=given,
                        friction_compensation=1.0 if arm.coulomb_friction.any() else ())
    settings = replace(settings, **suggest_gains(model, robot.pose, settings)._asdict())
    motion = waypoints(robot.model, robot.pose, amplitudes(robot.model, robot.pose), duration)
    world = RepeatedMotion(model, settings, with_friction(arm), robot.pose, **more)
    learning = IterativeLearning(model, settings, motion)
    return [learning.learn(world.run(learning.waypoints)) for _ in range(repeats + 1)]


def main(names: list[str]) -> None:
    """Print a table of all robots and laws, and draw it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout='constrained', dpi=110)
    panel = figure.subplots()
    for name in names:
        robot = load_robot(name, {}, [])
        for mode in LAWS:
            found = learned(robot, mode, 6)
            first = found[0].rms
            shown = '  '.join(f'{1e3 * outcome.rms:7.3f}' for outcome in found)
            print(f'{name:8} {mode:16} {shown} mrad or mm  {100 * (found[-1].rms / first - 1):.1f}'
                  ' %', flush=True)
            for k, outcome in enumerate(found):
                if outcome.message:
                    print(f'    repeat {k}: {outcome.message}')
            panel.plot([1e3 * outcome.rms for outcome in found], marker='o',
                       label=f'{name}, {mode}')
    panel.set(yscale='log', xlabel='repeat', ylabel='RMS error [mrad or mm]',
              title='masses ±20 %, unknown friction, 2 ms delay')
    panel.grid(alpha=0.3)
    panel.legend()
    figure.savefig('learning.png')


if __name__ == '__main__':
    main(sys.argv[1:] or ['panda', 'ur5', 'arm6'])
