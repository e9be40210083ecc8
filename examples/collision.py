# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Collision detection without a force sensor.

Efforts that the model does not explain are external efforts. The arm runs into an elastic
obstacle. Without a threshold it pushes until its springs balance the contact force; with a
threshold the fault COLLISION is latched soon after the contact, and the arm retreats. The
generalised-momentum observer needs neither accelerations nor a force sensor.
"""

import matplotlib.pyplot as plt
import numpy as np
from picture import GREY, save
from robodyn_ros import Dynamics, load_urdf, Settings, Waypoints
from robodyn_ros.closed_loop import ClosedLoop
from robodyn_ros.simulation.plant import Obstacle

model = load_urdf('two_link')
arm = Dynamics(model)
start, end = np.array([0.3, 1.6]), np.array([0.9, 1.2])
path = Waypoints(model.joint_names, np.array([0.0, 1.2]), np.array([start, end]),
                 np.zeros((2, 2)), np.zeros((2, 2)))
middle = arm.pose((start + end) / 2, 'tool0')[:3, 3]
along = arm.pose(end, 'tool0')[:3, 3] - arm.pose(start, 'tool0')[:3, 3]
springs = {'mode': 'joint_impedance', 'stiffness': [400.0, 100.0], 'damping': [25.0, 9.0]}
settings = {'no threshold': Settings(**springs),
            'threshold 3 N·m': Settings(**springs, collision_threshold=3.0,
                                        collision_reaction='retreat')}

figure, (upper, lower) = plt.subplots(2, 1, figsize=(8.5, 5.6), sharex=True)
peak, reasons = {}, {}
for name, used in settings.items():
    loop = ClosedLoop(model, used, start)
    wall = Obstacle('tool0', np.zeros(3), middle, -along, stiffness=5e3)
    loop.plant.obstacles.append(wall)
    loop.start()
    loop.controller.follow(path, loop.now)
    rows = []
    for k in range(1300):
        loop.tick()
        rows.append([k * loop.period, wall.force, *loop.controller.external_effort])
    t, force, *external = np.array(rows).T
    peak[name], reasons[name] = wall.peak, loop.controller.reason_code
    print(f'{name}: at most {wall.peak:.0f} N; {loop.controller.reason or "no fault"}')
    upper.plot(t, force, label=f'{name}: at most {wall.peak:.0f} N')
    lower.plot(t, external[0], label=f'{name}: joint 1')
lower.axhspan(-3.0, 3.0, color=GREY, alpha=0.15, label='within the threshold')
upper.set(ylabel='force on the obstacle [N]', title='the arm runs into an obstacle')
lower.set(xlabel='time [s]', ylabel='estimated external effort [N·m]')
for axes in (upper, lower):
    axes.legend(fontsize=8)
save(figure)
