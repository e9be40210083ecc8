# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joints that mimic others, as they are read: who moves whom, where, and what is felt of it."""

import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.errors import InertiaError, UrdfError
from robodyn_ros.model.robot import with_payload
from robodyn_ros.model.validate import mass_matrix
from robots import GRIPPER

DOWN = (0, 0, -9.81)
# Without the pad
FINGERS = GRIPPER[:GRIPPER.index('  <link name="right_pad"')] + '</robot>'


def changed(*changes):
    """Return the gripper with something else in it."""
    text = GRIPPER
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def test_followers_are_bodies_and_no_degrees_of_freedom():
    model = load_urdf(GRIPPER)
    # The right finger follows the left one, which comes later; its tip follows it in turn
    assert model.joint_names == ('wrist', 'left')
    assert model.body_joint_names == ('wrist', 'right', 'right_tip', 'left')
    assert model.body_joint_types == ('revolute', 'prismatic', 'revolute', 'prismatic')
    assert model.joint_types == ('revolute', 'prismatic')
    assert model.link_names == ('hand', 'right_finger', 'right_pad', 'left_finger')
    assert (model.nv, model.nb) == (2, 4)
    np.testing.assert_array_equal(model.driver, [0, 1, 1, 1])
    np.testing.assert_allclose(model.ratio, [1, -0.5, -10, 1], rtol=1e-15)
    np.testing.assert_allclose(model.shift, [0, 0.01, 0.3, 0], rtol=1e-15)
    np.testing.assert_array_equal(model.parent, [-1, 0, 1, 0])
    np.testing.assert_array_equal(model.leaders, [0, 3])
    np.testing.assert_array_equal(model.followers, [1, 2])
    assert model.warnings == ()
    model = load_urdf(changed((' multiplier="-0.5" offset="0.01"', '')))
    assert (model.ratio[1], model.shift[1]) == (1, 0)
    np.testing.assert_allclose((model.ratio[2], model.shift[2]), (20, 0.1))


def test_limits_of_drivers():
    model = load_urdf(GRIPPER)
    # left in [0, 0.05]; right in [-0.01, 0.005] is left in [0.01, 0.04]; the pad turns in
    # [-1, 0.15], which is left in [0.015, 0.13]
    np.testing.assert_allclose(model.position_lower, [-2, 0.015])
    np.testing.assert_allclose(model.position_upper, [2, 0.04])
    np.testing.assert_allclose(model.velocity_limit, [3, 0.2])      # of the pad: 2 / 10
    np.testing.assert_array_equal(model.effort_limit, [10, 30])
    np.testing.assert_allclose(model.viscous_friction, [0.1, 4 + 0.25 * 8 + 100 * 0.01])
    friction = [0, 1 + 0.5 * 2 + 10 * 0.03]
    for column in (model.coulomb_friction, model.static_friction, model.backward_friction[1],
                   model.backward_friction[2]):
        np.testing.assert_allclose(column, friction)
    np.testing.assert_array_equal(model.backward_friction[0], model.viscous_friction)
    model = load_urdf(changed(('name="wrist" type="revolute"', 'name="wrist" type="continuous"'),
                              ('joint="left" multiplier="-0.5" offset="0.01"',
                               'joint="wrist" multiplier="0.01"')))
    np.testing.assert_allclose([model.position_lower[0], model.position_upper[0]], [-1, 0.25])
    assert model.joint_types[0] == 'continuous'
    model = load_urdf(changed(('lower="-0.01" upper="0.005"', 'lower="-0.3" upper="-0.015"'),
                              ('lower="-1" upper="0.15"', 'lower="-1" upper="1"')))
    assert model.position_lower[1] == model.position_upper[1] == pytest.approx(0.05)
    limit = 'lower="-0.01" upper="0.005" effort="7"'
    assert load_urdf(changed((limit, limit.replace('7', '0')))).warnings == ()


