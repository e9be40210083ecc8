# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A controller in closed loop with exact dynamics, on a clock of its own: no ROS, no waiting."""

from dataclasses import fields

import numpy as np
from robodyn_ros import load_urdf, Waypoints
from robodyn_ros.control.controller.controller import Controller
from robodyn_ros.control.laws.registry import LawGains
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.settings.suggested_gains import RULES
from robodyn_ros.control.steps import guard
from robodyn_ros.dynamics import Dynamics
from robodyn_ros.model.resources import robot_path
from robodyn_ros.model.robot import RobotModel
from robodyn_ros.state import no_state

# Gains by the role that laws give them; others without a default are REQUIRED, in their range
SPRINGS, ACCELERATIONS, REQUIRED = ([400.0, 100.0], [40.0, 10.0]), ([100.0], [20.0]), 10.0
GAINS = {**{f.name: [min(max(REQUIRED, f.metadata['lower']), f.metadata['upper'])]
            for f in fields(LawGains) if 'empty' in f.metadata and f.metadata['empty'] is None},
         **{name: gain for rule in RULES
            for name, gain in rule.named(SPRINGS, ACCELERATIONS).items()},
         'observer_bandwidth': [25.0], 'adaptive_bandwidth': [10.0], 'adaptation_mass': [3.0],
         'acceleration_limit': [20.0],      # which these gains can follow
         'task_frame': 'tool0'}


class Rig:
    """The arm stays where its brakes hold it until the controller publishes for the first time."""

    period, substeps = 1e-3, 2

    def __init__(self, model: RobotModel, q, *, specialize=False, recorded=0, **settings):
        self.model, self.dynamics = model, Dynamics(model)
        self.state = no_state(model.nv)
        self.controller = Controller(model, Settings(**{**GAINS, **settings}), self.state,
                                     specialize=specialize, recorded=recorded)
        self.q, self.qd = np.array(q, float), np.zeros(model.nv)
        self.tau = self.dynamics.gravity(self.q)
        self.external = np.zeros(model.nv)      # efforts of somebody who pushes
        self.time, self.braked = 0.0, True
        self.published: list[np.ndarray] = []

    @property
    def phase(self) -> str:
        return guard.PHASES[self.controller.phase]

    def sense(self) -> None:
        """Let a fresh sample reach the controller."""
        for name, value in (('position', self.q), ('velocity', self.qd), ('effort', self.tau),
                            ('received', self.time)):
            self.state[name] = value

    def tick(self, *, sense: bool = True) -> np.ndarray | None:
        """One period; what the controller published in it, or None."""
        if sense:
            self.sense()
        published = self.controller.step(self.time)
        if published:
            self.tau, self.braked = self.controller.tau.copy(), False
            self.published.append(self.tau)
        if not self.braked:
            for _ in range(self.substeps):
                h = self.period / self.substeps
                self.qd += h * self.dynamics.forward_dynamics(
                    self.q, self.qd, self.tau + self.external)
                self.q += h * self.qd
        self.time += self.period
        return self.tau if published else None

    def run(self, seconds: float, **how) -> list[np.ndarray | None]:
        """Tick for a while."""
        return [self.tick(**how) for _ in range(round(seconds / self.period))]

    def rise(self) -> None:
        """Arm and go on until the law is in force."""
        self.controller.arm()
        self.run(0.2)
        assert self.phase == 'RUNNING', self.controller.arming_refusal


class Told(Rig):
    """An arm whose state is told with changes: ``lie(q, qd)`` returns both."""

    lie = staticmethod(lambda q, qd: (q, qd))

    def sense(self):
        """Give a sample, with a stamp, and with what is told instead of the truth."""
        super().sense()
        self.state['stamp'] = self.time
        self.state['position'], self.state['velocity'] = self.lie(self.q.copy(), self.qd.copy())


TWO_LINK = load_urdf('two_link')        # the textbook 2R arm
TURNING = load_urdf(robot_path('two_link').read_text().replace(     # one with a continuous joint
    'name="joint1" type="revolute"', 'name="joint1" type="continuous"'))
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
