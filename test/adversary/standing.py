# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A joint whose reading stands still while it moves, and what must not be taken for it."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
import json
from math import exp, nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table
from robodyn_ros import load_urdf
from robodyn_ros.control.settings.friction import with_friction
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.steps.guard import FAULT
from robodyn_ros.dynamics import Dynamics
from robodyn_ros.model.resources import robot_path
from robodyn_ros.parallel import in_processes
from robodyn_ros.verification.arm import Arm, arm_of, damping_rate, gains, UnheldError
from robodyn_ros.verification.catalogue import CATALOGUE
from robodyn_ros.verification.injection import Active, FOR_EVER, Injection, PLANT, SEEN
from robodyn_ros.verification.plant import Plant
from robodyn_ros.verification.sensing import Conditions, Sample
from robodyn_ros.verification.trial import Planned, play
from robodyn_ros.verification.world import Library, World

from . import arms

TUNED, OTHERS = ('two_link', 'panda', 'ur5', 'z1'), ('kinova', 'xarm7', 'ur10', 'talos_left_arm')
SECONDS, PROMPT = 1.2, 500.0        # s of a play after the injection; ms until the fault
STEP, NOISE, SLOWING = 1e-5, 2e-6, 0.03     # rad | m, of a dither and noise; s of a smooth stop
ASKED_AFTER = 0.1       # s from the freeze at rest to the request of a motion
MODES = 'joint_impedance', 'computed_torque', 'adaptive', 'gravity_compensation'


@cache
def arm(name: str) -> Arm:
    """Return an arm by its name."""
    if name in TUNED[:3]:
        return arms.arm(name)
    return arm_of(name, load_urdf(robot_path(name)))


def _stand(a: Active, s: Sample, position: float, velocity: float = 0.0) -> None:
    s.position[a.joint], s.velocity[a.joint] = position, velocity


def _frozen(a: Active, s: Sample) -> None:
    _stand(a, s, a.first('position', float(s.position[a.joint])))


def _noisy(a: Active, s: Sample) -> None:
    noise = a.world.random.standard_normal(2)
    _stand(a, s, a.first('position', float(s.position[a.joint])) + NOISE * noise[0],
           100.0 * NOISE * noise[1])


def _dithering(a: Active, s: Sample) -> None:
    _stand(a, s, a.first('position', float(s.position[a.joint]))
           + STEP * a.world.random.integers(2))


def _slowing(a: Active, s: Sample) -> None:
    left = exp(-a.since / SLOWING)
    qd = a.first('velocity', float(s.velocity[a.joint]))
    _stand(a, s, a.first('position', float(s.position[a.joint])) + qd * SLOWING * (1.0 - left),
           qd * left)


def _asking(act: Any) -> Any:
    def stand(a: Active, s: Sample) -> None:
        act(a, s)
        if a.since > ASKED_AFTER and not a.memory.get('asked'):
            a.memory['asked'] = True
            a.world.motion.ask(a.world, 3.0)
    return stand


def _stopped(a: Active, plant: Plant) -> None:
    """Brake all joints as the safety controller of a robot does."""
    plant.qd *= exp(-0.001 / SLOWING)
    if a.since > 4.0 * SLOWING:
        plant.qd[:] = 0.0


_STAND = {'frozen': _frozen, 'noisy': _noisy, 'dithering': _dithering, 'slowing': _slowing}
FAMILIES = {
    **{f'{name}, in motion': Injection(name, SEEN, act) for name, act in _STAND.items()},
    **{f'{name}, from rest': Injection(name, SEEN, _asking(act)) for name, act in _STAND.items()
       if name != 'slowing'},
    'contact': CATALOGUE['tool meets a table'],
    'blocked': CATALOGUE['joint blocked, then free'],
    'pushed': CATALOGUE['hand pushes'],
    'stopped by itself': Injection('stopped', PLANT, _stopped, throws=True),
    'sticky': CATALOGUE['nothing'],
    'healthy': CATALOGUE['nothing']}
