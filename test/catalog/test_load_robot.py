# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
import shutil

import numpy as np
import pytest
from robodyn_ros.catalog.robots import load_robot, read_configuration, write_parameters
from robodyn_ros.errors import ParameterError
from robodyn_ros.model.resources import robot_path
from robots import ARM


def test_a_known_robot_comes_with_its_configuration(tmp_path):
    robot = load_robot('panda', {}, [])
    assert robot.model.nv == 7
    assert robot.pose[3] == pytest.approx(-3 * np.pi / 4)
    assert robot.parameters['controller']['locked_joints'] == [
        'panda_finger_joint1', 'panda_finger_joint2']
    robot = load_robot('panda', {'panda_finger_joint1': 0.0, 'panda_finger_joint2': 0.01},
                       [0, 0, 0, -1, 0, 1, 0])
    for node in robot.parameters.values():
        assert node['locked_positions'] == [0.0, 0.01]
    assert robot.pose.tolist() == robot.parameters['simulator']['initial_position'] \
        == [0, 0, 0, -1, 0, 1, 0]
    path = shutil.copy(robot_path('rp'), tmp_path / 'mine.urdf')
    robot = load_robot(str(path), {}, [])
    assert robot.name == 'mine'
    assert robot.pose.tolist() == [0.0, 0.5]        # the carriage cannot be at zero
    assert robot.parameters['controller'] == {}
    with pytest.raises(ParameterError, match='joint2'):
        load_robot('rp', {}, [0.0, 0.9])


def test_parameters_written_are_read_back(tmp_path, monkeypatch):
    monkeypatch.setattr('robodyn_ros.catalog.robots.share_path',
                        lambda *parts: tmp_path / parts[-1])
    parameters = {'controller': {'mode': 'pd', 'stiffness': [1.0, 2.0]},
                  'simulator': {'urdf': 'rp'}}
    write_parameters(tmp_path / 'x.yaml', parameters)
    assert read_configuration('x') == parameters


def test_accepted_links_go_to_the_controller():
    assert load_robot('two_link', {}, [], accepted_links=['*']).parameters['controller'][
        'accepted_links'] == ['*']
    assert 'accepted_links' not in load_robot('two_link', {}, []).parameters['controller']


def test_a_robot_that_is_to_be_moved_has_room(tmp_path):
    (path := tmp_path / 'arm.urdf').write_text(ARM)
    assert load_robot(str(path), {}, []).pose[1] == 0.0
    assert load_robot(str(path), {}, [], roomy=True).pose[1] == pytest.approx(0.15)
    assert load_robot(str(path), {}, [0.1, 0.01], roomy=True).pose[1] == 0.01
