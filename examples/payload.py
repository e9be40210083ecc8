# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
A known and an unknown payload.

`with_payload` attaches a load to a frame of a model. A controller without the payload sags by
g_load / K; one with it (`payload_mass`; `robodyn set payload_mass=...` at run time) does not. The
load that an arm can hold depends on the pose: g(q) must stay below the effort limits.
"""

import matplotlib.pyplot as plt
import numpy as np
from picture import GREY, save
from robodyn_ros import Dynamics, load_urdf, Settings, simulate, Waypoints
from robodyn_ros.model.robot import with_payload

model = load_urdf('arm6')
MASS, COM = 3.0, (0.0, 0.0, 0.06)                   # kg, m in the axes of tool0
loaded = with_payload(model, 'tool0', MASS, COM)
start = np.array([0.0, -0.5, 0.8, 0.0, 0.5, 0.0])
path = Waypoints(model.joint_names, np.array([0.0, 0.9]),
                 start + np.outer([0.0, 1.0], [0.6, 0.3, -0.3, 0.0, 0.3, 0.0]),
                 np.zeros((2, 6)), np.zeros((2, 6)))
springs = {'mode': 'joint_impedance', 'stiffness': [900, 900, 500, 40, 25, 0.8],
           'damping': [90, 90, 50, 3, 2, 0.08], 'arming_effort': 1.0}
told = {'payload_frame': 'tool0', 'payload_mass': MASS, 'payload_com': COM}
laws = {'the controller does not know the load': Settings(**springs),
        'the controller knows it': Settings(**springs, **told)}

arm = Dynamics(model)
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2))
sag = {}
for name, settings in laws.items():
    run = simulate(model, settings, start, 1.4, path, plant=loaded)
    assert not run.fault, run.fault
    heights = arm.batch.pose(run.position, 'tool0')[:, 2, 3]
    sag[name] = 1e3 * (arm.pose(path.positions[-1], 'tool0')[2, 3] - heights[-1])
    left.plot(run.time, 1e3 * heights, label=f'{name}: {sag[name]:+.1f} mm')
left.axhline(1e3 * arm.pose(path.positions[-1], 'tool0')[2, 3], color=GREY, linewidth=1)
left.set(xlabel='time [s]', ylabel='height of the tool [mm]', title=f'a load of {MASS:g} kg')
left.legend(fontsize=8, title='too low in the end')

# The gravity torque is linear in the mass: two loads give the largest one
shoulder = np.linspace(-1.4, 1.4, 120)
poses = np.tile(start, (len(shoulder), 1))
poses[:, 1] = shoulder
bare, each = (Dynamics(m).batch.gravity(poses) for m in (model, with_payload(
    model, 'tool0', 1.0, COM)))
each = each - bare                                  # N·m a kilogram
most = (model.effort_limit - np.sign(each) * bare) / np.maximum(abs(each), 1e-9)
for i in (1, 2, 4):
    right.plot(np.degrees(shoulder), most[:, i], label=f'limit of {model.joint_names[i]}')
right.fill_between(np.degrees(shoulder), most.min(1), color=GREY, alpha=0.2)
right.set(xlabel='joint 2 [°]', ylabel='mass at the tool [kg]', ylim=(0, 150),
          title='what the motors can hold at rest')
right.legend(fontsize=8)
print(*(f'{name}: {height:+.2f} mm too low' for name, height in sag.items()), sep='\n')
save(figure)
