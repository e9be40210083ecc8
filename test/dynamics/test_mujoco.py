# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The dynamics against MuJoCo: other code, other algorithms, other parser."""

from lxml import etree
import mujoco
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robots import LOCKED, OWN, random_tree, REAL, WIDE

pytestmark = pytest.mark.slow

# Of the others MuJoCo refuses a body or more: point masses, inertias that no body has
NAMES = ('arm6', 'ur10', 'xarm7', 'z1', 'so101', 'solo12', 'centauro', 'g1', 'simple_humanoid',
         'talos_reduced')
URDFS = {**{name: (OWN | REAL | WIDE)[name].read_text() for name in (*REAL, *NAMES)},
         **{f'tree{seed}': random_tree(seed, 6) for seed in range(100, 110)}}


class Plant:
    """A URDF in MuJoCo without shapes, damping, friction and limits."""

    def __init__(self, name: str):
        locked = LOCKED.get(name, {})
        root = etree.fromstring(URDFS[name].encode())
        for element in list(root.iter('visual', 'collision', 'limit', 'mimic')):
            element.getparent().remove(element)
        self.model = mujoco.MjModel.from_xml_string(etree.tostring(root, encoding='unicode'))
        self.model.dof_damping[:] = self.model.dof_frictionloss[:] = 0
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        self.model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        self.data = mujoco.MjData(self.model)
        for joint, position in locked.items():
            self.data.joint(joint).qpos = position
            self.model.dof_armature[self.model.joint(joint).dofadr] = 1e9   # nothing moves it
        self.ours = load_urdf(URDFS[name], locked=locked)
        self.dynamics = Dynamics(self.ours)
        joints = [self.model.joint(joint) for joint in self.ours.joint_names]
        self.at = np.array([joint.qposadr[0] for joint in joints])
        self.order = np.array([joint.dofadr[0] for joint in joints])
        self.model.dof_armature[self.order] += self.ours.armature

    def states(self):
        """Yield q, q̇ and q̈, which MuJoCo has then calculated with."""
        for q, qd, qdd in np.random.default_rng(6).uniform(-3, 3, (5, 3, self.ours.nv)):
            self.data.qpos[self.at] = q
            self.data.qvel[self.order], self.data.qacc[self.order] = qd, qdd
            mujoco.mj_inverse(self.model, self.data)
            yield q, qd, qdd

    def forward(self, tau):
        """Return the accelerations in this state."""
        self.data.qfrc_applied[self.order] = tau
        mujoco.mj_forward(self.model, self.data)
        return self.data.qacc[self.order]

    def mass_matrix(self):
        M = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        return M[np.ix_(self.order, self.order)]

    def place(self, name):
        """Return pose of a body, its Jacobian and the rate of that, in the axes of the world."""
        body, n = self.data.body(name), self.model.nv
        pose, J, Jd = np.eye(4), np.zeros((6, n)), np.zeros((6, n))
        pose[:3, :3], pose[:3, 3] = body.xmat.reshape(3, 3), body.xpos
        mujoco.mj_jacBody(self.model, self.data, J[:3], J[3:], body.id)
        mujoco.mj_jacDot(self.model, self.data, Jd[:3], Jd[3:], body.xpos, body.id)
        return pose, J[:, self.order], Jd[:, self.order]


@pytest.fixture(scope='module', params=URDFS)
def plant(request):
    """Every robot in MuJoCo, one after the other."""
    return Plant(request.param)


def test_efforts_and_mass_matrix_agree(plant, close):
    for q, qd, qdd in plant.states():
        close(plant.dynamics.inverse_dynamics(q, qd, qdd), plant.data.qfrc_inverse[plant.order],
              1e-6)
        close(plant.dynamics.bias(q, qd), plant.data.qfrc_bias[plant.order], 1e-6)
        close(plant.dynamics.mass_matrix(q), plant.mass_matrix(), 1e-6)


def test_accelerations_agree(plant, close):
    for q, qd, tau in plant.states():
        close(plant.dynamics.forward_dynamics(q, qd, tau), plant.forward(tau), 1e-6)


def test_kinematics_agree(plant, close):
    for q, qd, _ in plant.states():
        mujoco.mj_forward(plant.model, plant.data)
        for name in plant.ours.link_names:
            pose, J, Jd = plant.place(name)
            close(plant.dynamics.pose(q, name), pose, 1e-6)
            close(plant.dynamics.jacobian(q, name, 'aligned'), J, 1e-6)
            close(plant.dynamics.jacobian_dot(q, qd, name, 'aligned'), Jd, 1e-6)


def test_energies_and_center_of_mass_agree(plant, close):
    for q, qd, _ in plant.states():
        mujoco.mj_forward(plant.model, plant.data)
        # Both count potential energy from the origin of the base
        close(np.array([plant.dynamics.potential_energy(q), plant.dynamics.kinetic_energy(q, qd)]),
              plant.data.energy, 1e-6)
        close(plant.dynamics.center_of_mass(q), plant.data.subtree_com[0], 1e-6)
