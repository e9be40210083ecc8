# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""URDF texts with other inertials and friction: order, comments and attributes stay."""

from dataclasses import replace
import re

from lxml import etree
from motions import with_joints
import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.errors import ArgumentError, InertiaError, UrdfError
from robodyn_ros.identification.urdf_update import corrected_urdf, urdf_with_friction
from robodyn_ros.model.urdf_elements import FRICTION_COLUMNS
from robots import ARM, EXTENDED, GRIPPER, OWN, PANDA_LOCKED, random_tree, REAL, WIDE

pytestmark = pytest.mark.slow

FINGERS = re.findall(r'<joint name="(hand_\w+)" type="[rcp]', WIDE['tiago'].read_text())
TIAGO = {'root': 'torso_lift_link', 'tip': 'arm_7_link', 'locked': dict.fromkeys(FINGERS, 0.2)}
MIDDLE = {'root': 'link_2', 'tip': 'link_4',
          'locked': {'joint_2': 0.1, 'joint_5': 0.3, 'joint_6': -0.2}}
CASES = {'panda': (REAL['panda'].read_text(), {'locked': PANDA_LOCKED}),
         'tiago': (WIDE['tiago'].read_text(encoding='utf-8'), TIAGO),
         'middle': (OWN['arm6'].read_text(), MIDDLE), 'tree': (random_tree(4, 8), {}),
         'gripper': (GRIPPER, {}), 'extended': (EXTENDED, {})}


def others(text, edited=('inertial',)):
    """Return elements, comments and texts of a document, in order, but those that are edited."""
    content = re.sub(r'^[\ufeff\s]*(<\?xml.*?\?>)?\s*', '', text)
    root = etree.fromstring(content.encode(), etree.XMLParser(
        recover=True, strip_cdata=False, encoding='utf-8'))
    nodes = [*root.itersiblings(preceding=True), *root.iter(), *root.itersiblings()]
    return [(node.tag, dict(node.attrib), (node.text or '').strip()) for node in nodes
            if not {node.tag, *(above.tag for above in node.iterancestors())} & {*edited}]


def ten(model):
    return model.inertial_parameters.reshape(-1, 10)


def sizes(parameters):
    """Return what each of the ten is measured by (nb, 10): as `corrected_urdf` says."""
    m, trace = abs(parameters[:, 0]), abs(parameters[:, [4, 6, 9]]).sum(1) / 2
    return np.column_stack([m, *[np.sqrt(m * trace)] * 3, *[trace] * 6]) + 1e-300


def heavier(model, seed=0):
    """Parameters of other real bodies: of each, one more has been put somewhere on it."""
    rng, changed = np.random.default_rng(seed), ten(model).copy()
    for row in changed:
        m = max(row[0], 0.1) * rng.uniform(0.2, 2.0)
        points = rng.uniform(-0.2, 0.2, (4, 3))
        second = m / 4 * points.T @ points
        inertia = np.trace(second) * np.eye(3) - second
        row += [m, *(m / 4 * points.sum(0)), *inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]]
    return changed


def check(text, options, parameters):
    """Write, compare all but the inertials, read again; return the text."""
    model = load_urdf(text, **options)
    result = corrected_urdf(text, model, parameters)
    again = load_urdf(result, **options)
    np.testing.assert_array_less(abs(ten(again) - parameters), 1e-12 * sizes(parameters) + 1e-300)
    assert others(result) == others(text)
    assert again.frame_names == model.frame_names
    np.testing.assert_array_equal(again.joint_origin, model.joint_origin)
    return result


@pytest.mark.parametrize('name', CASES)
def test_what_is_read_again_is_what_was_asked(name):
    """Heavier bodies and lighter ones; what is said already is left as it is."""
    source, options = CASES[name]
    model = load_urdf(source, **options)
    for factor in (1.0, 0.2):
        check(source, options, factor * heavier(model))
    assert corrected_urdf(source, model, ten(model)) == source


def test_one_body_is_changed_and_only_numbers_of_its_link():
    model, source = load_urdf(ARM), ARM
    parameters = ten(model).copy()
    parameters[0] *= 1.5
    result = check(source, {}, parameters)
    one, other = source.split('name="fore"')
    assert result.endswith(other) and '<mass value="3.0"/>' in result
    assert '<origin xyz="0 0 0.2"/>' in result          # equal numbers stay as they are written


def of_link(text, link):
    """Mass and centre of a link, as the text has them."""
    found = re.search(rf'name="{link}"><inertial>(?:<origin xyz="(.*?)".*?/>)?<mass value="(.*?)"',
                      text)
    return float(found[2]), found[1]


