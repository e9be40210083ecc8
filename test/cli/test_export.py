# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`robodyn export`: files, and the libraries that it refuses before it compiles."""

import subprocess

from c_compiler import compile_c, needs_compiler
from cli.commands import done, refused
import pytest
from robodyn_ros import load_urdf
import yaml


@needs_compiler
def test_it_writes_c(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'two_link.h').write_text('mine')
    output = done('export', 'two_link', '--c', '--frame', 'tool0', '--force').output
    assert 'two_link.c, two_link.h: inverse_dynamics, gravity' in output
    compile_c(tmp_path, '-DROBODYN_TEST', 'two_link.c', '-o', 'test', '-lm')
    assert subprocess.run([tmp_path / 'test'], stdout=subprocess.PIPE).returncode == 0
    text = (tmp_path / 'two_link.h').read_text()
    assert 'joint1, joint2' in text and '(0, 0, -9.81) m/s²' in text and 'mine' not in text


def test_it_writes_javascript(tmp_path):
    done('export', 'two_link', '--js', '-o', tmp_path / 'arm.js', '--quantity', 'gravity')
    text = (tmp_path / 'arm.js').read_text()
    assert 'function arm_gravity(q) {' in text and 'module.exports = {arm_gravity}' in text


@pytest.mark.parametrize(('words', 'parameters', 'parts'), [
    ('', {'mode': 'leader_follower'}, ('mode leader_follower', 'follows a partner')),
    ('', {'mode': 'joint_impedance'}, ('mode joint_impedance', 'needs gains')),
    ('', {'mode': 'flying'}, ("mode = 'flying'", 'choose one of')),
    ('', {'rate': 'fast'}, ("rate = 'fast'", 'arm.yaml')),
    ('', {'effort_rate_limit': [True]}, ('effort_rate_limit = [True]', 'arm.yaml')),
    ('', {'locked_joints': ['joint2']}, ('locked_joints and locked_positions', 'differ')),
    ('--locked joint2=0', {}, ('--config takes no options', 'write locked joints')),
    ('-o .', {}, ('. exists', 'choose another --output')),
    ('--payload 3', {}, ('--payload is 3:', 'use a mass and a distance')),
    ('--payload 3,-1', {}, ('--payload is 3,-1', 'use a mass and a distance')),
    ('--payload 3,nan', {}, ('--payload is 3,nan', 'use a mass and a distance')),
    ('--payload 3,0.1', {}, ('payload_frame is not set in arm', 'set it to the link')),
    ('--config arm.yaml', {}, ('two files are named arm', 'rename one')),
], ids=str)
def test_a_library_is_not_written(tmp_path, monkeypatch, words, parameters, parts):
    pytest.importorskip('rclpy')
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'arm.yaml').write_text(yaml.safe_dump(
        {'/**/controller': {'ros__parameters': {'rate': 1000.0, **parameters}}}))
    error = refused('export', 'two_link', '--config', 'arm.yaml', '-o', 'out', *words.split())
    assert all(part in error for part in parts), error
    assert [path.name for path in tmp_path.iterdir()] == ['arm.yaml']


def test_a_library_is_told_who_compensates_gravity(tmp_path, monkeypatch):
    """As the node is: with the wrong choice g(q) acts twice, and throws the arm."""
    pytest.importorskip('rclpy')
    monkeypatch.chdir(tmp_path)
    text = load_urdf('two_link').to_urdf()
    (tmp_path / 'mine.urdf').write_text(text.replace('two_link', 'mine'))
    (tmp_path / 'mine.yaml').write_text('/**/controller:\n  ros__parameters: {rate: 1000.0}\n')
    error = refused('export', 'mine.urdf', '--config', 'mine.yaml', '-o', 'out')
    assert 'nothing says whether robot mine compensates gravity itself' in error
    assert not (tmp_path / 'out').exists()


def test_numbers_of_a_parameter_file_are_read_as_by_ros(tmp_path):
    pytest.importorskip('rclpy')
    from robodyn_ros.nodes.clients.controller_file import parameter_values

    (tmp_path / 'arm.yaml').write_text('/**:\n  ros__parameters:\n    rate: 1e3\n'
                                       '    loop_delay: 1e-3\n    stiffness: [1e1, 2.0]\n')
    values = parameter_values(tmp_path / 'arm.yaml')
    assert (values['rate'], values['loop_delay'], values['stiffness']) == (
        1000.0, 1e-3, [10.0, 2.0])
