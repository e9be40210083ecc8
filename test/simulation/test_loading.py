# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the plant is made of: bodies, motors of scenes, and what is refused."""


import mujoco
import numpy as np
import pinocchio as pin
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.errors import ParameterError, SimulationError, UnknownNameError, UrdfError
from robodyn_ros.model.resources import robot_path
from robodyn_ros.simulation.loading import check_scene, load, POINT_INERTIA
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


def test_what_stays_out_and_is_added():
    gone = load(bodies(''), ['a', 'b'], timestep=1e-3, gravity=EARTH)[1]
    assert gone == ('upper',)
    _, points = load(OWN['two_link'].read_text(), ['joint1', 'joint2'], timestep=1e-3,
                     gravity=EARTH)
    assert points == ('link1', 'link2')
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


@pytest.mark.parametrize(('old', 'new', 'joints', 'error', 'said'), [
    ('', '', ['a'], SimulationError, 'joint b is not part of the model'),
    ('', '', ['a', 'b', 'c'], SimulationError, 'joint c does not move'),
    ('</robot>', '', ['a', 'b'], UrdfError, 'not well-formed XML'),
    ('<parent link="upper"/>', '<parent link="nothing"/>', ['a', 'b'], SimulationError,
     'cannot read the URDF'),
    ('<mass value="1"/>', '<mass value="-1"/>', ['a', 'b'], SimulationError, 'refuses.*fore')])
def test_refusals_name_the_thing(old, new, joints, error, said):
    options = {'timestep': 1e-3, 'gravity': EARTH}
    with pytest.raises(error, match=said):
        load(bodies('').replace(old, new), joints, **options)
    with pytest.raises(UnknownNameError, match="no joint 'aa'.*'a'"):
        load(bodies(''), ['a', 'b'], locked={'aa': 1.0}, **options)


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


SCENE = """<mujoco>
  <default>
    <default class="servo">
      <general dyntype="none" biastype="affine" gainprm="4500" biasprm="0 -4500 -450"/>
    </default>
    <default class="backward"><motor gear="-1"/></default>
  </default>
  <worldbody><body><joint name="joint1"/><geom size="0.1" pos="0.3 0 0"/><site name="tip"/>
    <body pos="0.5 0 0"><joint name="joint2"/><geom size="0.1" pos="0.3 0 0"/></body>
  </body></worldbody>
  <actuator>{}<motor joint="joint2"/></actuator>
</mujoco>"""
MOTORS = ['<motor joint="joint1"/>', '<general joint="joint1"/>',
          '<motor joint="joint1" ctrlrange="-80 80" forcerange="-90 100"/>',
          '<general joint="joint1" gainprm="1" biastype="affine"/>']
OTHERS = {
    '<general joint="joint1" class="servo"/>': r'position servo \(biasprm 0 -4500 -450\)',
    '<position joint="joint1" kp="100"/>': 'position servo .*gain 100',
    '<velocity joint="joint1" kv="3"/>': r'velocity servo \(biasprm 0 0 -3\)',
    '<intvelocity joint="joint1" kp="3" actrange="-1 1"/>': 'position servo .*integrator',
    '<damper joint="joint1" kv="3" ctrlrange="0 5"/>': 'gaintype affine',
    '<cylinder joint="joint1"/>': 'dyntype filter',
    '<muscle joint="joint1" lengthrange="0 1"/>': 'gaintype muscle',
    '<dcmotor joint="joint1" motorconst="0.1" resistance="1"/>': 'gaintype dcmotor',
    '<general joint="joint1" biastype="affine" biasprm="1 0 0"/>': 'constant force',
    '<general joint="joint1" gainprm="-1"/>': 'gain -1',
    '<general joint="joint1" dyntype="filter" dynprm="0.01"/>': 'dyntype filter',
    '<motor joint="joint1" gear="100"/>': 'gear 100',
    '<motor joint="joint1" class="backward"/>': 'gear -1',
}


