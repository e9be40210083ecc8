# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Inverse dynamics of a planar 2R arm by the Newton-Euler recursion, written out by hand.

Velocities and accelerations are propagated outwards, forces and moments inwards (Craig 2005,
section 6.5). `Dynamics.inverse_dynamics` gives the same torques for any robot. The second picture
splits the torques into the terms of the equation of motion.
"""

import matplotlib.pyplot as plt
import numpy as np
from picture import GREY, save
from robodyn_ros import Dynamics, load_urdf

L1, L2, M1, M2, G = 0.5, 0.4, 2.0, 1.0, 9.81        # m, kg, m/s²: point masses at the ends


def cross(w, v):
    """Return the vector product of w about z and v in the plane."""
    return w * np.array([-v[1], v[0]])


def newton_euler(q, qd, qdd):
    """Return the torques (2,) [N·m]; all vectors are in the axes of the base, y up."""
    along = [length * np.array([np.cos(angle), np.sin(angle)])
             for length, angle in ((L1, q[0]), (L2, q[0] + q[1]))]
    # Outwards: gravity is an acceleration of the base upwards
    a = np.array([0.0, G])
    forces = []
    for r, m, w, wd in zip(along, (M1, M2), np.cumsum(qd), np.cumsum(qdd)):
        a = a + cross(wd, r) - w * w * r
        forces.append(m * a)
    # Inwards: the force on the tip of a link is that of the links beyond it
    force, moment, tau = np.zeros(2), 0.0, np.zeros(2)
    for i in (1, 0):
        force = force + forces[i]
        moment = moment + along[i][0] * force[1] - along[i][1] * force[0]
        tau[i] = moment
    return tau


t = np.linspace(0.0, 2.0, 201)
q = np.column_stack([0.8 * np.sin(np.pi * t), 1.2 * np.sin(2 * np.pi * t)])
qd = np.gradient(q, t, axis=0, edge_order=2)
qdd = np.gradient(qd, t, axis=0, edge_order=2)

dynamics = Dynamics(load_urdf('two_link'))
library = dynamics.batch.inverse_dynamics(q, qd, qdd)
by_hand = np.array([newton_euler(*state) for state in zip(q, qd, qdd)])
difference = abs(library - by_hand).max()
print(f'largest difference: {difference:.1e} N·m')

gravity = dynamics.batch.gravity(q)
inertia = np.einsum('tij,tj->ti', dynamics.batch.mass_matrix(q), qdd)
terms = {'M(q) q̈': inertia, 'C(q, q̇) q̇': library - inertia - gravity, 'g(q)': gravity}

figure, (upper, lower) = plt.subplots(2, 1, figsize=(7.5, 5.6), sharex=True)
for i in range(2):
    upper.plot(t, library[:, i], label=f'joint {i + 1}, robodyn_ros')
    upper.plot(t[::5], by_hand[::5, i], 'o', color=GREY, markersize=4, mfc='none',
               label='by hand' if i else None)
upper.set(ylabel='torque [N·m]', title='2R arm: Newton-Euler by hand and by the library')
for name, term in terms.items():
    lower.plot(t, term[:, 0], label=name)
lower.plot(t, library[:, 0], color='black', linewidth=1, label='sum')
lower.set(xlabel='time [s]', ylabel='torque of joint 1 [N·m]')
for axes in (upper, lower):
    axes.legend(ncols=4, loc='lower left', bbox_to_anchor=(0, -0.02), fontsize=8)
    axes.margins(y=0.22)
save(figure)
