# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""References that are planned within limits, and sampled at many times at once."""

from dataclasses import replace

import numpy as np
from robodyn_ros import load_urdf
from robodyn_ros.control.references.reference_planning import plan
from robodyn_ros.control.settings.motion_limits import MotionLimits

HERE = np.array([0.1, 0.2])
NAMES = ('joint1', 'joint2')
SPEED, ACCELERATION, JERK, FARTHEST = 2.0, 8.0, 80.0, 1.5
ARM = replace(load_urdf('two_link'), velocity_limit=np.full(2, SPEED),
              position_lower=np.full(2, -FARTHEST), position_upper=np.full(2, FARTHEST))
LIMITS = MotionLimits(ARM, np.full(2, ACCELERATION), np.full(2, JERK), 0.5 * ARM.effort_limit)


def samples(points, times):
    """Return position, velocity and acceleration (3, N, nv) of a reference at times (N,) [s]."""
    t = np.asarray(times) - points.header['start'][0]
    inside = np.clip(t, points.times[0], points.times[-1])
    k = np.clip(np.searchsorted(points.times, inside, 'right') - 1, 0, len(points.times) - 2)
    c, x = points.coefficients[k], (inside - points.times[k])[:, None]
    out = []
    for order in range(3):
        out.append(sum(c[:, i] * x**i for i in range(c.shape[1])))
        c = c[:, 1:] * np.arange(1, c.shape[1])[:, None]
        if order:
            out[-1][(t < points.times[0]) | (t >= points.times[-1])] = 0.0
    return np.array(out)


def planned(asked, old=None, pose=HERE, start=10.0, serial=1, **limits):
    """Return a reference from a pose at rest, or from another reference, within the limits."""
    return plan(LIMITS._replace(**limits), asked, old, pose, start, serial)
