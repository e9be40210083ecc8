# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots beside Pinocchio's model of the same URDF: an independent answer to every question."""

from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from robodyn_ros import Dynamics, load_urdf
from robots import LOCKED, OWN, REAL, random_tree

TREES = [f'tree{seed}' for seed in range(20)]


class Case:
    """A robot as ours (``model``, ``dynamics``) and as Pinocchio's, asked in our joint order."""

    def __init__(self, name: str):
        if name in TREES:
            seed = int(name.removeprefix('tree'))
            self.urdf = random_tree(seed, 3 + seed // 2)
        else:
            self.urdf = Path({**OWN, **REAL}[name]).read_text()
        self.locked = LOCKED.get(name, {})
        self.model = load_urdf(self.urdf, locked=self.locked)
        self.dynamics = Dynamics(self.model)
        full = pin.buildModelFromXML(self.urdf)
        q = pin.neutral(full)
        for joint, position in self.locked.items():
            q[full.joints[full.getJointId(joint)].idx_q] = position
        self.pin = pin.buildReducedModel(full, [full.getJointId(j) for j in self.locked], q)
        self.data = self.pin.createData()
        self.ids = [self.pin.getJointId(name) for name in self.model.joint_names]
        self.order = np.array([self.pin.joints[i].idx_v for i in self.ids])
        assert sorted(self.order) == list(range(self.pin.nv))

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
        return pin.rnea(self.pin, self.data, self.q(q), self.v(qd), self.v(qdd),
                        pin.StdVec_Force(forces))[self.order]

    def bias(self, q, qd):
        return pin.nonLinearEffects(self.pin, self.data, self.q(q), self.v(qd))[self.order]

    def gravity(self, q):
        return pin.computeGeneralizedGravity(self.pin, self.data, self.q(q))[self.order]

    def mass_matrix(self, q):
        upper = np.triu(pin.crba(self.pin, self.data, self.q(q)))
        return (upper + np.triu(upper, 1).T)[np.ix_(self.order, self.order)]

    def forward_dynamics(self, q, qd, tau):
        return pin.aba(self.pin, self.data, self.q(q), self.v(qd), self.v(tau))[self.order]

    def coriolis(self, q, qd):
        return pin.computeCoriolisMatrix(self.pin, self.data, self.q(q), self.v(qd))[
            np.ix_(self.order, self.order)]

    def derivatives(self, q, qd, qdd):
        """Return ∂τ/∂q and ∂τ/∂q̇."""
        pin.computeRNEADerivatives(self.pin, self.data, self.q(q), self.v(qd), self.v(qdd))
        return [a[np.ix_(self.order, self.order)]
                for a in (self.data.dtau_dq, self.data.dtau_dv)]

    def forward_derivatives(self, q, qd, tau):
        """Return ∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ."""
        pin.computeABADerivatives(self.pin, self.data, self.q(q), self.v(qd), self.v(tau))
        upper = np.triu(self.data.Minv)
        return [a[np.ix_(self.order, self.order)] for a in (
            self.data.ddq_dq, self.data.ddq_dv, upper + np.triu(upper, 1).T)]

    def place(self, name, q, qd):
        """Return pose, and Jacobian and its rate by reference, of a frame."""
        frame = self.pin.getFrameId(name, pin.BODY)
        pin.computeJointJacobiansTimeVariation(self.pin, self.data, self.q(q), self.v(qd))
        pin.updateFramePlacements(self.pin, self.data)
        of = {'world': pin.WORLD, 'body': pin.LOCAL, 'aligned': pin.LOCAL_WORLD_ALIGNED}
        return self.data.oMf[frame].homogeneous, {
            name: [f(self.pin, self.data, frame, reference)[:, self.order] for f in (
                pin.getFrameJacobian, pin.getFrameJacobianTimeVariation)]
            for name, reference in of.items()}

    def energies(self, q, qd):
        """Return kinetic and potential energy."""
        return (pin.computeKineticEnergy(self.pin, self.data, self.q(q), self.v(qd)),
                pin.computePotentialEnergy(self.pin, self.data, self.q(q)))

    def center_of_mass(self, q):
        return pin.centerOfMass(self.pin, self.data, self.q(q))

    def regressor(self, q, qd, qdd):
        """Return the torque regressor; Pinocchio's inertias are in the order of ours."""
        Y = pin.computeJointTorqueRegressor(self.pin, self.data, self.q(q), self.v(qd),
                                            self.v(qdd))[self.order]
        return np.hstack([Y[:, 10 * (i - 1):10 * i] for i in self.ids])

    def q(self, q):
        """Configuration of Pinocchio, whose continuous joints are (cos, sin)."""
        out = pin.neutral(self.pin)
        for i, value in zip(self.ids, q, strict=True):
            joint = self.pin.joints[i]
            out[joint.idx_q:joint.idx_q + joint.nq] = \
                value if joint.nq == 1 else (np.cos(value), np.sin(value))
        return out

    def v(self, v):
        """Vector of joint rates, accelerations or efforts of Pinocchio."""
        out = np.zeros(self.pin.nv)
        out[self.order] = v
        return out


case_of = cache(Case)


@pytest.fixture(params=[*REAL, *TREES])
def case(request) -> Case:
    """Every real robot and every random tree, one after the other."""
    return case_of(request.param)


@pytest.fixture(scope='session')
def robot():
    """``robot(name)`` is the :class:`Case` of one robot by name."""
    return case_of


@pytest.fixture(scope='session')
def close():
    """``close(ours, theirs, tolerance)`` asserts agreement relative to max(1, largest entry)."""
    def close(ours, theirs, tolerance: float = 1e-10) -> None:
        assert ours.shape == theirs.shape
        assert np.abs(ours - theirs).max() <= tolerance * max(1.0, np.abs(theirs).max())
    return close
