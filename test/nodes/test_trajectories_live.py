# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""References of the real controller, which meanwhile holds an arm."""

from nodes.bring_up import bring_up, POSE
import numpy as np
import pytest
from robodyn_ros.control.references.trajectory import MAX_WAYPOINTS
from trajectories import trajectory_bytes

NAMES = ['joint1', 'joint2']


@pytest.mark.alone
def test_a_million_waypoints_do_not_let_the_arm_go(pair, remote, gravity):
    """They are refused and the arm is held; so it is while as many as there may be are planned."""
    _, controller = pair(controller={'mode': 'computed_torque'}, real_time=True)
    bring_up(remote)
    publisher = remote.trajectories()
    publisher.publish(trajectory_bytes(NAMES, np.arange(1e6), np.zeros((10**6, 2))))
    remote.until_line(controller, 'trajectory refused: 1000000 waypoints: give at most 20000')
    rows = np.zeros((3, MAX_WAYPOINTS, 2))
    rows[0] = POSE
    publisher.publish(trajectory_bytes(NAMES, np.arange(1.0, MAX_WAYPOINTS + 1), *rows))
    remote.until_line(controller, 'following a trajectory of 20000 waypoints')
    remote.listen(0.5)
    remote.until(remote.newest_command, 'commands')
    assert abs(np.array(remote.commands) - gravity).max() < 0.05
    assert abs(remote.positions() - POSE).max() < 1e-3
    remote.until(lambda: remote.diagnostics.get('phase') == 'RUNNING', 'diagnostics')
    assert 'FAULT' not in controller.text and controller.interrupt() == 0
