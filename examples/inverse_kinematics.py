# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Inverse kinematics by mink: poses of the tool become waypoints of joint impedance.

This package computes poses and Jacobians, and leaves inverse kinematics to the libraries for it:
mink (on MuJoCo, `pip install mink`) or pink (on Pinocchio, `pip install pin-pink`). Here the tool
of a UR5 draws a straight line of 40 cm. Cartesian impedance follows a pose by itself; inverse
kinematics is for what needs joint angles: planners, posture of a redundant arm, joint impedance.
"""

import sys

import matplotlib.pyplot as plt
import mujoco
import numpy as np
from picture import GREY, save
from robodyn_ros import Dynamics, load_urdf, Settings, simulate, suggest_gains, Waypoints

try:
    import mink
except ImportError:
    sys.exit('this example needs mink: run `pip install mink`')

POSES, DURATION = 30, 3.0       # s
model = load_urdf('ur5')
ur5 = Dynamics(model)
start = np.array([0.0, -1.2, 1.8, -0.6, 0.3, 0.0])
begin = ur5.pose(start, 'tool0')

spec = mujoco.MjSpec.from_string(model.to_urdf())
spec.compiler.fusestatic = False        # keeps tool0, which is fixed to the wrist
arm = mink.Configuration(spec.compile(), start)
limit = mink.ConfigurationLimit(arm.model)
task = mink.FrameTask('tool0', 'body', position_cost=1.0, orientation_cost=1.0)


def angles(target: np.ndarray) -> np.ndarray:
    """Return joint angles (6,) at which the tool is at a pose (4, 4), near the present ones."""
    task.set_target(mink.SE3.from_matrix(target))
    for _ in range(50):
        arm.integrate_inplace(mink.solve_ik(arm, [task], 1.0, 'daqp', limits=[limit]), 1.0)
        if np.linalg.norm(task.compute_error(arm)) < 1e-6:
            return arm.q.copy()
    sys.exit(f'no joint angles were found for the tool at {target[:3, 3]}')


share = np.linspace(0.0, 1.0, POSES + 1)[1:]
share = share**2 * (3.0 - 2.0 * share)          # begins and ends at rest
line = np.tile(begin, (POSES, 1, 1))
line[:, 1, 3] += 0.4 * share                    # sideways
path = Waypoints(model.joint_names, np.linspace(0.0, DURATION, POSES + 1)[1:],
                 np.array([angles(pose) for pose in line]))

run = simulate(model, Settings(mode='joint_impedance', **suggest_gains(model)._asdict()), start,
               DURATION + 0.5, path)
tool = ur5.batch.pose(run.position, 'tool0')[:, :3, 3]
off = 1e3 * np.linalg.norm((tool - begin[:3, 3])[:, [0, 2]], axis=1)       # mm
end = 1e3 * np.linalg.norm(tool[-1] - line[-1, :3, 3])
print(f'the tool is up to {off.max():.2f} mm beside its line, and ends {end:.2f} mm from the goal')

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8))
left.plot(run.time, run.position, label=[name.replace('_joint', '') for name in model.joint_names])
left.plot(run.time, run.reference, '--', color=GREY, linewidth=1.0)
left.set(xlabel='time [s]', ylabel='joint angle [rad]', title='joints; dashed: by mink')
left.legend(fontsize=7, ncols=2)
right.plot(100 * (tool[:, 1] - begin[1, 3]), off)
right.set(xlabel='place along the line [cm]', ylabel='distance from the line [mm]', title='tool')
save(figure)
