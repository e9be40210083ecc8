# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Least force peak that any reaction to a collision can leave, by robot.

    python -m benchmarks.impact_floor [--contacts 40] [--robots panda ur5]

The contacts are those of `benchmarks.collisions`: a point of a link, an obstacle of 75 N/mm. From
the first contact on, with the speed that the arm has there, the rigid arm has drives that do
nothing but compensate gravity and Coriolis efforts, or that brake the point with all the effort
they have: each joint drives with its effort limit in the direction that decelerates the point
most, -sign(M⁻¹ Jᵀ u), at once or after a delay, in a step or at a multiple of the rate
`effort_rate_limit`. No reaction leaves less than the one that brakes at once in a step. Beside
them stand the peaks of the controller, without detection and with it. *Of the medians*: the
median peak over that without detection; *median share*: the median of this quotient of each
contact.
"""

import argparse
from collections.abc import Callable

import numpy as np
from numpy import ndarray

from robodyn_ros import Dynamics, RobotModel
from robodyn_ros.control.settings import EFFORT_RATE

from .collisions import Impact, Scene, arm, impact, scenes
from .contact_speed import THRESHOLD

STEP, PULSE = 5e-5, 0.06        # s
STIFFNESS = 75e3                # N/m
FOUND = 0.002                   # s from the first contact to the detection, the median
SPEEDS = 'speeds'
FAST = 5.0, 100.0               # times the default of `effort_rate_limit`
Braking = Callable[[float], float]      # share of the effort limits, by the time since the contact


def ramp(rate: float) -> Braking:
    """Return a braking from the detection on, at a multiple of the default effort rate."""
    return lambda t: min(1.0, rate * EFFORT_RATE * max(0.0, t - FOUND))


DRIVES: dict[str, Braking] = {
    'drives do nothing': lambda t: 0.0,
    'full effort at once': lambda t: 1.0,
    'full effort after 2 ms': lambda t: float(t >= FOUND),
    'after 2 ms at 5 times the effort rate': ramp(FAST[0]),
    'after 2 ms at the effort rate': ramp(1.0)}


def peak(model: RobotModel, dynamics: Dynamics, scene: Scene, met: Impact, braking: Braking
         ) -> float:
    """Return the greatest force [N] of a contact, from the last cycle before it on."""
    q, qd, most, begun = met.q.copy(), met.qd.copy(), 0.0, np.nan
    inverse, u = np.linalg.inv(dynamics.mass_matrix(met.q)), scene.direction
    for k in range(round(PULSE / STEP)):
        T = dynamics.pose(q, scene.link)
        J = dynamics.jacobian(q, scene.link, reference='aligned')
        arm_of = T[:3, :3] @ scene.point
        row = u @ (J[:3] + np.cross(J[3:].T, arm_of).T)
        force = STIFFNESS * max(0.0, float(u @ (T[:3, 3] + arm_of - scene.place)))
        if force and np.isnan(begun):
            begun = k * STEP
        if not force and begun < k * STEP:
            break
        most = max(most, force)
        share = 0.0 if np.isnan(begun) else braking(k * STEP - begun)
        tau = -share * model.effort_limit * np.sign(inverse @ row)
        # g(q) + C(q, q̇) q̇ is compensated
        qd += STEP * np.linalg.solve(dynamics.mass_matrix(q), tau - force * row)
        q += STEP * qd
    return most


def speed(dynamics: Dynamics, scene: Scene, met: Impact) -> float:
    """Return the speed [m/s] of the point toward the obstacle in the last cycle before it."""
    T, J = dynamics.pose(met.q, scene.link), dynamics.jacobian(met.q, scene.link,
                                                               reference='aligned')
    row = scene.direction @ (J[:3] + np.cross(J[3:].T, T[:3, :3] @ scene.point).T)
    return float(row @ met.qd)


def measured(name: str, contacts: int) -> dict[str, ndarray]:
    """Return the peaks (contacts,) [N] by what the drives do."""
    model, plant, _ = arm(name, 0.0)
    limits = {'collision_threshold': THRESHOLD * model.effort_limit}
    rates = {f'law, stop, {factor:g} times the effort rate': {
        **limits, 'effort_rate_limit': factor * EFFORT_RATE * model.effort_limit}
        for factor in FAST}
    reactions = {**{f'law, {reaction}': {**limits, 'collision_reaction': reaction}
                    for reaction in ('stop', 'float', 'retreat')}, **rates}
    dynamics, rows = Dynamics(model), []
    for scene in scenes(model, contacts):
        alone = impact(model, plant, scene)
        if alone.peak > 0.0:
            rows.append([speed(dynamics, scene, alone), alone.peak, *(
                impact(model, plant, scene, **how).peak for how in reactions.values()), *(
                peak(model, dynamics, scene, alone, braking) for braking in DRIVES.values())])
    return dict(zip((SPEEDS, 'law, no detection', *reactions, *DRIVES), np.array(rows).T))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--contacts', type=int, default=40)
    parser.add_argument('--robots', nargs='+', default=['panda', 'ur5'])
    given = parser.parse_args()
    print(f'{"robot":6} {"drives":44} contacts  peak [N]  of the medians  median share')
    for name in given.robots:
        found = measured(name, given.contacts)
        speeds, alone = found.pop(SPEEDS), found['law, no detection']
        print(f'{name:6} speed of the contacts: {np.median(speeds):.2f} m/s in the median, '
              f'{speeds.min():.2f} to {speeds.max():.2f}')
        for what, peaks in found.items():
            print(f'{name:6} {what:44} {len(peaks):8} {np.median(peaks):9.0f} '
                  f'{np.median(peaks) / np.median(alone):15.2f} '
                  f'{np.median(peaks / alone):13.2f}', flush=True)


if __name__ == '__main__':
    main()
