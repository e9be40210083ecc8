# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joints that mimic others, in the plant: the rule is kept, and all that they weigh is felt."""

from functools import partial

import mujoco
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.simulation.loading import load
from robodyn_ros.simulation.plant import Plant
from robots import GRIPPER, REAL
from simulation.test_plant import measured_acceleration, somewhere

pytestmark = pytest.mark.slow

EARTH = np.array([0, 0, -9.81])
# What a follower's own drive could do does not matter: it has none
WEAK = GRIPPER.replace('effort="7"', 'effort="0.001"')
ROBOTS = {'gripper': WEAK, 'panda': REAL['panda'].read_text()}
# In the gripper both fingers slide level, and gravity moves neither: tilted, it does
TILT = (0, 5.0, -8.0)


def make(name, **options):
    return Plant(ROBOTS[name], model=load_urdf(ROBOTS[name], gravity=TILT), **options)


@pytest.mark.parametrize('name', ROBOTS)
def test_followers_are_moved_and_carried_by_their_rule(name):
    # Mass, weight, damping and friction of followers are those that the model says.
    model = load_urdf(ROBOTS[name], gravity=TILT)
    q, v, tau = somewhere(model)
    found = measured_acceleration(partial(make, name), q, v, tau)
    friction = model.viscous_friction * v + model.coulomb_friction * np.sign(v)
    expected = Dynamics(model).forward_dynamics(q, v, tau - friction)
    # A constraint is softer than iron: MuJoCo reaches 0.9999 of what it needs
    assert found == pytest.approx(expected, rel=1e-3)
    model = load_urdf(ROBOTS[name], gravity=TILT)
    mj, _ = load(ROBOTS[name], model.joint_names, timestep=0.25e-3, gravity=np.array(TILT))
    assert [mj.joint(j).name for j in mj.actuator_trnid[:, 0]] == [*model.joint_names]
    mj.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    data, places = mujoco.MjData(mj), [mj.joint(n).qposadr[0] for n in model.body_joint_names]
    start = somewhere(model)[0]
    data.qpos[places] = model.ratio * start[model.driver] + model.shift
    rng, moved = np.random.default_rng(0), 0.0
    for step in range(4000):
        if step % 200 == 0:         # pulled about in the dark, into the stops too
            data.ctrl = rng.uniform(-1, 1, model.nv) * np.minimum(model.effort_limit, 20)
        mujoco.mj_step(mj, data)
        q = data.qpos[places]
        drivers = q[model.leaders][model.driver]
        assert np.abs(q - model.ratio * drivers - model.shift).max() < 1e-5
        moved = max(moved, abs(drivers[-1] - start[-1]))
    assert moved > 0.01
    plant = make(name, compensates_gravity=True)
    q, v, _ = somewhere(plant.model)
    gravity = Dynamics(plant.model).gravity(q)
    plant.reset(q)
    for _ in range(100):
        plant.step(0.0)
    assert plant.state().position == pytest.approx(q, abs=1e-9)
    assert plant.state().effort == pytest.approx(gravity, abs=1e-9)
    plant.brakes = True
    assert plant.state().effort == pytest.approx(gravity, abs=1e-9)


def test_added_damping_is_on_the_drivers():
    plant, q = make('gripper', joint_damping=500.0), np.array([0, 0.03])
    model = plant.model
    plant.reset(q)
    force = 25.0
    for _ in range(100):        # 4 mm: it does not come to its stop
        plant.step([0, -force])
    resists = model.viscous_friction[1] + 500.0
    pull = force - model.coulomb_friction[1] + Dynamics(model).gravity(plant.state().position)[1]
    assert plant.state().velocity[1] == pytest.approx(-pull / resists, rel=0.01)


CASES = {
    'the leader is locked': (GRIPPER, {'left': 0.03}),
    'one in between is locked': (GRIPPER, {'right': -0.002}),
    'all are locked': (GRIPPER, {'left': 0.01, 'right': 0.004, 'right_tip': -0.5}),
    'the leader is fixed': (GRIPPER.replace('"left" type="prismatic"', '"left" type="fixed"'), {}),
    'a multiplier of zero': (GRIPPER.replace('multiplier="-0.5"', 'multiplier="0"'), {}),
    'none of it': (GRIPPER, {}),
}


@pytest.mark.parametrize('case', CASES)
def test_what_does_not_move_is_where_the_model_has_it(case):
    text, locked = CASES[case]
    model = load_urdf(text, locked=locked)
    mj, _ = load(text, model.joint_names, timestep=1e-3, gravity=EARTH, locked=locked)
    assert {mj.joint(i).name for i in range(mj.njnt)} == {*model.body_joint_names}
    assert mj.neq == model.nb - model.nv
    data = mujoco.MjData(mj)
    for name, shift in zip(model.body_joint_names, model.shift):
        data.joint(name).qpos = shift
    mujoco.mj_forward(mj, data)
    dynamics = Dynamics(model)
    for name in model.frame_names:
        if name != model.base_link:
            T = dynamics.pose(np.zeros(model.nv), name)
            assert data.body(name).xpos == pytest.approx(T[:3, 3], abs=1e-12)
            assert data.body(name).xmat == pytest.approx(T[:3, :3].ravel(), abs=1e-12)
