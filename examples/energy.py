# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Forward dynamics of a double pendulum: free fall conserves energy.

A Runge-Kutta method of SciPy integrates `forward_dynamics` without torque. The sum of kinetic and
potential energy stays constant. Two starts that differ by a millionth of a radian diverge, since
the system is chaotic.
"""

import matplotlib.pyplot as plt
import numpy as np
from picture import save
from robodyn_ros import Dynamics, load_urdf
from scipy.integrate import solve_ivp

arm = Dynamics(load_urdf('two_link'))
DURATION = 5.0                      # s


def fall(q2):
    """Return times (N,) [s] and states (N, 4), q and q̇, from rest at (0.5, q2)."""
    def rates(t, x):
        return np.concatenate([x[2:], arm.forward_dynamics(x[:2], x[2:], [0.0, 0.0])])
    t = np.linspace(0.0, DURATION, 1001)
    return t, solve_ivp(rates, (0.0, DURATION), [0.5, q2, 0.0, 0.0], 'DOP853', t, rtol=1e-7,
                        atol=1e-8).y.T


t, x = fall(0.8)
_, other = fall(0.8 + 1e-6)
kinetic = arm.batch.kinetic_energy(x[:, :2], x[:, 2:])
potential = arm.batch.potential_energy(x[:, :2])
drift = np.ptp(kinetic + potential)
print(f'energy varies by {drift:.1e} J of {np.ptp(potential):.1f} J')

figure, panels = plt.subplots(1, 3, figsize=(12.5, 4))
tip = arm.batch.pose(x[:, :2], 'tool0')[:, [0, 2], 3]
drawn = panels[0].scatter(*tip.T, c=t, s=2, cmap='viridis')
for k in (0, 60, 120):
    elbow = arm.pose(x[k, :2], 'link2')[[0, 2], 3]
    panels[0].plot(*np.array([[0, 0], elbow, tip[k]]).T, 'o-', color='grey', markersize=5,
                   linewidth=1, alpha=1 - k / 200)
figure.colorbar(drawn, ax=panels[0], label='time [s]', shrink=0.75)
panels[0].set(aspect='equal', xlabel='x [m]', ylabel='z [m]', title='path of the tip')
panels[1].plot(t, kinetic, label='kinetic')
panels[1].plot(t, potential, label='potential')
panels[1].plot(t, kinetic + potential, color='black', label='sum')
panels[1].set(xlabel='time [s]', ylabel='energy [J]', title=f'sum varies by {drift:.0e} J')
panels[1].margins(y=0.2)
panels[1].legend(ncols=3, fontsize=8, loc='upper center')
panels[2].semilogy(t[1:], np.linalg.norm(x - other, axis=1)[1:])
panels[2].set(xlabel='time [s]', ylabel='distance of the states', title='1 µrad at the start')
save(figure)
