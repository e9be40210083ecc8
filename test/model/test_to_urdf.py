# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A model as text is the same model again, to the last bit, and other readers' too."""

from dataclasses import replace

from hypothesis import given, settings, strategies as st
from lxml import etree
import numpy as np
import pinocchio as pin
import pytest
from robodyn_ros import DhLink, Dynamics, from_dh, load_urdf
from robodyn_ros.errors import UrdfError
from robodyn_ros.model.rigid_body import rpy_rotation
from robodyn_ros.model.robot import with_payload
from robodyn_ros.model.validate import validated
from robots import ARM, differences, GRIPPER, LOCKED, OWN, random_tree, REAL
from thorough import seeds

ROBOTS = {**OWN, **REAL, 'gripper': GRIPPER}
ROD = np.diag([0.02, 0.03, 0.01])
BASE, TOOL = np.eye(4), np.eye(4)
BASE[:3, :3], BASE[:3, 3] = rpy_rotation([0.3, -0.7, 2.0]), [0.1, 0.2, 0.3]
TOOL[:3, :3], TOOL[:3, 3] = rpy_rotation([-2.9, np.pi / 2, 0.4]), [0.0, 0.0, 0.1]


def dh_arm(convention='standard', **options):
    return from_dh([
        DhLink(0.1, 0.3, 0.0, np.pi / 2, mass=2.0, com=(0.1, 0.0, -0.1), inertia=ROD,
               armature=0.01, viscous=0.2, coulomb=0.3, rotor_inertia=1e-4, gear_ratio=50.0),
        DhLink(0.0, 0.0, 0.4, 0.0, offset=-0.3, com=(0.1, 0.2, 0.3)),
        DhLink(1.1, 0.2, 0.1, -1.3, 'prismatic', offset=0.2, mass=1.5, static_friction=0.9),
        DhLink(-2.0, 0.0, 0.2, 0.0, mass=0.7, com=(0.1, 0.1, 0.0)),     # a point
    ], convention, **options)


DH = {f'{c} {list(o)}': (c, o) for c in ('standard', 'modified') for o in (
    {}, {'base': BASE, 'tool': TOOL, 'gravity': (0.1, -9.7, 1.0), 'name': 'bench'})}


def assert_survives(model):
    """Assert that reading the text gives the model, and writing that the text."""
    text = model.to_urdf()
    again = load_urdf(text)
    assert [*differences(model, again)] == []
    assert again.to_urdf() == text


@pytest.mark.parametrize('name', ROBOTS)
def test_robots_as_they_come(name):
    assert_survives(load_urdf(ROBOTS[name], locked=LOCKED.get(name, {})))


def test_parts_and_payloads():
    locked = {'panda_joint5': 0.0, 'panda_joint7': 1.2, **LOCKED['panda']}
    assert_survives(load_urdf(REAL['panda'], root='panda_link2', tip='panda_link6', locked=locked,
                              gravity=(1, 2, 3)))
    assert_survives(load_urdf(ARM, locked={'slide': 0.1}))
    for model, frame in ((load_urdf(ARM), 'tool'), (dh_arm(tool=TOOL), 'tool'),
                         (dh_arm(), 'link2')):
        assert_survives(with_payload(model, frame, 1.3, (0.1, 0.2, 0.3), ROD))
        assert_survives(with_payload(model, frame, 0.7))


@pytest.mark.slow
@pytest.mark.parametrize('seed', range(seeds(6, 20)))
def test_random_trees(seed):
    model = load_urdf(text := random_tree(seed, 12))
    assert_survives(model)
    locked = {name: 0.3 for name, kind in zip(model.joint_names, model.joint_types)
              if kind != 'continuous' and int(name[-2:]) % 3 == 1}
    assert_survives(load_urdf(text, locked=locked, gravity=(0.3, -9.0, 4.0)))


@pytest.mark.parametrize('arm', DH)
def test_dh_arms(arm):
    convention, options = DH[arm]
    assert_survives(dh_arm(convention, **options))
    model = replace(dh_arm(convention, **options), armature=np.zeros(4))
    text, rng, dynamics = model.to_urdf(), np.random.default_rng(5), Dynamics(model)
    q, qd, qdd = rng.uniform(-1, 1, (3, 4))
    np.testing.assert_allclose(rnea(text, model, q, qd, qdd),
                               dynamics.inverse_dynamics(q, qd, qdd), rtol=1e-10, atol=1e-10)


def test_limits_and_warnings_of_the_first_reading_stay():
    model = dh_arm()
    low, high = np.array([-1.0, -np.inf, 0.0, -np.inf]), np.array([np.inf, 2.0, 0.5, np.inf])
    bounded = replace(model, position_lower=low, position_upper=high,
                      velocity_limit=np.array([1.0, np.inf, 2.0, 0.5]),
                      effort_limit=np.array([np.inf, 20.0, 1e12, 3.0]))
    assert bounded.joint_types[0] == 'continuous'
    assert_survives(bounded)
    joints = {j.get('name'): j for j in etree.fromstring(bounded.to_urdf()).iterfind('joint')}
    assert [joints[name].get('type') for name in bounded.joint_names] == [
        'revolute', 'revolute', 'prismatic', 'continuous']      # others hold these limits too
    assert joints['joint2'].find('limit').attrib == {
        'lower': '-1000000000.0', 'upper': '2.0', 'velocity': '1000000000.0', 'effort': '20.0'}
    # A follower has those that its leader, in [0.015, 0.04] m, leaves it
    follower = etree.fromstring(load_urdf(GRIPPER).to_urdf()).find("joint[@name='right']")
    assert {key: float(value) for key, value in follower.find('limit').attrib.items()} \
        == pytest.approx({'lower': -0.01, 'upper': 0.0025, 'velocity': 0.1, 'effort': 60.0})
    assert follower.find('dynamics') is None
    model = load_urdf(ARM)
    none = np.full(2, np.inf)
    assert_survives(replace(model, position_lower=-none, position_upper=none.copy(),
                            velocity_limit=none.copy(), effort_limit=none.copy()))
    model = load_urdf(ARM.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 2 0"/>').replace(
        '<link name="base"/>', '<link name="base"/><loop><a/></loop>').replace(
        'effort="40"', 'effort="0"'))
    assert len(model.warnings) == 3
    assert_survives(model)


