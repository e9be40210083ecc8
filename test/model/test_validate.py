# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Warnings about units, and inertias without which nothing moves or that no body has."""

from dataclasses import replace
from functools import cache
from itertools import product
from math import pi

import numpy as np
import pytest
from robodyn_ros import DhLink, from_dh, load_urdf
from robodyn_ros.errors import ArgumentError, InertiaError
from robodyn_ros.model.resources import robot_names
from robodyn_ros.model.unit_checks import INERTIA_UNITS, LENGTH_UNITS, MASS_UNITS, SI, unit_doubts
from robodyn_ros.model.validate import check_inertias
from robots import ARM, OWN, REAL, WIDE
from thorough import seeds

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
    assert refused.value.value == ('upper', 'fore')
    assert '`robodyn inspect FILE --repair NEW`' in refused.value.remedy
    with pytest.raises(InertiaError, match='link fore'):
        check_inertias(model, ['upper'])
    check_inertias(model, ['upper', 'fore'])
    check_inertias(model, ['*'])


# Arms of 0.4 to 36 kg, legs, hands and humanoids, but none of point masses
ROBOTS = {**OWN, **REAL, **{name: WIDE[name] for name in (
    'ur10', 'z1', 'so101', 'tiago_pro', 'allegro', 'hyq', 'talos', 'g1')}}
del ROBOTS['rp'], ROBOTS['two_link']
# One inertia in units that a person may choose, with masses and lengths to match, or not
USUAL = [('kg', 'm', unit) for unit in list(INERTIA_UNITS)[1:]] + [
    ('g', 'm', 'kg·m²'), ('kg', 'mm', 'kg·m²'), ('kg', 'cm', 'kg·m²'), ('kg', 'mm', 'kg·mm²'),
    ('g', 'mm', 'kg·m²'), ('g', 'm', 'g·mm²'), ('g', 'm', 'g·cm²'), ('g', 'cm', 'g·cm²'),
    ('g', 'mm', 'g·mm²')]


@cache
def loaded(name):
    return load_urdf(ROBOTS[name], massless='warn')


def in_units(model, mass, length, inertia):
    """Return the numbers of a model in other units."""
    scale = LENGTH_UNITS[length]
    slid = np.where(model.slides, scale, 1.0)
    return replace(model, mass=model.mass * MASS_UNITS[mass], com=model.com * scale,
                   joint_origin=model.joint_origin * scale,
                   inertia=model.inertia * INERTIA_UNITS[inertia],
                   position_lower=model.position_lower * slid,
                   position_upper=model.position_upper * slid)


def texts(model):
    return [doubt.text for doubt in unit_doubts(model)]


def arm(mass=(2.0, 1.0), com='0 0 0.2', inertia=0.03, limits=3, effort=50, velocity=5,
        rpy='0 0 0', friction=1):
    """Return an arm of two links of 0.4 m; the numbers are those that are exported wrong."""
    link = ('<link name="{}"><inertial><origin xyz="{}"/><mass value="{}"/><inertia ixx="{}" '
            'ixy="0" ixz="0" iyy="{}" iyz="0" izz="{}"/></inertial></link>')
    joint = ('<joint name="j{}" type="revolute"><parent link="{}"/><child link="{}"/>'
             '<origin xyz="0 0 0.4" rpy="{}"/><axis xyz="0 1 0"/><limit lower="{}" upper="{}" '
             'effort="{}" velocity="{}"/><dynamics friction="{}"/></joint>')
    return '<robot name="r"><link name="base"/>' + ''.join(
        link.format(name, com, m, inertia, inertia, inertia / 7.5)
        for name, m in zip('ab', mass)) + ''.join(
        joint.format(i, parent, child, rpy, -limits, limits, effort, velocity, friction)
        for i, parent, child in ((1, 'base', 'a'), (2, 'a', 'b'))) + '</robot>'


@pytest.mark.slow
def test_no_robot_of_the_catalog_is_doubted():
    judged, known = 0, robot_names()[::seeds(8, 1)]
    for name in known:
        try:
            model = load_urdf(name, massless='warn')
        except Exception:       # a file without links, or with half of a hand
            continue
        judged += 1
        assert not texts(model), name
        assert not any('probably in' in text for text in model.warnings), name
    assert judged > 0.7 * len(known)


@pytest.mark.parametrize('name', ROBOTS)
def test_real_robots_in_other_units_are_doubted_and_the_units_named(name):
    model = loaded(name)
    assert not texts(model)
    missed, unnamed = [], []
    for units in product(MASS_UNITS, LENGTH_UNITS, INERTIA_UNITS):
        if units == SI:
            continue
        found = texts(in_units(model, *units))
        missed += [units] * (not found)
        unnamed += [units] * (not all(
            any(f'are probably in {unit}, not in {si}:' in text for text in found)
            for unit, si in zip(units, SI) if unit != si))
    # Grams with inertias in g·m² or kg·cm² differ from kg and kg·m² by the mass alone
    assert not set(missed) & set(USUAL) and len(missed) <= 3
    assert len(set(unnamed) & set(USUAL)) <= 6      # TIAGo Pro has half the usual inertias


