# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Gravity in the frame of a root inside the tree, against that of the whole robot."""

import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.errors import UrdfError
from robots import ARM, LOCKED, OWN, REAL, WIDE

WALL = ARM.replace(
    '<link name="base"/>', '<link name="world"/><link name="base"/>'
    '<joint name="wall" type="fixed"><parent link="world"/><child link="base"/>'
    '<origin xyz="0 0 1" rpy="0 1.5707963267948966 0"/></joint>')
MANY = {**OWN, **REAL, **{name: WIDE[name] for name in ('tiago', 'pr2', 'baxter', 'icub')}}


def torso(kind, axis='0 0 1', mimic=''):
    """Return an arm on a tilted post, with a movable joint between post and base."""
    return ARM.replace(
        '<link name="base"/>', '<link name="post"/><link name="top"/><link name="base"/>'
        '<joint name="tilt" type="fixed"><parent link="post"/><child link="top"/>'
        '<origin xyz="0 0 1" rpy="0.3 0 0"/></joint>'
        f'<joint name="torso" type="{kind}"><parent link="top"/><child link="base"/>'
        f'<origin rpy="-0.3 0 0"/><axis xyz="{axis}"/>{mimic}'
        '<limit lower="-1" upper="1" effort="9" velocity="1"/></joint>')


def test_an_arm_on_a_wall_bears_the_same_with_its_mounting_link_as_root():
    whole, arm = load_urdf(WALL), load_urdf(WALL, root='base')
    np.testing.assert_allclose(whole.gravity_vector, [0, 0, -9.81], atol=0)
    np.testing.assert_allclose(arm.gravity_vector, [9.81, 0, 0], atol=1e-15)
    assert load_urdf(WALL, root='base', gravity=(0, 0, -9.81)).gravity_vector[2] == -9.81


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


def test_a_joint_that_turns_the_root_against_gravity_has_to_be_locked_or_gravity_given():
    text = torso('revolute', '0 1 0')
    with pytest.raises(UrdfError, match="'torso' above the root 'base'.*"
                       r"locked={'torso': position}.*gravity=\(x, y, z\)") as refused:
        load_urdf(text, root='base')
    assert refused.value.name == 'torso'
    np.testing.assert_allclose(
        load_urdf(text, root='base', locked={'torso': 0.5}).gravity_vector,
        [9.81 * np.sin(0.5), 0, -9.81 * np.cos(0.5)], atol=1e-14)
    assert load_urdf(text, root='base', gravity=(1, 2, 3)).gravity_vector.tolist() == [1, 2, 3]


@pytest.mark.parametrize('text', [torso('prismatic', '0 1 0'), torso('revolute'),
                                  torso('continuous', '0 0 -1')])
def test_lifts_and_turntables_do_not_change_gravity(text):
    np.testing.assert_allclose(load_urdf(text, root='base').gravity_vector, [0, 0, -9.81],
                               atol=1e-15)


def test_a_joint_that_nothing_is_known_of_wants_gravity():
    text = torso('floating').replace('<axis xyz="0 0 1"/>', '')
    with pytest.raises(UrdfError, match="'torso'.*root='base' and gravity="):
        load_urdf(text)
    with pytest.raises(UrdfError, match=r"'torso'.*give gravity in.*gravity=\(x, y, z\)"):
        load_urdf(text, root='base')
    assert load_urdf(text, root='base', gravity=(0, 0, -9.81)).nv == 2
