# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Iterative learning control: a repeated motion improves despite a wrong model.

The masses of the model are wrong by 20 to 30 %, and it has no friction. The error of each
repetition gives the missing efforts, which the next repetition adds (Bristow et al. 2006). They
are zero at rest before and after the motion, so that the sag there remains. With the node, use
`robodyn play motion.yaml --learn 6`.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
from picture import save
from robodyn_ros import load_urdf, Settings, simulate, Waypoints
from robodyn_ros.control.learning.iterative_learning import IterativeLearning, Repeat

arm = replace(load_urdf('two_link'), viscous_friction=np.array([1.0, 0.5]))
model = replace(load_urdf('two_link'), mass=arm.mass * [1.2, 0.7])
start, goal = np.array([0.3, 0.5]), np.array([1.0, -0.4])
motion = Waypoints(model.joint_names, np.array([0.0, 0.8, 1.6]), np.array([start, goal, start]),
                   np.zeros((3, 2)), np.zeros((3, 2)))
settings = Settings(mode='computed_torque', acceleration_kp=100, acceleration_kd=20,
                    arming_effort=0.5)
learning = IterativeLearning(model, settings, motion)

figure, panels = plt.subplots(1, 3, figsize=(12.5, 4))
for repeat in range(4):
    asked = learning.waypoints
    run = simulate(model, settings, start, asked.times[-1] + 0.3, asked, plant=arm)
    reference = np.interp(run.time, asked.times, asked.positions[:, 0])
    color = plt.colormaps['viridis'](repeat / 4)
    panels[0].plot(run.time, np.degrees(run.position[:, 0] - reference), color=color,
                   label=f'repeat {repeat + 1}')
    panels[2].plot(asked.times, asked.efforts[:, 0], color=color)
    outcome = learning.learn(Repeat(run.time, run.position, fault=run.fault))
    print(f'repeat {repeat + 1}: {np.degrees(outcome.rms):.4f}° {outcome.message}')
panels[0].set(xlabel='time [s]', ylabel='error of joint 1 [°]', title='error')
panels[0].legend(fontsize=8)
history = np.degrees(learning.history)
panels[1].semilogy(np.arange(1, len(history) + 1), history, 'o-')
panels[1].set(xlabel='repeat', ylabel='root mean square error [°]',
              title=f'{history[0] / history[-1]:.0f} times better')
panels[2].set(xlabel='time [s]', ylabel='effort of joint 1 [N·m]', title='learned efforts')
save(figure)
