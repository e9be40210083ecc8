# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the launch files, without launch; test/launch has those of the files themselves."""

import pytest
from robodyn_ros.errors import ParameterError
from robodyn_ros.nodes.launch_rules import check_respawn


@pytest.mark.parametrize('autostart', ['true', 'True', '', '1', 'flase'])
def test_an_arm_is_not_armed_again_after_a_crash(autostart):
    """What is not plainly false may be true; empty leaves it to a file."""
    with pytest.raises(ParameterError, match='would arm the robot again after a crash'):
        check_respawn(True, autostart)
    check_respawn(False, autostart)


@pytest.mark.parametrize('autostart', ['false', 'False', '0', 'no', 'off'])
def test_a_person_may_activate_it(autostart):
    check_respawn(True, autostart)
