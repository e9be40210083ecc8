# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What URDF has no words for: the element <robodyn>, and files of identified friction."""

from dataclasses import replace
import re

import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.control.settings.friction import with_friction
from robodyn_ros.errors import IdentificationError, InertiaError, UrdfError
from robodyn_ros.model import urdf_extension
from robodyn_ros.model.friction_file import read_friction
from robodyn_ros.model.resources import robot_path
from robodyn_ros.model.robot import FRICTION_VELOCITY, STRIBECK_VELOCITY
from robots import ARM, differences, EXTENDED
import yaml


def said(text, arm=ARM):
    return arm.replace('</robot>', f'{text}</robot>')


def joint(attributes, inside='', name='shoulder'):
    return said(f'<robodyn><joint name="{name}" {attributes}>{inside}</joint></robodyn>')


def test_all_that_can_be_said():
    model = load_urdf(EXTENDED)
    for name, value in {
            'gravity_vector': [0, -9.8, 0.1], 'armature': [1e-4 * 100**2, 2.5],
            'viscous_friction': [0.5, 0], 'coulomb_friction': [0.2, 0],
            'static_friction': [0.3, 0], 'backward_friction': [[0.4, 0], [0.6, 0], [0.7, 0]],
            'friction_velocity': [0.02, FRICTION_VELOCITY],
            'stribeck_velocity': [0.2, STRIBECK_VELOCITY], 'position_lower': [-np.inf, 0],
            'position_upper': [2, 0.3], 'effort_limit': [np.inf, 90], 'velocity_limit': [3, 1]
            }.items():
        np.testing.assert_array_equal(getattr(model, name), value, name)
    assert model.warnings == ('the tool is estimated',)


@pytest.mark.parametrize('text', ['', '<robodyn/>', '<robodyn><joint name="slide"/></robodyn>'])
def test_nothing_said_is_nothing_changed(text):
    assert [*differences(load_urdf(said(text)), load_urdf(ARM))] == []


@pytest.mark.parametrize('attributes, expected', [
    ('', (0.5, 0.2, 0.2)), ('damping="0"', (0, 0.2, 0.2)), ('friction="1"', (0.5, 1, 1)),
    ('static_friction="3"', (0.5, 0.2, 3)), ('friction="1" static_friction="2"', (0.5, 1, 2))])
def test_backward_friction_is_as_forward_where_nothing_else_is_said(attributes, expected):
    model = load_urdf(joint('', f'<backward {attributes}/>'))
    np.testing.assert_array_equal(model.backward_friction[:, 0], expected)
    model = load_urdf(joint('static_friction="0.9"', f'<backward {attributes}/>'))
    stick = expected[2] if 'friction=' in attributes else 0.9
    np.testing.assert_array_equal(model.backward_friction[:, 0], (*expected[:2], stick))


def test_gravity_of_the_argument_and_of_another_root():
    assert load_urdf(EXTENDED, gravity=(1, 2, 3)).gravity_vector.tolist() == [1, 2, 3]
    assert load_urdf(EXTENDED, gravity=(0, 0, -9.81)).gravity_vector.tolist() == [0, 0, -9.81]
    pole = ARM.replace('<link name="base"/>', '<link name="floor"/><link name="base"/>'
                       '<joint name="pole" type="fixed"><parent link="floor"/><child link="base"/>'
                       '<origin xyz="0 0 2" rpy="1.5707963267948966 0 0"/></joint>')
    gravity = '<robodyn><gravity xyz="1 2 3"/></robodyn>'
    assert load_urdf(said(gravity, pole)).gravity_vector.tolist() == [1, 2, 3]
    model = load_urdf(said(gravity, pole), root='base')
    np.testing.assert_allclose(model.gravity_vector, [1, 3, -2], atol=1e-15)
    with pytest.raises(UrdfError, match="'shoulder'.*gravity=") as refused:
        load_urdf(said(gravity, pole), root='upper')
    assert refused.value.name == 'shoulder'
    assert load_urdf(said(gravity, pole), root='upper', gravity=(0, 0, -9.81)).nv == 1


def test_what_is_said_of_joints_that_are_not_loaded_does_not_matter():
    text = said('<robodyn><joint name="slide" armature="2"/><joint name="mount" armature="3" '
                'unlimited="effort" body="nowhere"/></robodyn>')
    assert load_urdf(text).armature.tolist() == [0, 2]
    assert load_urdf(text, locked={'slide': 0.1}).armature.tolist() == [0]
    free = joint('unlimited="upper"', name='slide')
    assert [*differences(load_urdf(free, locked={'slide': 5.0}),
                         load_urdf(ARM.replace('upper="0.3"', 'upper="9"'),
                                   locked={'slide': 5.0}))] == []


