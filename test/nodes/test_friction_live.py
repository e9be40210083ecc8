# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The file of identified friction in docs/robots.md, on an arm that has such friction."""

from pathlib import Path
import re

from nodes.bring_up import bring_up, IN_STEP, LOCKSTEP, parameters, SIMULATOR
import numpy as np
from processes import node
from robodyn_ros.model.resources import robot_path

ROOT = Path(__file__).resolve().parents[2]


def test_a_file_of_friction(remote, start, tmp_path, gravity):
    """It is read beside the configuration, changes while the arm is driven, within bounds."""
    path, urdf = tmp_path / 'friction.yaml', tmp_path / 'rusty.urdf'
    text = (ROOT / 'docs' / 'robots.md').read_text()
    path.write_text(re.search(r'```yaml\n(# friction.yaml\n.*?)```', text, re.DOTALL)[1])
    rusty = robot_path('two_link').read_text()
    for given in ('damping="0.8" friction="2"', 'damping="0.3" friction="0.8"'):
        rusty = rusty.replace('damping="0" friction="0"', given, 1)
    urdf.write_text(rusty)
    start(node('simulator'), *SIMULATOR, *LOCKSTEP, *parameters(urdf=urdf))
    start(node('controller'), '--ros-args', '--params-file', ROOT / 'config' / 'two_link.yaml',
          '--params-file', path, *parameters(urdf='two_link', discovery_time=0.0), *IN_STEP)
    bring_up(remote)
    for offset in (0.07, 0.05):         # shares of 0.1 N·m
        remote.until(lambda effort=gravity + [offset, 0.0]: remote.command_count and abs(
            np.array(remote.newest_command()) - effort).max() < 1e-3, 'the offset')
        assert remote.set('controller', friction_compensation=[0.5]) == ''
    assert '[0, 0.8]' in remote.set('controller', friction_compensation=[0.9])
    assert remote.set('controller', mode='computed_torque', friction_compensation=[1.0]) == ''
    assert 'friction_compensation' in remote.set('controller', mode='gravity_compensation')
