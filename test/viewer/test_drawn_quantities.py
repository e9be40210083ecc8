# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a page shows of a robot, without a browser: shapes, rods, torques, ellipsoids."""

from dataclasses import replace
import re
import sys

from hypothesis import example, given, settings, strategies as st
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.errors import DemoError, require_modules
from robodyn_ros.model.resources import robot_path, share_path
from robodyn_ros.viewer import REQUIRED_MODULES
from robodyn_ros.viewer.quantities import (
    along, drawn, ellipsoid, shares, slider_range, torque_table)
from robodyn_ros.viewer.robot_nodes import extent, link_shapes, rods

TWO_LINK = share_path('urdf', 'two_link.urdf')


@pytest.fixture(scope='module')
def two_link():
    return load_urdf(TWO_LINK)


def test_shapes_and_names_of_the_urdf(two_link):
    shapes, notes = link_shapes(TWO_LINK, two_link)
    assert {one.link for one in shapes} == {'base_link', 'link1', 'link2'} and not notes
    assert rods(two_link, ['base_link', 'link1', 'link2']) == []
    assert extent(two_link) == pytest.approx(0.9)
    odd = replace(two_link, joint_names=('<script>', 'joint2'),
                  body_joint_names=('<script>', 'joint2'))
    text = torque_table(odd, np.array([90.0, -1.0]), np.array([1.2, np.nan]))
    assert '<script>' not in text and '&lt;script&gt;' in text and 'TOO HEAVY' in text


def test_a_missing_mesh_falls_back_to_the_collision_shape_and_then_to_a_rod(two_link, tmp_path):
    text = re.sub('<sphere [^>]*/>', '<mesh filename="no.stl"/>', TWO_LINK.read_text())
    path = tmp_path / 'arm.urdf'
    path.write_text(text.replace('<link name="link1">', '<link name="link1"><collision><geometry>'
                                 '<box size="1 1 1"/></geometry></collision>'))
    shapes, notes = link_shapes(path, two_link)
    assert [one.kind for one in shapes if one.link == 'link1'] == ['box']
    assert [one for one in shapes if one.link == 'link2'] == []
    assert len(notes) == 2 and all("'no.stl'" in note and 'collisions' not in note
                                   for note in notes)
    (body, begin, end), = rods(two_link, ['base_link', 'link1'])[:1]
    assert body == 1 and not begin.any() and np.linalg.norm(end) == pytest.approx(0.4)


def test_gravity_and_center_of_mass_are_those_of_the_dynamics(two_link):
    q = np.array([0.3, 0.5])
    seen = drawn(Dynamics(two_link), two_link, q)
    assert seen.gravity == pytest.approx([16.79165356, 2.73387713])
    assert seen.share == pytest.approx(seen.gravity / [80, 30])
    assert seen.com == pytest.approx(Dynamics(two_link).center_of_mass(q))
    assert set(seen.frames) == set(two_link.frame_names)
    light = replace(two_link, mass=np.zeros(2), armature=np.ones(2))
    assert drawn(Dynamics(light), light, q).com is None


def test_shares_and_sliders_without_limits(two_link):
    share = shares(np.array([1.0, 0.0, 2.0, 3.0]), np.array([0.0, 0.0, np.inf, 2.0]))
    assert share[0] == np.inf and share[1] == 0.0 and np.isnan(share[2]) and share[3] == 1.5
    for lower, upper in ((-np.inf, np.inf), (-np.inf, 1.0), (-2.0, np.inf), (-1.0, 2.0)):
        model = replace(two_link, position_lower=np.full(2, lower),
                        position_upper=np.full(2, upper))
        low, high = slider_range(model, 0, 0.5)
        assert lower <= low <= 0.5 < high <= upper and np.isfinite([low, high]).all()
    still = replace(two_link, position_lower=np.ones(2), position_upper=np.ones(2))
    assert slider_range(still, 0, 1.0) == (1.0, pytest.approx(1.001))
    turned = replace(two_link, position_lower=np.full(2, -np.inf),
                     position_upper=np.full(2, np.inf))
    assert slider_range(turned, 0, 5.0) == (-np.pi, 5.0)


@settings(max_examples=60)
@given(st.lists(st.floats(0.01, 2.0), min_size=3, max_size=3), st.floats(0.1, 50.0),
       st.integers(0, 99))
def test_ellipsoid_has_the_given_mass_and_inertia(sizes, mass, seed):
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    squares = np.square(sizes)
    inertia = turn @ np.diag(mass / 5 * (squares.sum() - squares)) @ turn.T
    axes, R = ellipsoid(mass, inertia)
    assert np.linalg.det(R) == pytest.approx(1.0)
    again = R @ np.diag(mass / 5 * (np.square(axes).sum() - np.square(axes))) @ R.T
    assert again == pytest.approx(inertia, abs=1e-9 * mass)
    assert (ellipsoid(1.0, np.diag([1.0, 1.0, 9.0]))[0] >= 0.0).all()


@given(st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3).filter(
    lambda v: np.linalg.norm(v) > 1e-3))
@example([0.0, 1e-162, -0.5])
def test_a_rod_points_along_its_direction(direction):
    w, *v = along(np.array(direction))
    z, v = np.array([0.0, 0.0, 1.0]), np.array(v)
    turned = z + 2.0 * np.cross(v, np.cross(v, z) + w * z)
    assert turned == pytest.approx(np.array(direction) / np.linalg.norm(direction), abs=1e-6)


def test_without_viser_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, 'viser', None)     # as where it is not installed
    with pytest.raises(DemoError, match='view needs viser: run `pip install viser`'):
        require_modules('view', REQUIRED_MODULES, DemoError)


def test_meshes_of_a_catalog_robot_are_found():
    pytest.importorskip('mujoco')
    try:
        path = robot_path('ur5')
    except Exception as error:
        pytest.skip(str(error))
    shapes, _ = link_shapes(path, load_urdf(path))
    assert sum(one.mesh is not None and one.mesh.is_file() for one in shapes) >= 7