# What is written in <robodyn>, whom the error names, what it says, what it advises.
SHOULDER = '<joint name="shoulder" {}/>'.format
FAULTS = {
    'unknown element': ('<gravitation xyz="0 0 1"/>', 'robodyn', 'gravitation', "'gravity'"),
    'unknown attribute': (SHOULDER('armatur="1"'), 'shoulder', 'armatur', "'armature'"),
    'unknown element of a joint': ('<joint name="shoulder"><back/></joint>', 'shoulder', "'back'",
                                   "'backward'"),
    'unknown attribute of backward': ('<joint name="shoulder"><backward dampin="1"/></joint>',
                                      'shoulder', 'dampin', "'damping'"),
    'something in backward': ('<joint name="shoulder"><backward><a/></backward></joint>',
                              'shoulder', "'a'", 'none'),
    'unknown joint': ('<joint name="sholder"/>', 'sholder', 'unknown joint', "'shoulder'"),
    'no name': ('<joint armature="1"/>', 'joint', 'unknown joint', 'shoulder'),
    'joint twice': (SHOULDER('') * 2, 'shoulder', 'twice', 'keep one'),
    'gravity twice': ('<gravity xyz="0 0 1"/>' * 2, 'gravity', 'twice', 'keep one'),
    'backward twice': ('<joint name="shoulder"><backward/><backward/></joint>', 'shoulder',
                       'twice', 'keep one'),
    'gravity of two': ('<gravity xyz="0 1"/>', 'gravity', 'xyz="0 1"', '3 finite'),
    'huge gravity': ('<gravity xyz="0 0 1e10"/>', 'gravity', '1e10', 'up to 1e+09'),
    'negative armature': (SHOULDER('armature="-1"'), 'shoulder', 'armature="-1"', 'least 0'),
    'armature twice': (SHOULDER('armature="1" rotor_inertia="1"'), 'shoulder', 'rotor_inertia',
                       'keep one'),
    'only a gear': (SHOULDER('gear_ratio="9"'), 'shoulder', 'without', 'rotor_inertia='),
    'gear of too much': (SHOULDER('rotor_inertia="1" gear_ratio="1e5"'), 'shoulder', 'armature',
                         'up to'),
    'no width': (SHOULDER('friction_velocity="0"'), 'shoulder', 'friction_velocity', 'least'),
    'negative friction': ('<joint name="slide"><backward friction="-2"/></joint>', 'slide',
                          'friction="-2"', 'least 0'),
    'unknown limit': (SHOULDER('unlimited="uper"'), 'shoulder', "'uper'", "'upper'"),
    'limit twice': (SHOULDER('unlimited="lower lower"'), 'shoulder', 'unlimited="lower lower"',
                    'once'),
    'no limit named': (SHOULDER('unlimited=" "'), 'shoulder', 'unlimited', 'effort'),
    'no such type': (SHOULDER('type="ball"'), 'shoulder', 'ball', 'leave it out'),
    'type of a slide': ('<joint name="slide" type="continuous"/>', 'slide', 'prismatic',
                        'leave it out'),
    'no rotation': (SHOULDER('rotation="1 0 0"'), 'shoulder', 'rotation', '9 finite'),
    'another rotation': (SHOULDER('rotation="1 0 0 0 0 -1 0 1 0"'), 'shoulder', 'rotation',
                         'rpy is enough'),
    'blank body': (SHOULDER('body=""'), 'shoulder', 'body', 'fixed'),
    'unknown body': (SHOULDER('body="nowhere"'), 'shoulder', 'nowhere', 'remove'),
    'body elsewhere': (SHOULDER('body="tool"'), 'shoulder', 'tool', 'remove'),
    'endless word': (SHOULDER(f'{"q" * 9000}="1"'), 'shoulder', 'qqq', 'armature'),
    'own body': ('<joint name="slide" body="fore"/>', 'slide', 'fore', 'remove'),
}


@pytest.mark.parametrize('fault', FAULTS)
def test_a_fault_is_refused_with_its_place_and_remedy(fault):
    text, name, problem, advice = FAULTS[fault]
    with pytest.raises(UrdfError) as refused:
        load_urdf(said(f'<robodyn>{text}</robodyn>'))
    assert refused.value.name == name and name in str(refused.value)
    assert problem in str(refused.value) and str(refused.value).isprintable()
    assert '<robodyn>' in str(refused.value) and advice in refused.value.remedy


@pytest.mark.parametrize('text', [
    '<joint name="slide">armature="1"</joint>', '<gravity xyz="0 0 1"/> 0 0 2',
    '<joint name="slide"><backward>damping="1"</backward></joint>'])
def test_text_is_not_passed_over(text):
    with pytest.raises(UrdfError, match='has the text') as refused:
        load_urdf(said(f'<robodyn>{text}</robodyn>'))
    assert refused.value.value in text


@pytest.mark.parametrize('text, problem', [
    ('<robodyn/><robodyn/>', '2 times'), ('<robodyn gravity="1"/>', "attribute 'gravity'"),
    ('<robodyn>' + '<warning>x</warning>' * 501 + '</robodyn>', '501 warnings')])
