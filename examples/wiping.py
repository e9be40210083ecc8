# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Cartesian impedance: a tool wipes a table of uncertain height.

The reference moves 2 cm below the surface, and a spring between tool and reference presses with
stiffness times distance. A table that is 1 cm lower halves the force. Under position control the
same error would cause a fault or break the tool.
"""

import matplotlib.pyplot as plt
import numpy as np
from picture import GREY, save
from robodyn_ros import Dynamics, load_urdf, Settings
from robodyn_ros.closed_loop import ClosedLoop
from robodyn_ros.simulation.plant import Obstacle

STIFFNESS, DEPTH, TABLE = 800.0, 0.02, 0.45         # N/m, m, m
model = load_urdf('two_link')
arm = Dynamics(model)
start = np.array([0.3, 1.6])
pose = arm.pose(start, 'tool0')
settings = Settings(mode='cartesian_impedance', task_frame='tool0', nullspace_kd=0.0,
                    task_velocity_limit=[0.4, 1.0],
                    task_stiffness=[STIFFNESS, STIFFNESS, STIFFNESS, 0.0, 0.0, 0.0])
print(f'the tool begins at x = {pose[0, 3]:.3f} m, z = {pose[2, 3]:.3f} m')


def wipe(height: float) -> np.ndarray:
    """Return time, place (x, z) of the tool and normal force while it wipes a table."""
    loop = ClosedLoop(model, settings, start)
    table = Obstacle('tool0', np.zeros(3), np.array([0.0, 0.0, height]), np.array([0.0, 0, 1]),
                     stiffness=20e3)
    loop.plant.obstacles.append(table)
    loop.start()
    begin, rows = loop.now, []
    targets = {0.05: 0.0, 1.6: 0.12, 2.5: -0.02}        # s, m along the table
    for _ in range(round(3.6 / loop.period)):
        t = round(loop.now - begin, 6)
        if t in targets:
            loop.controller.follow_pose([pose[0, 3] + targets[t], 0.0, TABLE - DEPTH],
                                        [0.0, 0.0, 0.0, 1.0], loop.now)
        loop.tick()
        tool = arm.pose(loop.row()[0], 'tool0')
        rows.append([t, tool[0, 3], tool[2, 3], table.force])
    return np.array(rows).T


figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.0))
force = {}
for height in (TABLE, TABLE - 0.01):
    t, x, z, normal = wipe(height)
    force[height] = float(normal[-1])
    name = f'table at {100 * height:.0f} cm'
    left.plot(x, 100 * z, label=name)
    right.plot(t, normal, label=f'{name}: {normal[-1]:.1f} N')
    print(f'{name}: {normal[-1]:.1f} N; stiffness times distance: '
          f'{STIFFNESS * (height - TABLE + DEPTH):.1f} N')
left.axhline(100 * (TABLE - DEPTH), color=GREY, linestyle='--', label='reference')
left.set(xlabel='x [m]', ylabel='height of the tool [cm]', title='the tool stays on the table')
right.set(xlabel='time [s]', ylabel='normal force [N]', title='and presses as its spring does')
for axes in (left, right):
    axes.legend(fontsize=8)
save(figure)
