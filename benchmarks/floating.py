# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
An arm that floats, in MuJoCo: `python -m benchmarks.floating [two_link|panda|sensors]`.

The arm has masses off by up to 20 %, Coulomb friction of 2 % of the effort limits with an elastic
contact (presliding), with and without viscous friction, all unknown, a delay of 2 ms and noise of
its sensors. Printed are, in `gravity_compensation`,

- the drift with the false model, with the calibration of `robodyn calibrate float`, and with
  friction compensation besides, and how much a joint still moves in the last second;
- the break-away effort, with and without friction compensation: it rises slowly, on one joint at a
  time, until the joint has moved by five presliding distances;
- that of the first joint of a two_link against the resolution of its encoders and their noise.
"""

from dataclasses import replace
import sys

import numpy as np
from numpy import ndarray
from robodyn_ros import RobotModel, Settings, simulate, Waypoints
from robodyn_ros.catalog.robots import CatalogRobot, load_robot
from robodyn_ros.cli.calibrate_float import calibrate, Calibration, MIN_DISTANCE
from robodyn_ros.closed_loop import ClosedLoop
from robodyn_ros.identification.excitation.payload_motion import float_motion
from robodyn_ros.identification.recordings.recording import Recording
from robodyn_ros.law_comparison import EFFORT_DELAY, scenes, settings_of
from robodyn_ros.simulation.drive import Noise

ROBOTS, DISTANCE = ('two_link', 'panda'), 1e-3      # rad, of presliding
NOISE, EFFORT_NOISE = 1e-5, 2e-3                    # rad; effort limits
VISCOUS = 0.005, 0.0    # effort limits per rad/s; without any, no friction damps the contacts
FALLING, FLOATING, SHARE = 5.0, 60.0, 0.8           # s, s
RISE, AWAY = 0.2, 5.0                               # of the friction per second; distances
#: Resolution of encoders and noise [rad].
SENSORS = (1e-4, 0.0), (2e-4, 0.0), (5e-4, 0.0), (0.0, 2e-5), (0.0, 5e-5), (0.0, 2e-4)


def noise(position: float = NOISE, resolution: float = 0.0) -> Noise:
    """Return sensors with the noise of a position, and of a velocity made of it."""
    return Noise(position=position, velocity=100.0 * position, resolution=resolution)


def elastic(plant: RobotModel, share: float) -> RobotModel:
    """Return an arm whose joints have presliding, and viscous friction of ``share`` limits."""
    viscous = share * plant.effort_limit
    return replace(plant, presliding_distance=np.where(plant.slides, 0.0, DISTANCE),
                   viscous_friction=viscous, backward_friction=np.array([
                       viscous, plant.coulomb_friction, plant.coulomb_friction]))


def calibration(robot: CatalogRobot, plant: RobotModel) -> Calibration:
    """Return what `calibrate float` finds from a motion of the arm."""
    _, known, _, delay = scenes(robot.model)[1]
    found = float_motion(known, robot.pose)
    asked = Waypoints(found.joint_names, found.times, found.positions, found.velocities,
                      found.accelerations)
    run = simulate(known, settings_of('joint_impedance', known, robot.pose), robot.pose,
                   float(found.times[-1]), asked, plant=plant, delay=delay,
                   noise=noise())
    efforts = EFFORT_NOISE * known.effort_limit * np.random.default_rng(0).normal(
        size=run.effort.shape)
    return calibrate(Recording(known.joint_names, run.time, run.position, None,
                               run.effort + efforts), known)


def floats(model: RobotModel, plant: RobotModel, pose: ndarray, share: float,
           sensors: tuple[float, float]) -> ClosedLoop:
    """Return a loop that floats, RUNNING."""
    loop = ClosedLoop(model, Settings(mode='gravity_compensation', arming_effort=3.0,
                                      friction_compensation=share if share else ()),
                      pose, plant=plant, delay=EFFORT_DELAY,
                      noise=noise(sensors[1], sensors[0]))
    loop.start()
    return loop


def drift(loop: ClosedLoop, seconds: float) -> tuple[float, float]:
    """Return how far a joint drifts, and how much one moves in the last second."""
    begin, rows = loop.plant.state().position.copy(), []
    for _ in range(round(seconds / loop.period)):
        loop.tick()
        rows.append(loop.plant.state().position.copy())
    return (float(abs(np.array(rows) - begin).max()),
            float(np.ptp(rows[-round(1.0 / loop.period):], axis=0).max()))


def breakaway(loop: ClosedLoop, friction: ndarray, i: int) -> float:
    """Return the rising effort on joint ``i`` that sets it moving, over its friction."""
    begin, step = loop.plant.state().position[i], loop.plant.step
    push = np.zeros(len(friction))
    loop.plant.step = lambda tau: step(tau + push)          # type: ignore[method-assign]
    while abs(loop.plant.state().position[i] - begin) < AWAY * DISTANCE:
        push[i] += RISE * friction[i] * loop.period
        loop.tick()
    return float(push[i] / friction[i])


def compensated(found: Calibration) -> RobotModel:
    """Return the model of the files that `calibrate float` writes."""
    return replace(found.estimate.to_model(), presliding_distance=found.distance)


def figures(name: str, viscous: float) -> None:
    """Print drift and break-away efforts of a robot."""
    robot, sensors = load_robot(name, {}, []), (0.0, NOISE)
    _, known, plant, _ = scenes(robot.model)[1]
    plant = elastic(plant, viscous)
    found = calibration(robot, plant)
    model = compensated(found)
    print(f'{name}, viscous friction {viscous:.1%} of the limits: {found.note}; Coulomb friction '
          f'over that of the arm {np.round(model.coulomb_friction / plant.coulomb_friction, 2)}',
          flush=True)
    for i, joint in enumerate(known.joint_names):
        alone, with_it = (breakaway(floats(model, plant, robot.pose, share, sensors),
                                    plant.coulomb_friction, i) for share in (0.0, SHARE))
        print(f'  {joint:14} break-away {alone:.2f} of its friction, compensated '
              f'{with_it:.2f}: {with_it / alone:.0%}', flush=True)
    for what, its, share, seconds in (
            ('false model', known, 0.0, FALLING), ('compensated', model, SHARE, FLOATING),
            ('calibrated', model, 0.0, FLOATING)):
        far, last = drift(floats(its, plant, robot.pose, share, sensors), seconds)
        print(f'  {what:12} drift in {seconds:g} s {1e3 * far:8.3f} mrad, motion of the last '
              f'second {1e3 * last:.4f} mrad', flush=True)


def sensors_table() -> None:
    """Print the break-away effort of a joint against resolution and noise of its sensor."""
    robot = load_robot('two_link', {}, [])
    plant = elastic(scenes(robot.model)[1].plant, VISCOUS[0])
    found = calibration(robot, plant)
    for sensors in SENSORS:
        deviation = np.hypot(sensors[0] / np.sqrt(12.0), sensors[1])
        distance = np.maximum(found.distance, MIN_DISTANCE * deviation)
        model = replace(compensated(found), presliding_distance=distance)
        with_it = breakaway(floats(model, plant, robot.pose, SHARE, sensors),
                            plant.coulomb_friction, 0)
        far, _ = drift(floats(model, plant, robot.pose, SHARE, sensors), FALLING)
        print(f'two_link, resolution {1e3 * sensors[0]:.3g} mrad, noise {1e3 * sensors[1]:.3g} '
              f'mrad: compensated over {1e3 * distance[0]:.2g} mrad, break-away {with_it:.0%} of '
              f'the friction, drift in {FALLING:g} s {1e3 * far:.3f} mrad', flush=True)


if __name__ == '__main__':
    for asked in sys.argv[1:] or (*ROBOTS, 'sensors'):
        if asked == 'sensors':
            sensors_table()
        for share in VISCOUS if asked != 'sensors' else ():
            figures(asked, share)
