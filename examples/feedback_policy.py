# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Feedback policy of a slow planner: a linear-quadratic regulator, sent at 50 Hz.

The planner linearizes the dynamics at a goal x̂ = (q̂, 0) and minimizes
∫ (x̂ - x)ᵀ Q (x̂ - x) + (τ - u)ᵀ R (τ - u) dt (Anderson and Moore, Optimal Control: Linear Quadratic
Methods, 1990, section 3.1). The loop evaluates τ = u + K (x̂ - x) with each new state, at 1 kHz.
Where the planner stops, the arm is held.
"""

import matplotlib.pyplot as plt
import numpy as np
from picture import save
from robodyn_ros import Dynamics, load_urdf, Settings
from robodyn_ros.closed_loop import ClosedLoop
from scipy.linalg import solve_continuous_are

model = load_urdf('two_link')
arm, start, goal = Dynamics(model), np.array([0.3, 0.9]), np.array([0.7, 0.4])
Q, R = np.diag([400.0, 100.0, 10.0, 2.0]), 0.01 * np.eye(2)      # of states, of efforts
none, one, small = np.zeros((2, 2)), np.eye(2), 1e-6
mobility = np.linalg.inv(arm.mass_matrix(goal))
slope = np.column_stack([arm.gravity(goal + d) - arm.gravity(goal - d)
                         for d in small * one]) / (2.0 * small)
A, B = np.block([[none, one], [-mobility @ slope, none]]), np.vstack([none, mobility])
effort, gain = arm.gravity(goal), np.linalg.solve(R, B.T @ solve_continuous_are(A, B, Q, R))

figure, axes = plt.subplots(figsize=(8.5, 4))
final, held = {}, {}
for name, stopped in {'planner goes on': np.inf, 'planner stops at 0.15 s': 0.15}.items():
    loop = ClosedLoop(model, Settings(mode='feedback_policy', stiffness=[400.0, 100.0],
                                      damping=[40.0, 10.0]), start)
    loop.start()
    rows = []
    for k in range(1500):
        if k % 20 == 0 and k * loop.period < stopped:
            loop.controller.follow_policy(loop.now, effort, goal, np.zeros(2), gain)
        loop.tick()
        rows.append([k * loop.period, *loop.row()[0]])
    t, *q = np.array(rows).T
    final[name], held[name] = np.abs(np.array(q)[:, -1] - goal), np.ptp(np.array(q)[:, -200:], 1)
    print(f'{name}: {np.degrees(final[name])}° from the goal; '
          f'{loop.controller.reason or "no fault"}')
    axes.plot(t, np.degrees(q[0]), label=name)
axes.axhline(np.degrees(goal[0]), color='k', lw=0.8)
axes.set(xlabel='time [s]', ylabel='joint 1 [°]', title='a policy, and what becomes of the arm')
axes.legend()
save(figure)
