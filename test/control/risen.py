# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The arm of most tests, driven by its controller."""

from control.closed_loop import Rig
import numpy as np
from robodyn_ros import load_urdf

TWO_LINK = load_urdf('two_link')        # the textbook 2R arm
POSE = np.array([0.3, 0.5])             # rad, in which gravity pulls at both joints


def risen(kind=Rig, q=POSE, model=TWO_LINK, **settings):
    """Return a rig in RUNNING."""
    rig = kind(model, q, **settings)
    rig.rise()
    return rig
