# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Trees of a URDF: order of the joints, parts, gravity, and faults of the structure."""

import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.errors import ArgumentError, UnknownNameError, UrdfError
from robodyn_ros.model import urdf
from robots import ARM, LOCKED, OWN, PANDA_LOCKED, REAL, WIDE

# Two arms on one base: the right one branches after its first joint.
TORSO = '<robot name="torso">' + ''.join(
    f'<link name="{name}"><inertial><origin xyz="0.1 0.2 0.3"/><mass value="1"/><inertia '
    'ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>'
    for name in ('base', 'camera', 'l1', 'l2', 'r1', 'r2', 'finger', 'r_tool')) + ''.join(
    f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
    '<origin xyz="0 0.1 1"/><axis xyz="0 1 0"/>'
    '<limit lower="-1" upper="1" effort="9" velocity="1"/></joint>'
    for name, kind, parent, child in (
        ('l_elbow', 'revolute', 'l1', 'l2'), ('l_shoulder', 'revolute', 'base', 'l1'),
        ('camera_mount', 'fixed', 'base', 'camera'), ('r_shoulder', 'revolute', 'base', 'r1'),
        ('grip', 'prismatic', 'r1', 'finger'), ('r_elbow', 'revolute', 'r1', 'r2'),
        ('r_mount', 'fixed', 'r2', 'r_tool'))) + '</robot>'

FAULTS = {
    'two links of a name': ('<link name="l2">', '<link name="l1">', 'l1', 'own name'),
    'two joints of a name': ('name="l_elbow"', 'name="r_elbow"', 'r_elbow', 'own name'),
    'no such parent': ('parent link="r2"', 'parent link="r3"', 'r_mount', 'name="r3"'),
    'no such child': ('child link="l2"', 'child link="l3"', 'l_elbow', 'name="l3"'),
    'two parents': ('child link="l2"', 'child link="r2"', 'r2', 'keep one'),
    'a loop': ('<parent link="base"/><child link="l1"/>', '<parent link="l2"/><child link="l1"/>',
               'l_elbow', 'cut the loop'),
    'its own parent': ('<parent link="r2"/>', '<parent link="r_tool"/>', 'r_mount', 'cut'),
    'a second root': ('<link name="base">', '<link name="lost"/><link name="base">', 'base',
                      'connect'),
}


@pytest.mark.parametrize('fault', FAULTS)
def test_a_fault_is_refused_with_its_place_and_remedy(fault):
    old, new, name, advice = FAULTS[fault]
    assert old in TORSO
    with pytest.raises(UrdfError) as refused:
        load_urdf(TORSO.replace(old, new, 1))
    assert refused.value.name == name and name in str(refused.value)
    assert advice in refused.value.remedy


def test_chains_of_tips_and_loops():
    text = ARM.replace('<parent link="base"/><child link="upper"/>',
                       '<parent link="tool"/><child link="upper"/>')
    with pytest.raises(UrdfError, match='closed loop'):
        load_urdf(text.replace('<link name="base"/>', ''))
    # Their joints are those of both chains, in the order of the document.
    model = load_urdf(TORSO, tip=['r_tool', 'l2'], locked={'grip': 0.5})
    whole = load_urdf(TORSO, locked={'grip': 0.5})
    assert model.joint_names == load_urdf(TORSO, tip=['l2', 'r_tool'],
                                          locked={'grip': 0.5}).joint_names
    assert set(model.joint_names) == {'l_shoulder', 'l_elbow', 'r_shoulder', 'r_elbow'}
    assert set(model.joint_names) <= set(whole.joint_names)
    with pytest.raises(UrdfError, match="'grip' moves.*'r_tool' or 'l2'"):
        load_urdf(TORSO, tip=['r_tool', 'l2'])


def test_order_and_parts_of_a_tree():
    model = load_urdf(TORSO)
    assert model.joint_names == ('l_shoulder', 'l_elbow', 'r_shoulder', 'grip', 'r_elbow')
    assert model.joint_types == ('revolute', 'revolute', 'revolute', 'prismatic', 'revolute')
    assert model.link_names == ('l1', 'l2', 'r1', 'finger', 'r2')
    np.testing.assert_array_equal(model.parent, [-1, 0, -1, 2, 2])
    assert {name: frame.body for name, frame in model.frames.items()} == {
        'base': -1, 'l1': 0, 'l2': 1, 'camera': -1, 'r1': 2, 'finger': 3, 'r2': 4, 'r_tool': 4}
    model = load_urdf(TORSO, root='r1', gravity=(0, 0, -9.81))
    assert model.base_link == 'r1' and model.joint_names == ('grip', 'r_elbow')
    assert model.frame_names == ('r1', 'finger', 'r2', 'r_tool')
    np.testing.assert_array_equal(model.parent, [-1, -1])
    np.testing.assert_array_equal(model.joint_origin, [[0, 0.1, 1], [0, 0.1, 1]])
    model = load_urdf(TORSO, tip='l2')
    assert model.joint_names == ('l_shoulder', 'l_elbow')
    assert set(model.frame_names) == {'base', 'l1', 'l2', 'camera'}


