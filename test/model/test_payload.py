# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A payload is a link of the URDF by other means."""

import numpy as np
import pytest
from robodyn_ros import DhLink, Dynamics, from_dh, load_urdf
from robodyn_ros.errors import ArgumentError, UnknownNameError
from robodyn_ros.model.payload import with_payload
from robodyn_ros.model.resources import robot_path

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


def test_nothing_in_the_hand():
    model = load_urdf(robot_path('two_link'))
    assert with_payload(model, model.frame_names[-1], 0.0) is model


@pytest.mark.parametrize(('error', 'arguments'), [
    (UnknownNameError, ('hand', 1.0)), (ArgumentError, ('base_link', 1.0)),
    (ArgumentError, ('link2', -1.0)), (ArgumentError, ('link2', np.nan)),
    (ArgumentError, ('link2', 1.0, (0, 0))), (ArgumentError, ('link2', 1.0, (0, 0, np.inf))),
    (ArgumentError, ('link2', 1.0, (0, 0, 0), -np.eye(3))),
])
def test_refused(error, arguments):
    with pytest.raises(error):
        with_payload(load_urdf(robot_path('two_link')), *arguments)


def test_held_by_a_link_of_a_whole_number_of_kilograms():
    """An array of integers would take a part of the payload's mass only."""
    model = from_dh([DhLink(0, 0, 1, 0, mass=1, armature=1, viscous=1, coulomb=1)])
    assert with_payload(model, 'link1', 0.7).mass == [1.7]
    for array in (model.mass, model.armature, model.viscous_friction, model.coulomb_friction,
                  model.static_friction):
        assert array.dtype == np.float64
