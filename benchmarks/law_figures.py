# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Figures of laws that learn, in MuJoCo: `python -m benchmarks.law_figures`.

- `adaptive` with a payload of 2 kg that it does not know: how much of the error that the payload
  costs is gone after 20 s of a repeated motion, and the smallest eigenvalue of the pseudo-inertia
  in all cycles;
- `adaptive` without excitation, with velocity noise, for ten minutes: drift of the pseudo-inertia;
- `gravity_compensation` of a Panda with false masses and unknown friction, before and after
  `robodyn calibrate-float`: drift in 60 s, and the effort that moves a joint by 0.01 rad within
  half a second, over its Coulomb friction.
"""

import numpy as np
from numpy import ndarray

from robodyn_ros import Dynamics, RobotModel, Settings, Waypoints, simulate
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.cli.calibrate_float import calibrate
from robodyn_ros.closed_loop import ClosedLoop
from robodyn_ros.control.laws import adaptive, registry
from robodyn_ros.control.suggested_gains import suggest
from robodyn_ros.demo import motion
from robodyn_ros.demo.law_comparison import scenes, settings_of
from robodyn_ros.identification.excitation.float_motion import float_motion
from robodyn_ros.identification.recordings.recording import Recording
from robodyn_ros.model.payload import with_payload

PAYLOAD, SECONDS, MOTION = 2.0, 20.0, 3.0       # kg, s, s
QUIET, NOISE = 600.0, 1e-3                      # s, rad/s
FLOATING, MOVED, PUSHED = 60.0, 0.01, 0.5       # s, rad, s
HOLDERS = {'two_link': ('link2', (0.4, 0.0, 0.0)), 'panda': ('panda_hand', (0.0, 0.0, 0.1)),
           'ur5': ('tool0', (0.0, 0.0, 0.1))}


def estimate(loop: ClosedLoop) -> ndarray:
    """Return the pseudo-inertia (4, 4) that is learned."""
    G = registry.memory_fields(adaptive.LAW, loop.controller._law_memory).factor.reshape(4, 4)
    return G @ G.T


def repeated(robot: RobotModel, plant: RobotModel, pose: ndarray, rate: float
             ) -> tuple[float, float]:
    """Return the RMS error of the last motion within SECONDS, and the smallest eigenvalue."""
    gains = suggest(robot, pose, Settings())
    loop = ClosedLoop(robot, Settings(
        mode='adaptive', damping=gains.damping, adaptive_bandwidth=gains.adaptive_bandwidth,
        adaptation_mass=3.0, adaptation_rate=rate, arming_effort=3.0), pose, plant=plant)
    loop.start()
    asked, errors, least = motion.plan(Dynamics(robot), pose, MOTION), [0.0], np.inf
    begin = loop.now
    while loop.now + asked.times[-1] < begin + SECONDS:
        loop.controller.follow(asked, loop.now)
        errors = []
        for _ in range(round(asked.times[-1] / loop.period)):
            loop.tick()
            errors.append(loop.controller._v.target - loop.row()[0])
            if rate:
                least = min(least, float(np.linalg.eigvalsh(estimate(loop)).min()))
    return float(np.sqrt((np.array(errors)**2).mean())), least


def recovery() -> None:
    """Print what `adaptive` recovers of the cost of a payload."""
    for name, (frame, com) in HOLDERS.items():
        robot = load_robot(name, {}, [])
        loaded = with_payload(robot.model, frame, PAYLOAD, com, PAYLOAD * 0.03**2 * np.eye(3))
        known, _ = repeated(loaded, loaded, robot.pose, 0.0)
        false, _ = repeated(robot.model, loaded, robot.pose, 0.0)
        learned, least = repeated(robot.model, loaded, robot.pose, 2.0)
        print(f'adaptive {name:9} RMS {1e3 * known:.3g} mrad known, {1e3 * false:.3g} unknown, '
              f'{1e3 * learned:.3g} after {SECONDS:g} s: {(false - learned) / (false - known):.1%}'
              f' recovered; smallest eigenvalue {least:.2g}', flush=True)


def drift() -> None:
    """Print how far the estimate drifts without excitation."""
    robot, random = load_robot('two_link', {}, []), np.random.default_rng(0)
    gains = suggest(robot.model, robot.pose, Settings())
    loop = ClosedLoop(robot.model, Settings(
        mode='adaptive', damping=gains.damping, adaptive_bandwidth=gains.adaptive_bandwidth,
        adaptation_mass=3.0), robot.pose)
    state = loop.plant.state
    loop.plant.state = lambda: (seen := state())._replace(      # type: ignore[method-assign]
        velocity=seen.velocity + NOISE * random.normal(size=robot.model.nv))
    loop.start()
    first, k = None, 0
    while loop.now < QUIET:
        if k % 1000 == 0 and loop.now > QUIET / 2:          # a creeping motion
            to = robot.pose + 0.02 * (-1)**(k // 1000)
            loop.controller.follow(Waypoints(robot.model.joint_names, [0.9], [to]), loop.now)
        loop.tick()
        first = estimate(loop) if first is None else first
        k += 1
    print(f'adaptive two_link  {QUIET:g} s unexcited, noise {NOISE:g} rad/s: drift '
          f'{abs(estimate(loop) - first).max() / abs(first).max():.2%}', flush=True)


def floating() -> None:
    """Print drift and break-away force of a Panda before and after its calibration."""
    robot = load_robot('panda', {}, [])
    _, known, plant, delay = scenes(robot.model)[1]
    found = float_motion(known, robot.pose, duration=30.0)
    asked = Waypoints(found.joint_names, found.times, found.positions, found.velocities,
                      found.accelerations)
    run = simulate(known, settings_of('joint_impedance', known, robot.pose), robot.pose, 30.0,
                   asked, plant=plant, delay=delay)
    noise = np.random.default_rng(0).normal(size=(2, *run.effort.shape))
    model = calibrate(Recording(
        known.joint_names, run.time, run.position + 1e-5 * noise[0], None,
        run.effort + 2e-3 * known.effort_limit * noise[1]), known).estimate.to_model()
    for name, its, share in (('false', known, 0.0), ('calibrated', model, 0.0),
                             ('compensated', model, 0.8)):
        settings = Settings(mode='gravity_compensation', arming_effort=3.0,
                            friction_compensation=share if share else ())
        away = abs(simulate(its, settings, robot.pose, FLOATING if share == 0.0 else 10.0,
                            plant=plant).position - robot.pose).max()
        print(f'float panda, {name:11} drift {1e3 * away:.3g} mrad', flush=True)
        if name != 'false':
            print(f'    break-away over Coulomb friction: '
                  f'{[round(breakaway(its, plant, robot.pose, settings, i), 2) for i in (1, 3)]}'
                  ' of joints 2 and 4', flush=True)


def breakaway(model: RobotModel, plant: RobotModel, pose: ndarray, settings: Settings, i: int
              ) -> float:
    """Return the effort that moves joint ``i`` by MOVED within PUSHED, over its friction."""
    for share in np.arange(0.05, 1.5, 0.05):
        loop = ClosedLoop(model, settings, pose, plant=plant)
        loop.start()
        begin, step = loop.row()[0][i], loop.plant.step
        push = np.where(np.arange(model.nv) == i, share * plant.coulomb_friction, 0.0)
        loop.plant.step = lambda tau, step=step, push=push: step(    # type: ignore[method-assign]
            tau + push)
        for _ in range(round(PUSHED / loop.period)):
            loop.tick()
        if abs(loop.row()[0][i] - begin) > MOVED:
            return float(share)
    return np.inf


if __name__ == '__main__':
    recovery()
    drift()
    floating()
