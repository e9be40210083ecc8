# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Bilateral teleoperation: a hand moves the leader, and the follower runs into a wall.

A spring and a damper couple both arms through a link with 10 ms delay. The hand pushes the
leader, the follower touches the wall, and the hand feels it: without friction, the force on the
wall equals that of the hand. The coupling never supplies more energy than it received. Finally
the link is cut, and both arms are held.

Run:  python leader_follower.py    # -> leader_follower.png
"""

import matplotlib.pyplot as plt
import numpy as np
from picture import save
from robodyn_ros import Dynamics, load_urdf, Settings
from robodyn_ros.closed_loop import ClosedLoop, CoupledLoops
from robodyn_ros.simulation.plant import Obstacle

DELAY, HAND, SECONDS, CUT = 0.01, 6.0, 4.0, 3.5     # s, N, s
model = load_urdf('two_link')
gains = {'mode': 'leader_follower', 'stiffness': [300.0, 100.0], 'damping': [60.0, 20.0]}
leader = ClosedLoop(model, Settings(**gains), [0.3, 0.5])
follower = ClosedLoop(model, Settings(coupling_role='follower', **gains), [0.3, 0.5])
arms = CoupledLoops(leader, follower, delay=DELAY)
arms.start()

# A wall in front of the follower's tip, across the direction in which the hand pushes
tip = Dynamics(model).pose(follower.row()[0], 'tool0')[:3, 3]
push = np.array([0.0, 0.0, 1.0])
wall = Obstacle('tool0', np.zeros(3), tip + 0.05 * push, -push, stiffness=5e3)
follower.plant.obstacles.append(wall)
begin = leader.now
leader.plant.push('tool0', HAND * push, CUT)

time, rows, force, energy = [], [], [], []
while leader.now < begin + SECONDS:
    arms.connected = leader.now < begin + CUT
    arms.tick()
    time.append(leader.now - begin)
    rows.append([leader.row()[0], follower.row()[0]])
    force.append(wall.force)
    energy.append(sum(loop.controller.coupling_energy.sum() for loop in (leader, follower)))
q, force, time = np.array(rows), np.array(force), np.array(time)
held = (time > CUT - 1.0) & (time < CUT)
felt = force[held].mean()
reasons = [loop.controller.reason_code for loop in (leader, follower)]
print(f'hand {HAND:g} N, wall {felt:.3f} N; least energy in the coupling {min(energy):.2g} J')
print(f'the link is cut: {reasons}, joints move by '
      f'{np.abs(q[-1] - q[np.argmax(time >= CUT)]).max():.3f} rad in {SECONDS - CUT:g} s')

figure, axes = plt.subplots(3, 1, sharex=True, figsize=(8, 8))
for k, name in enumerate(('leader', 'follower')):
    for i, joint in enumerate(model.joint_names):
        axes[0].plot(time, q[:, k, i], '--' if k else '-', color=f'C{i}', label=f'{joint}, {name}')
axes[0].set_ylabel('position [rad]')
axes[1].axhline(HAND, color='grey', ls=':', label='hand')
axes[1].plot(time, force, label='wall')
axes[1].set_ylabel('force [N]')
axes[2].plot(time, energy, label='given to the coupling, less what came out')
axes[2].set(ylabel='energy [J]', xlabel='time [s]')
for ax in axes:
    ax.axvline(CUT, color='C3', lw=0.8)
    ax.legend(fontsize=8)
axes[0].set_title(f'Leader and follower with {1e3 * DELAY:g} ms of delay; then the link is cut')
save(figure)
