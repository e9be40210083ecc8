# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Scenes that take efforts, and those that do not: MuJoCo's own forces are the judge."""

import mujoco
import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.errors import ParameterError, SimulationError
from robodyn_ros.model.resources import robot_path
from robodyn_ros.simulation.loading import check_scene

pytestmark = pytest.mark.slow

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
