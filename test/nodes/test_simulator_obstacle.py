# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Obstacle of the simulator node: from parameters to the plant, and away again."""

import numpy as np
import pytest
from robodyn_ros.errors import ParameterError, UnknownNameError
from robodyn_ros.model.urdf import load_urdf
from robodyn_ros.nodes.simulator.obstacle import obstacle_of, obstacle_parameters, put
from robodyn_ros.nodes.simulator.parameters import TABLE
from robodyn_ros.simulation.plant import Plant
from robots import OWN

DEFAULT = {p.name: p.default for p in TABLE}
LINKS = 'link1', 'tool0'


def test_there_is_none_without_a_link_and_it_has_its_values_with_one():
    assert obstacle_of(DEFAULT, LINKS) is None
    obstacle = obstacle_of({**DEFAULT, 'obstacle_link': 'tool0',
                            'obstacle_normal': [0.0, 2.0, 0.0],
                            'obstacle_surface': [0.1, 0.2, 0.3]}, LINKS)
    assert obstacle.link == 'tool0' and obstacle.stiffness == 75e3
    assert obstacle.normal.tolist() == [0.0, 1.0, 0.0]
    assert obstacle.surface.tolist() == [0.1, 0.2, 0.3]
    assert set(obstacle_parameters(DEFAULT)) == {name for name in DEFAULT if 'obstacle' in name}


@pytest.mark.parametrize(('values', 'error', 'text'), [
    ({'obstacle_link': 'arm'}, UnknownNameError, "no link 'arm'"),
    ({'obstacle_point': [0.0]}, ParameterError, 'obstacle_point has 1 elements'),
    ({'obstacle_normal': [0.0, 0.0, 0.0]}, ParameterError, 'no direction')])
def test_what_is_no_obstacle_is_refused(values, error, text):
    with pytest.raises(error, match=text):
        obstacle_of({**DEFAULT, 'obstacle_link': 'tool0', **values}, LINKS)


def test_its_force_ends_when_it_is_taken_away():
    text = OWN['two_link'].read_text()
    model = load_urdf(text, gravity=(0.0, 0.0, 0.0))
    plant = Plant(text, model=model)
    plant.reset([0.0, 0.0])
    # The tool is at x = 0.9 and may go no lower than 1 mm above that
    put(plant, obstacle_of({**DEFAULT, 'obstacle_link': 'tool0',
                            'obstacle_surface': [0.0, 0.0, 1e-3]}, model.frame_names))
    plant.step(0.0)
    assert plant.obstacles[0].peak == pytest.approx(75.0, rel=0.01)
    put(plant, None)
    before = plant.state().velocity
    plant.step(0.0)
    assert np.abs(plant.state().velocity - before).max() < 1e-3 * np.abs(before).max()
    assert not plant.obstacles
