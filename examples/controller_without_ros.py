# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The controller and its guard in a custom loop around a MuJoCo model, without ROS.

The loop writes the state of the arm, calls `step`, and sends the efforts. Under gravity
compensation the arm is pushed and stays in the new pose. Then its positions freeze, as with a
broken encoder, and the guard detects this within 50 ms. Without a trustworthy state it sends zero
effort to a moving arm; the brakes have to stop it.
"""

import matplotlib.pyplot as plt
import mujoco
import numpy as np
from picture import GREY, save
from robodyn_ros import Controller, Dynamics, load_urdf, Settings

STEP = 1e-3                                         # s
model = load_urdf('arm6')
plant = mujoco.MjModel.from_xml_string(model.to_urdf())
plant.opt.timestep = STEP
plant.dof_damping[:] = 2.0                          # N·m·s/rad
arm = mujoco.MjData(plant)
arm.qpos[:] = [0, -0.5, 0.8, 0, 0.5, 0]
arm.qfrc_applied[:] = Dynamics(model).gravity(arm.qpos)     # the brakes hold it

controller = Controller(model, Settings(mode='gravity_compensation', rate=1 / STEP))
state = controller.state
controller.arm()
rows, frozen = [], None
for k in range(2300):
    now = k * STEP
    if now >= 2.0 and frozen is None:
        frozen = arm.qpos.copy()
    state['position'] = arm.qpos if frozen is None else frozen
    state['velocity'], state['effort'] = arm.qvel, arm.qfrc_applied
    state['received'] = now
    sent = controller.step(now)
    arm.qfrc_applied[:] = controller.tau if sent else arm.qfrc_applied
    push = 60.0 * (0.5 <= now < 0.8) - 40.0 * (1.8 <= now < 2.05)     # N·m at joint 2
    arm.qfrc_applied[1] += push
    mujoco.mj_step(plant, arm)
    arm.qfrc_applied[1] -= push
    rows.append([now, push, *arm.qpos[1:3], *controller.tau[1:3]])

t, pushes, *drawn = np.array(rows).T
reason = controller.reason
print('reason:', reason)
figure, (upper, lower) = plt.subplots(2, 1, figsize=(8.5, 5.6), sharex=True)
for i in range(2):
    upper.plot(t, drawn[i], label=f'joint {i + 2}')
    lower.plot(t, drawn[2 + i], label=f'joint {i + 2}')
lower.plot(t, pushes, color=GREY, linewidth=1, label='push at joint 2')
upper.axvspan(0.5, 0.8, color=GREY, alpha=0.15)
for axes in (upper, lower):
    axes.axvline(2.0, color='crimson', linewidth=1, linestyle='--')
upper.text(2.02, upper.get_ylim()[1], 'positions freeze', color='crimson', va='top')
upper.set(ylabel='position [rad]', title='gravity compensation: floats, is pushed, loses a sensor')
lower.set(xlabel='time [s]', ylabel='effort [N·m]', title=f'fault: {reason}')
lower.title.set_fontsize(8)
upper.legend(loc='lower left')
lower.legend(ncols=3, fontsize=8, loc='upper left')
save(figure)
