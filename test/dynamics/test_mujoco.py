# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics and mass matrix against MuJoCo: other code, other algorithms, other parser."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
from lxml import etree

from robodyn_ros import Dynamics, load_urdf
from robots import LOCKED, OWN, REAL, random_tree

URDFS = {**{name: Path(path).read_text() for name, path in (REAL | {'arm6': OWN['arm6']}).items()},
         **{f'tree{seed}': random_tree(seed, 6) for seed in range(100, 105)}}


class Plant:
    """A URDF in MuJoCo without shapes, damping, friction and limits."""

    def __init__(self, urdf: str, locked: dict[str, float]):
        root = etree.fromstring(urdf.encode())
        for element in list(root.iter('visual', 'collision', 'limit')):
            element.getparent().remove(element)
        self.model = mujoco.MjModel.from_xml_string(etree.tostring(root, encoding='unicode'))
        self.model.dof_damping[:] = self.model.dof_frictionloss[:] = 0
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        self.data = mujoco.MjData(self.model)
        for joint, position in locked.items():
            self.data.joint(joint).qpos = position

    def inverse(self, names, q, qd, qdd):
        for name, *motion in zip(names, q, qd, qdd, strict=True):
            joint = self.data.joint(name)
            joint.qpos, joint.qvel, joint.qacc = motion
        mujoco.mj_inverse(self.model, self.data)
        return np.array([self.data.joint(name).qfrc_inverse[0] for name in names])

    def mass_matrix(self, names):
        M = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        order = [self.model.joint(name).dofadr[0] for name in names]
        return M[np.ix_(order, order)]


@pytest.mark.parametrize('name', URDFS)
def test_agrees_with_mujoco(name, close):
    locked = LOCKED.get(name, {})
    model, plant = load_urdf(URDFS[name], locked=locked), Plant(URDFS[name], locked)
    dynamics, names = Dynamics(model), model.joint_names
    for q, qd, qdd in np.random.default_rng(6).uniform(-3, 3, (5, 3, model.nv)):
        close(dynamics.inverse_dynamics(q, qd, qdd), plant.inverse(names, q, qd, qdd), 1e-6)
        close(dynamics.mass_matrix(q), plant.mass_matrix(names), 1e-6)
