# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Moments of inertia that no body has, repaired where they stand in a URDF."""

import difflib

import mujoco
import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.errors import InertiaError, UrdfError
from robodyn_ros.identification.repair import links_not_judged, repaired_urdf
from robots import ARM, OWN

pytestmark = pytest.mark.slow

BROKEN = ARM.replace('izz="0.01"', 'izz="0.05"').replace(
    '  <link name="base"/>', '  <!-- a plate -->\n  <link name="base"/>')


def test_only_moments_of_the_links_at_fault_change():
    repaired, [change] = repaired_urdf(BROKEN.encode())
    lines = [line for line in difflib.ndiff(BROKEN.splitlines(), repaired.decode().splitlines())
             if line[0] in '+-']
    assert len(lines) == 2 and all('<inertia ixx' in line for line in lines)
    assert change.link == 'upper' and change.excess == pytest.approx(0.25)
    np.testing.assert_allclose(change.before, [0.02, 0.02, 0.05])
    np.testing.assert_allclose(change.shares, [1 / 6, 1 / 6, -1 / 15], atol=1e-5)
    old, new = load_urdf(BROKEN), load_urdf(repaired)
    assert new.warnings == () and new.implausible_links == ()
    np.testing.assert_array_equal(new.mass, old.mass)
    np.testing.assert_array_equal(new.com, old.com)


def test_mujoco_takes_what_it_refused():
    with pytest.raises(ValueError, match='inertia'):
        mujoco.MjModel.from_xml_string(BROKEN)
    mujoco.MjModel.from_xml_string(repaired_urdf(BROKEN.encode())[0].decode())


def test_an_inertia_in_a_turned_frame():
    turned = BROKEN.replace('<origin xyz="0 0 0.2"/><mass', '<origin xyz="0 0 0.2" '
                            'rpy="0.3 -0.2 1"/><mass').replace('ixy="0"', 'ixy="0.004"', 1)
    repaired, [change] = repaired_urdf(turned.encode())
    assert b'rpy="0.3 -0.2 1"' in repaired
    model = load_urdf(repaired)
    np.testing.assert_allclose(np.linalg.eigvalsh(model.inertia[0]), change.after, rtol=1e-6)


@pytest.mark.parametrize('name', OWN)
def test_nothing_is_changed_of_a_robot_without_fault(name):
    text = OWN[name].read_bytes()
    assert repaired_urdf(text) == (text, ())


MOMENTS = 'ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"'


@pytest.mark.parametrize(('text', 'said'), [
    (ARM.replace('ixx="0.02"', 'ixx="-0.02"'), "link 'upper'.*change the sign of ixx,"),
    (ARM.replace('<mass value="2"/>', '<mass value="120"/>').replace(
        MOMENTS, 'ixx="-4.98" ixy="0" ixz="2.7" iyy="-5.952" iyz="0" izz="0.828"', 1),
     '-6.04, -5.95, 1.89 kg·m².*would be those of another body: check the sign of ixx and iyy'),
    (BROKEN.replace('<mass value="2"/>', '<mass value="-2"/>'), "link 'upper': mass is -2"),
    ('<robot name="bare"><link name="base"/></robot>', "no link of 'bare' has mass and inertia")])
def test_what_is_not_repaired_is_named(text, said):
    with pytest.raises(InertiaError, match=said):
        repaired_urdf(text.encode())


@pytest.mark.parametrize('moments', [
    (1e-9, 1e-9, 1.0), (0.01, 0.01, 0.1), (0.0, 0.5, 1.0), (-0.002, 0.02, 0.01)])
def test_any_violation_of_the_triangle_inequality_is_repaired(moments):
    """A moment that is slightly negative, too."""
    text = ARM.replace(MOMENTS, 'ixx="{}" ixy="0" ixz="0" iyy="{}" iyz="0" izz="{}"'.format(
        *moments), 1)
    repaired, [change] = repaired_urdf(text.encode())
    assert text != ARM and load_urdf(repaired).implausible_links == ()
    np.testing.assert_allclose(change.before, sorted(moments))
    assert links_not_judged(ARM.encode())[0] == 'base'


@pytest.mark.parametrize('old, new, kept', [
    ('name="arm"', 'name="arm" xmlns="http://www.ros.org"', 'xmlns="http://www.ros.org"'),
    ('name="arm"', 'name="arm" xmlns:xacro=""', 'name="arm"'),      # which is no namespace
    ('<!-- a plate -->', '<gazebo><sensor:camera/></gazebo>', '<sensor:camera/>')])
def test_namespaces_that_the_loader_tolerates_are_no_hindrance(old, new, kept):
    text = BROKEN.replace(old, new)
    repaired, [change] = repaired_urdf(text.encode())
    assert change.link == 'upper' and kept in repaired.decode()
    assert load_urdf(repaired).implausible_links == ()


@pytest.mark.parametrize('encoding', ['latin-1', 'utf-16', 'utf-16-be', 'utf-8-sig'])
def test_encoding_and_line_endings_stay(encoding):
    declared = 'utf-16' if 'utf-16' in encoding else encoding.replace('-sig', '')
    text = f'<?xml version="1.0" encoding="{declared}"?>\n{BROKEN}<!-- größe -->\n'.replace(
        '\n', '\r\n')
    source = (b'\xfe\xff' if encoding == 'utf-16-be' else b'') + text.encode(encoding)
    repaired, changes = repaired_urdf(source)
    assert len(changes) == 1 and repaired[:2] == source[:2]
    found = repaired.decode(encoding)
    assert found.count('\r\n') == text.count('\r\n') and 'größe' in found


@pytest.mark.parametrize(('text', 'said'), [
    (ARM.encode().replace(b'fore', b'f\xffre'), 'cannot be read as utf-8'),
    (ARM.encode('utf-16-le'), 'no mark of its encoding'),
    (b"<?xml version='1.0' encoding='nonsense'?>" + ARM.encode(), 'nonsense')])
def test_bytes_of_no_known_encoding_are_refused(text, said):
    with pytest.raises(UrdfError, match=said):
        repaired_urdf(text)
