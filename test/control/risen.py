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
    """
    An arm of which joints that are ``blocked`` stay where they are, by efforts on these only.

    The last bit of its readings jitters: an encoder that never changes is taken for a dead driver.
    """

    blocked, substeps, jitters = (), 0, False

    def lie(self, q, qd):
        self.jitters = not self.jitters
        return np.nextafter(q, np.inf) if self.jitters else q, qd

    def tick(self, **how):
        published = super().tick(**how)
        at, h = list(self.blocked), self.period / 4
        for _ in range(0 if self.braked else 4):
            self.qd[at] = 0.0
            qdd = self.dynamics.forward_dynamics(self.q, self.qd, self.tau + self.external)
            if at:
                columns = np.linalg.inv(self.dynamics.mass_matrix(self.q))[:, at]
                qdd = qdd - columns @ np.linalg.solve(columns[at], qdd[at])
                qdd[at] = 0.0
            self.qd += h * qdd
            self.q += h * self.qd
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
