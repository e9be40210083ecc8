# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots beside Pinocchio's model of the same URDF: an independent answer to every question."""

from functools import cache

from lxml import etree
import numpy as np
import pinocchio as pin
import pytest
from robodyn_ros import Dynamics, load_urdf
from robots import (
    GRIPPER, LOCKED, MIMIC_TREES, OWN, random_mimic_tree, random_tree, REAL, TREES, WIDE)

MAIN = ('inverse_dynamics', 'gravity', 'bias', 'mass_matrix', 'forward_dynamics')
# Whose batches have code of their own, test_batch.py
VECTORS = ('inverse_dynamics', 'gravity', 'bias', 'forward_dynamics', 'kinetic_energy',
           'potential_energy', 'center_of_mass')


class Case:
    """
    A robot as ours (``model``, ``dynamics``) and as Pinocchio's, asked for ours.

    Every joint of Pinocchio's moves on its own, those that mimic others too: they stand at
    ``P`` @ q + ``shift``, read from the text of the URDF, and what is asked is projected by P
    (its nv, nv). Without mimic joints P sorts the joints, and nothing is rounded.
    """

    def __init__(self, name: str):
        if name in TREES:
            self.urdf = random_tree(*TREES[name])
        elif name.startswith('locked'):
            self.urdf = random_tree(int(name.removeprefix('locked')), 12)
        elif name in MIMIC_TREES:
            self.urdf = random_mimic_tree(*MIMIC_TREES[name])
        elif name == 'gripper':
            self.urdf = GRIPPER
        else:
            self.urdf = {**OWN, **REAL, **WIDE}[name].read_text()
        self.locked = LOCKED.get(name, {})
        if name.startswith('locked'):
            self.locked = {f'joint_{i:02}': 0.3 for i in range(1, 12, 3)
                           if f'joint_{i:02}" type="continuous' not in self.urdf}
        self.model = load_urdf(self.urdf, locked=self.locked)
        self.dynamics = Dynamics(self.model)
        self.pin = pin.buildModelFromXML(self.urdf)
        if self.locked:
            q, ids = pin.neutral(self.pin), [self.pin.getJointId(j) for j in self.locked]
            q[[self.pin.joints[i].idx_q for i in ids]] = list(self.locked.values())
            self.pin = pin.buildReducedModel(self.pin, ids, q)
        self.data = self.pin.createData()
        self.P, self.shift = np.zeros((self.pin.nv, self.model.nv)), np.zeros(self.pin.nv)
        mimic = {joint.get('name'): joint.find('mimic') for joint in
                 etree.fromstring(self.urdf.encode()).iterfind('joint[mimic]')}
        for name, joint in zip(self.pin.names[1:], self.pin.joints[1:], strict=True):
            ratio, shift = 1.0, 0.0
            while name not in self.model.joint_names:
                shift += ratio * float(mimic[name].get('offset', 0))
                ratio *= float(mimic[name].get('multiplier', 1))
                name = mimic[name].get('joint')
            self.P[joint.idx_v, self.model.joint_names.index(name)] = ratio
            self.shift[joint.idx_v] = shift

    def states(self, count: int = 5):
        """Yield random q, q̇, q̈."""
        rng = np.random.default_rng(1)
        for _ in range(count):
            yield rng.uniform(-3, 3, (3, self.model.nv))

    def rnea(self, q, qd, qdd, wrenches=None):
        """Return the efforts; ``wrenches`` on frames by name, in their axes."""
        forces = [pin.Force.Zero() for _ in range(self.pin.njoints)]
        for name, wrench in (wrenches or {}).items():
            frame = self.pin.frames[self.pin.getFrameId(name, pin.BODY)]
            forces[frame.parentJoint] += frame.placement.act(pin.Force(*np.split(wrench, 2)))
        return self.P.T @ pin.rnea(self.pin, self.data, self.q(q), self.P @ qd, self.P @ qdd,
                                   pin.StdVec_Force(forces))

    def bias(self, q, qd):
        return self.P.T @ pin.nonLinearEffects(self.pin, self.data, self.q(q), self.P @ qd)

    def gravity(self, q):
        return self.P.T @ pin.computeGeneralizedGravity(self.pin, self.data, self.q(q))

    def mass_matrix(self, q):
        return self.projected(symmetric(pin.crba(self.pin, self.data, self.q(q))))

    def forward_dynamics(self, q, qd, tau):
        if self.mimics:
            return np.linalg.solve(self.mass_matrix(q), tau - self.bias(q, qd))
        return self.P.T @ pin.aba(self.pin, self.data, self.q(q), self.P @ qd, self.P @ tau)

    def coriolis(self, q, qd):
        return self.projected(pin.computeCoriolisMatrix(self.pin, self.data, self.q(q),
                                                        self.P @ qd))

    def derivatives(self, q, qd, qdd):
        """Return ∂τ/∂q and ∂τ/∂q̇."""
        pin.computeRNEADerivatives(self.pin, self.data, self.q(q), self.P @ qd, self.P @ qdd)
        return [self.projected(a) for a in (self.data.dtau_dq, self.data.dtau_dv)]

    def forward_derivatives(self, q, qd, tau):
        """Return ∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ."""
        if self.mimics:
            inverse = np.linalg.inv(self.mass_matrix(q))
            slopes = self.derivatives(q, qd, self.forward_dynamics(q, qd, tau))
            return [-inverse @ a for a in slopes] + [inverse]
        pin.computeABADerivatives(self.pin, self.data, self.q(q), self.P @ qd, self.P @ tau)
        return [self.projected(a) for a in (
            self.data.ddq_dq, self.data.ddq_dv, symmetric(self.data.Minv))]

    def place(self, name, q, qd):
        """Return pose, and Jacobian and its rate by reference, of a frame."""
        frame = self.pin.getFrameId(name, pin.BODY)
        pin.computeJointJacobiansTimeVariation(self.pin, self.data, self.q(q), self.P @ qd)
        pin.updateFramePlacements(self.pin, self.data)
        of = {'world': pin.WORLD, 'body': pin.LOCAL, 'aligned': pin.LOCAL_WORLD_ALIGNED}
        return self.data.oMf[frame].homogeneous, {
            name: [f(self.pin, self.data, frame, reference).reshape(6, -1) @ self.P for f in (
                pin.getFrameJacobian, pin.getFrameJacobianTimeVariation)]
            for name, reference in of.items()}

    def energies(self, q, qd):
        """Return kinetic and potential energy."""
        return (pin.computeKineticEnergy(self.pin, self.data, self.q(q), self.P @ qd),
                pin.computePotentialEnergy(self.pin, self.data, self.q(q)))

    def center_of_mass(self, q):
        return pin.centerOfMass(self.pin, self.data, self.q(q))

    def regressor(self, q, qd, qdd):
        """Return the torque regressor; Pinocchio's inertias are in the order of ours."""
        Y = self.P.T @ pin.computeJointTorqueRegressor(
            self.pin, self.data, self.q(q), self.P @ qd, self.P @ qdd).reshape(self.pin.nv, -1)
        ids = map(self.pin.getJointId, self.model.body_joint_names)
        return np.hstack([Y[:, 10 * (i - 1):10 * i] for i in ids])

    @property
    def mimics(self) -> bool:
        """Whether joints mimic others: Pinocchio's algorithms for q̈ know nothing of them."""
        return self.pin.nv > self.model.nv

    def q(self, q):
        """Return the configuration of Pinocchio, whose continuous joints are (cos, sin)."""
        out = pin.neutral(self.pin)
        for joint, value in zip(self.pin.joints[1:], self.P @ q + self.shift, strict=True):
            out[joint.idx_q:joint.idx_q + joint.nq] = \
                value if joint.nq == 1 else (np.cos(value), np.sin(value))
        return out

    def projected(self, matrix):
        """Return a matrix of Pinocchio's joints as one of ours."""
        return self.P.T @ matrix @ self.P


def symmetric(matrix):
    """Return the matrix that has this upper triangle."""
    return np.triu(matrix) + np.triu(matrix, 1).T


def parts(result):
    """Return the arrays of a quantity."""
    return [np.asarray(part) for part in (result if isinstance(result, tuple) else (result,))]


case_of = cache(Case)


@pytest.fixture(scope='session')
def robot():
    """Return what gives the :class:`Case` of one robot by name."""
    return case_of


@pytest.fixture(scope='session')
def close():
    """Return what asserts that two agree, relative to max(1, largest entry)."""
    def close(ours, theirs, tolerance: float = 1e-10) -> None:
        assert ours.shape == theirs.shape
        assert np.abs(ours - theirs).max() <= tolerance * max(1.0, np.abs(theirs).max())
    return close
