# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0

import difflib

import mujoco
import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.errors import InertiaError
from robodyn_ros.identification.repair import repaired_urdf
from robots import ARM, OWN

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


def test_moments_that_are_negative_are_repaired():
    text = ARM.replace('ixx="0.02"', 'ixx="-0.02"')
    with pytest.raises(InertiaError, match='principal moments'):
        load_urdf(text)
    repaired, [change] = repaired_urdf(text.encode())
    assert change.before[0] == -0.02 and load_urdf(repaired).implausible_links == ()


def test_a_negative_mass_cannot_be_repaired():
    with pytest.raises(InertiaError, match="link 'upper': mass is -2"):
        repaired_urdf(BROKEN.replace('<mass value="2"/>', '<mass value="-2"/>').encode())


@pytest.mark.parametrize('old, new', [
    ('name="arm"', 'name="arm" xmlns="http://www.ros.org"'),
    ('name="arm"', 'name="arm" xmlns:xacro=""'),
    ('<!-- a plate -->', '<gazebo><sensor:camera/></gazebo>')])
def test_namespaces_that_the_loader_tolerates_are_no_hindrance(old, new):
    text = BROKEN.replace(old, new)
    repaired, [change] = repaired_urdf(text.encode())
    assert change.link == 'upper' and new in repaired.decode()


def test_encoding_and_line_endings_stay():
    text = f'<?xml version="1.0" encoding="latin-1"?>\n{BROKEN}<!-- größe -->\n'.replace(
        '\n', '\r\n').encode('latin-1')
    repaired, changes = repaired_urdf(text)
    assert len(changes) == 1 and repaired.count(b'\r\n') == text.count(b'\r\n')
    assert 'größe'.encode('latin-1') in repaired
