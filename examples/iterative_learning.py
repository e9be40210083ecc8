# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Iterative learning control: a repeated motion improves despite a wrong model.

The masses of the model are wrong by 20 to 30 %, and it has no friction. The error e of each repeat
gives the missing efforts, which the next one adds, with Q a zero-phase low-pass (Bristow, Tharayil
and Alleyne, "A survey of iterative learning control", 2006, equation 7):
u ← Q (u + M(q_r) (ë + K_d ė + K_p e)). The arm rests before and after the motion, where they fade.
Learned efforts suit only this robot, payload, law and motion: keep the best ones if a repeat is
worse, and none of a repeat with a fault. To a node, send them as `effort` of `joint_trajectory`.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
from picture import save
from robodyn_ros import Dynamics, load_urdf, Settings, simulate, Waypoints
from scipy.signal import butter, sosfiltfilt

STEP, REST, DURATION = 0.01, 0.5, 1.6       # s: of waypoints, before and after, of the motion
KP, KD, CUTOFF = 100.0, 20.0, 10.0          # 1/s², 1/s, Hz: the model is not trusted above

arm = replace(load_urdf('two_link'), viscous_friction=np.array([1.0, 0.5]))
model = replace(load_urdf('two_link'), mass=arm.mass * [1.2, 0.7])
start, goal = np.array([0.3, 0.5]), np.array([1.0, -0.4])
settings = Settings(mode='computed_torque', acceleration_kp=KP, acceleration_kd=KD,
                    arming_effort=0.5)

times = STEP * np.arange(round((DURATION + 2.0 * REST) / STEP) + 1)
share = np.clip((times - REST) / DURATION, 0.0, 1.0)
away = 64.0 * (share * (1.0 - share))[:, None]**3           # to the goal and back, from rest
position = start + away * (goal - start)
velocity = np.gradient(position, STEP, axis=0)
acceleration = np.gradient(velocity, STEP, axis=0)
inertia = Dynamics(model).batch.mass_matrix(position)
rest = np.clip(np.minimum(times, times[-1] - times) / REST, 0.0, 1.0)
fade = 0.5 - 0.5 * np.cos(np.pi * rest)[:, None]


def low_pass(rows):
    """Return samples (W, nv) without what is above CUTOFF, and without delay."""
    return sosfiltfilt(butter(2, 2.0 * CUTOFF * STEP, output='sos'), rows, axis=0)


def improved(efforts, error):
    """Return the efforts (W, nv) [N·m | N] after a repeat with this error (W, nv) [rad | m]."""
    e = low_pass(error)
    ed = np.gradient(e, STEP, axis=0)
    missing = np.gradient(ed, STEP, axis=0) + KD * ed + KP * e
    learned = fade * low_pass(efforts + np.einsum('wij,wj->wi', inertia, missing))
    return np.clip(learned, -model.effort_limit, model.effort_limit)


figure, panels = plt.subplots(1, 3, figsize=(12.5, 4))
efforts, history = np.zeros_like(position), []
for repeat in range(5):
    asked = Waypoints(model.joint_names, times, position, velocity, acceleration, efforts)
    run = simulate(model, settings, start, times[-1] + 0.3, asked, plant=arm)
    error = position - np.array([np.interp(times, run.time, q) for q in run.position.T]).T
    if run.fault:
        raise SystemExit(f'nothing is learned from a repeat with a fault: {run.fault}')
    history.append(np.degrees(np.sqrt(np.mean(error[(0.0 < share) & (share < 1.0)]**2))))
    print(f'repeat {repeat + 1}: {history[-1]:.4f}°')
    color = plt.colormaps['viridis'](repeat / 5)
    panels[0].plot(times, -np.degrees(error[:, 0]), color=color, label=f'repeat {repeat + 1}')
    panels[2].plot(times, efforts[:, 0], color=color)
    efforts = improved(efforts, error)
panels[0].set(xlabel='time [s]', ylabel='error of joint 1 [°]', title='error')
panels[0].legend(fontsize=8)
panels[1].semilogy(np.arange(1, len(history) + 1), history, 'o-')
panels[1].set(xlabel='repeat', ylabel='root mean square error [°]',
              title=f'{history[0] / history[-1]:.0f} times better')
panels[2].set(xlabel='time [s]', ylabel='effort of joint 1 [N·m]', title='learned efforts')
save(figure)