@pytest.mark.parametrize('name', ROBOTS)
def test_real_robots_with_limits_in_degrees_or_centers_in_mm(name):
    model = loaded(name)
    turns = np.where(model.slides, 1.0, 180 / pi)
    found = texts(replace(model, position_lower=model.position_lower * turns,
                          position_upper=model.position_upper * turns))
    bounded = np.any(~model.slides & np.isfinite(model.position_upper)
                     & (model.position_upper > 0.3))
    assert any('probably in degrees' in text for text in found) == bounded
    for factor in 100, 1000:
        assert any('centers of mass are probably in cm or mm' in text
                   for text in texts(replace(model, com=factor * model.com)))
    assert ('all centers of mass' in ''.join(texts(replace(model, com=0 * model.com)))
            or (model.mass == 0).any() or not model.inertia[model.mass > 0].any((1, 2)).all())


@pytest.mark.parametrize('unit', ['kg·cm²', 'kg·mm²', 'g·mm²'])
@pytest.mark.parametrize('name', ['panda', 'ur5', 'kinova', 'arm6', 'so101'])
def test_a_single_link_in_other_units(name, unit):
    model = loaded(name)
    seen = []
    for i in np.flatnonzero(model.mass > 0.0):
        inertia = model.inertia.copy()
        inertia[i] *= INERTIA_UNITS[unit]
        seen.append(any(text.startswith('inertias') for text in texts(replace(
            model, inertia=inertia))))
    assert np.mean(seen) >= (0.7 if unit == 'kg·cm²' else 1.0)


@pytest.mark.parametrize('changes, warning', [
    ({'inertia': 30000.0}, "inertias are probably in kg·mm², not in kg·m²: link 'b' has a radius "
                           'of gyration of 173 m on a reach of 1 m'),
    ({'com': '0 0 20'}, "centers of mass are probably in cm or mm, not in m: that of link 'a', "
                        "link 'b' is 20 m from the origin"),
    ({'com': '0 0 0'}, 'all centers of mass are at the origins'),
    ({'limits': 180}, "position limits of joint 'j1', joint 'j2' are probably in degrees: up to "
                      '180 rad, 28.6 turns'),
    ({'limits': 180, 'velocity': 120}, 'and so are velocity limits of up to 120 rad/s'),
    ({'effort': 0.05}, 'masses or the effort limits are probably in other units: gravity of up'),
    ({'effort': 0.001}, 'accelerates it by'),
    ({'mass': (1e-5, 1e-5), 'inertia': 1e-4}, 'masses are probably placeholders, or in t, not in '
                                              'kg: 2e-05 kg in motion on a reach of 1 m'),
    ({'friction': 50}, "joint 'j1' probably never moves: its dry friction of 50 N·m is not below"),
    ({'rpy': '90 0 0'}, "rpy of joint 'j1', joint 'j2' is probably in degrees: up to 90 rad"),
])
def test_what_a_warning_says(changes, warning):
    assert load_urdf(arm()).warnings == ()
    found = load_urdf(arm(**changes)).warnings
    assert any(warning in text for text in found)
    assert 'mass' not in changes or len(found) == 1     # no lengths and inertias in other units
    rail = ARM.replace('<limit lower="0" upper="0.3"', '<limit lower="0" upper="300"')
    assert any("limits of joint 'slide' are probably in mm" in text
               for text in load_urdf(rail).warnings)


def test_machines_unlike_arms_are_not_doubted():
    """A turntable wider than its joint is high, point masses, a winch without limits."""
    table = ('<robot name="t"><link name="b"/><link name="t"><inertial><mass value="20"/><inertia '
             'ixx="1.3" ixy="0" ixz="0" iyy="1.3" iyz="0" izz="2.5"/></inertial></link><joint '
             'name="j" type="continuous"><parent link="b"/><child link="t"/><origin '
             'xyz="0 0 0.02"/><axis xyz="0 0 1"/><limit effort="9" velocity="3"/></joint></robot>')
    assert load_urdf(table).warnings == ()
    placed = table.replace('xyz="0 0 0.02"', '')        # one body, whose origin is in its joint
    assert load_urdf(placed).warnings == ()
    assert "link 't' has a radius of gyration of 2.24 m on a reach of 0 m" in load_urdf(
        placed.replace('izz="2.5"', 'izz="100"').replace('1.3', '60')).warnings[0]
    assert from_dh([DhLink(theta=0, d=0, a=1, alpha=0, mass=1)] * 2).warnings == ()
    assert load_urdf(arm(limits=1e6)).warnings == ()
