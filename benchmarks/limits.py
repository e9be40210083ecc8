# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Limits under each law in a bad world: `python -m benchmarks.limits [ROBOT] [--law LAW] [--hard]`.

The campaign of test/control/test_limits.py, law by law: random poses, gains, payloads and
references, efforts that are up to 5 ms late, a fifth of the samples lost, and no stops. Printed
are, over all seeds, the greatest position beyond the limits (in ranges), velocity, effort and
steps of the effort (in limits), the seed of the greatest velocity, and each seed that exceeds what
the test allows; the exit code is then 1. With --hard efforts are 8 ms late, and the arm grips 3 kg
that the model does not know.
"""

import argparse
from functools import partial
from pathlib import Path
import sys
from typing import Any, NamedTuple

from robodyn_ros import Dynamics, RobotModel
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.control.laws.registry import BUILT_IN
from robodyn_ros.control.settings import settings
from robodyn_ros.parallel import in_processes

sys.path.insert(0, str(Path(__file__).parents[1] / 'test'))

from control.disturbed import (  # noqa: E402, I100
    BAD, Disturbance, GUIDED, guided_within_walls, HARD, run, Worst)

ROBOTS, SEEDS, EVERY = ('two_link', 'panda'), 200, 50


class Campaign(NamedTuple):
    """Seeds under one law; ``disturbance``: delays, lost samples and payload."""

    model: RobotModel
    dynamics: Dynamics
    disturbance: Disturbance
    more: dict[str, Any]

    @classmethod
    def of(cls, model: RobotModel, law: str, disturbance: Disturbance) -> 'Campaign':
        """Return the campaign of a law."""
        settings.CHECKED_POSES = 2      # as in the test: finding gains is not what this is about
        return cls(model, Dynamics(model), disturbance,
                   guided_within_walls(model) if law in GUIDED else {'mode': law})

    def worst(self, seed: int) -> tuple[int, Worst]:
        """Return the greatest of everything under a seed."""
        return seed, run(self.model, self.dynamics, seed, disturbance=self.disturbance,
                         **self.more)


def campaign(model: RobotModel, law: str, seeds: range, disturbance: Disturbance,
             jobs: int) -> bool:
    """Print the greatest of everything so far, now and then; return whether all is allowed."""
    found = dict[int, Worst]()
    for seed, worst in in_processes(partial(Campaign.of, model, law, disturbance), Campaign.worst,
                                    seeds, jobs):
        found[seed] = worst
        if named := worst.violations():
            print(f'  seed {seed}: {", ".join(named)}: {worst}', flush=True)
        if len(found) % EVERY == 0 or len(found) == len(seeds):
            print(f'{model.name:9} {law:21} {summary(found)}', flush=True)
    return not any(worst.violations() for worst in found.values())


def summary(worst: dict[int, Worst]) -> str:
    """Return the greatest of everything over these seeds."""
    found = [*worst.values()]
    position, velocity, effort, step, law_step = (max(column) for column in [*zip(*found)][:5])
    fastest = max(worst, key=lambda seed: worst[seed].velocity)
    return (f'{len(found)} seeds: position {position:.4f}, velocity {velocity:.3f} (seed '
            f'{fastest}), effort {effort:.3f}, steps {step:.3f} and {law_step:.3f}; limits acted '
            f'in {sum(one.cut > 0 for one in found)}, faults in '
            f'{sum(one.phase == "FAULT" for one in found)}, not allowed: '
            f'{sum(bool(one.violations()) for one in found)}')


def main() -> int:
    """Run the campaigns that are asked for."""
    names = [law.name for law in BUILT_IN]
    parser = argparse.ArgumentParser(description='Limits under each law in a bad world.')
    parser.add_argument('robots', nargs='*', default=ROBOTS)
    parser.add_argument('--law', action='append', choices=names, help='several may be given')
    parser.add_argument('--seeds', type=int, default=SEEDS, help='how many')
    parser.add_argument('--first', type=int, default=0, help='the first seed')
    parser.add_argument('--jobs', type=int, default=1, help='processes')
    parser.add_argument('--hard', action='store_true', help='3 kg unknown, efforts 8 ms late')
    asked = parser.parse_args()
    disturbance = HARD._replace(policies=True) if asked.hard else BAD
    fine = [campaign(load_robot(robot, {}, []).model, law,
                     range(asked.first, asked.first + asked.seeds), disturbance, asked.jobs)
            for robot in asked.robots for law in asked.law or names]
    return 0 if all(fine) else 1


if __name__ == '__main__':
    sys.exit(main())