def test_the_moving_link_takes_the_difference():
    parameters = heavier(load_urdf(ARM))
    result = check(ARM, {}, parameters)
    assert of_link(result, 'tool') == of_link(ARM, 'tool')
    assert of_link(result, 'fore')[0] == pytest.approx(parameters[1, 0] - 0.5)


def test_links_that_were_fixed():
    parameters = 0.1 * ten(load_urdf(ARM))
    result = check(ARM, {}, parameters)
    (tool, at), (fore, _) = of_link(result, 'tool'), of_link(result, 'fore')
    assert 0 < tool < 0.15 and fore > 0 and fore + tool == pytest.approx(0.15)
    assert at == of_link(ARM, 'tool')[1]
    numbers = re.search(r'name="tool".*?<inertia (.*?)/>', result, re.S)[1]
    assert [float(x) for x in re.findall(r'"(.*?)"', numbers)] == pytest.approx(
        [tool / 0.5 * x for x in (0.001, 0, 0, 0.001, 0, 0.001)])
    rod = [2.0, 0, 0, 0.6, 0.24, 0, 0.24, 0, 0, 0]
    parameters = np.array([ten(load_urdf(ARM))[0], rod])
    result = check(ARM, {}, parameters)
    assert of_link(result, 'tool')[0] == 0 and of_link(result, 'fore')[0] == 2


@pytest.mark.parametrize(('inertial', 'expected'), [
    ('>\n    <visual/>\n  </link>', '>\n    <inertial><origin'),
    ('></link>', '><inertial><origin'), ('/>', '><inertial><origin'),
    ('><!-- <inertial> --></link>', '><inertial><origin')])
def test_a_link_without_inertial_gets_one(inertial, expected):
    start = ARM.index('><inertial>', ARM.index('name="fore"'))
    end = ARM.index('</link>', start) + len('</link>')
    text = ARM[:start] + inertial + ARM[end:]
    result = check(text, {}, heavier(load_urdf(text)))
    assert expected in result[result.index('name="fore"'):][:60]


@pytest.mark.parametrize(('origin', 'expected'), [
    ('', '<origin xyz="'), ('<origin/>', '<origin xyz="'),
    ("<origin rpy='0.1 0.2 0.3' xyz = '0 0 0.1' />", '<origin rpy="0.1 0.2 0.3" xyz="'),
    ('<origin rpy="0.1 0.2 0.3"></origin>', '<origin rpy="0.1 0.2 0.3" xyz="')])
def test_origins_of_every_form(origin, expected):
    text = ARM.replace('<origin xyz="0 0 0.1"/>', origin)
    result = check(text, {}, heavier(load_urdf(text)))
    assert expected in result[result.index('name="fore"'):result.index('name="tool"')]


HOSTILE = {
    'comments': ARM.replace(
        '<mass value="1"/>', '<!-- <mass value="8"/> <inertial> --><mass value="1"/>').replace(
        '<link name="fore">', '<!-- <link name="fore"><inertial><mass value="3"/></inertial>'
        '</link> --><link name="fore">'),
    'cdata': ARM.replace('</robot>', '<gazebo><![CDATA[<link name="fore"><inertial><mass '
                                     'value="7"/>]]></gazebo></robot>'),
    'elsewhere': ARM.replace('</robot>', '<gazebo><link name="fore"><inertial><mass value="7"/>'
                             '</inertial></link></gazebo></robot>'),
    'instruction': ARM.replace('<link name="fore">', '<?x <inertial> ?><link name="fore">'),
    'crlf': ARM.replace('\n', '\r\n'),
    'mark': '\ufeff' + ARM,
    'blank': ' \n\t' + ARM,
    'declared': '<?xml version="1.0" encoding="ISO-8859-1"?>\n<!-- é € -->\n' + ARM,
    'quotes': ARM.replace('"', "'").replace("value='1'", "value = '1'\n"),
    'greater': ARM.replace('<link name="fore">', '<link note="a > <b/>"  name="fore" >'.replace(
        '<b/>', '&lt;b/>')),
    'references': ARM.replace('<mass value="1"/>', '<mass value="&#49;"/>'),
    'characters': ARM.replace('fore', 'förë_前腕').replace('upper"', 'upper😀"'),
    'xacro': ARM.replace('<robot ', '<robot xmlns:xacro="http://ros.org/wiki/xacro" ').replace(
        '<joint name="slide"', '<!-- ${pi} $(find x) -->\n<joint name="slide"'),
    'namespace': ARM.replace('<link name="fore">', '<link name="fore"><inertial xmlns="urn:x">'
                             '<mass value="9"/></inertial>').replace(
                                 'upper="2"', ' upper = "2"')}


