# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Injections of contacts: the tool meets a plane."""

import numpy as np
from numpy import ndarray

from .injection import Active, FLOATING, IMPEDANCE, injection, PANDA, PANDA_IMPEDANCE, PLANT
from .plant import Plant
from .plant_step import TICK

CLEARANCE = 0.01    # m between the tool and the plane, when the injection begins
MIN_STIFFNESS, MAX_STIFFNESS = 1e3, 1e5    # N/m: foam to a wooden table, drawn log-uniformly
MAX_CONTACT_RATE = 0.3    # of a tick: the vibration of the tool on the plane is slower than this
DAMPING_RATIO = 0.5
MIN_APPROACH_VELOCITY = 0.02    # m/s, below which the plane is below the tool


def _plane(a: Active, frame: str, velocity: ndarray) -> tuple[ndarray, float, float]:
    """Return the unit vector into a plane (3,), its distance from the base [m], its stiffness."""
    speed, model = float(np.linalg.norm(velocity)), a.world.plant.dynamics.model
    ahead = velocity if speed > MIN_APPROACH_VELOCITY else model.gravity_vector
    normal = ahead / max(np.linalg.norm(ahead), 1e-9)
    position = a.world.plant.dynamics.pose(a.world.plant.q, frame)[:3, 3]
    stiffness = np.exp(a.world.random.uniform(np.log(MIN_STIFFNESS), np.log(MAX_STIFFNESS)))
    return normal, float(normal @ position) + CLEARANCE, float(stiffness)


@injection('tool meets a table', PLANT, throws=True,
           scenes=(FLOATING, IMPEDANCE, PANDA, PANDA_IMPEDANCE))
def table(a: Active, plant: Plant) -> None:
    """Press back as a damped spring does, perpendicular to the plane, without pulling."""
    dynamics, q = plant.dynamics, plant.q
    frame = dynamics.model.frame_names[-1]
    J = dynamics.jacobian(q, frame)[:3]
    if 'plane' not in a.memory:
        a.memory['plane'] = _plane(a, frame, J @ plant.qd)
    normal, level, stiffness = a.memory['plane']
    depth = float(normal @ dynamics.pose(q, frame)[:3, 3]) - level
    if depth <= 0.0:
        return
    row = normal @ J
    inertia = 1.0 / max(float(row @ np.linalg.solve(dynamics.mass_matrix(q), row)), 1e-9)
    stiffness = min(stiffness, inertia * (MAX_CONTACT_RATE / TICK)**2)
    damping = 2.0 * DAMPING_RATIO * np.sqrt(stiffness * inertia)
    plant.external -= max(0.0, stiffness * depth + damping * float(row @ plant.qd)) * row
