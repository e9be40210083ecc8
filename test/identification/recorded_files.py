# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A two-link arm that is not what its URDF says, and recordings of it as CSV files."""

from dataclasses import replace

from excited import sines
import numpy as np
from robodyn_ros import load_urdf
from robodyn_ros.dynamics.api import Batch
from robodyn_ros.model.payload import with_payload
from robots import OWN

OFFSET = np.array([0.3, -0.2])
RATE, NOISE = 200.0, 0.05


def nominal():
    return load_urdf(OWN['two_link'])


def real():
    """Heavier at the elbow, lighter at the tip, with friction."""
    model = nominal()
    model = with_payload(model, 'link1', 0.6, (0.2, 0.03, 0), np.diag([0.004, 0.01, 0.012]))
    model = replace(model, mass=model.mass * [1.0, 0.8], com=model.com * [[1, 1, 1], [0.9, 1, 1]],
                    inertia=model.inertia + [np.zeros((3, 3)), 0.005 * np.eye(3)])
    viscous, coulomb = np.array([0.8, 0.5]), np.array([0.7, 0.3])
    return replace(model, viscous_friction=viscous, coulomb_friction=coulomb,
                   static_friction=coulomb,
                   backward_friction=np.array([viscous, coulomb, coulomb]))


def write_csv(path, model, seed, duration, offset=OFFSET):
    """Write what a recorder would: time, positions, and efforts with noise."""
    rng = np.random.default_rng(seed + 50)
    time = np.arange(round(duration * RATE)) / RATE
    q, v, a = sines(model, time, seed)
    batch = Batch(model, threads=1)
    effort = batch.inverse_dynamics(q, v, a) + batch.friction(v) + offset
    effort += NOISE * rng.normal(size=effort.shape)
    q = q + 2e-5 * rng.normal(size=q.shape)
    header = ','.join(['time', *(f'{word}_{name}' for word in ('position', 'effort')
                                 for name in model.joint_names)])
    np.savetxt(path, np.column_stack([time, q, effort]), delimiter=',', header=header, comments='')
    return path
