# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rigid bodies and payloads, initial positions, and the files of known robots."""

import sysconfig

from hypothesis import given, strategies as st
import numpy as np
import pytest
from robodyn_ros import DhLink, Dynamics, from_dh, load_urdf
from robodyn_ros.errors import ArgumentError, ParameterError, UnknownNameError, UrdfError
from robodyn_ros.model import resources
from robodyn_ros.model.resources import robot_path, share_path
from robodyn_ros.model.rigid_body import (
    body_of, Inertial, inertial_parameters, is_consistent, nearest_consistent, of_body,
    pseudo_inertia, rotation_rpy, rpy_rotation, SECOND_MOMENTS)
from robodyn_ros.model.robot import initial_position, roomy_position, with_payload
from robots import ARM, OWN
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

LOAD = """
  <link name="load"><inertial><origin xyz="0.1 -0.2 0.3" rpy="0 0 0"/><mass value="2.5"/>
    <inertia ixx="0.2" iyy="0.3" izz="0.4" ixy="0.01" ixz="0.02" iyz="0.03"/></inertial></link>
  <joint name="grip" type="fixed"><parent link="{frame}"/><child link="load"/></joint>
</robot>"""
INERTIA = [[0.2, 0.01, 0.02], [0.01, 0.3, 0.03], [0.02, 0.03, 0.4]]


@pytest.mark.parametrize('name', ['two_link', 'arm6'])
def test_as_a_link_of_the_urdf(name):
    """Held by any frame that moves, it has the dynamics of a link fixed there."""
    path = robot_path(name)
    with open(path) as file:
        text = file.read()
    model = load_urdf(path)
    frame = model.frame_names[-1]
    held = Dynamics(with_payload(model, frame, 2.5, (0.1, -0.2, 0.3), INERTIA))
    urdf = Dynamics(load_urdf(text.replace('</robot>', LOAD.format(frame=frame))))
    for q, qd, qdd in np.random.default_rng(1).uniform(-1, 1, (5, 3, model.nv)):
        assert held.inverse_dynamics(q, qd, qdd) == pytest.approx(
            urdf.inverse_dynamics(q, qd, qdd), rel=1e-12, abs=1e-12)
    assert model.mass.sum() < held.model.mass.sum()


def test_payloads_that_are_nothing_or_whole_numbers():
    model = load_urdf(robot_path('two_link'))
    assert with_payload(model, model.frame_names[-1], 0.0) is model
    # An array of integers would take a part of the payload's mass only.
    model = from_dh([DhLink(0, 0, 1, 0, mass=1, armature=1, viscous=1, coulomb=1)])
    assert with_payload(model, 'link1', 0.7).mass == [1.7]
    for array in (model.mass, model.armature, model.viscous_friction, model.coulomb_friction,
                  model.static_friction):
        assert array.dtype == np.float64


@pytest.mark.parametrize(('error', 'arguments'), [
    (UnknownNameError, ('hand', 1.0)), (ArgumentError, ('base_link', 1.0)),
    (ArgumentError, ('link2', -1.0)), (ArgumentError, ('link2', np.nan)),
    (ArgumentError, ('link2', 1.0, (0, 0))), (ArgumentError, ('link2', 1.0, (0, 0, np.inf))),
    (ArgumentError, ('link2', 1.0, (0, 0, 0), -np.eye(3))),
])
def test_refused(error, arguments):
    with pytest.raises(error):
        with_payload(load_urdf(robot_path('two_link')), *arguments)


def test_initial_positions():
    # Zero, the middle of limits that exclude it, a little inside of an end, or as given.
    model, text = load_urdf(OWN['rp']), OWN['rp'].read_text()
    assert initial_position(model).tolist() == [0.0, 0.5]
    assert initial_position(model, [1, 0.3]).tolist() == [1.0, 0.3]
    assert 'upper="0.8"' in text
    far = load_urdf(text.replace('upper="0.8"', 'upper="1e308"'))
    assert initial_position(far).tolist() == [0.0, 10.2]
    model = load_urdf(ARM.replace('<limit lower="-2" upper="2"', '<limit lower="-2" upper="0.1"'))
    np.testing.assert_array_equal(initial_position(model), [0, 0])
    np.testing.assert_allclose(roomy_position(model), [-0.95, 0.15])
    np.testing.assert_array_equal(roomy_position(load_urdf(ARM)), [0, 0.15])
    unlimited = load_urdf(ARM.replace('type="revolute"', 'type="continuous"').replace(
        'lower="0" upper="0.3"', 'lower="-1" upper="1"'))
    np.testing.assert_array_equal(roomy_position(unlimited), [0, 0])


@pytest.mark.parametrize(('given', 'said'), [
    ([0.0], 'pass one for each of joint1, joint2'), ([float('nan'), 0.5], 'joint1 is nan'),
    ([0.0, 0.0], r'joint2 is 0: choose one in its limits \[0.2')])
