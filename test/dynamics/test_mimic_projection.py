# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joints that mimic others: every quantity is that of the free robot, projected."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from robodyn_ros import Dynamics

# Joint: leader, ratio, shift. Of one branch, of two, a chain's end, and one that leads two.
FOLLOWERS = {'tree7': {2: (0, -0.7, 0.2), 5: (1, 1.5, -0.1)},
             'tree12': {4: (0, 0.5, 0.3), 6: (0, -1.0, 0.0), 8: (7, 2.0, 0.1)},
             'tree19': {1: (3, -1.2, 0.4), 10: (2, 0.3, -0.2)}}


class Coupled:
    """A free robot, and the one whose followers mimic: q = P r + shift."""

    def __init__(self, free: Dynamics, followers):
        model, n = free.model, free.model.nv
        self.free, alone = free, [i for i in range(n) if i not in followers]
        place = {body: k for k, body in enumerate(alone)}
        self.P, self.shift = np.zeros((n, len(alone))), np.zeros(n)
        for i in range(n):
            leader, ratio, self.shift[i] = followers.get(i, (i, 1.0, 0.0))
            self.P[i, place[leader]] = ratio
        armature = np.linspace(0.1, 0.5, len(alone))
        per_joint = {name: getattr(model, name)[alone] for name in (
            'position_lower', 'position_upper', 'velocity_limit', 'effort_limit',
            'viscous_friction', 'coulomb_friction', 'static_friction', 'friction_velocity',
            'stribeck_velocity', 'presliding_distance', 'load_friction')}
        self.model = replace(
            model, joint_names=tuple(model.joint_names[i] for i in alone),
            driver=self.P.astype(bool).argmax(1), ratio=self.P.sum(1), shift=self.shift,
            armature=armature, backward_friction=model.backward_friction[:, alone],
            coupled_friction=model.coupled_friction[:, alone], **per_joint)
        self.armature = np.diag(armature)
        self.dynamics = Dynamics(self.model)

    def q(self, r):
        return self.P @ r + self.shift


@pytest.fixture(params=FOLLOWERS)
def coupled(request, robot):
    return Coupled(robot(request.param).dynamics, FOLLOWERS[request.param])


def states(coupled):
    rng = np.random.default_rng(4)
    for _ in range(3):
        yield rng.uniform(-1, 1, (3, coupled.model.nv))


def test_efforts_and_matrices(coupled, close):
    P, free, ours = coupled.P, coupled.free, coupled.dynamics
    wrenches = {name: np.arange(6.0) for name in coupled.model.frame_names[::3]}
    for r, rd, rdd in states(coupled):
        q, qd, qdd = coupled.q(r), P @ rd, P @ rdd
        close(ours.inverse_dynamics(r, rd, rdd, wrenches, 'body'),
              P.T @ free.inverse_dynamics(q, qd, qdd, wrenches, 'body') + coupled.armature @ rdd)
        close(ours.gravity(r), P.T @ free.gravity(q))
        close(ours.mass_matrix(r), P.T @ free.mass_matrix(q) @ P + coupled.armature)
        close(ours.coriolis_matrix(r, rd), P.T @ free.coriolis_matrix(q, qd) @ P)
        close(ours.regressor(r, rd, rdd), P.T @ free.regressor(q, qd, qdd))


def test_accelerations(coupled, close):
    for r, rd, rdd in states(coupled):
        tau = coupled.dynamics.inverse_dynamics(r, rd, rdd)
        close(coupled.dynamics.forward_dynamics(r, rd, tau), rdd, 1e-8)


def test_derivatives(coupled, close):
    P, zero = coupled.P, np.zeros((coupled.model.nv, coupled.model.nv))
    for r, rd, rdd in states(coupled):
        ours = coupled.dynamics.inverse_dynamics_derivatives(r, rd, rdd)
        theirs = coupled.free.inverse_dynamics_derivatives(coupled.q(r), P @ rd, P @ rdd)
        for mine, of_free, rotors in zip(ours, theirs, (zero, zero, coupled.armature)):
            close(mine, P.T @ of_free @ P + rotors)
        M = coupled.dynamics.mass_matrix(r)
        close(coupled.dynamics.forward_dynamics_derivatives(r, rd, rdd).dqdd_dtau @ M,
              np.eye(len(r)), 1e-8)


def test_kinematics_and_energies(coupled, close):
    P, free, ours = coupled.P, coupled.free, coupled.dynamics
    for r, rd, _ in states(coupled):
        q, qd = coupled.q(r), P @ rd
        for name in coupled.model.frame_names:
            close(ours.pose(r, name), free.pose(q, name))
            close(ours.jacobian(r, name, 'aligned'), free.jacobian(q, name, 'aligned') @ P)
            close(ours.jacobian_dot(r, rd, name, 'aligned'),
                  free.jacobian_dot(q, qd, name, 'aligned') @ P)
        close(ours.center_of_mass(r), free.center_of_mass(q))
        close(np.array([ours.potential_energy(r), ours.kinetic_energy(r, rd)]),
              np.array([free.potential_energy(q),
                        free.kinetic_energy(q, qd) + 0.5 * rd @ coupled.armature @ rd]))


@pytest.mark.parametrize('name', ['baxter', 'panda_fingers', 'pr2', 'tiago_pro'])
def test_agrees_with_the_mimic_joints_of_pinocchio(robot, close, name):
    # It takes no chains, no leaders that come later, and gives no q̈, energies or derivatives
    case, rng = robot(name), np.random.default_rng(4)
    ours, model = case.dynamics, pin.buildModelFromXML(case.urdf, mimic=True)
    data, joints = model.createData(), [model.joints[model.getJointId(joint)]
                                        for joint in case.model.joint_names]
    order = [joint.idx_v for joint in joints]
    for r, *rates in rng.uniform(-1, 1, (3, 3, case.model.nv)):
        q, (v, a) = pin.neutral(model), np.zeros((2, model.nv))
        for joint, x in zip(joints, r):
            q[joint.idx_q:joint.idx_q + joint.nq] = x if joint.nq == 1 else (np.cos(x), np.sin(x))
        v[order], a[order] = rates
        close(ours.inverse_dynamics(r, *rates), pin.rnea(model, data, q, v, a)[order])
        close(ours.bias(r, rates[0]), pin.nonLinearEffects(model, data, q, v)[order])
        close(ours.gravity(r), pin.computeGeneralizedGravity(model, data, q)[order])
        M = np.zeros((model.nv, model.nv))
        M[np.ix_(order, order)] = ours.mass_matrix(r)
        close(np.triu(M), np.triu(pin.crba(model, data, q)))
        close(ours.center_of_mass(r), pin.centerOfMass(model, data, q))