@pytest.mark.parametrize('name', HOSTILE)
def test_hostile_texts(name):
    text = HOSTILE[name]
    model = load_urdf(text)
    parameters = heavier(model)
    result = corrected_urdf(text, model, parameters)
    again = load_urdf(result)
    np.testing.assert_array_less(abs(ten(again) - parameters), 1e-12 * sizes(parameters))
    assert others(result) == others(text)
    assert ('\r' in result) == ('\r' in text) and result[:3] == text[:3]
    assert result.count('<![CDATA[') == text.count('<![CDATA[')
    assert result.startswith(text[:text.find('?>') + 2] if text.startswith('<?xml') else '')


def test_locked_joints_are_lumped_where_they_are_locked():
    options = {'locked': {'slide': 0.25}}
    model = load_urdf(ARM, **options)
    result = check(ARM, options, heavier(model))
    assert of_link(result, 'fore') == of_link(ARM, 'fore')
    # Locked elsewhere it is another body: what was identified holds at that position
    moved = load_urdf(result, locked={'slide': 0.1})
    assert abs(ten(moved) - heavier(model)).max() > 1e-3


@pytest.mark.parametrize(('text', 'error', 'said'), [
    ('<!DOCTYPE robot [<!ENTITY m "1">]>' + ARM, UrdfError, 'DOCTYPE'),
    (ARM.replace('value="1"', 'value="&m;"'), UrdfError, 'well-formed'),
    (ARM[:-20], UrdfError, 'well-formed'), ('arm.urdf', UrdfError, 'content of the file'),
    (GRIPPER, ArgumentError, "no joint 'shoulder'"),
    (ARM.replace('"tool"', '"t"'), ArgumentError, 'no link'),
    (ARM.replace('xyz="0 0 0.4"', 'xyz="0 0 0.5"'), ArgumentError, "'slide' is elsewhere")])
def test_texts_that_are_none_or_of_another_robot_are_refused(text, error, said):
    model = load_urdf(ARM)
    with pytest.raises(error, match=said):
        corrected_urdf(text, model, ten(model))
    with pytest.raises(ArgumentError, match='parameters'):
        corrected_urdf(ARM, model, ten(model)[:1])


def test_bodies_that_cannot_be_read_again_are_refused():
    model = load_urdf(ARM)
    for column, value, said in ((0, -1.0, "'upper': mass is -1"), (1, 5.0, 'principal moments')):
        parameters = ten(model).copy()
        parameters[0, column] = value
        with pytest.raises(InertiaError, match=said) as caught:
            corrected_urdf(ARM, model, parameters)
        assert caught.value.name == 'upper'


def rusty(model, seed=0):
    """Return the model with friction and armature that a URDF alone cannot express."""
    rng, n = np.random.default_rng(seed), model.nv
    forward = rng.uniform(0.1, 2.0, (2, n))
    return replace(
        model, viscous_friction=forward[0], coulomb_friction=forward[1],
        static_friction=1.3 * forward[1], armature=rng.uniform(0.01, 1.0, n),
        backward_friction=rng.uniform(0.1, 2.0, (3, n)), friction_velocity=np.full(n, 0.02),
        presliding_distance=np.full(n, 1e-3), load_friction=np.full(n, 0.03))


@pytest.mark.parametrize(('name', 'newline'), [
    ('panda', '\r\n'), ('middle', '\n'), ('gripper', '\r\n'), ('extended', '\n')])
def test_friction_that_is_read_again_is_what_was_asked(name, newline):
    text, options = CASES[name]
    text = '\ufeff' * (newline != '\n') + text.replace('\r\n', '\n').replace('\n', newline)
    model = load_urdf(text, **options)
    asked = rusty(model)
    result = urdf_with_friction(text, model, asked)
    again = load_urdf(result, **options)
    for field in FRICTION_COLUMNS:
        np.testing.assert_allclose(getattr(again, field), getattr(asked, field), rtol=1e-14)
    np.testing.assert_array_equal(again.inertial_parameters, model.inertial_parameters)
    np.testing.assert_array_equal(again.gravity_vector, model.gravity_vector)
    assert again.warnings == model.warnings
    edited = 'dynamics', 'robodyn'
    assert others(result, edited) == others(text, edited)
    assert newline == '\n' or '\n' not in result.replace('\r\n', '')


def test_friction_that_did_not_change():
    text = OWN['arm6'].read_text()
    model = load_urdf(text)
    viscous, coulomb = np.arange(1.0, 7.0), np.arange(2.0, 8.0)
    asked = with_joints(model, viscous, coulomb, model.armature)
    result = urdf_with_friction(text, model, asked)
    assert result.count('<robodyn') == text.count('<robodyn')
    assert 'damping="6.0"' in result and 'friction="7.0"' in result
    text, options = CASES['extended']
    model = load_urdf(text, **options)
    assert urdf_with_friction(text, model, model) is text
