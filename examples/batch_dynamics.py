# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Dynamics of 20,000 poses in one call, on all cores.

`dynamics.batch` takes (N, nv) arrays and returns (N, ...). This script computes the gravity
torques of a UR5 in random poses, and its inertia at the shoulder as a function of the pose.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from picture import save
from robodyn_ros import Dynamics, load_urdf

N = 20_000
model = load_urdf('ur5')
ur5 = Dynamics(model)
q = np.random.default_rng(0).uniform(-np.pi, np.pi, (N, model.nv))
ur5.batch.gravity(q[:100]), ur5.batch.mass_matrix(q[:100]), ur5.gravity(q[0])  # load the kernels

began = perf_counter()
gravity = ur5.batch.gravity(q)
together = (perf_counter() - began) / N
began = perf_counter()
one_by_one = np.array([ur5.gravity(pose) for pose in q[:2000]])
alone = (perf_counter() - began) / 2000
assert np.array_equal(one_by_one, gravity[:2000])
M = ur5.batch.mass_matrix(q)
print(f'{1e6 * together:.2f} µs a pose in a batch, {1e6 * alone:.2f} µs in a Python loop')

figure, panels = plt.subplots(1, 3, figsize=(12.5, 4))
names = [name.replace('_joint', '').replace('_', '\n') for name in model.joint_names]
share = abs(gravity) / model.effort_limit
panels[0].violinplot(gravity, showextrema=False, widths=0.9)
panels[0].set_xticks(range(1, 7), names, fontsize=7)
panels[0].set(ylabel='gravity torque [N·m]', title=f'{N:,} random poses')
panels[1].boxplot(100 * share, showfliers=False, medianprops={'color': 'black'})
panels[1].set_xticks(range(1, 7), names, fontsize=7)
panels[1].set(ylabel='share of the effort limit [%]', title='median and quartiles')
reach = np.linalg.norm(ur5.batch.pose(q, 'tool0')[:, :2, 3], axis=1)
drawn = panels[2].hexbin(reach, M[:, 0, 0], gridsize=45, cmap='Blues', bins='log', linewidths=0)
figure.colorbar(drawn, ax=panels[2], label='poses')
panels[2].set(xlabel='distance of the tool from the axis of joint 1 [m]',
              ylabel='M₁₁(q) [kg·m²]', title='inertia about joint 1')
print(f'largest share of an effort limit: {share.max():.0%}')
save(figure)