FAULTS = {
    'a cycle': ([('effort="30" velocity="9"/>', 'effort="30" velocity="9"/><mimic '
                  'joint="right_tip"/>')], 'right', 'remove one <mimic>'),
    'itself': ([('mimic joint="left"', 'mimic joint="right"')], 'right', 'remove one <mimic>'),
    'who follows a cycle': ([('mimic joint="left"', 'mimic joint="right_tip"'),
                             ('name="wrist" type="revolute">',
                              'name="wrist" type="revolute"><mimic joint="right"/>')],
                            'wrist', 'remove one <mimic>'),
    'an unknown leader': ([('mimic joint="left"', 'mimic joint="lift"')], 'right', 'correct'),
    'an endless offset': ([('offset="0.01"', 'offset="1e400"')], 'right', 'finite number'),
    'too large a multiplier': ([('multiplier="-0.5"', 'multiplier="1e10"')], 'right', 'between'),
    'too large in all': ([('multiplier="-0.5"', 'multiplier="1e8"'),
                          ('multiplier="20"', 'multiplier="1e8"')], 'right_tip', 'between'),
    'limits that contradict': ([('lower="-0.01" upper="0.005"', 'lower="-1" upper="-0.1"')],
                               'right', 'correct the limits'),
    'endless friction': ([('damping="8"', 'damping="1e308"'),
                          ('multiplier="-0.5"', 'multiplier="9e8"')], 'right', 'reduce damping'),
    'a driver that cannot be': ([('name="left" type="prismatic"', 'name="left" type="floating"')],
                                'left', 'use revolute'),
}


@pytest.mark.parametrize('fault', FAULTS)
def test_a_fault_is_refused_with_its_place_and_remedy(fault):
    changes, name, advice = FAULTS[fault]
    if fault == 'endless friction':     # with limits that leave room for it
        changes = [*changes, ('lower="-0.01" upper="0.005"', 'lower="-1e8" upper="1e8"'),
                   ('mimic joint="right"', 'mimic joint="wrist"')]
    with pytest.raises(UrdfError) as refused:
        load_urdf(changed(*changes))
    assert refused.value.name == name and repr(name) in str(refused.value)
    assert advice in refused.value.remedy


# The left finger on the base: beside the chain to the right one
APART = changed(('<parent link="hand"/><child link="left_finger"/>',
                 '<parent link="base"/><child link="left_finger"/>'))


@pytest.mark.parametrize('text, options', [
    (APART, {'tip': 'right_pad'}), (GRIPPER, {'tip': 'right_pad', 'root': 'hand'}),
    (GRIPPER, {'root': 'right_finger'})])
def test_a_driver_that_is_not_loaded_is_asked_for(text, options):
    with pytest.raises(UrdfError, match="mimics 'left', which is not loaded.*lock 'left'") as no:
        load_urdf(text, **options)
    assert no.value.name == ('right_tip' if options.get('root') == 'right_finger' else 'right')


def test_followers_beside_a_chain_and_outside_of_limits():
    model = load_urdf(APART, tip='right_pad', locked={'left': 0.02})
    assert model.joint_names == ('wrist',) and 'left_finger' in model.frame_names
    np.testing.assert_allclose(finger_places(model), [0, 0.1], atol=1e-15)
    with pytest.raises(UrdfError, match="'right' moves, but is not between.*lock it"):
        load_urdf(GRIPPER, tip='left_finger')
    model = load_urdf(GRIPPER, root='hand', tip='left_finger', gravity=DOWN)
    assert model.joint_names == ('left',) and model.warnings == tuple(
        f"joint '{name}' mimics 'left', but is left out: it has no effect there"
        for name in ('right', 'right_tip'))
    # A fault of it is no concern then
    text = changed(('mimic joint="left"', 'mimic joint="nobody"'))
    assert load_urdf(text, root='hand', tip='left_finger', gravity=DOWN).warnings == ()
    model = load_urdf(GRIPPER, locked={'left': 0.0})
    right, pad = model.warnings
    assert "'right' is fixed at 0.01" in right and '[-0.01, 0.005]' in right
    assert "'right_tip' is fixed at 0.3" in pad
    np.testing.assert_allclose(finger_places(model), [0.01, 0.3])


