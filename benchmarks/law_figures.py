# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Figures of `adaptive`, in MuJoCo: `python -m benchmarks.law_figures`.

With a payload of 2 kg that it does not know: how much of the error that the payload costs is gone
after 20 s of a repeated motion, and the smallest eigenvalue of the pseudo-inertia in all cycles.
"""

from dataclasses import replace

import numpy as np
from numpy import ndarray
from robodyn_ros import Dynamics, RobotModel, Settings
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.closed_loop import ClosedLoop
from robodyn_ros.control.laws import adaptive, registry
from robodyn_ros.control.references import sine_motion as motion
from robodyn_ros.control.settings.suggested_gains import suggest_gains
from robodyn_ros.model.robot import with_payload

PAYLOAD, SECONDS, MOTION = 2.0, 20.0, 3.0       # kg, s, s
HOLDERS = {'two_link': ('link2', (0.4, 0.0, 0.0)), 'panda': ('panda_hand', (0.0, 0.0, 0.1)),
           'ur5': ('tool0', (0.0, 0.0, 0.1))}


def estimate(loop: ClosedLoop) -> ndarray:
    """Return the pseudo-inertia (4, 4) that is learned."""
    G = registry.memory_fields(adaptive.LAW, loop.controller._law_memory).factor.reshape(4, 4)
    return G @ G.T


def repeated(robot: RobotModel, plant: RobotModel, pose: ndarray, rate: float
             ) -> tuple[float, float]:
    """Return the RMS error of the last motion within SECONDS, and the smallest eigenvalue."""
    gains = suggest_gains(robot, pose, Settings())
    loop = ClosedLoop(robot, Settings(
        mode='adaptive', damping=gains.damping, adaptive_bandwidth=gains.adaptive_bandwidth,
        adaptation_mass=3.0, adaptation_rate=rate, arming_effort=3.0), pose, plant=plant)
    loop.start()
    asked, errors, least = motion.plan(Dynamics(robot), pose, MOTION), [0.0], np.inf
    # Without its first waypoint: an arm that sags under an unknown payload begins elsewhere
    asked = replace(asked, **{name: getattr(asked, name)[1:] for name in (
        'times', 'positions', 'velocities', 'accelerations')})
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


if __name__ == '__main__':
    recovery()
