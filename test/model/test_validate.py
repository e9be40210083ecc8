# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pinocchio as pin
import pytest

from robodyn_ros import load_urdf
from robodyn_ros.errors import InertiaError
from robodyn_ros.model.validate import mass_matrix
from robots import ARM, OWN, random_tree

NO_INERTIA = '<inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>'


def link(name, inertial=''):
    return f'<link name="{name}">{inertial}</link>'


def turning(name, parent, child, axis, xyz='0 0 0'):
    return (f'<joint name="{name}" type="continuous"><parent link="{parent}"/>'
            f'<child link="{child}"/><origin xyz="{xyz}"/><axis xyz="{axis}"/>'
            '<limit effort="1" velocity="1"/></joint>')


def point(mass, xyz):
    return f'<inertial><origin xyz="{xyz}"/><mass value="{mass}"/>{NO_INERTIA}</inertial>'


def chain(first, second, axis, xyz='0 0 0'):
    return ('<robot name="r">' + link('base') + link('one', first) + link('two', second)
            + turning('a', 'base', 'one', '0 0 1') + turning('b', 'one', 'two', axis, xyz)
            + '</robot>')


@pytest.mark.parametrize('text, joint, body', [
    # nothing behind the last joint
    (chain(point(1, '1 0 0'), '', '0 1 0'), 'b', 'two'),
    # a point on its axis, which is skew: rounding alone gives it an inertia of 1e-34
    (chain(point(1, '1 0 0'), point(1, '0.3 0.6 0.9'), '1 2 3'), 'b', 'two'),
    # two joints about one line and nothing in between
    (chain('', point(1, '1 0 0'), '0 0 1'), 'a', 'one'),
    (chain(point(0.1, '0 0 1'), point(1, '1 0 0'), '0 0 1'), 'a', 'one'),
    # so little that what is computed of it is zero
    (chain(point(1e-160, '1 0 0'), point(1e-160, '1 0 0'), '0 1 0'), 'b', 'two'),
])
def test_what_moves_without_inertia_is_named(text, joint, body):
    with pytest.raises(InertiaError, match='not positive definite') as refused:
        load_urdf(text)
    assert refused.value.name == joint and repr(joint) in str(refused.value)
    assert f'link {body!r}' in refused.value.remedy


def test_the_pose_at_the_start_is_looked_at():
    # A point on a rail, which starts on the axis of joint a, and only there
    def rail(name, parent, child, axis, lower, xyz='0 0 0'):
        return (turning(name, parent, child, axis, xyz).replace('continuous', 'prismatic')
                .replace('<limit', f'<limit lower="{lower}" upper="{lower + 1}"'))
    text = ('<robot name="r">' + link('base') + link('one') + link('two', point(1, '0 0 0'))
            + link('three', point(1, '0 0 0')) + turning('a', 'base', 'one', '0 0 1')
            + rail('b', 'one', 'two', '1 0 0', 1, '-1.5 0 0')
            + rail('c', 'two', 'three', '0 1 0', 0) + '</robot>')
    with pytest.raises(InertiaError, match="resists joint 'a'"):
        load_urdf(text)


def test_a_massless_link_between_crossing_axes_is_accepted():
    model = load_urdf(chain('', point(1, '0 0.5 1'), '1 0 0', xyz='0.2 0 0'))
    assert model.warnings == ("link 'one' has no mass",)


@pytest.mark.parametrize('name', OWN)
def test_our_robots_have_nothing_odd(name):
    model = load_urdf(OWN[name])
    assert model.warnings == () and model.implausible_links == ()


def test_an_inertia_that_no_body_has_is_listed():
    model = load_urdf(ARM.replace('izz="0.01"', 'izz="0.05"'))
    assert model.implausible_links == ('upper',)
    assert "'upper'" in model.warnings[0] and '0.05' in model.warnings[0]


def test_a_plate_written_with_few_digits_is_plausible():
    model = load_urdf(ARM.replace('izz="0.01"', 'izz="0.04001"'))
    assert model.implausible_links == () and model.warnings == ()


@pytest.mark.parametrize('seed', range(4))
def test_the_mass_matrix_of_the_definition_is_pinocchio_s(seed):
    text = random_tree(seed, 9).replace('continuous', 'revolute').replace(
        '<limit effort', '<limit lower="-1" upper="1" effort')
    model, reference = load_urdf(text), pin.buildModelFromXML(text)
    q = np.random.default_rng(seed).uniform(-1, 1, model.nv)
    order = [reference.joints[reference.getJointId(n)].idx_v for n in model.joint_names]
    q_reference = np.empty(model.nv)
    q_reference[order] = q
    m = pin.crba(reference, reference.createData(), q_reference)
    m = (np.triu(m) + np.triu(m, 1).T)[np.ix_(order, order)]
    np.testing.assert_allclose(mass_matrix(model, q)[0], m, rtol=0, atol=1e-12 * abs(m).max())