def finger_places(model):
    """Origins of the frames of the right side [m], and the angle of the pad [rad]."""
    finger, pad = model.frame('right_finger'), model.frame('right_pad')
    assert finger.body == pad.body == 0
    return finger.origin[1], np.arctan2(pad.rotation[2, 1], pad.rotation[1, 1])


WRIST, BOTH = ('wrist',), ('wrist', 'left')


@pytest.mark.parametrize(('changes', 'locked', 'joints', 'places'), [
    ((), {'left': 0.03}, WRIST, [-0.005, 0.0]),                     # all of them follow
    ((), {'left': 0.03, 'right': 0.0}, WRIST, [0.0, 0.1]),          # its own follower does
    ((), {'left': 0.03, 'right': 0.0, 'right_tip': -0.7}, WRIST, [0.0, -0.7]),
    ((), {'right': -0.002}, BOTH, [-0.002, 0.06]),                  # its leader goes on
    ((('name="left" type="prismatic"', 'name="left" type="fixed"'),
      ('offset="0.01"', 'offset="0.002"')), {}, WRIST, [0.002, 0.14]),
    ((('multiplier="-0.5" offset="0.01"', 'multiplier="0" offset="-1e-3"'),), {}, BOTH,
     [-0.001, 0.08])])
def test_a_follower_that_is_fixed(changes, locked, joints, places):
    model = load_urdf(changed(*changes), locked=locked)
    assert model.joint_names == model.body_joint_names == joints and model.warnings == ()
    np.testing.assert_allclose(finger_places(model), places, atol=1e-15)
    assert model.position_upper[-1] == (0.05 if 'left' in joints else 2)
    assert model.mass[0] == pytest.approx(1 + 0.2 + 0.1 + (0.3 if joints == WRIST else 0))


def turning(name, parent, child, rule='', axis='0 0 1'):
    return (f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child '
            f'link="{child}"/><axis xyz="{axis}"/><limit effort="1" velocity="1"/>{rule}</joint>')


def test_what_nothing_resists():
    with pytest.raises(InertiaError, match="no inertia for joint 'left'.*give link 'left_finger'"):
        load_urdf(FINGERS.replace('mass value="0.2"', 'mass value="0"')
                  .replace('mass value="0.3"', 'mass value="0"'))
    # A heavy point on the skew axis of its joint, which the joint of a bare link drives
    text = ('<robot name="r"><link name="base"/><link name="one"/><link name="two"><inertial>'
            '<origin xyz="0.3 0.6 0.9"/><mass value="1e8"/><inertia ixx="0" ixy="0" ixz="0" '
            'iyy="0" iyz="0" izz="0"/></inertial></link>' + turning('a', 'base', 'one')
            + turning('b', 'base', 'two', '<mimic joint="a"/>', '1 2 3') + '</robot>')
    with pytest.raises(InertiaError, match="no inertia for joint 'a'"):
        load_urdf(text)
    # All that has mass turns back by what its carrier turns
    text = ('<robot name="r"><link name="base"/><link name="one"/><link name="two"><inertial>'
            '<mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
            '</inertial></link>' + turning('a', 'base', 'one')
            + turning('b', 'one', 'two', '<mimic joint="a" multiplier="{}"/>') + '</robot>')
    with pytest.raises(InertiaError, match="no inertia for joint 'a'.*link 'one'"):
        load_urdf(text.format(-1))
    model = load_urdf(text.format(-0.5))
    assert mass_matrix(model, np.zeros(1))[0] == pytest.approx(0.25)


def test_a_follower_can_carry_a_payload():
    model = load_urdf(GRIPPER)
    loaded = with_payload(model, 'right_finger', 0.7)
    np.testing.assert_allclose(loaded.mass - model.mass, [0, 0.7, 0, 0])
    q = np.array([0, 0.02])
    before, after = (mass_matrix(one, q)[0] for one in (model, loaded))
    np.testing.assert_allclose(before, Dynamics(model).mass_matrix(q), rtol=1e-12)
    assert after[1, 1] - before[1, 1] == pytest.approx(0.7 * 0.25)
