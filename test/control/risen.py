# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The arm of most tests, driven by its controller."""

from control.closed_loop import Rig, Told
import numpy as np
from robodyn_ros import load_urdf, Waypoints

TWO_LINK = load_urdf('two_link')        # the textbook 2R arm
POSE = np.array([0.3, 0.5])             # rad, in which gravity pulls at both joints


class Blockable(Told):
    """An arm of which joints that are ``blocked`` stay where they are."""

    blocked = ()

    def tick(self, **how):
        q, published = self.q.copy(), super().tick(**how)
        for i in self.blocked:
            self.q[i], self.qd[i] = q[i], 0.0
        return published


def backward(*joints):
    """Return a lie of encoders, some of which count backward from POSE on."""
    side = np.where(np.isin(np.arange(2), joints), -1.0, 1.0)
    return lambda q, qd: (POSE + side * (q - POSE), side * qd)


def risen(kind=Rig, q=POSE, model=TWO_LINK, **settings):
    """Return a rig in RUNNING."""
    rig = kind(model, q, **settings)
    rig.rise()
    return rig


def follow(rig, goal, seconds, later=0.0, at_rest=False):
    """Follow a trajectory to a goal (nv,), at rest there; without a velocity, it is a spline."""
    end = np.zeros((1, rig.model.nv)) if at_rest else None
    rig.controller.follow(Waypoints(rig.model.joint_names, [seconds], [goal], end),
                          rig.time + later)
