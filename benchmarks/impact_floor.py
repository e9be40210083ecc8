# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Least force peak that any reaction to a collision can leave, by robot.

    python -m benchmarks.impact_floor [--contacts 40] [--robots panda ur5]

The contacts are those of `benchmarks.collisions`: a point of a link at 0.5 m/s, an obstacle of
75 N/mm. From the first contact on, the rigid arm has drives that do nothing but compensate gravity
and Coriolis efforts, or that brake the point with all the effort they have: each joint drives
with its effort limit in the direction that decelerates the point most, -sign(M⁻¹ Jᵀ u), at once
or after a delay, in a step or at the rate `effort_rate_limit`. No reaction stays below the one
that brakes at once in a step. In the simulated loop efforts act 2 to 3 ms after the contact: two
samples have to be above a threshold, and each is up to a period old. Beside them stand the peaks
of the controller of `benchmarks.collisions`, without detection and with it, and the shares of the
peak without.
"""

import argparse
from collections.abc import Callable

import numpy as np
from numpy import ndarray
from robodyn_ros import Dynamics, RobotModel
from robodyn_ros.control.learning.collision_thresholds import thresholds
from robodyn_ros.control.settings.settings import DEFAULT_EFFORT_RATE
from robodyn_ros.simulation.obstacle import Obstacle

from .collisions import arm, at_speed, impact, quiet, Scene, scenes

STEP, PULSE = 5e-5, 0.06        # s
STIFFNESS = Obstacle.stiffness  # N/m
# s from the first contact to the efforts of a detection by the second sample
FOUND, LATEST = 0.002, 0.003
CAUTIOUS = 5.0                  # times `effort_rate_limit`, as for limits of the joints
DRIVES: dict[str, Callable[[float, ndarray], ndarray]] = {
    'drives do nothing': lambda t, limit: 0.0 * limit,
    'full effort at once': lambda t, limit: limit,
    'full effort after 2 ms': lambda t, limit: limit if t >= FOUND else 0.0 * limit,
    'full effort after 3 ms': lambda t, limit: limit if t >= LATEST else 0.0 * limit,
    'after 2 ms at 5 times the effort rate limit': lambda t, limit: limit * min(
        1.0, CAUTIOUS * DEFAULT_EFFORT_RATE * max(0.0, t - FOUND)),
    'after 2 ms at the effort rate limit': lambda t, limit: limit * min(
        1.0, DEFAULT_EFFORT_RATE * max(0.0, t - FOUND))}


def peak(model: RobotModel, dynamics: Dynamics, scene: Scene,
         braking: Callable[[float, ndarray], ndarray]) -> float:
    """Return the greatest force [N] of a contact whose drives brake with ``braking`` (nv,)."""
    q, qd, qdd, most = scene.q.copy(), scene.qd.copy(), np.zeros(model.nv), 0.0
    inverse, u = np.linalg.inv(dynamics.mass_matrix(scene.q)), scene.direction
    for k in range(round(PULSE / STEP)):
        T = dynamics.pose(q, scene.link)
        J = dynamics.jacobian(q, scene.link, reference='aligned')
        arm_of = T[:3, :3] @ scene.point
        row = u @ (J[:3] + np.cross(J[3:].T, arm_of).T)
        depth = float(u @ (T[:3, 3] + arm_of - scene.place))
        if k and depth < 0.0:
            break
        most = max(most, STIFFNESS * depth)
        tau = -np.sign(inverse @ row) * braking(k * STEP, model.effort_limit)
        # g(q) + C(q, q̇) q̇ is compensated
        qdd[:] = np.linalg.solve(dynamics.mass_matrix(q), tau - STIFFNESS * depth * row)
        qd += STEP * qdd
        q += STEP * qd
    return most


def measured(name: str, contacts: int) -> dict[str, ndarray]:
    """Return the peaks (contacts,) [N] by what the drives do."""
    model, plant, q = arm(name, 0.0)
    velocity, bias, external, _ = quiet(model, plant, q, 60.0, seed=2)
    limits = thresholds(velocity, bias, external, model.effort_limit)._asdict()
    dynamics, met = Dynamics(model), []
    for scene in scenes(model, contacts):
        driven = at_speed(model, plant, scene)
        alone = impact(model, plant, driven) if driven else None
        if alone and alone.peak > 0.0:
            met.append([alone.peak, *(
                impact(model, plant, driven, **limits, collision_reaction=reaction).peak
                for reaction in ('stop', 'float', 'retreat')), *(
                peak(model, dynamics, scene, braking) for braking in DRIVES.values())])
    names = 'law, no detection', 'law, stop', 'law, float', 'law, retreat', *DRIVES
    return dict(zip(names, np.array(met).T))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--contacts', type=int, default=40)
    parser.add_argument('--robots', nargs='+', default=['panda', 'ur5'])
    given = parser.parse_args()
    print(f'{"robot":6} {"drives":44} contacts  peak [N]  of the medians  median share')
    for name in given.robots:
        found = measured(name, given.contacts)
        alone = found['law, no detection']
        for what, peaks in found.items():
            print(f'{name:6} {what:44} {len(peaks):8} {np.median(peaks):9.0f} '
                  f'{np.median(peaks) / np.median(alone):15.2f} '
                  f'{np.median(peaks / alone):13.2f}', flush=True)


if __name__ == '__main__':
    main()