def test_the_element_itself(text, problem):
    with pytest.raises(UrdfError, match=problem) as refused:
        load_urdf(said(text))
    assert refused.value.name == 'robodyn'
    assert urdf_extension.MAX_EXTENSION_WARNINGS == 500


def test_warnings_are_shown_and_not_obeyed():
    model = load_urdf(said('<robodyn><warning>a\u202eb</warning><warning>'
                           + 'w' * 9000 + '</warning></robodyn>'))
    assert model.warnings[0] == r'a\u202eb' and len(model.warnings[1]) < 1100


TEXT = """\
# Friction as it was identified, of the joints joint1, joint2.
/**/controller:
  ros__parameters:
    viscous_friction: [1.5, 0.5]
    coulomb_friction: [2.0, 1.0]
    armature: [0.1, 0.05]
    friction_offset: [0.2, 0.0]
    gravity: [0.0, 1.0, -9.7]
"""


@pytest.fixture
def file(tmp_path):
    (path := tmp_path / 'friction.yaml').write_text(TEXT)
    return path


def test_it_replaces_the_friction_of_the_urdf(file):
    model = load_urdf('two_link', friction=str(file))
    assert model.viscous_friction.tolist() == model.backward_friction[0].tolist() == [1.5, 0.5]
    assert model.coulomb_friction.tolist() == model.static_friction.tolist() == [2.0, 1.0]
    assert model.armature.tolist() == [0.1, 0.05]
    assert model.gravity_vector.tolist() == [0.0, 1.0, -9.7]
    assert 'friction_offset [0.2, 0.0]' in model.warnings[-1]
    given = load_urdf('two_link', gravity=(0, 0, -1), friction=file)
    assert given.gravity_vector.tolist() == [0.0, 0.0, -1.0]


@pytest.mark.parametrize(('old', 'new', 'said'), [
    ('joint1, joint2', 'shoulder, elbow', 'is for the joints shoulder, elbow, not joint1, joint2'),
    ('[1.5, 0.5]', '[1.5]', 'viscous_friction in .* is not 2 numbers'),
    ('[2.0, 1.0]', '[2.0, .nan]', 'coulomb_friction in .* is not 2 numbers'),
    ('[0.1, 0.05]', '[0.1, -0.05]', 'armature in .* is'),
    ('-9.7', '.nan', 'gravity is'), (TEXT, '', 'cannot be read'),
    ('# Friction', '# by Ann\n\n# Friction', None), ('# Friction', '\ufeff# Friction', None),
    (TEXT, '/**/controller: {ros__parameters: {viscous_frction: [1, 1]}}', 'has none of viscous'),
    (TEXT, '/**/controller: {ros__parameters: {}}', 'has none of viscous')])
def test_another_file_is_refused(file, old, new, said):
    text = TEXT.replace(old, new)
    if said is None:        # whatever precedes the names of the joints
        text, said = text.replace('joint1, joint2', 'joint2, joint1'), 'joints joint2, joint1, not'
    file.write_text(text)
    with pytest.raises(IdentificationError, match=said):
        load_urdf('two_link', friction=file)


def test_what_is_not_given_is_that_of_the_controller_with_the_same_parameters(file):
    """Static friction follows Coulomb friction, and backward motion forward motion."""
    urdf = load_urdf('two_link')
    urdf = replace(urdf, static_friction=np.array([3.0, 3.0]), coupled_friction=np.array([
        [1.0, 1.0], [0.2, 0.2], [0.3, 0.3]]), backward_friction=np.full((3, 2), 7.0))
    for given in ({'coulomb_friction': [2.0, 1.0]}, {'backward_coulomb_friction': [2.0, 1.0]},
                  {'coulomb_friction': [2.0, 1.0], 'static_friction': [4.0, 4.0]},
                  {'coupled_viscous_friction': [0.1, 0.1]}):
        file.write_text(yaml.safe_dump({'/**/controller': {'ros__parameters': given}}))
        found, other = read_friction(file, urdf)[0], with_friction(
            urdf, {name: np.array(values) for name, values in given.items()})
        for name in ('coulomb_friction', 'static_friction', 'backward_friction',
                     'coupled_friction'):
            assert np.array_equal(getattr(found, name), getattr(other, name)), (name, given)


def test_armature_of_the_file_resists_the_joints(file):
    """A model is judged with the armature that it has in the end."""
    massless = re.sub('<inertial>.*?</inertial>', '', robot_path('two_link').read_text(),
                      flags=re.DOTALL)
    with pytest.raises(InertiaError, match='no inertia'):
        load_urdf(massless)
    assert load_urdf(massless, friction=file).massless_joints == ()
    file.write_text(TEXT.replace('[0.1, 0.05]', '[0.0, 0.0]'))
    rotors = massless.replace('</robot>', '<robodyn><joint name="joint1" armature="1"/>'
                              '<joint name="joint2" armature="1"/></robodyn></robot>')
    assert load_urdf(rotors).armature.tolist() == [1.0, 1.0]
    with pytest.raises(InertiaError, match='no inertia'):
        load_urdf(rotors, friction=file)
