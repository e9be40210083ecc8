# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
PD, joint impedance and computed torque with equal stiffness track one trajectory in MuJoCo.

PD control sags by g(q) / K and lags. Joint impedance adds g(q) and no longer sags. Computed torque
cancels inertia, Coriolis and gravity terms; only the error of the sampling remains.
"""

import matplotlib.pyplot as plt
import numpy as np
from picture import GREY, save
from robodyn_ros import Dynamics, load_urdf, Settings, simulate, Waypoints

model = load_urdf('two_link')
start, goal, rate, damping = np.array([0.3, 0.5]), np.array([1.1, -0.6]), 60.0, 15.0
inertia = Dynamics(model).mass_matrix(start).diagonal()
springs = {'stiffness': rate * inertia, 'damping': damping * inertia}
laws = {'pd': springs, 'joint_impedance': springs,
        'computed_torque': {'acceleration_kp': rate, 'acceleration_kd': damping}}
path = Waypoints(model.joint_names, np.array([0.0, 0.8, 1.6]), np.array([start, goal, start]),
                 np.zeros((3, 2)), np.zeros((3, 2)))

s = np.linspace(0.0, 1.0, 801)[:, None]
blend = s**3 * (10 - 15 * s + 6 * s**2)             # quintic, at rest at both ends
reference = np.vstack([start + blend * (goal - start), (goal + blend * (start - goal))[1:]])
figure, panels = plt.subplots(2, 2, figsize=(9.5, 5.6), sharex=True, height_ratios=[1.2, 1])
errors = {}
for mode, gains in laws.items():
    run = simulate(model, Settings(mode=mode, **gains), start, 2.0, path)
    assert not run.fault, run.fault
    ended = np.vstack([reference, np.tile(start, (len(run.time) - len(reference), 1))])
    error = run.position - ended
    errors[mode] = abs(error).max()
    for i in range(2):
        panels[0, i].plot(run.time, run.position[:, i], label=mode)
        panels[1, i].plot(run.time, np.degrees(error[:, i]))
for i in range(2):
    panels[0, i].plot(run.time, ended[:, i], '--', color=GREY, linewidth=1, label='reference')
    panels[0, i].set_title(f'joint {i + 1}')
    panels[1, i].set_xlabel('time [s]')
panels[0, 0].set_ylabel('position [rad]')
panels[1, 0].set_ylabel('error [°]')
panels[0, 1].legend(fontsize=8)
print(*(f'{mode}: at most {np.degrees(e):.2f}°' for mode, e in errors.items()), sep='\n')
save(figure)
