# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Joint friction and its compensation.

The Stribeck curve falls from static to Coulomb friction, then rises with the viscous part
(Armstrong-Hélouvry et al. 1994). A stiff arm with dry friction stops short of its goal. With
friction compensation at the velocity of the reference it reaches the goal.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
from picture import GREY, save
from robodyn_ros import Dynamics, load_urdf, Settings, simulate, Waypoints

bare = load_urdf('two_link')
curve = np.array([[0.3, 0.2], [2.0, 1.0], [3.0, 1.5]])        # viscous, Coulomb, static
model = replace(bare, viscous_friction=curve[0], coulomb_friction=curve[1],
                static_friction=curve[2], backward_friction=curve)

start, goal = np.array([0.3, 0.5]), np.array([0.8, 0.0])
path = Waypoints(model.joint_names, np.array([0.0, 1.0, 2.0]), np.array([start, goal, start]),
                 np.zeros((3, 2)), np.zeros((3, 2)))
runs = {f'{share:.0%} compensated': simulate(model, Settings(
    mode='computed_torque', acceleration_kp=60, acceleration_kd=15,
    friction_compensation=share), start, 2.4, path) for share in (0.0, 0.5, 1.0)}

figure, panels = plt.subplots(1, 3, figsize=(12, 3.8))
qd = np.linspace(-1.5, 1.5, 601)
friction = Dynamics(model).batch.friction(np.column_stack([qd, qd]))
for i in range(2):
    panels[0].plot(qd, friction[:, i], label=f'joint {i + 1}')
panels[0].set(xlabel='velocity [rad/s]', ylabel='friction [N·m]', title='Stribeck curve')
panels[0].legend()
errors = {}
for name, run in runs.items():
    assert not run.fault, run.fault
    s = np.clip(1 - abs(run.time - 1.0), 0.0, 1.0)[:, None]
    reference = start + s**3 * (10 - 15 * s + 6 * s**2) * (goal - start)
    error = run.position - reference
    errors[name] = abs(error).max()
    panels[1].plot(run.time, run.position[:, 1], label=name)
    panels[2].plot(run.time, np.degrees(error[:, 1]), label=f'{name}: {errors[name]:.4f} rad')
panels[1].plot(run.time, reference[:, 1], '--', color=GREY, linewidth=1, label='reference')
panels[1].set(xlabel='time [s]', ylabel='position of joint 2 [rad]', title='computed torque')
panels[2].set(xlabel='time [s]', ylabel='error of joint 2 [°]', title='largest error')
panels[1].legend(fontsize=8)
panels[2].legend(fontsize=8)
save(figure)
