# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The RP arm of Craig 2005, example 6.5: a rotating link carries a sliding one.

Without gravity and without torque at the first joint, the angular momentum M₁₁(d) θ̇ is constant.
Like a skater, the arm turns more slowly when the sliding link moves out: the Coriolis force
2 m₂ d ḋ θ̇ brakes it. The sliding joint has to hold the centrifugal force.
"""

import matplotlib.pyplot as plt
import numpy as np
from picture import save
from robodyn_ros import DhLink, Dynamics, from_dh

M1, M2, L1 = 3.0, 1.5, 0.3          # kg, m
arm = Dynamics(from_dh([
    DhLink(theta=np.pi / 2, d=0, a=0, alpha=0, mass=M1, com=(0, -L1, 0),
           inertia=(0.01, 0.02, 0.02)),
    DhLink(theta=0, d=0, a=0, alpha=np.pi / 2, joint='prismatic', mass=M2,
           inertia=(0.01, 0.015, 0.02))], convention='modified', gravity=(0, 0, 0), name='rp'))

STEP = 1e-3                         # s
t = np.arange(0.0, 2.0, STEP)
d = 0.35 + 0.2 * (1 - np.cos(np.pi * t)) / 2        # m: out and, after 1 s, in again
dd, ddd = 0.1 * np.pi * np.sin(np.pi * t), 0.1 * np.pi**2 * np.cos(np.pi * t)
angle, speed, force, momentum = 0.0, 3.0, [], []
angles, speeds = [], []
for position, velocity, acceleration in zip(d, dd, ddd):
    q, qd = [angle, position], [speed, velocity]
    M, bias = arm.mass_matrix(q), arm.bias(q, qd)
    # τ₁ = 0 gives θ̈; the force that the motion of the slide needs follows
    turning = -(bias[0] + M[0, 1] * acceleration) / M[0, 0]
    force.append(arm.inverse_dynamics(q, qd, [turning, acceleration])[1])
    momentum.append(M[0, 0] * speed)
    angles.append(angle)
    speeds.append(speed)
    speed += STEP * turning
    angle += STEP * speed

momentum = np.array(momentum)
change = np.ptp(momentum) / momentum[0]
print(f'angular momentum changes by {change:.1e} of itself')

figure, panels = plt.subplots(1, 2, figsize=(10, 4.6), width_ratios=[1, 1.25])
path = np.column_stack([d * np.cos(angles), d * np.sin(angles)])
drawn = panels[0].scatter(*path.T, c=speeds, s=5, cmap='viridis')
figure.colorbar(drawn, ax=panels[0], label='angular velocity [rad/s]', shrink=0.8)
for k in range(0, len(t), 250):
    panels[0].plot([0, path[k, 0]], [0, path[k, 1]], color='grey', linewidth=0.7, marker='o',
                   markevery=[1], markersize=5)
panels[0].set(aspect='equal', xlabel='x [m]', ylabel='y [m]', title='path of the sliding mass')
panels[1].plot(t, speeds, label='angular velocity θ̇ [rad/s]')
panels[1].plot(t, force, label='force of the sliding joint [N]')
panels[1].plot(t, momentum, label='angular momentum M₁₁ θ̇ [kg·m²/s]')
panels[1].plot(t, 10 * d, '--', color='grey', linewidth=1, label='extension d [dm]')
panels[1].set(xlabel='time [s]', title='no torque at the first joint')
panels[1].margins(y=0.2)
panels[1].legend(fontsize=8, ncols=2, loc='upper center')
save(figure)
