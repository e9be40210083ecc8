# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inertias without which nothing moves, and those that no body has."""

import pytest
from robodyn_ros import load_urdf
from robodyn_ros.errors import ArgumentError, InertiaError
from robodyn_ros.model.validate import check_inertias
from robots import ARM, OWN

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
    with pytest.raises(InertiaError, match="no inertia for joint 'a'"):
        load_urdf(text)


def test_what_is_accepted_or_resisted():
    model = load_urdf(chain('', point(1, '0 0.5 1'), '1 0 0', xyz='0.2 0 0'))
    assert model.warnings[0] == "link 'one' has no mass"
    text = chain(point(1, '1 0 0'), '', '0 1 0').replace(
        '</robot>', '<robodyn><joint name="b" armature="1e-6"/></robodyn></robot>')
    model = load_urdf(text)
    assert model.massless_joints == () and model.warnings == ("link 'two' has no mass",)


@pytest.mark.parametrize('name', OWN)
def test_our_robots_have_nothing_odd(name):
    model = load_urdf(OWN[name])
    assert model.warnings == () and model.implausible_links == ()


@pytest.mark.parametrize(('izz', 'listed', 'said'), [
    ('0.04001', (), None), ('0.0407', (), '1.75 %'), ('0.05', ('upper',), '0.05')])
def test_an_inertia_that_no_body_has_is_listed(izz, listed, said):
    """But for few digits, and for an excess below 2 %, which is a warning only."""
    model = load_urdf(ARM.replace('izz="0.01"', f'izz="{izz}"'))
    assert model.implausible_links == listed and bool(model.warnings) == bool(said)
    if said:
        assert "'upper'" in model.warnings[0] and said in model.warnings[0]
    if not listed:
        check_inertias(model)


def test_all_that_nothing_resists():
    text = chain('', '', '0 1 0')
    with pytest.raises(InertiaError) as refused:
        load_urdf(text)
    assert "no inertia for joints 'a', 'b': the mass matrix" in str(refused.value)
    assert "links 'one', 'two' with the links fixed to them have no mass" in str(refused.value)
    assert "massless='warn'" in refused.value.remedy and 'armature' in refused.value.remedy
    model = load_urdf(chain(point(1, '1 0 0'), '', '0 1 0'), massless='warn')
    assert model.massless_joints == ('b',)
    assert "URDF has no inertia for joint 'b'" in model.warnings[-1]
    with pytest.raises(InertiaError, match="simulation needs .* resists joint 'b'"):
        model.require_inertia('simulation')
    both = load_urdf(chain('', point(1, '1 0 0'), '0 0 1'), massless='warn')
    assert both.massless_joints == ('a', 'b')       # which nothing resists together
    with pytest.raises(ArgumentError, match='refuse, warn') as refused:
        load_urdf(ARM, massless='yes')
    assert refused.value.name == 'massless'


def test_all_implausible_links_are_refused_at_once_and_by_how_much():
    model = load_urdf(ARM.replace('izz="0.01"', 'izz="0.05"').replace('izz="0.005"', 'izz="0.03"'))
    with pytest.raises(InertiaError) as refused:
        check_inertias(model)
    assert 'links upper (25 %), fore (18.4 %)' in str(refused.value)
    assert refused.value.value == ('upper', 'fore') and 'robodyn repair' in refused.value.remedy
    with pytest.raises(InertiaError, match='link fore'):
        check_inertias(model, ['upper'])
    check_inertias(model, ['upper', 'fore'])
    check_inertias(model, ['*'])
