# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Task space of a planar 2R arm, and its singularity.

Joint velocities on the unit circle map to an ellipse of tip velocities, which collapses when the
arm is stretched (q₂ = 0). There the inertia M_x at the tip becomes infinite (Khatib 1987).
`task_space` raises an error at the singularity; `damping` bounds M_x near it.
"""

import matplotlib.pyplot as plt
import numpy as np
from picture import BLUE, GREY, ORANGE, save
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.errors import SingularityError

arm = Dynamics(load_urdf('two_link'))
angle = np.linspace(0, 2 * np.pi, 100)
circle = np.array([np.cos(angle), np.sin(angle)])


def inertia(q, damping=0.0):
    """Return M_x (2, 2) [kg] of the tip in the plane of motion, in the axes of the base."""
    return arm.task_space(q, [0.0, 0.0], 'tool0', 'xz', 'aligned', damping).inertia


figure, panels = plt.subplots(1, 3, figsize=(12.5, 4.2))
for q in ([2.2, -2.3], [1.35, -1.6], [0.55, -0.9], [0.02, -0.2]):
    elbow, tip = (arm.pose(q, name)[[0, 2], 3] for name in ('link2', 'tool0'))
    J = arm.jacobian(q, 'tool0', 'aligned')[[0, 2]]
    panels[0].plot(*np.array([[0, 0], elbow, tip]).T, 'o-', color=GREY, markersize=4)
    panels[0].plot(*(tip[:, None] + 0.25 * J @ circle), color=BLUE)
    # Accelerations of the tip under a force of 1 N in any direction
    panels[0].plot(*(tip[:, None] + 0.15 * np.linalg.solve(inertia(q), circle)), color=ORANGE)
panels[0].plot([], [], color=BLUE, label='velocity: J q̇, |q̇| = 1')
panels[0].plot([], [], color=ORANGE, label='acceleration: M_x⁻¹ f, |f| = 1')
panels[0].set(aspect='equal', xlabel='x [m]', ylabel='z [m]', ylim=(-0.45, 0.95),
              title='ellipses at the tip')
panels[0].legend(fontsize=8, loc='upper right')

elbows = np.linspace(-2.8, 2.8, 281)
J = arm.batch.jacobian(np.column_stack([0 * elbows, elbows]), 'tool0', 'aligned')[:, [0, 2]]
singular = np.linalg.svd(J)[1]
panels[1].plot(elbows, abs(np.linalg.det(J)), label='|det J| [m²/rad²]')
panels[1].plot(elbows, singular[:, 0], label='largest singular value [m/rad]')
panels[1].plot(elbows, singular[:, 1], label='smallest singular value [m/rad]')
panels[1].set(xlabel='q₂ [rad]', title='manipulability')
panels[1].legend(fontsize=8, loc='upper left')
panels[1].margins(y=0.25)

near = np.linspace(-1.0, 1.0, 200)                  # does not contain 0
for damping in (0.0, 1e-3, 1e-2):
    largest = [np.linalg.eigvalsh(inertia([0, q2], damping))[-1] for q2 in near]
    panels[2].semilogy(near, largest, label=f'damping {damping:g}')
panels[2].set(xlabel='q₂ [rad]', ylabel='largest eigenvalue of M_x [kg]',
              title='inertia at the tip')
panels[2].legend(fontsize=8)
refused = ''
try:
    inertia([0, 0])
except SingularityError as error:
    refused = str(error)
    print('refused:', refused)
save(figure)
