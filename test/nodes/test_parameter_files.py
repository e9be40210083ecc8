# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameter files and launch files: what is missing, unread or contradictory is named."""

from contextlib import nullcontext
import sys

import pytest
import rclpy
from robodyn_ros.errors import ParameterError
from robodyn_ros.model.resources import share_path
from robodyn_ros.nodes import controller, simulator
from robodyn_ros.nodes.launch_rules import check_respawn, manager_rate, rotors, warn_of_unknown
from robodyn_ros.nodes.middleware.middleware import lone_node
from robodyn_ros.nodes.middleware.parameter_files import (
    check_sections, config_path, one_file, unread)
from robodyn_ros.nodes.middleware.parameters import Parameters

KEYS = ['/**/controller', '/**', '/*/controller', '/**/*', '/*', '/*/*', 'controller',
        '/controller', 'left/controller', '/left/controller', 'pilot', 'left:\n  controller']
NODES = ['/controller', '/left/controller', '/a/b/controller']


def file_of(folder, *keys):
    """Return a file with a section for each key."""
    path = folder / 'given.yaml'
    path.write_text(''.join(f'{key if ":" in key else repr(key)}:\n    ros__parameters:\n'
                            '      rate: 500.0\n' for key in keys))
    return str(path)


@pytest.mark.parametrize('key', KEYS)
def test_sections_are_matched_as_ros_matches_them(key, tmp_path):
    """The node has the parameters of the file exactly where the check lets it pass."""
    words = ['--ros-args', '--params-file', file_of(tmp_path, key)]
    context = rclpy.Context()
    rclpy.init(args=words, context=context)
    for name in NODES:
        space, _, own = name.rpartition('/')
        node = rclpy.create_node(own, namespace=space, context=context,
                                 automatically_declare_parameters_from_overrides=True)
        try:
            check_sections(['controller', *words], name)
            accepted = True
        except ParameterError as error:
            accepted = False
            assert name in str(error) and 'given.yaml' in str(error)
        assert accepted == node.has_parameter('rate'), name
        node.destroy_node()
    context.shutdown()


def test_the_arguments_of_the_node_count(tmp_path, monkeypatch):
    """Not those of the process, which may hold several nodes, or be a test."""
    others = ['--ros-args', '--params-file', file_of(tmp_path, 'pilot')]
    for words, accepted in ((['--ros-args'], True), (others, False)):
        monkeypatch.setattr(sys, 'argv', ['controller', *(others if accepted else [])])
        with lone_node('controller', words) as node, (
                nullcontext() if accepted else pytest.raises(ParameterError, match='given.yaml')):
            Parameters(node, ())


def test_one_file_gives_each_node_what_its_own_files_give_it(tmp_path):
    """Sections and files in their order, values last; 5e2 stays a number."""
    (first := tmp_path / 'first.yaml').write_text(
        '/**: {ros__parameters: {rate: 5e2, mode: pd, spin: 0.1, a: {x: 1}}}\n'
        '/left/controller: {ros__parameters: {mode: adaptive, a: {y: 2}}}\n')
    (second := tmp_path / 'second.yaml').write_text(
        '/**/controller: {ros__parameters: {spin: 0.2}}\n/**/simulator: {ros__parameters:}\n')
    (tmp_path / 'both.yaml').write_text(one_file({
        '/left/controller': ([first, second], {'robot_description': '"<a/>"\n', 'on': True}),
        '/right/controller': ([first], {})}))
    words = ['--ros-args', '--params-file', str(tmp_path / 'both.yaml')]
    found, names = [], ('rate', 'mode', 'spin', 'robot_description', 'on', 'a.x', 'a.y')
    for space in '/left', '/right':
        with lone_node('controller', words, namespace=space,
                       automatically_declare_parameters_from_overrides=True) as one:
            found.append({name: value.value for name, value
                          in one.get_parameters_by_prefix('').items() if name in names})
    assert found == [
        {'rate': 500.0, 'mode': 'adaptive', 'spin': 0.2, 'robot_description': '"<a/>"\n',
         'on': True, 'a.x': 1, 'a.y': 2},
        {'rate': 500.0, 'mode': 'pd', 'spin': 0.1, 'a.x': 1}]
    with pytest.raises(ParameterError, match='second.yaml has no section for node /pilot'):
        one_file({'/pilot': ([second], {})})


