# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
A UR5 at 240 Hz under torque PD control and under computed torque.

The PD controller has one pair of gains for all joints and no gravity compensation, as in many
simulator tutorials: K = 500, D = 50. It sags, and D is too high for the light wrist at this rate:
D h / M must be below 2. `Settings` computes the highest stable gains and refuses these.
"""

import matplotlib.pyplot as plt
import mujoco
import numpy as np
from picture import GREY, save
from robodyn_ros import Controller, Dynamics, load_urdf, Settings
from robodyn_ros.errors import ParameterError

RATE, SUBSTEPS, KP, KD = 240.0, 8, 500.0, 50.0      # Hz; of physics in a cycle; N·m/rad, N·m·s/rad
GOAL = np.array([0, -np.pi / 2, np.pi / 2, -np.pi / 2, -np.pi / 2, 0])
model = load_urdf('ur5')
ur5 = Dynamics(model)
plant = mujoco.MjModel.from_xml_string(model.to_urdf())
plant.opt.timestep = 1 / (RATE * SUBSTEPS)


def pd(q, qd):
    """Return the efforts of PD control [N·m]."""
    return KP * (GOAL - q) - KD * qd


def computed_torque(q, qd):
    """Return the efforts of computed torque with 10 rad/s, critically damped [N·m]."""
    return ur5.inverse_dynamics(q, qd, 100.0 * (GOAL - q) - 20.0 * qd)


def run(law, start, duration=1.5):
    """Return times, positions and efforts, limited as the motors limit them."""
    arm = mujoco.MjData(plant)
    arm.qpos[:] = start
    rows = []
    for k in range(round(duration * RATE)):
        tau = np.clip(law(arm.qpos.copy(), arm.qvel.copy()), -model.effort_limit,
                      model.effort_limit)
        rows.append((k / RATE, arm.qpos.copy(), tau))
        arm.qfrc_applied[:] = tau
        mujoco.mj_step(plant, arm, SUBSTEPS)
    return (np.array(part) for part in zip(*rows))


figure, panels = plt.subplots(3, 2, figsize=(10, 7), sharex=True, sharey='row')
final, jumps = {}, {}
for column, law in enumerate((pd, computed_torque)):
    t, q, tau = run(law, GOAL + np.array([0.4, 0.3, -0.4, 0.3, 0.3, -0.3]))
    final[law.__name__] = abs(q[-1] - GOAL)
    jumps[law.__name__] = abs(np.diff(tau[-60:], axis=0)).max()
    for i, name in enumerate(model.joint_names):
        panels[0, column].plot(t, np.degrees(q[:, i] - GOAL[i]), label=name.replace('_joint', ''))
        panels[1 + (i > 2), column].plot(t, tau[:, i], color=f'C{i}')
    panels[0, column].set_title(f'{law.__name__}: {np.degrees(final[law.__name__].max()):.2g}° '
                                'off in the end')
    panels[2, column].set_xlabel('time [s]')
    panels[0, column].axhline(0.0, color=GREY, linewidth=1)
for axes, label in zip(panels[:, 0], ('error [°]', 'arm efforts [N·m]', 'wrist efforts [N·m]')):
    axes.set_ylabel(label)
panels[0, 1].legend(fontsize=8, ncols=2)
ratio = KD / RATE / np.diag(ur5.mass_matrix(GOAL))
print('D h / M:', ratio.round(2))
panels[2, 0].text(0.75, 0, f'wrist_3, D h / M = {ratio[5]:.0f}: from limit to limit every cycle',
                  ha='center', va='center', backgroundcolor='white', fontsize=8)
try:
    Controller(model, Settings(mode='pd', stiffness=KP, damping=KD, rate=RATE,
                               loop_delay=1 / RATE))
except ParameterError as error:
    refused = str(error)
    print('refused:', refused)
save(figure)
