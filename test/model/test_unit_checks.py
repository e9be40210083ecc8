# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Warnings about units: none for real robots, and the right one for the same in other units."""

from dataclasses import replace
from functools import cache
from itertools import product
from math import pi

import numpy as np
import pytest
from robodyn_ros import DhLink, from_dh, load_urdf
from robodyn_ros.model.resources import robot_names
from robodyn_ros.model.unit_checks import INERTIA_UNITS, LENGTH_UNITS, MASS_UNITS, SI, unit_doubts
from robots import ARM, OWN, REAL, WIDE
from thorough import seeds

# Arms of 0.4 to 36 kg, legs, hands and humanoids, but none of point masses
ROBOTS = {**OWN, **REAL, **{name: WIDE[name] for name in (
    'ur10', 'xarm7', 'z1', 'so101', 'tiago_pro', 'baxter', 'allegro', 'solo12', 'hyq', 'icub',
    'talos', 'g1')}}
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
        rpy='0 0 0'):
    """Return an arm of two links of 0.4 m; the numbers are those that are exported wrong."""
    link = ('<link name="{}"><inertial><origin xyz="{}"/><mass value="{}"/><inertia ixx="{}" '
            'ixy="0" ixz="0" iyy="{}" iyz="0" izz="{}"/></inertial></link>')
    joint = ('<joint name="j{}" type="revolute"><parent link="{}"/><child link="{}"/>'
             '<origin xyz="0 0 0.4" rpy="{}"/><axis xyz="0 1 0"/><limit lower="{}" upper="{}" '
             'effort="{}" velocity="{}"/></joint>')
    return '<robot name="r"><link name="base"/>' + ''.join(
        link.format(name, com, m, inertia, inertia, inertia / 7.5)
        for name, m in zip('ab', mass)) + ''.join(
        joint.format(i, parent, child, rpy, -limits, limits, effort, velocity)
        for i, parent, child in ((1, 'base', 'a'), (2, 'a', 'b'))) + '</robot>'


@pytest.mark.slow
def test_no_robot_of_the_catalog_is_doubted():
    judged, known = 0, robot_names()[::seeds(4, 1)]
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
    ({'mass': (2000.0, 1000.0)}, 'masses are probably in g, not in kg: 3000 kg'),
    ({'inertia': 30000.0}, "inertias are probably in kg·mm², not in kg·m²: link 'b' has a radius "
                           'of gyration of 173 m on a reach of 1 m'),
    ({'inertia': 300.0}, 'inertias are probably in kg·cm², not'),
    ({'inertia': 3e7}, 'inertias are probably in g·mm², not'),
    ({'com': '0 0 20'}, "centers of mass are probably in cm or mm, not in m: that of link 'a', "
                        "link 'b' is 20 m from the origin"),
    ({'com': '0 0 0'}, 'all centers of mass are at the origins'),
    ({'limits': 180}, "position limits of joint 'j1', joint 'j2' are probably in degrees: up to "
                      '180 rad, 28.6 turns'),
    ({'limits': 180, 'velocity': 120}, 'and so are velocity limits of up to 120 rad/s'),
    ({'effort': 0.05}, 'masses or the effort limits are probably in other units: gravity of up'),
    ({'effort': 0.001}, 'accelerates it by'),
    ({'rpy': '90 0 0'}, "rpy of joint 'j1', joint 'j2' is probably in degrees: up to 90 rad"),
])
def test_what_a_warning_says(changes, warning):
    assert load_urdf(arm()).warnings == ()
    assert any(warning in text for text in load_urdf(arm(**changes)).warnings)


def test_a_rail_in_millimetres():
    text = ARM.replace('<limit lower="0" upper="0.3"', '<limit lower="0" upper="300"')
    assert text != ARM
    assert any("limits of joint 'slide' are probably in mm" in warning
               for warning in load_urdf(text).warnings)


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