NUMBER = st.floats(0.0, 1e9)
RATE = st.floats(1e-9, 1e9)


@pytest.mark.slow
@settings(max_examples=seeds(20, 200))
@given(st.data())
def test_whatever_the_numbers_are(data):
    def draw(element, *shape):
        return np.array(data.draw(st.lists(element, min_size=(n := int(np.prod(shape))),
                                           max_size=n))).reshape(shape)
    angle = st.one_of(st.floats(-4.0, 4.0), st.sampled_from(
        [0.0, np.pi / 2, -np.pi / 2, np.pi, 1.570796325, 1.5707963, np.pi / 2 - 1e-9]))
    model = load_urdf(random_tree(3, 3))
    axes = np.random.default_rng(data.draw(st.integers(0, 999))).normal(size=(3, 3))
    assert_survives(validated(replace(
        model, armature=draw(NUMBER, 3), viscous_friction=draw(NUMBER, 3),
        coulomb_friction=draw(NUMBER, 3), static_friction=draw(NUMBER, 3),
        backward_friction=draw(NUMBER, 3, 3), friction_velocity=draw(RATE, 3),
        stribeck_velocity=draw(RATE, 3), presliding_distance=draw(NUMBER, 3),
        load_friction=draw(NUMBER, 3), coupled_friction=draw(NUMBER, 3, 3),
        gravity_vector=draw(st.floats(-1e9, 1e9), 3),
        position_lower=-draw(NUMBER, 3), position_upper=draw(st.floats(0.01, np.inf), 3),
        joint_origin=draw(st.floats(-1e3, 1e3), 3, 3),
        joint_rotation=np.array([rpy_rotation(rpy) for rpy in draw(angle, 3, 3)]),
        joint_axis=axes / np.linalg.norm(axes, axis=1, keepdims=True))))


def rnea(text, model, q, qd, qdd):
    """Return what Pinocchio makes of a text, in the order of the model's joints."""
    reference = pin.buildModelFromXML(text)
    reference.gravity.linear = model.gravity_vector
    at = [reference.joints[reference.getJointId(name)].idx_v for name in model.joint_names]
    v, a = np.zeros((2, reference.nv))
    v[at], a[at] = qd, qdd
    there = pin.neutral(reference)
    for name, x in zip(model.joint_names, q):       # a continuous joint has a cosine and a sine
        joint = reference.joints[reference.getJointId(name)]
        there[joint.idx_q:joint.idx_q + joint.nq] = x if joint.nq == 1 else (np.cos(x), np.sin(x))
    return pin.rnea(reference, reference.createData(), there, v, a)[at]


@pytest.mark.parametrize('text', [ARM, random_tree(5, 9), OWN['arm6'].read_text(),
                                  REAL['kinova'].read_text()],
                         ids=['arm', 'tree', 'arm6', 'kinova'])
def test_pinocchio_feels_no_difference(text):
    model, rng = load_urdf(text), np.random.default_rng(4)
    for state in rng.uniform(-0.9, 0.9, (3, 3, model.nv)):
        before = rnea(text, model, *state)
        np.testing.assert_allclose(rnea(model.to_urdf(), model, *state), before, rtol=1e-9,
                                   atol=1e-11 * abs(before).max())


def test_names_that_are_taken_already():
    text = ARM.replace('"shoulder"', '"tool_fixed"').replace('"mount"', '"tool_fixed_2"')
    assert_survives(load_urdf(text))
    assert_survives(load_urdf(ARM.replace('"tool"', '"' + 'é' * 200 + '"')))
    model = dh_arm()
    assert_survives(replace(model, frames={**model.frames, 'link1_body': model.frames['link1']}))


@pytest.mark.parametrize('name', ['<&">\'', ' a', '關節', 'a\u200db', '%s{0}'])
def test_names_are_kept(name):
    model = load_urdf(ARM)
    assert_survives(replace(model, name=name, joint_names=(name, 'slide'),
                            body_joint_names=(name, 'slide')))


def test_what_cannot_be_written_is_named():
    model = load_urdf(ARM)
    with pytest.raises(UrdfError, match="'slide': armature is nan") as refused:
        replace(model, armature=np.array([0.1, np.nan])).to_urdf()
    assert refused.value.remedy
    tree = load_urdf(random_tree(2, 5))
    frames = dict(reversed(tree.frames.items()))
    for other in (replace(tree, parent=np.array([-1, -1, 0, 1, 3])), replace(tree, frames=frames)):
        with pytest.raises(UrdfError, match='order'):
            other.to_urdf()
    with pytest.raises(UrdfError, match='name of the model'):
        replace(model, name='a\0b').to_urdf()