@pytest.fixture
def scene(tmp_path):
    """Return the path of a scene with an actuator for the first joint."""
    def write(actuator: str, text: str = SCENE):
        (path := tmp_path / 'scene.xml').write_text(text.format(actuator))
        return path
    return write


def effort_follows_command(path) -> bool:
    """Whether the effort at the first joint is the command, in 20 states."""
    model = mujoco.MjModel.from_xml_path(str(path))
    data, random = mujoco.MjData(model), np.random.default_rng(0)
    errors = []
    for _ in range(20):
        data.qpos, data.qvel, data.ctrl = (random.uniform(-1, 1, n) for n in (2, 2, model.nu))
        mujoco.mj_forward(model, data)
        errors.append(data.qfrc_actuator[0] - data.ctrl[0])
    return np.abs(errors).max() < 1e-12


@pytest.mark.parametrize('actuator', MOTORS)
def test_motors_by_any_tag(actuator, scene):
    assert check_scene(scene(actuator), load_urdf('two_link')) == []
    assert effort_follows_command(scene(actuator))


@pytest.mark.parametrize('limit', ['ctrlrange="-1 9"', 'forcerange="-100 1"',
                                   'ctrllimited="true" ctrlrange="-1 1"'])
def test_clipped_efforts_are_a_warning(limit, scene):
    found = check_scene(scene(f'<motor joint="joint1" {limit}/>'), load_urdf('two_link'))
    assert found == ["the scene clips the effort of joint 'joint1' at 1, its limit is 80"]
    narrow = SCENE.replace('name="joint2"', 'name="joint2" actuatorfrcrange="-2 2"')
    (found,) = check_scene(scene('<motor joint="joint1"/>', narrow), load_urdf('two_link'))
    assert "'joint2' at 2, its limit is 30" in found


@pytest.mark.parametrize('actuator', OTHERS)
def test_actuators_whose_force_is_not_their_command(actuator, scene):
    with pytest.raises(SimulationError, match=f"'joint1' is not .*{OTHERS[actuator]}") as refused:
        check_scene(scene(actuator), load_urdf('two_link'))
    assert refused.value.name == 'joint1' and '<motor' in refused.value.remedy
    assert not effort_follows_command(scene(actuator))


NO_JOINTS = ('<mujoco>{}<actuator><motor joint="joint1"/><motor joint="joint2"/></actuator>'
             '</mujoco>')


@pytest.mark.parametrize(('actuator', 'text', 'error', 'message'), [
    *((actuator, SCENE, ParameterError, 'no actuator for joint1') for actuator in (
        '', '<general jointinparent="joint1"/>', '<motor site="tip" name="joint1"/>')),
    ('<motor joint="joint1"/><damper joint="joint1" kv="1" ctrlrange="0 1"/>', SCENE,
     SimulationError, "'joint1' has 2 actuators"),
    ('', NO_JOINTS, SimulationError, 'no joint joint1, joint2'),
    ('', robot_path('two_link').read_text().replace('{', '{{').replace('}', '}}'),
     ParameterError, 'no actuator for joint1, joint2'),
    *(('', text, SimulationError, 'cannot read the scene') for text in (
        '', 'no XML', '<mujoco><bodies/></mujoco>'))])
def test_what_is_no_scene_of_this_robot(actuator, text, error, message, scene):
    with pytest.raises(error, match=message):
        check_scene(scene(actuator, text), load_urdf('two_link'))


def test_files_of_scenes(tmp_path, scene):
    with pytest.raises(SimulationError, match='cannot read the scene') as refused:
        check_scene(tmp_path / 'none.xml', load_urdf('two_link'))
    assert 'MJCF' in refused.value.remedy
    # And meshes that are not there: they are no matter of efforts.
    (tmp_path / 'arm.xml').write_text(SCENE.format('<general joint="joint1" class="servo"/>'))
    whole = scene('', '<mujoco><asset><mesh file="none.stl"/></asset><include file="arm.xml"/>'
                      '</mujoco>')
    with pytest.raises(SimulationError, match='position servo'):
        check_scene(whole, load_urdf('two_link'))
