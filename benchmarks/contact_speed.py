# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Simulated contacts of arms with a body region at the speed that `contact_region` permits.

    python -m benchmarks.contact_speed [--contacts 1000] [--robots panda ur5] [--regions chest ...]
                                       [--controlled 40] [--undetected]

The arm moves through a random pose in a random direction as fast as its velocity limits allow, or
as the time scaling of the controller permits, and runs into the region with the origin of a random
frame that moves. The region is what ISO/TS 15066 takes it for: its effective mass, free and at
rest, behind its spring. First the drives do nothing but compensate gravity, as in the model of
the specification, and the arm is its rigid bodies, not one mass. Printed are the share of contacts
within the force, the greatest force, and how much the motions were slowed down; *by the point*:
for the point of contact alone, others may be faster or heavier.

With --controlled, so many contacts follow in MuJoCo under a controller, whose drives push on until
it detects the collision (`collision_reaction: float`), which the model does not know; with
--undetected it does not.
"""

import argparse
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from robodyn_ros import Dynamics, load_urdf, RobotModel, Settings
from robodyn_ros.closed_loop import ClosedLoop
from robodyn_ros.control.inputs.task import Bounds, REGIONS
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.settings.suggested_gains import suggest_gains
from robodyn_ros.control.settings.task_and_bounds import bounds_of
from robodyn_ros.control.steps.time_scaling import joint_share, permitted_speed
from robodyn_ros.dynamics.model_data import ModelData, parameters, Workspace, workspace
from robodyn_ros.model.robot import spread
from robodyn_ros.simulation.plant import Obstacle

from .collisions import LOCKED

MODE = 'joint_impedance'
FAST = 0.8          # velocity limits, of the fastest joint
APPROACH = 0.25     # s before the contact at full speed, and as long through it
AFTER = 0.15        # s after the first contact, in which the force reaches its peak
STEP, PULSE = 1e-4, 0.3     # s, of the contact of drives that do nothing
THRESHOLD = 0.05    # effort limits, of a collision
SLOWEST = 0.1       # m/s, contacts at a lower speed are not counted


def reflected_mass(model: RobotModel, q: ndarray, frame: str, direction: ndarray) -> float:
    """
    Return the mass [kg] that a push at a frame feels, 1/(uᵀ J M⁻¹ Jᵀ u) (Khatib 1995, eq. 6).

    :param q: (nv,) [rad | m]; ``direction`` (3,) in the axes of the base, of any length.
    """
    dynamics = Dynamics(model)
    along = np.asarray(direction, float) / np.linalg.norm(direction)
    row = along @ dynamics.jacobian(q, frame, reference='aligned')[:3]
    return 1.0 / float(row @ np.linalg.solve(dynamics.mass_matrix(q), row))


@dataclass
class Body(Obstacle):
    """Body region: a free mass behind the spring; ``step`` [s] is that of the physics."""

    mass: float = 1.0
    step: float = 0.25e-3
    speed: float = 0.0      # m/s, away from the arm

    def push_out(self, point: ndarray) -> ndarray:
        """Return the force on the link, and let it accelerate the mass."""
        force = super().push_out(point)
        self.speed += self.step * self.force / self.mass
        self.surface = self.surface - self.step * self.speed * self.normal
        return force


class Scene(NamedTuple):
    """A contact to come."""

    q: ndarray          # (nv,) pose at the contact
    qd: ndarray         # (nv,) velocity there, without slowing down
    link: str
    place: ndarray      # (3,) m, of the contact, in base axes
    velocity: ndarray   # (3,) m/s of the point
    mass: float         # kg, reflected


class Contact(NamedTuple):
    """Result of one contact."""

    force: float        # N, the greatest
    speed: float        # m/s of the reference at the contact
    share: float        # of the full speed at the contact


def scenes(model: RobotModel, count: int, seed: int = 1) -> list[Scene]:
    """Return contacts in random poses, of the origins of random frames, in random directions."""
    rng, dynamics, out = np.random.default_rng(seed), Dynamics(model), []
    names = [name for name, frame in model.frames.items() if frame.body >= 0]
    for q in spread(model, 32 * count):
        direction = rng.normal(size=model.nv)
        qd = FAST * direction / abs(direction / model.velocity_limit).max()
        link = str(rng.choice(names))
        velocity = dynamics.jacobian(q, link, reference='aligned')[:3] @ qd
        ends = q + 2.0 * APPROACH * np.outer([-1.0, 1.0], qd)
        if (np.linalg.norm(velocity) > SLOWEST and (ends > model.position_lower).all()
                and (ends < model.position_upper).all()):
            out.append(Scene(q, qd, link, dynamics.pose(q, link)[:3, 3], velocity,
                             reflected_mass(model, q, link, velocity)))
        if len(out) == count:
            break
    return out


def contact(model: RobotModel, dynamics: Dynamics, scene: Scene, region: str,
            settings: dict) -> Contact:
    """
    Let the arm run into the region.

    The force is zero where the way there begins behind the surface, and the arm within the body.
    """
    loop = ClosedLoop(model, Settings(mode=MODE, contact_region=region, **settings),
                      scene.q - 1.5 * APPROACH * scene.qd)
    loop.start()
    limits = REGIONS[region]
    normal = -scene.velocity / np.linalg.norm(scene.velocity)
    body = Body(scene.link, np.zeros(3), scene.place, normal, limits.stiffness, mass=limits.mass)
    loop.plant.obstacles.append(body)
    begin = dynamics.pose(loop.row()[0], scene.link)[:3, 3]
    if normal @ (begin - scene.place) <= 0.0:
        return Contact(0.0, np.nan, np.nan)
    # From rest to full speed, through the contact at full speed, and to rest again
    loop.controller.follow(Waypoints(
        model.joint_names, APPROACH * np.array([1.0, 3.0, 4.0]),
        scene.q + APPROACH * np.array([[-1.0], [1.0], [1.5]]) * scene.qd,
        np.array([[1.0], [1.0], [0.0]]) * scene.qd), loop.now)
    share, left, end = np.nan, round(60.0 / loop.period), loop.now + 4.0 * APPROACH
    while left > 0 and loop.controller.reference_time < end:
        loop.tick()
        left -= 1
        if np.isnan(share) and body.peak > 0.0:
            share = 1.0 - float(loop.controller.memory['slowing'][0])
            left = round(AFTER / loop.period)
    return Contact(body.peak, share * float(np.linalg.norm(scene.velocity)), share)


def free_contact(model: RobotModel, dynamics: Dynamics, scene: Scene, region: str) -> Contact:
    """Let the arm run into the region, with drives that compensate gravity only."""
    bounds, robot, work = readable(bounds_of(Settings(contact_region=region), model,
                                             parameters(model)), model)
    share = min(1.0, joint_share(bounds, robot, work, scene.q, scene.qd)[0])
    limits, kernels = REGIONS[region], dynamics.kernels
    u = scene.velocity / np.linalg.norm(scene.velocity)
    q, qd, qdd = scene.q.copy(), share * scene.qd, np.zeros(model.nv)
    body, speed, peak = 0.0, 0.0, 0.0
    for k in range(round(PULSE / STEP)):
        depth = float(u @ (dynamics.pose(q, scene.link)[:3, 3] - scene.place)) - body
        if k and depth < 0.0:
            break
        force = limits.stiffness * depth
        peak = max(peak, force)
        J = dynamics.jacobian(q, scene.link, reference='aligned')[:3]
        kernels.forward_dynamics(q, qd, dynamics.gravity(q) - force * (u @ J), qdd)
        qd += STEP * qdd
        q += STEP * qd
        speed += STEP * force / limits.mass
        body += STEP * speed
    return Contact(peak, share * float(np.linalg.norm(scene.velocity)), share)


def readable(bounds: Bounds, model: RobotModel) -> tuple[Bounds, ModelData, Workspace]:
    """Return bounds, parameters and a workspace whose fields plain Python reads."""
    robot, work, fields = parameters(model), workspace(model), np.recarray
    return (bounds._replace(points=bounds.points.view(fields)),
            robot._replace(bodies=robot.bodies.view(fields)),
            work._replace(bodies=work.bodies.view(fields), joints=work.joints.view(fields)))


def measured(name: str, region: str, count: int, controlled: bool, detected: bool) -> dict:
    """Return the figures of a robot and a region."""
    model = load_urdf(name, locked=LOCKED.get(name, {}))
    settings = suggest_gains(model, spread(model, 1)[0])._asdict()
    dynamics = Dynamics(model)
    if detected:
        settings |= {'collision_threshold': THRESHOLD * model.effort_limit,
                     'collision_reaction': 'float'}
    limits, found = REGIONS[region], scenes(model, count)
    runs = [contact(model, dynamics, scene, region, settings) if controlled else
            free_contact(model, dynamics, scene, region) for scene in found]
    hit = [(s, r) for s, r in zip(found, runs, strict=True) if r.force > 0.0]
    forces = np.array([r.force for _, r in hit]) / limits.force
    shares = np.array([r.share for _, r in hit])
    alone = np.array([permitted_speed(*limits, 1.0 / s.mass) / np.linalg.norm(s.velocity)
                      for s, _ in hit])
    return {'contacts': len(hit), 'within': np.mean(forces <= 1.0),
            'greatest': forces.max(), 'median': np.median(forces), 'slowed': np.mean(shares < 1.0),
            'share': np.median(shares), 'demanded': np.mean(alone < 1.0),
            'mass': np.median([s.mass for s, _ in hit])}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--contacts', type=int, default=1000)
    parser.add_argument('--robots', nargs='+', default=['panda', 'ur5'])
    parser.add_argument('--regions', nargs='+', default=['chest', 'hands'], choices=REGIONS)
    parser.add_argument('--controlled', type=int, default=0)
    parser.add_argument('--undetected', action='store_true')
    given = parser.parse_args()
    print('robot region         contacts  within  force [F_max]   mass   slowed  speed   by the\n'
          '                               F_max  median  most    [kg]   down    median  point')
    for controlled, count in ((False, given.contacts), (True, given.controlled)):
        for name in given.robots if count else ():
            for region in given.regions:
                m = measured(name, region, count, controlled, not given.undetected)
                print(f'{name:6}{region:15}{m["contacts"]:8}{m["within"]:9.1%}{m["median"]:8.2f}'
                      f'{m["greatest"]:7.2f}{m["mass"]:7.1f}{m["slowed"]:9.1%}{m["share"]:7.2f}'
                      f'{m["demanded"]:10.1%}{"  controlled" if controlled else ""}', flush=True)


if __name__ == '__main__':
    main()
