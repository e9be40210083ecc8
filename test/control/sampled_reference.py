# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""References as the control cycle follows them."""

import numpy as np
from robodyn_ros.control.steps.cycle_data import CONTROLLER_STATE, Vectors
from robodyn_ros.control.steps.trajectory_tracking import follow


def samples(points, times):
    """Return position, velocity and acceleration (3, N, 2) as the cycle would see them."""
    m, v = np.zeros(1, CONTROLLER_STATE).view(np.recarray)[0], Vectors.zeros(2)
    points = points._replace(header=points.header.view(np.recarray))
    out = []
    for t in times:
        follow(points, m, v, t)
        out.append([v.target.copy(), v.target_qd.copy(), v.target_qdd.copy()])
    return np.array(out).transpose(1, 0, 2)
