# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
A custom control law: a nonlinear spring that stiffens with the error.

Numba compiles the Python function of the law into the control loop, with gains, limits and guard.
The slope of this spring at the error `width` is four times that at the reference: the arm yields
to small pushes and resists large ones. `robodyn new law` writes such a file and a test.
"""

from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from picture import GREY, save
from robodyn_ros import gain, Law, load_urdf, Settings, simulate
from robodyn_ros.model.robot import with_payload


@dataclass(frozen=True)
class Gains:
    """Gains of the law: ROS parameters in the node."""

    soft: Any = gain('N·m/rad', 0.0, 1e4, 'Stiffness at the reference.')
    width: Any = gain('rad', 1e-3, 10.0, 'Error at which it is four times as stiff.')
    damper: Any = gain('N·m·s/rad', 0.0, 1e3, 'Damping.', default=1.0)


def stiffening(arm, gains, memory, tau):
    """Write τ = g(q) + k (1 + (e / w)²) e + D ė, whose slope at e = w is 4 k."""
    for i in range(tau.shape[0]):
        e = arm.q_reference[i] - arm.q[i]
        ratio = e / gains.width[i]
        tau[i] = (arm.gravity[i] + gains.soft[i] * (1.0 + ratio * ratio) * e
                  + gains.damper[i] * (arm.qd_reference[i] - arm.qd[i]))


STIFFENING = Law('stiffening', stiffening, equation='τ = g(q) + k (1 + (e / w)²) e + D ė',
                 source='a Duffing spring', gains=Gains)
model = load_urdf('two_link')
pose = np.array([0.3, 0.5])
# The load is unknown on purpose: arming would refuse efforts that differ from g(q)
unknown = {'arming_effort': 1.0}
laws = {'stiffening spring': Settings(mode=STIFFENING, **unknown, gains={
            'soft': 30.0, 'width': 0.15, 'damper': 8.0}),
        'linear spring': Settings(mode='joint_impedance', stiffness=30.0, damping=8.0, **unknown)}

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4))
error = np.linspace(-0.3, 0.3, 200)
left.plot(error, 30.0 * (1 + (error / 0.15)**2) * error, label='stiffening spring')
left.plot(error, 30.0 * error, label='linear spring')
left.set(xlabel='error [rad]', ylabel='torque [N·m]', title='the two springs')
masses = np.linspace(0.0, 3.0, 4)
sag = {}
for name, settings in laws.items():
    # An unknown load on the tool takes the place of a push
    runs = [simulate(model, settings, pose, 0.8, plant=with_payload(model, 'tool0', mass))
            for mass in masses]
    assert not any(run.fault for run in runs)
    sag[name] = np.array([pose[0] - run.position[-1, 0] for run in runs])
    right.plot(masses, np.degrees(sag[name]), 'o-', label=name)
right.axhline(0.0, color=GREY, linewidth=1)
right.set(xlabel='unknown load [kg]', ylabel='deflection of joint 1 [°]',
          title='held by each law, in MuJoCo')
left.legend()
right.legend()
save(figure)