def test_a_tip_that_is_the_root_moves_nothing():
    with pytest.raises(UrdfError, match="no joint moves below link 'base'"):
        load_urdf(TORSO, tip='base')


def test_what_is_not_in_the_chain_has_to_be_locked():
    with pytest.raises(UrdfError) as refused:
        load_urdf(TORSO, tip='r_tool')
    assert refused.value.name == 'grip' and "locked={'grip'" in refused.value.remedy
    with pytest.raises(UrdfError, match="joints 'grip', 'r_elbow' move, .*'grip': position, "
                                        "'r_elbow': position}"):
        load_urdf(TORSO, tip='r1')
    model = load_urdf(TORSO, tip='r_tool', locked={'grip': 0.5})
    assert model.joint_names == ('r_shoulder', 'r_elbow')
    np.testing.assert_array_equal(model.mass, [2, 2])
    np.testing.assert_allclose(model.com[0], [0.1, (0.2 + 0.8) / 2, (0.3 + 1.3) / 2])
    with pytest.raises(UrdfError, match="'l_elbow'"):
        load_urdf(TORSO, tip='l1')
    assert load_urdf(TORSO, tip='l1', locked={'l_elbow': 0}).joint_names == ('l_shoulder',)
    text = TORSO.replace('name="l_shoulder" type="revolute"', 'name="l_shoulder" type="floating"')
    assert load_urdf(text, root='base', tip='r_tool', locked={'grip': 0}).nv == 2
    with pytest.raises(UrdfError, match="'l_shoulder'.*'floating'"):
        load_urdf(text)


@pytest.mark.parametrize('options, name, choice', [
    ({'root': 'r11'}, 'r11', 'r1'), ({'tip': 'r_tol'}, 'r_tol', 'r_tool'),
    ({'locked': {'grap': 0}}, 'grap', 'grip'), ({'locked': {'r_mount': 0}}, 'r_mount', 'grip')])
def test_unknown_names_are_refused_with_the_known_ones(options, name, choice):
    with pytest.raises(UnknownNameError) as refused:
        load_urdf(TORSO, **options)
    assert refused.value.name == name and choice in refused.value.choices


def test_names_and_numbers_of_links(monkeypatch):
    text = TORSO.replace('"l_elbow"', '"\u00e9"').replace('"r_elbow"', '"e\u0301"').replace(
        '"camera"', '"r_tool "')
    model = load_urdf(text)
    assert {'\u00e9', 'e\u0301'} < {*model.joint_names}
    assert model.warnings == ("links 'r_tool ' and 'r_tool' look alike, but are two",
                              r"joints '\xe9' and 'e\u0301' look alike, but are two")
    with pytest.raises(UnknownNameError, match=r"no link 'r\\u200b1': did you mean 'r1'"):
        load_urdf(TORSO, root='r\u200b1')
    many = ''.join(f'<link name="lost_{i}"/>' for i in range(2000))
    with pytest.raises(UrdfError, match="2001 root links: 'base', 'lost_0'") as refused:
        load_urdf(TORSO.replace('</robot>', many + '</robot>'))
    assert len(str(refused.value)) < 1500
    monkeypatch.setattr(urdf, 'MAX_JOINTS', 4)
    with pytest.raises(UrdfError, match='more than 4 joints'):
        load_urdf(TORSO)
    with pytest.raises(UnknownNameError, match="did you mean 'panda_finger_joint1'"):
        load_urdf('panda', locked={'finger': 0.02})


@pytest.mark.parametrize('options, name', [
    ({'root': 'l1', 'tip': 'r2'}, 'r2'), ({'root': 'r_tool'}, 'torso'),
    ({'tip': 'camera'}, 'torso')])
def test_a_part_in_which_nothing_moves_is_refused(options, name):
    with pytest.raises(UrdfError, match='not below|no joint moves') as refused:
        load_urdf(TORSO, **options)
    assert refused.value.name == name


