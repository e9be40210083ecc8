# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Gravity torque of a UR5 over its workspace.

Shoulder and elbow move through all angles in their vertical plane. The colour of each tool
position is the largest ratio of a gravity torque to its effort limit, without a load and with the
rated load of 5 kg. In dark regions little effort is left for motion.
"""

import matplotlib.pyplot as plt
import numpy as np
from picture import save
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.model.robot import with_payload

model = load_urdf('ur5')
lift, elbow = np.meshgrid(np.linspace(-np.pi, 0.0, 240), np.linspace(-2.6, 2.6, 240))
q = np.zeros((lift.size, model.nv))
q[:, 1], q[:, 2], q[:, 3] = lift.ravel(), elbow.ravel(), -np.pi / 2
tool = Dynamics(model).batch.pose(q, 'tool0')[:, :3, 3]

figure, panels = plt.subplots(1, 2, figsize=(11, 5), sharey=True)
worst = {}
for axes, (name, robot) in zip(panels, {
        'without a load': model, 'with 5 kg': with_payload(model, 'tool0', 5.0)}.items()):
    share = (abs(Dynamics(robot).batch.gravity(q)) / model.effort_limit).max(axis=1)
    order = np.argsort(share)                       # the hardest pose of a point on top
    drawn = axes.scatter(tool[order, 0], tool[order, 2], c=100 * share[order], s=3, vmin=0,
                         vmax=100, cmap='magma_r', linewidths=0, rasterized=True)
    worst[name] = share.max()
    axes.plot(0, 0, 's', color='black', markersize=9)
    axes.set(aspect='equal', xlabel='x [m]', title=f'{name}: at most {worst[name]:.0%}')
panels[0].set_ylabel('z [m]')
figure.colorbar(drawn, ax=panels, label='largest share of an effort limit [%]', shrink=0.85)
figure.suptitle('gravity torque of a UR5, poses of shoulder and elbow')
print(*(f'{name}: {share:.1%} of an effort limit' for name, share in worst.items()), sep='\n')
save(figure)
