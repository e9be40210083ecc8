# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The page of `make demo VIEW=1` shows the robot that the nodes of the demo drive."""

import pytest
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.cli.options import locked_joints
from robodyn_ros.demo.run import viewer
from robodyn_ros.model.resources import robot_path

pytestmark = pytest.mark.slow


@pytest.mark.parametrize('by_path', [False, True])
def test_the_page_waits_for_the_joints_that_are_published(by_path):
    """The Panda's are those without its fingers, which are locked; one more would never come."""
    known = load_robot('panda', {}, [])
    locked = dict(zip(known.parameters['controller']['locked_joints'], (0.02, 0.01)))
    robot = load_robot(str(robot_path('panda')), locked, []) if by_path else known
    *_, name, live, first, second = viewer(robot)
    assert live == '--live'
    words = [word.removeprefix('--locked=') for word in (first, second)]
    shown = load_robot(name, locked_joints(words), [])
    assert shown.model.joint_names == known.model.joint_names