def test_each_file_is_looked_at_and_nothing_else(tmp_path):
    good = file_of(tmp_path, '/**/controller')
    other = tmp_path / 'other.yaml'
    other.write_text('"/**/pilot":\n  ros__parameters: {}\n')
    empty = tmp_path / 'empty.yaml'
    empty.write_text('')
    option = '--params-file'
    check_sections(['x', '--ros-args', '-p', 'a:=1', option, good, '--', option, other],
                   '/controller')
    check_sections(['x', option, str(other)], '/controller')        # not ROS's
    with pytest.raises(ParameterError, match=r'other.yaml .*only for /\*\*/pilot: name the '
                                             r'section /\*\*/controller'):
        check_sections(['x', '--ros-args', option, good, option, str(other)], '/controller')
    with pytest.raises(ParameterError, match='empty.yaml .*only for none'):
        check_sections(['x', '--ros-args', option, str(empty)], '/controller')


@pytest.mark.parametrize('node', [controller, simulator])
def test_a_node_of_another_name_does_not_start(ends, node):
    """It would run with defaults: of a robot that compensates gravity, too."""
    words = ['--ros-args', '--params-file', share_path('config', 'ur5.yaml')]
    code, printed = ends(node.main, *words, '-r', '__node:=pilot')
    assert code == 1
    assert 'ur5.yaml has no section for node /pilot, only for /**/controller' in printed
    code, printed = ends(node.main, *words[:2], '/nosuch/ur.yaml')
    assert code == 1 and '/nosuch/ur.yaml' in printed


def test_what_nothing_reads_is_named(tmp_path):
    """With what may have been meant; a section for all nodes may be meant for another one."""
    (path := tmp_path / 'given.yaml').write_text(
        '/**: {ros__parameters: {velocity_limt: [1.0], joints: [a], rate: 1.0}}\n'
        '/left/controller: {ros__parameters: {stffness: [1.0], gripper: 1, a: {b: 1}}}\n'
        '/right/controller: {ros__parameters: {dampng: [1.0]}}\n')
    words = ['controller', '-p', 'before:=1', '--ros-args', '--params-file', str(path),
             '-p', 'mod:=pd', '-p', 'controller:rte:=1', '-p', 'pilot:speed:=1', '-r', 'a:=b',
             '--', '-p', 'after:=1']
    known = ['damping', 'mode', 'rate', 'stiffness', 'velocity_limit', 'use_sim_time']
    in_file = f'in {path} is not read: controller has no such parameter'
    elsewhere = 'is not read: controller has no such parameter'
    assert unread(words, '/left/controller', known) == [
        f'parameter velocity_limt {in_file}; did you mean velocity_limit?',
        f'parameter stffness {in_file}; did you mean stiffness?',
        f'parameter gripper {in_file}', f'parameter a.b {in_file}',
        f'parameter mod {elsewhere}; did you mean mode?',
        f'parameter rte {elsewhere}; did you mean rate?']


def test_a_node_says_what_it_does_not_read(ends, brief, tmp_path):
    (path := tmp_path / 'given.yaml').write_text(
        '/**: {ros__parameters: {locked_joint: [a], use_sim_time: false}}\n')
    code, printed = ends(controller.main, '--ros-args', '--params-file', path, '-p', 'rte:=1.0')
    assert code == 0 and printed.count('is not read') == 2
    assert 'parameter rte is not read' in printed and f'locked_joint in {path} is' in printed
    assert 'did you mean locked_joints' in printed


def test_a_configuration_is_a_path_or_one_of_ours(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert config_path('ur.yaml') == share_path('config', 'ur.yaml')
    (own := tmp_path / 'ur.yaml').write_text('')
    assert config_path('ur.yaml') == own == config_path(str(own))
    for wrong in ('/nosuch/ur.yaml', 'config/ur.yaml', 'urs.yaml', '.'):
        with pytest.raises(ParameterError) as refused:
            config_path(wrong)
        said = str(refused.value)
        assert f'{tmp_path / wrong} is no file, and {share_path("config")} has none' in said
        assert 'franka.yaml' in said


@pytest.mark.parametrize('autostart', ['true', 'True', '', '1', 'flase'])
def test_an_arm_is_not_armed_again_after_a_crash(autostart):
    """What is not plainly false may be true; empty leaves it to a file."""
    with pytest.raises(ParameterError, match='would arm the robot again after a crash'):
        check_respawn(True, autostart)
    check_respawn(False, autostart)
    for said in 'false', 'False', '0', 'no', 'off':         # a person may activate it
        check_respawn(True, said)


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
