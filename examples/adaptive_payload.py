# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Adaptive control: the controller learns an undeclared payload in motion.

Computed torque with a wrong model makes the same error in every repetition. The adaptive law of
Slotine and Li corrects mass, center and inertia of the gripped body during the motion, and keeps
them physically consistent. It remembers them, so that the next repetition is better.
"""

import matplotlib.pyplot as plt
import numpy as np
from picture import save
from robodyn_ros import load_urdf, Settings, simulate, suggest_gains, Waypoints
from robodyn_ros.model.robot import with_payload

MASS, TIMES, PERIOD = 2.0, 3, 2.0                   # kg, repetitions, s
model = load_urdf('two_link')
loaded = with_payload(model, 'tool0', MASS, (0.0, 0.0, 0.05))
start = np.array([0.3, 1.2])
out = start + [0.8, -0.9]
path = Waypoints(model.joint_names, PERIOD / 2 * np.arange(2 * TIMES + 1.0),
                 np.array([start, *[out, start] * TIMES]), np.zeros((2 * TIMES + 1, 2)),
                 np.zeros((2 * TIMES + 1, 2)))
gains = suggest_gains(model, start, Settings())._asdict()

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.0))
errors = {}
for mode in ('computed_torque', 'adaptive'):
    run = simulate(model, Settings(**{**gains, 'mode': mode, 'arming_effort': 1.0,
                                      'following_error': 0.0}),
                   start, TIMES * PERIOD, path, plant=loaded)
    assert not run.fault, run.fault
    s = np.clip(run.time / (PERIOD / 2), 0.0, 2 * TIMES - 1e-9)     # which part, and how far
    part, x = s.astype(int), s % 1.0
    blend = x**3 * (10.0 - 15.0 * x + 6.0 * x**2)   # at rest with no acceleration in between
    ends = np.array([start, out])
    reference = ends[part % 2] + blend[:, None] * (ends[(part + 1) % 2] - ends[part % 2])
    error = 1e3 * np.linalg.norm(run.position - reference, axis=1)
    errors[mode] = [float(np.sqrt(np.mean(error[part // 2 == k]**2))) for k in range(TIMES)]
    left.plot(run.time, error, label=mode)
    right.plot(range(1, TIMES + 1), errors[mode], 'o-', label=mode)
    print(f'{mode}: RMS error of each repetition [mrad]:', np.round(errors[mode], 2))
left.set(xlabel='time [s]', ylabel='error [mrad]', yscale='log',
         title=f'{MASS:g} kg that the model does not know')
right.set(xlabel='repetition', ylabel='RMS error [mrad]', yscale='log', xticks=range(1, TIMES + 1),
          title='what was learned stays')
for axes in (left, right):
    axes.legend()
save(figure)
