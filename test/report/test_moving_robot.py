# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The moving robot that another process draws, and what becomes of it where that fails."""

from pathlib import Path

import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.errors import DemoError
from robodyn_ros.model.resources import robot_path
from robodyn_ros.report.scene import MovingRobot

pytest.importorskip('viser', reason='needs pip install viser')


def test_a_process_that_cannot_draw_says_why():
    """Takes 3 s: a process that imports viser."""
    model = load_urdf(robot_path('two_link'))
    with MovingRobot() as moving:
        assert moving.page() == ''          # nothing was asked for
        moving.draw(model, Path('/nowhere/robot.urdf'), np.arange(3.0), np.zeros((3, 2)))
        with pytest.raises(DemoError, match=r'/nowhere/robot.urdf.*robodyn view'):
            moving.page()


def test_a_process_that_dies_is_not_waited_for():
    model = load_urdf(robot_path('two_link'))
    with MovingRobot() as moving:
        moving.draw(model, None, np.arange(3.0), np.zeros((3, 2)))
        moving._process.kill()
        with pytest.raises(DemoError, match='exit code -9'):
            moving.page()
