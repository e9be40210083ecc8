# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from robodyn_ros.errors import SimulationError, UnknownNameError, UrdfError
from robodyn_ros.simulation.loading import load, POINT_INERTIA
from robots import OWN
from scipy.spatial.transform import Rotation

pytestmark = pytest.mark.slow

EARTH = np.array([0, 0, -9.81])


def bodies(upper: str, fore: str = '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
           'ixz="0" iyz="0"/>') -> str:
    """Two links that turn, the first with the inertial ``upper``, the second with ``fore``."""
    joints = ''.join(
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        '<origin xyz="0.3 0.1 0" rpy="0.2 0.5 -0.4"/><axis xyz="0 0.6 0.8"/>'
        '<limit lower="-2" upper="2" effort="9" velocity="1"/></joint>'
        for name, parent, child in (('a', 'base', 'upper'), ('b', 'upper', 'fore')))
    return (f'<robot name="r"><link name="base"/><link name="upper">{inertial(upper)}</link>'
            f'<link name="fore">{inertial(fore)}</link>{joints}</robot>')


def inertial(content: str) -> str:
    return content and ('<inertial><origin xyz="0.1 0.2 0.3" rpy="0.3 -0.2 0.1"/>'
                        f'{content}</inertial>')


def mass_matrix(urdf: str, q) -> np.ndarray:
    model, _ = load(urdf, ['a', 'b'], timestep=1e-3, gravity=EARTH)
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    # Column by column from inverse dynamics: MuJoCo's storage of M differs between versions
    columns = []
    for n in range(2):
        data.qacc[:] = np.eye(2)[n]
        torque = np.zeros(2)
        mujoco.mj_rne(model, data, 1, torque)
        columns.append(torque - data.qfrc_bias)
    return np.array(columns)


@pytest.mark.parametrize('upper', [
    # two and more times beyond the triangle inequality, in skew axes
    '<mass value="2"/><inertia ixx="0.1" iyy="0.2" izz="0.9" ixy="0.03" ixz="0.05" iyz="-0.02"/>',
    # a flat disc, exactly on its limit, and a rod, which has no moment about its axis
    '<mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.2" ixy="0" ixz="0" iyz="0"/>',
    '<mass value="2"/><inertia ixx="0" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>',
    '<mass value="2"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/>',
    '',
])
def test_inertias_that_mujoco_refuses_are_simulated_as_they_are(upper):
    urdf, q = bodies(upper), np.array([0.4, -1.1])
    reference = pin.buildModelFromXML(urdf)
    expected = pin.crba(reference, reference.createData(), q)
    assert mass_matrix(urdf, q) == pytest.approx(expected, abs=3 * POINT_INERTIA, rel=0)


def test_inertia_added_to_massless_links_is_told():
    gone = load(bodies(''), ['a', 'b'], timestep=1e-3, gravity=EARTH)[1]
    assert gone == ('upper',)
    _, points = load(OWN['two_link'].read_text(), ['joint1', 'joint2'], timestep=1e-3,
                     gravity=EARTH)
    assert points == ('link1', 'link2')


def test_what_is_not_physics_of_a_link_stays_out():
    urdf = bodies('').replace('</robot>', """
        <link name="tip"><collision><geometry><mesh filename="package://no/where.stl"/></geometry>
        </collision></link>
        <joint name="turn" type="continuous"><parent link="fore"/><child link="tip"/>
        <axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="5" velocity="1"/></joint>
        <mujoco><option gravity="0 0 9"/><compiler boundmass="7"/></mujoco>
        <transmission name="t"/><gazebo/></robot>""")
    model, _ = load(urdf, ['turn', 'b', 'a'], timestep=1e-3, gravity=EARTH)
    assert model.opt.gravity == pytest.approx(EARTH)
    assert model.body('upper').mass[0] == 0
    assert model.ngeom == model.neq == 0
    assert [bool(model.joint(name).limited[0]) for name in ('a', 'turn')] == [True, False]
    assert [model.joint(j).name for j in model.actuator_trnid[:, 0]] == ['turn', 'b', 'a']


def test_refusals_name_the_thing():
    urdf = bodies('')
    options = {'timestep': 1e-3, 'gravity': EARTH}
    with pytest.raises(SimulationError, match='joint b is not part of the model'):
        load(urdf, ['a'], **options)
    with pytest.raises(SimulationError, match='joint c does not move'):
        load(urdf, ['a', 'b', 'c'], **options)
    with pytest.raises(UnknownNameError, match="no joint 'aa'.*'a'"):
        load(urdf, ['a', 'b'], locked={'aa': 1.0}, **options)
    with pytest.raises(UrdfError, match='not well-formed XML'):
        load(urdf[:-3], ['a', 'b'], **options)
    with pytest.raises(SimulationError, match='cannot read the URDF'):
        load(urdf.replace('<parent link="upper"/>', '<parent link="nothing"/>'), ['a', 'b'],
             **options)
    with pytest.raises(SimulationError, match='refuses.*fore'):
        load(urdf.replace('<mass value="1"/>', '<mass value="-1"/>'), ['a', 'b'], **options)


def test_a_plant_reads_what_the_model_reads():
    body = '<mass value="2"/><inertia ixx="1" iyy="1.2" izz="1.1" ixy="0" ixz="0" iyz="0"/>'
    regular, q = bodies(body), np.array([0.4, -1.1])
    quat = ' '.join(map(repr, Rotation.from_euler('xyz', [0.2, 0.5, -0.4]).as_quat().tolist()))
    odd = (regular.replace('rpy="0.2 0.5 -0.4"', f'quat_xyzw="{quat}"')
           .replace('<robot name="r">', '<robot version="1.2" xmlns="http://www.ros.org">'
                    '<gazebo><sensor:camera/></gazebo>')
           .replace(' effort="9" velocity="1"', ''))
    np.testing.assert_allclose(mass_matrix(odd, q), mass_matrix(regular, q), rtol=0, atol=1e-12)
    model, _ = load(odd, ['a', 'b'], timestep=1e-3, gravity=EARTH)
    assert not model.jnt_actfrclimited.any()
    assert load(regular, ['a', 'b'], timestep=1e-3, gravity=EARTH)[0].jnt_actfrclimited.all()
