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
from pathlib import Path
import sys

from robodyn_ros import Dynamics, RobotModel
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.control.laws.registry import BUILT_IN
from robodyn_ros.control.settings import settings

sys.path.insert(0, str(Path(__file__).parents[1] / 'test'))

from control.disturbed import BAD, GUIDED, guided_within_walls, HARD, run, World, Worst  # noqa: E402, I100

ROBOTS, SEEDS, EVERY = ('two_link', 'panda'), 200, 50


def campaign(model: RobotModel, law: str, seeds: range, world: World) -> bool:
    """Print the greatest of everything so far, now and then; return whether all is allowed."""
    dynamics, found = Dynamics(model), list[Worst]()
    more = guided_within_walls(model) if law in GUIDED else {'mode': law}
    for seed in seeds:
        found.append(worst := run(model, dynamics, seed, world=world, **more))
        if named := worst.violations():
            print(f'  seed {seed}: {", ".join(named)}: {worst}', flush=True)
        if len(found) % EVERY == 0 or seed == seeds[-1]:
            print(f'{model.name:9} {law:21} {summary(found, seeds)}', flush=True)
    return not any(worst.violations() for worst in found)


def summary(found: list[Worst], seeds: range) -> str:
    """Return the greatest of everything over the first seeds."""
    position, velocity, effort, step, law_step = (max(column) for column in [*zip(*found)][:5])
    fastest = seeds[max(range(len(found)), key=lambda k: found[k].velocity)]
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
    parser.add_argument('--hard', action='store_true', help='3 kg unknown, efforts 8 ms late')
    asked = parser.parse_args()
    world = HARD._replace(policies=True) if asked.hard else BAD
    settings.CHECKED_POSES = 2       # as in the test: finding gains is not what this is about
    fine = [campaign(load_robot(robot, {}, []).model, law,
                     range(asked.first, asked.first + asked.seeds), world)
            for robot in asked.robots for law in asked.law or names]
    return 0 if all(fine) else 1


if __name__ == '__main__':
    sys.exit(main())