def test_an_initial_position_that_does_not_fit_is_refused(given, said):
    with pytest.raises(ParameterError, match=said):
        initial_position(load_urdf(OWN['rp']), given)


def test_names_that_are_no_robots(monkeypatch, tmp_path):
    with pytest.raises(UrdfError, match='panda') as refused:
        robot_path('pandora')
    assert refused.value.name == 'pandora'
    monkeypatch.setattr(resources, '_ament_share', lambda package: None)
    monkeypatch.setattr(resources.metadata, 'files', lambda package: None)
    with pytest.raises(UrdfError, match='pip install example-robot-data'):
        robot_path('panda')
    (path := tmp_path / 'mine.urdf').write_text('<robot/>')
    assert robot_path(path) == robot_path(str(path)) == path


@pytest.mark.parametrize('kind', ['prefix', 'user'])
def test_files_are_found_where_the_package_is_installed(tmp_path, monkeypatch, kind):
    source = share_path('urdf', 'rp.urdf')
    monkeypatch.setattr(resources, '_ament_share', lambda package: None)
    monkeypatch.setattr(resources, 'get_path', lambda what, scheme: str(tmp_path / scheme))
    assert share_path('urdf', 'rp.urdf').samefile(source)
    installed = (tmp_path / sysconfig.get_preferred_scheme(kind) / 'share' / 'robodyn_ros' / 'urdf'
                 / 'rp.urdf')
    installed.parent.mkdir(parents=True)
    installed.touch()
    assert share_path('urdf', 'rp.urdf') == installed


def test_where_files_are_found(tmp_path, monkeypatch):
    pytest.importorskip('ament_index_python')
    index = tmp_path / 'share' / 'ament_index' / 'resource_index' / 'packages'
    file = tmp_path / 'share' / 'robodyn_ros' / 'urdf' / 'rp.urdf'
    for path in (index / 'robodyn_ros', file):
        path.parent.mkdir(parents=True)
        path.touch()
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    assert share_path('urdf', 'rp.urdf') == file
    with pytest.raises(UnknownNameError, match='urdf/two_link.urdf'):
        share_path('urdf', 'two_links.urdf')


def test_angles_give_the_rotation_back_even_where_two_of_them_turn_about_one_axis():
    rng = np.random.default_rng(3)
    for pitch in (0.4, np.pi / 2, -np.pi / 2, 1.570796325, np.pi / 2 - 1e-9, np.pi / 2 - 1e-13, 3):
        for roll, yaw in rng.uniform(-4, 4, (20, 2)):
            rotation = rpy_rotation([roll, pitch, yaw])
            np.testing.assert_allclose(rpy_rotation(rotation_rpy(rotation)), rotation, rtol=0,
                                       atol=1e-15)


def test_pseudo_inertia_is_the_second_moment_of_points():
    rng = np.random.default_rng(0)
    points, masses = rng.normal(size=(20, 3)), rng.uniform(size=20)
    inertia = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, points))
    first = masses @ points
    parameters = [masses.sum(), *first, *inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]]
    extended = np.column_stack([points, np.ones(20)])
    P = pseudo_inertia(parameters)
    np.testing.assert_allclose(P[0], (masses[:, None] * extended).T @ extended)
    np.testing.assert_allclose(inertial_parameters(P), parameters)
    body = Inertial(2.0, np.array([0.1, -0.2, 0.3]), np.diag([0.03, 0.04, 0.05]))
    for found, true in zip(body_of(of_body(body)), body):
        np.testing.assert_allclose(found, true, atol=1e-15)
    assert body_of(np.zeros((4, 4))).com.tolist() == [0.0, 0.0, 0.0]


MOMENTS = st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3).filter(
    lambda moments: max(map(abs, moments)) > 1e-3)


def turned(moments, seed=1):
    turn = Rotation.random(random_state=seed).as_matrix()
    return turn @ np.diag(moments) @ turn.T


@given(MOMENTS)
def test_the_nearest_inertia_is_one_of_a_body(moments):
    assert is_consistent(nearest_consistent(turned(moments)))


@pytest.mark.parametrize('moments', [(1, 1, 2.5), (-0.1, 0.3, 1), (0, 0, 1), (-1, -1, 1)])
def test_there_is_no_nearer_one(moments):
    found = np.linalg.norm(nearest_consistent(turned(moments)) - turned(moments))
    best = minimize(lambda x: ((x - moments)**2).sum(), np.ones(3), method='SLSQP', tol=1e-14,
                    constraints={'type': 'ineq', 'fun': lambda x: SECOND_MOMENTS @ x})
    assert found == pytest.approx(np.sqrt(best.fun), rel=1e-4)


def test_axes_stay_and_what_is_consistent_too():
    old = turned((1, 1.2, 2.5))
    new = nearest_consistent(old)
    np.testing.assert_allclose(old @ new, new @ old, atol=1e-12)
    np.testing.assert_allclose(nearest_consistent(turned((1, 2, 2.5))), turned((1, 2, 2.5)),
                               rtol=0, atol=1e-14)