@pytest.mark.parametrize(('name', 'given'), [
    *(('gravity', bad) for bad in ((0, 0), (0, 0, np.nan), [[0, 0, -9.81]], 'down', ['a', 1, 2],
                                   [[0], [0, 1]], {'z': 1}, 1j)),
    *(('panda_joint3', bad) for bad in ('0.1', None, np.array([0.1])))])
def test_what_is_no_vector_or_position_is_refused(name, given):
    options = {'locked': PANDA_LOCKED, 'gravity': given} if name == 'gravity' else {
        'locked': {**PANDA_LOCKED, name: given}}
    with pytest.raises(ArgumentError) as error:
        load_urdf(REAL['panda'], **options)
    assert error.value.name == name
MANY = {'arm6': OWN['arm6'], 'panda': REAL['panda'], 'baxter': WIDE['baxter'],
        'icub': WIDE['icub']}


def torso(kind, axis='0 0 1', mimic=''):
    """Return an arm on a tilted post, with a movable joint between post and base."""
    return ARM.replace(
        '<link name="base"/>', '<link name="post"/><link name="top"/><link name="base"/>'
        '<joint name="tilt" type="fixed"><parent link="post"/><child link="top"/>'
        '<origin xyz="0 0 1" rpy="0.3 0 0"/></joint>'
        f'<joint name="torso" type="{kind}"><parent link="top"/><child link="base"/>'
        f'<origin rpy="-0.3 0 0"/><axis xyz="{axis}"/>{mimic}'
        '<limit lower="-1" upper="1" effort="9" velocity="1"/></joint>')


@pytest.mark.parametrize('name', MANY)
def test_each_body_as_root_feels_gravity_as_in_the_whole_robot(name):
    whole = load_urdf(MANY[name], locked=LOCKED.get(name, {}), massless='warn')
    low, high = whole.position_lower.clip(-9, 9), whole.position_upper.clip(-9, 9)
    q = low + np.random.default_rng(2).uniform(size=whole.nv) * (high - low)
    parents = sorted(set(whole.parent) - {-1})[:6]
    assert parents or whole.nb <= 2
    for i in parents:
        above, body = set(), i
        while body >= 0:
            above.add(whole.driver[body])
            body = whole.parent[body]
        rest = {whole.joint_names[j]: q[j] for j in above} | LOCKED.get(name, {})
        part = load_urdf(MANY[name], root=whole.link_names[i], locked=rest, massless='warn')
        turned = Dynamics(whole).pose(q, whole.link_names[i])[:3, :3]
        np.testing.assert_allclose(part.gravity_vector, turned.T @ [0, 0, -9.81], atol=1e-12)


def test_gravity_of_a_root_that_turns():
    text = torso('revolute', '0 1 0')
    with pytest.raises(UrdfError, match="'torso' above the root 'base'.*"
                       r"locked={'torso': position}.*gravity=\(x, y, z\)") as refused:
        load_urdf(text, root='base')
    assert refused.value.name == 'torso'
    np.testing.assert_allclose(
        load_urdf(text, root='base', locked={'torso': 0.5}).gravity_vector,
        [9.81 * np.sin(0.5), 0, -9.81 * np.cos(0.5)], atol=1e-14)
    assert load_urdf(text, root='base', gravity=(1, 2, 3)).gravity_vector.tolist() == [1, 2, 3]
    # All that have to be locked are named at once
    with pytest.raises(UrdfError, match="joints 'r_shoulder', 'r_elbow' above .* turn gravity.*lo"
                       "ck them where they are.*'r_shoulder': position, 'r_elbow': position"):
        load_urdf(TORSO.replace('"r_mount" type="fixed"', '"r_mount" type="revolute"'), root='r2')
    text = torso('floating').replace('<axis xyz="0 0 1"/>', '')
    with pytest.raises(UrdfError, match="'torso'.*root='base' and gravity="):
        load_urdf(text)
    with pytest.raises(UrdfError, match=r"'torso'.*set gravity in.*gravity=\(x, y, z\)"):
        load_urdf(text, root='base')
    assert load_urdf(text, root='base', gravity=(0, 0, -9.81)).nv == 2


@pytest.mark.parametrize('text', [torso('prismatic', '0 1 0'), torso('revolute'),
                                  torso('continuous', '0 0 -1')])
def test_lifts_and_turntables_do_not_change_gravity(text):
    np.testing.assert_allclose(load_urdf(text, root='base').gravity_vector, [0, 0, -9.81],
                               atol=1e-15)
