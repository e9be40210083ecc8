# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the launch files, without launch; test/launch has those of the files themselves."""

import sys

import pytest
from robodyn_ros.errors import ParameterError
from robodyn_ros.nodes.launch_rules import (
    check_respawn,
    manager_rate,
    rotors,
    warn_of_unknown,
)


@pytest.mark.parametrize('autostart', ['true', 'True', '', '1', 'flase'])
def test_an_arm_is_not_armed_again_after_a_crash(autostart):
    """What is not plainly false may be true; empty leaves it to a file."""
    with pytest.raises(ParameterError, match='would arm the robot again after a crash'):
        check_respawn(True, autostart)
    check_respawn(False, autostart)


@pytest.mark.parametrize('autostart', ['false', 'False', '0', 'no', 'off'])
def test_a_person_may_activate_it(autostart):
    check_respawn(True, autostart)


def test_misspelled_arguments_are_named(monkeypatch, capsys):
    """Those of the file that was asked for; a file that another one includes says nothing."""
    monkeypatch.setattr(sys, 'argv', [
        'ros2', 'launch', 'robodyn_ros', 'controller.launch.py', 'mode:=pd', 'conifg:=a.yaml',
        'velocity_limt:=[1.0]', 'zzz:=1'])
    warn_of_unknown('/a/controller.launch.py', ['mode', 'config', 'overrides'])
    said = capsys.readouterr().err.splitlines()
    assert [line.partition(' is ignored')[0] for line in said] == [
        'warning: argument conifg', 'warning: argument velocity_limt', 'warning: argument zzz']
    assert said[0].endswith('did you mean config?')
    assert 'did you mean velocity_limit' in said[1] and 'overrides:=' in said[1]
    monkeypatch.setattr(sys, 'argv', ['ros2', 'launch', 'robodyn_ros', 'demo.launch.py',
                                      'robot:=ur5'])
    warn_of_unknown('/a/demo.launch.py', ['urdf', 'mode'], {'urdf': 'robot'})
    assert capsys.readouterr().err.startswith('warning: robot:= is called urdf:= now')
    assert said[2].endswith('controller.launch.py has no such argument')
    warn_of_unknown('/a/simulation.launch.py', [])
    assert capsys.readouterr().err == ''


def test_the_controller_manager_runs_at_the_rate_of_the_controller(tmp_path):
    (path := tmp_path / 'arm.yaml').write_text('/**/controller: {ros__parameters: {rate: 5e2}}')
    assert manager_rate('', str(path)) == manager_rate('500', str(path)) == 500
    assert manager_rate('', '') == manager_rate('', 'panda.yaml') == 1000
    with pytest.raises(ParameterError, match='1000 Hz, and the controller at 500 Hz.*rate:=500'):
        manager_rate('1000', str(path))
    with pytest.raises(ParameterError, match='500 Hz, and the controller at 1000 Hz'):
        manager_rate('500', 'two_link.yaml')


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
