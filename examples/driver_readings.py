# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
One simulated arm in real time, read in the three ways of a driver.

`waits`: `read` waits for the next state, in a thread of its own. `latest`: it returns the newest
state at once, with its age, and that thread calls it once a period. `inline`: the thread of the
control loop reads, computes and writes. The picture shows how old the state is in each cycle.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from picture import save
from robodyn_ros import Controller, drive, load_urdf, Settings
from robodyn_ros.driver import READING
from robodyn_ros.simulation.driver import SimulatedArm

RATE, POSE, DURATION = 200.0, [0.3, 0.5], 1.0       # Hz, rad, s
model = load_urdf('two_link')
# A busy machine is no broken arm here: these limits are wider than those for hardware
settings = Settings(rate=RATE, state_timeout=1.0, missed_limit=5000, late_limit=1.0)



def run(reading):
    """Return the controller after a run, and a row (time, age of the state) for each cycle."""
    arm = SimulatedArm(model, rate=RATE, position=POSE, timeout=1.0, reading=reading)
    controller, rows, begin = Controller(model, settings), [], time.monotonic()

    def over():
        now = time.monotonic()
        rows.append([now - begin, 1e3 * (now - controller.state['received'].min())])
        return now - begin > DURATION
    drive(controller, arm, over)
    return controller, np.array(rows)


figure, axes = plt.subplots(figsize=(8.5, 3.4))
reasons, positions = {}, {}
for name in READING:
    controller, rows = run(name)
    reasons[name], positions[name] = controller.reason, controller.state['position'].copy()
    axes.plot(*rows.T, label=name)
    print(f'{name}: {len(rows) / DURATION:.0f} cycles a second, states '
          f'{np.nanmedian(rows[:, 1]):.2f} ms old, reason: {controller.reason}')
axes.set(xlabel='time [s]', ylabel='age of the state [ms]', ylim=(0.0, 3e3 / RATE),
         title='one arm, read in three ways')
axes.legend()
save(figure)
