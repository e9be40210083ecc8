# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
One arm in both Denavit-Hartenberg conventions.

Standard rows place frame i at the far end of link i (Siciliano et al. 2009), modified rows at
joint i (Craig 2005). Rows, frames and centres of mass differ; the torques are equal.
"""

import matplotlib.pyplot as plt
import numpy as np
from picture import BLUE, GREY, ORANGE, save
from robodyn_ros import DhLink, Dynamics, from_dh

L1, L2, M1, M2 = 0.5, 0.4, 2.0, 1.0         # m, kg: point masses at the ends of the links
DOWN = (0, -9.81, 0)

standard = from_dh([DhLink(theta=0, d=0, a=L1, alpha=0, mass=M1),
                    DhLink(theta=0, d=0, a=L2, alpha=0, mass=M2)],
                   convention='standard', gravity=DOWN, name='standard')
modified = from_dh([DhLink(theta=0, d=0, a=0, alpha=0, mass=M1, com=(L1, 0, 0)),
                    DhLink(theta=0, d=0, a=L1, alpha=0, mass=M2, com=(L2, 0, 0))],
                   convention='modified', tool=(L2, 0, 0), gravity=DOWN, name='modified')

states = np.random.default_rng(0).uniform(-2.0, 2.0, (3, 200, 2))       # q, q̇, q̈
torques = [Dynamics(model).batch.inverse_dynamics(*states) for model in (standard, modified)]
difference = abs(torques[0] - torques[1]).max()
print(f'largest difference: {difference:.1e} N·m')

figure, panels = plt.subplots(1, 3, figsize=(11, 3.9))
pose = np.array([0.5, 0.7])
points = L1 * np.array([np.cos(0.5), np.sin(0.5)]), L2 * np.array([np.cos(1.2), np.sin(1.2)])
arm = np.array([np.zeros(2), points[0], points[0] + points[1]])
for axes, model in zip(panels, (standard, modified)):
    axes.plot(*arm.T, color=GREY, linewidth=7, alpha=0.35, solid_capstyle='round')
    axes.plot(*arm[:2].T, 'o', color='white', markeredgecolor=GREY, markersize=12)
    for k, name in enumerate(('link1', 'link2')):
        T = Dynamics(model).pose(pose, name)
        for column, color in ((0, ORANGE), (1, BLUE)):
            axes.annotate('', T[:2, 3] + 0.16 * T[:2, column], T[:2, 3],
                          arrowprops={'arrowstyle': '-|>', 'color': color, 'linewidth': 2})
        axes.text(T[0, 3] + 0.05, T[1, 3] - 0.09, f'frame {k + 1}')
    axes.set(aspect='equal', xlim=(-0.15, 0.85), ylim=(-0.15, 0.85), xlabel='x [m]',
             title=f'{model.name}: frames, x orange, y blue')
for i in range(2):
    panels[2].plot(torques[0][:, i], torques[1][:, i], 'o', markersize=3, label=f'joint {i + 1}')
panels[2].axline((0, 0), slope=1, color=GREY, linewidth=1)
panels[2].set(xlabel='torque, standard rows [N·m]', ylabel='torque, modified rows [N·m]',
              title=f'200 random states: differ by {difference:.0e} N·m')
panels[2].legend()
save(figure)
