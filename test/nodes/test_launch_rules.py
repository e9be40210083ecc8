# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the launch files, without launch; test/launch has those of the files themselves."""

import pytest
from robodyn_ros.errors import ParameterError
from robodyn_ros.nodes.launch_rules import check_respawn, rotors


@pytest.mark.parametrize('autostart', ['true', 'True', '', '1', 'flase'])
def test_an_arm_is_not_armed_again_after_a_crash(autostart):
    """What is not plainly false may be true; empty leaves it to a file."""
    with pytest.raises(ParameterError, match='would arm the robot again after a crash'):
        check_respawn(True, autostart)
    check_respawn(False, autostart)


@pytest.mark.parametrize('autostart', ['false', 'False', '0', 'no', 'off'])
def test_a_person_may_activate_it(autostart):
    check_respawn(True, autostart)


def test_the_simulator_has_the_rotors_of_the_controller(tmp_path):
    """Unless it has its own: another arm than the controller knows."""
    file = tmp_path / 'arm.yaml'
    text = ('/**/controller: {ros__parameters: {armature: [1e-2, 0.5]}}\n'
            '/**/simulator: {ros__parameters: {rate: 500.0%s}}\n')
    file.write_text(text % '')
    assert rotors(str(file), '') == rotors(str(file), '/left') == {'armature': [0.01, 0.5]}
    file.write_text(text % ', armature: [0.1]')
    assert rotors(str(file), '') == {}
    file.write_text((text % '').replace('armature', 'stiffness'))
    assert rotors(str(file), '') == {}
