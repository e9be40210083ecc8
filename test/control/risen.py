# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The arms of most tests, driven by their controllers."""

from control.closed_loop import Rig, Told
import numpy as np
from robodyn_ros import load_urdf, Waypoints

TWO_LINK = load_urdf('two_link')        # the textbook 2R arm
POSE = np.array([0.3, 0.5])             # rad, in which gravity pulls at both joints
FINGERS = {'panda_finger_joint1': 0.02, 'panda_finger_joint2': 0.02}
PANDA = load_urdf('panda', locked=FINGERS)
BENT = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7])      # rad, of the Panda
ARMS = {'two_link': (TWO_LINK, POSE), 'panda': (PANDA, BENT)}


class Blockable(Told):
    """An arm of which joints that are ``blocked`` stay where they are."""

    blocked = ()

    def tick(self, **how):
        q, published = self.q.copy(), super().tick(**how)
        for i in self.blocked:
            self.q[i], self.qd[i] = q[i], 0.0
        return published


def integrate(rig, tau, substeps=4):
    """Move the arm of a rig for one period under efforts; its own ``substeps`` are 0."""
    h = rig.period / substeps
    for _ in range(substeps):
        rig.qd += h * rig.dynamics.forward_dynamics(rig.q, rig.qd, tau)
        rig.q += h * rig.qd


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
