# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Collisions of simulated arms with an elastic obstacle: detection, isolation and reaction.

    python -m benchmarks.collisions [--contacts 40] [--minutes 10] [--robots panda ur5]

The arm runs into an obstacle of 75 N/mm at 0.5 m/s with a point of one of its links, in a random
pose and direction, with the model of the controller and with masses that are up to 5 % wrong. The
speed is that of the arm: its reference is slower where the law overshoots it. Its
thresholds are those that `robodyn calibrate collision` would find from 60 s of motion. Printed are
the time from the first contact to the fault, how often the link was the right one, the largest
force and the force 1 s later, with detection and without, and the false alarms in motion.
"""

import argparse
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray
from robodyn_ros import Dynamics, load_urdf, RobotModel, Settings
from robodyn_ros.closed_loop import ClosedLoop
from robodyn_ros.control.learning import thresholds
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.settings.suggested_gains import suggest_gains, with_assumed_rotors
from robodyn_ros.control.steps import guard
from robodyn_ros.errors import RobodynError
from robodyn_ros.model.robot import spread
from robodyn_ros.simulation.plant import Obstacle

LOCKED = {'panda': {'panda_finger_joint1': 0.02, 'panda_finger_joint2': 0.02}}
SPEED = 0.5         # m/s of the point at the contact
LEVER = 0.05        # m, least lever arm of the contact about the joint of its link
APPROACH, LATER = 0.4, 1.0      # s before the contact, and after it
MODE = 'joint_impedance'
TRIALS, TOLERANCE = 4, 0.02      # of the reference until the arm has its speed, relative to it


class Impact(NamedTuple):
    """Result of one contact."""

    found: float        # s from the first contact to the fault, NaN without one
    reason: str         # code of the fault, '' without one
    right: bool         # whether the joint is the one that moves the link
    peak: float         # N, largest force
    clamping: float     # N, force LATER


class Scene(NamedTuple):
    """A contact to come."""

    q: ndarray          # (nv,) pose at the contact
    qd: ndarray         # (nv,) velocity at the contact
    joint: int          # that moves the link
    link: str
    point: ndarray      # (3,) in the frame of the link
    place: ndarray      # (3,) of the contact, in base axes
    direction: ndarray  # (3,) of the motion of the point


def arm(name: str, error: float, seed: int = 0) -> tuple[RobotModel, RobotModel, ndarray]:
    """Return the model of the controller, the robot with other masses, and a pose."""
    model = with_assumed_rotors(load_urdf(name, locked=LOCKED.get(name, {})))
    factor = 1.0 + error * np.random.default_rng(seed).choice([-1.0, 1.0], model.nb)
    plant = replace(model, mass=factor * model.mass,
                    inertia=factor[:, None, None] * model.inertia)
    return model, plant, spread(model, 1)[0]


def scenes(model: RobotModel, count: int, seed: int = 1) -> list[Scene]:
    """Return contacts in random poses, with the ends of random links, in random directions."""
    rng, dynamics, out = np.random.default_rng(seed), Dynamics(model), []
    poses = spread(model, 64 * count)
    while len(out) < count and len(poses):
        q, poses = poses[0], poses[1:]
        joint = int(rng.integers(1, model.nv))
        link = model.link_names[model.leaders[joint]]
        point = rng.uniform(-0.15, 0.15, 3)
        T = dynamics.pose(q, link)
        J = dynamics.jacobian(q, link, reference='aligned')
        place = T[:3, 3] + T[:3, :3] @ point
        J = J[:3] + np.cross(J[3:].T, T[:3, :3] @ point).T       # of the point
        direction = rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        qd = np.linalg.pinv(J, rcond=0.05) @ (SPEED * direction)
        reached = J @ qd
        if (abs(qd) > 0.6 * model.velocity_limit).any() or np.linalg.norm(reached) < 0.9 * SPEED:
            continue
        direction = reached / np.linalg.norm(reached)
        if abs(J[:, joint] @ direction) < LEVER or place[2] < 0.1:
            continue
        begin, end = q - APPROACH * qd, q + APPROACH * qd
        inside = (model.position_lower < np.minimum(begin, end)) & (
            np.maximum(begin, end) < model.position_upper)
        if inside.all():
            out.append(Scene(q, qd, joint, link, point, place, direction))
    return out


def begin(model: RobotModel, plant: RobotModel, q: ndarray, near: ndarray | None = None,
          **settings) -> ClosedLoop:
    """Return a controller in its law, with an arm at rest and gains for a pose ``near`` it."""
    gains = _suggested(model, tuple((q if near is None else near).tolist()))._asdict()
    loop = ClosedLoop(model, Settings(mode=MODE, **gains, **settings), q, plant=plant)
    loop.start()
    return loop


@lru_cache(maxsize=8)       # it takes longer than a contact
def _suggested(model: RobotModel, q: tuple[float, ...]) -> Any:
    return suggest_gains(model, np.array(q), Settings())


def quiet(model: RobotModel, plant: RobotModel, q: ndarray, seconds: float, seed: int,
          **settings) -> tuple[ndarray, ndarray, ndarray, str]:
    """
    Move between random poses without contact, at the speed of the impacts.

    Return velocity, bias and external effort (N, nv), and the reason of a fault.
    """
    loop, dynamics, rows = begin(model, plant, q, **settings), Dynamics(model), []
    poses = iter(np.random.default_rng(seed).permutation(spread(model, 1000)))
    ends, here = loop.now, q
    for k in range(round(seconds / loop.period)):
        if loop.now >= ends:
            there = next(poses)
            duration = max(0.5, 1.9 * (abs(there - here) / (0.6 * model.velocity_limit)).max())
            loop.controller.follow(Waypoints(model.joint_names, np.array([duration]),
                                             there[None]), loop.now)
            ends, here = loop.now + duration + 0.2, there
        loop.tick()
        if k % 20 == 0:
            at, speed, _ = loop.row()
            rows.append((speed, dynamics.inverse_dynamics(at, speed, 0.0 * q),
                         loop.controller.external_effort))
        if loop.controller.phase == guard.FAULT:
            break
    reason = loop.controller.reason if loop.controller.phase == guard.FAULT else ''
    velocity, bias, external = (np.array(x) for x in zip(*rows))
    return velocity, bias, external, reason


def at_speed(model: RobotModel, plant: RobotModel, scene: Scene) -> Scene | None:
    """Return the scene with a reference under which the point has its speed at the contact."""
    dynamics = Dynamics(model)
    for _ in range(TRIALS):
        loop, ghost = approach(model, plant, scene, 1e-9)
        for _ in range(round(4.0 * APPROACH / loop.period)):
            loop.tick()
            if ghost.peak > 0.0:
                break
        q, qd, _ = loop.row()
        J = dynamics.jacobian(q, scene.link, reference='aligned')
        arm_of = dynamics.pose(q, scene.link)[:3, :3] @ scene.point
        speed = float(scene.direction @ (J[:3] + np.cross(J[3:].T, arm_of).T) @ qd)
        if abs(speed - SPEED) < TOLERANCE * SPEED and ghost.peak > 0.0:
            return scene
        scene = scene._replace(qd=scene.qd * min(max(SPEED / max(speed, 1e-3), 0.5), 1.5))
    return None


def approach(model: RobotModel, plant: RobotModel, scene: Scene, stiffness: float, **settings
             ) -> tuple[ClosedLoop, Obstacle]:
    """Return a loop whose arm is about to run into an obstacle of a stiffness [N/m]."""
    loop = begin(model, plant, scene.q - APPROACH * scene.qd, scene.q, **settings)
    # From rest to the speed of the contact, through it, and to rest again
    asked = Waypoints(
        times=APPROACH * np.array([0.5, 1.4, 2.0]), joint_names=model.joint_names,
        positions=scene.q + APPROACH * np.array([[-0.75], [0.15], [0.45]]) * scene.qd,
        velocities=np.array([[1.0], [1.0], [0.0]]) * scene.qd)
    obstacle = Obstacle(scene.link, scene.point, scene.place, -scene.direction, stiffness)
    loop.plant.obstacles.append(obstacle)
    loop.controller.follow(asked, loop.now)
    return loop, obstacle


def impact(model: RobotModel, plant: RobotModel, scene: Scene, **settings) -> Impact:
    """Let the arm run into the obstacle."""
    loop, obstacle = approach(model, plant, scene, Obstacle.stiffness, **settings)
    touched = found = np.nan
    right, left = False, round(4.0 * APPROACH / loop.period)
    while left > 0:
        loop.tick()
        left -= 1
        if np.isnan(touched) and obstacle.peak > 0.0:
            touched, left = loop.now, round(LATER / loop.period)
        if np.isnan(found) and loop.controller.phase == guard.FAULT:
            found = loop.now
    right = int(loop.controller.memory['joint'][0]) == scene.joint
    code = loop.controller.reason_code
    return Impact(found - touched, '' if code == 'NO_REASON' else code, right, obstacle.peak,
                  obstacle.force)


def measured(name: str, error: float, contacts: int, minutes: float) -> dict:
    """Return the figures of a robot, with masses that are wrong by a fraction ``error``."""
    model, plant, q = arm(name, error)
    velocity, bias, external, fault = quiet(model, plant, q, 60.0, seed=2)
    if fault:
        raise RobodynError(f'the motion without contact ended with {fault}', name=name,
                           remedy='use another robot')
    limits = thresholds(velocity, bias, external, model.effort_limit,
                        model.velocity_limit)._asdict()
    alone = quiet(model, plant, q, 60.0 * minutes, seed=3, **limits)[3] if minutes else 'not run'
    runs, free = [], []
    for scene in filter(None, (at_speed(model, plant, one) for one in scenes(model, contacts))):
        runs.append(impact(model, plant, scene, **limits))
        free.append(impact(model, plant, scene))
    met = [(a, b) for a, b in zip(runs, free) if b.peak > 0.0]
    hits = [a for a, _ in met if a.reason == 'COLLISION' and a.found >= 0.0]
    return {'robot': name, 'error': error, 'contacts': len(met), 'found': len(hits),
            'after': 1e3 * float(np.median([a.found for a in hits])),
            'latest': 1e3 * max(a.found for a in hits),
            'right': np.mean([a.right for a in hits]),
            'early': sum(not a.peak for a, _ in met),
            'other': sorted({a.reason for a, _ in met} - {'COLLISION'}),
            'peak': [float(np.median([x.peak for x in pair])) for pair in zip(*met)],
            'clamping': [float(np.median([x.clamping for x in pair])) for pair in zip(*met)],
            'alarm': alone}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--contacts', type=int, default=40)
    parser.add_argument('--minutes', type=float, default=10.0)
    parser.add_argument('--robots', nargs='+', default=['panda', 'ur5'])
    given = parser.parse_args()
    print('robot masses    found     after [ms]  right   peak force [N]  force later [N]  false\n'
          '      wrong by           median  most   link   alone reacting   alone reacting  alarms')
    for name in given.robots:
        for error in (0.0, 0.05):
            m = measured(name, error, given.contacts, given.minutes)
            (reacting, alone), (held, pressed) = m['peak'], m['clamping']
            print(f'{name:6}{error:7.0%} {m["found"]:4} of {m["contacts"]:3} {m["after"]:7.1f} '
                  f'{m["latest"]:5.0f} {m["right"]:6.0%} {alone:7.0f} {reacting:9.0f} '
                  f'{pressed:6.0f} {held:9.0f}  {m["early"]}, {m["alarm"] or "none"}'
                  f'{", ".join(m["other"])}', flush=True)


if __name__ == '__main__':
    main()