STANDING = tuple(name for name in FAMILIES if name.split(',')[0] in _STAND)


class Result(NamedTuple):
    """What came of a play: peak velocity [velocity limits], time of the fault [ms]."""

    seed: int
    family: str
    robot: str
    mode: str
    joint: int
    armed: bool
    velocity: float
    fault: float
    reason: str


class Players:
    """Plays seeds one after the other."""

    def __init__(self) -> None:
        self._known: dict[str, Library] = {}

    def __call__(self, seed: int) -> Result:
        """Play the run of a seed."""
        family = [*FAMILIES][seed % len(FAMILIES)]
        random = np.random.default_rng([seed, 5])
        robot = str(random.choice(TUNED + OTHERS))
        mode = str(random.choice(MODES))
        rest = family.endswith('rest')
        if rest and mode == 'gravity_compensation':
            mode = 'joint_impedance'
        delay = float(random.choice((0.002, 0.008)))
        share = float(random.choice((0.25, 1.0)))
        subject = arm(robot)
        settings = Settings(mode=mode, rate=1000.0, loop_delay=delay,
                            damping_rate=damping_rate(delay, 1000.0), fault_hold_time=0.5,
                            fault_ramp_time=0.1, **gains(subject, share, delay, 1000.0))
        noise = float(random.choice((0.0, 0.1, 1.0)))
        true_arm = None
        if family == 'sticky':
            model = with_friction(subject.model, {
                'coulomb_friction': subject.model.coulomb_friction + float(
                    random.uniform(0.01, 0.05)) * subject.model.effort_limit,
                'friction_velocity': np.full(subject.model.nv, 1e-3)})
            true_arm = replace(subject, model=model, dynamics=Dynamics(model))
        motion = 'still' if rest else ('hand' if mode == 'gravity_compensation' else 'trajectory')
        try:
            world = World(subject, settings, Conditions(
                delay=0.001, position_noise=1e-5 * noise, velocity_noise=1e-3 * noise,
                friction=bool(random.integers(2)) and not subject.model.coulomb_friction.any()),
                motion, 'state', [seed, 6], true_arm=true_arm)
        except UnheldError:
            return Result(seed, family, robot, mode, 0, False, nan, nan, '')
        joint = int(random.integers(subject.model.nv))
        if robot not in self._known:
            self._known[robot] = Library(subject.model, settings)
        run = play(self._known[robot], world, [
            Planned(FAMILIES[family], float(random.uniform(0.0, 0.3)),
                    FOR_EVER, joint)], SECONDS)
        f = run.figures
        return Result(seed, family, robot, mode, joint, run.armed, f.velocity, f.fault,
                      f.reason if f.phase == FAULT else '')


def plays(count: int, seed: int, jobs: int) -> Iterator[Result]:
    """Yield the results of so many seeds."""
    return in_processes(Players, Players.__call__, range(seed, seed + count), jobs)


def shown(results: list[Result]) -> Table:
    """Return a row of each family, of the robots that thresholds were chosen with, and others."""
    table = Table('family', 'robots', 'plays', 'above 1.1', 'above 2', 'worst', 'not latched',
                  'after 0.5 s', 'faults', box=None, pad_edge=False)
    for family in FAMILIES:
        for which, robots in (('known', TUNED), ('other', OTHERS)):
            there = [r for r in results if r.armed and (r.family, r.robot in robots)
                     == (family, True)]
            reasons = [r.reason for r in there]
            table.add_row(
                family, which, str(len(there)), str(sum(r.velocity > 1.1 for r in there)),
                str(sum(r.velocity > 2.0 for r in there)),
                f'{max((r.velocity for r in there), default=nan):.2f}',
                str(reasons.count('')), str(sum(r.fault > PROMPT for r in there)),
                ', '.join(f'{reasons.count(r)} {r}' for r in sorted(set(reasons)) if r))
    return table


def write(results: list[Result], path: Path) -> None:
    """Write results as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([r._asdict() for r in results]))
