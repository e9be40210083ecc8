# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`robodyn export`: files, and what it refuses."""

import subprocess

from c_compiler import compile_c, needs_compiler
import pytest
from robodyn_ros.cli.app import app
from typer.testing import CliRunner
import yaml


@pytest.fixture
def export(tmp_path, monkeypatch):
    """Return a function that exports two_link, in a folder of the test."""
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, ['export', 'two_link', *words])


@needs_compiler
def test_it_writes_c(export, tmp_path):
    result = export('--c', '--frame', 'tool0')
    assert result.exit_code == 0, result.output
    assert 'two_link.c, two_link.h: inverse_dynamics, gravity' in result.output
    compile_c(tmp_path, '-DROBODYN_TEST', 'two_link.c', '-o', 'test', '-lm')
    assert subprocess.run([tmp_path / 'test'], stdout=subprocess.PIPE).returncode == 0
    text = (tmp_path / 'two_link.h').read_text()
    assert 'joint1, joint2' in text and '(0, 0, -9.81) m/s²' in text


def test_it_writes_javascript(export, tmp_path):
    assert export('--js', '-o', 'arm.js', '--quantity', 'gravity').exit_code == 0
    text = (tmp_path / 'arm.js').read_text()
    assert 'function arm_gravity(q) {' in text and 'module.exports = {arm_gravity}' in text


@pytest.mark.parametrize(('words', 'message'), [
    ([], 'it is not clear what to write: give one of --c, --js and --config'),
    (['--c', '--js'], 'it is not clear what to write: give one of --c, --js and --config'),
    (['--js', '--float'], '--float is given with --js: leave it out'),
    (['--c', '-o', 'my-arm.c'], 'my-arm.c is no name of an exported file'),
    (['--c', '-o', 'arm.js'], 'arm.js is no name of an exported file'),
    (['--c', '-o', 'nowhere/arm.c'], 'cannot be written'),
    (['--c', '--frame', 'tol0'], "no frame 'tol0': did you mean 'tool0'?"),
    (['--c', '--quantity', 'poise'], "no quantity 'poise': did you mean 'pose'?"),
    (['--c', '--quantity', 'pose'], 'pose needs a frame: give --frame NAME'),
])
def test_it_refuses(export, words, message):
    result = export(*words)
    assert result.exit_code == 1 and message in result.output


def test_it_replaces_files_only_with_force(export, tmp_path):
    (tmp_path / 'two_link.h').write_text('mine')
    result = export('--c', '--quantity', 'gravity')
    assert result.exit_code == 1 and 'two_link.h exists: give another --output' in result.output
    assert (tmp_path / 'two_link.h').read_text() == 'mine'
    assert not (tmp_path / 'two_link.c').exists()
    assert export('--c', '--quantity', 'gravity', '--force').exit_code == 0
    assert 'two_link_gravity' in (tmp_path / 'two_link.h').read_text()


def library(tmp_path, *words, **parameters):
    """Export two_link with parameters of its controller."""
    pytest.importorskip('rclpy')
    (tmp_path / 'arm.yaml').write_text(yaml.safe_dump(
        {'/**/controller': {'ros__parameters': {'rate': 1000.0, **parameters}}}))
    return CliRunner().invoke(app, ['export', 'two_link', '--config', str(tmp_path / 'arm.yaml'),
                                    '-o', str(tmp_path / 'out'), *words])


@pytest.mark.parametrize(('parameters', 'message'), [
    ({'mode': 'leader_follower'}, 'mode leader_follower follows a partner'),
    ({'mode': 'joint_impedance'}, 'mode joint_impedance needs gains'),
    ({'mode': 'flying'}, "parameter mode = 'flying' is refused: choose one of"),
    ({'rate': 'fast'}, "parameter rate = 'fast' in"),
    ({'effort_rate_limit': [True]}, 'parameter effort_rate_limit = [True] in'),
    ({'locked_joints': ['joint2']}, 'locked_joints and locked_positions differ in length'),
])
def test_a_library_of_refused_parameters_is_not_written(tmp_path, parameters, message):
    result = library(tmp_path, **parameters)
    assert result.exit_code == 1 and message in result.output
    assert not (tmp_path / 'out').exists()


def test_a_library_takes_its_options_from_the_file(tmp_path):
    result = library(tmp_path, '--locked', 'joint2=0')
    assert result.exit_code == 1 and 'write locked joints, root' in result.output
    (tmp_path / 'out').mkdir()
    result = library(tmp_path)
    assert result.exit_code == 1 and 'out exists: give another --output' in result.output


@pytest.mark.parametrize(('words', 'message'), [
    (['--payload', '3'], '--payload is 3: give a mass and a distance'),
    (['--payload', '3,-1'], '--payload is 3,-1: give a mass and a distance'),
    (['--payload', '3,nan'], '--payload is 3,nan: give a mass and a distance'),
    (['--payload', '3,0.1'], 'payload_frame is not set in arm: set it to the link'),
    (['--config', 'arm.yaml'], 'two files are named arm: rename one'),
])
def test_a_library_of_refused_options_is_not_written(tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    result = library(tmp_path, *words)
    assert result.exit_code == 1 and message in result.output
    assert not (tmp_path / 'out').exists()


def test_options_of_a_library_need_a_parameter_file():
    result = CliRunner().invoke(app, ['export', 'two_link', '--js', '--aarch64'])
    assert result.exit_code == 1 and '--payload and --aarch64 belong to --config' in result.output


def test_numbers_of_a_parameter_file_are_read_as_by_ros(tmp_path):
    pytest.importorskip('rclpy')
    from robodyn_ros.cli.export_library import parameter_values

    (tmp_path / 'arm.yaml').write_text('/**:\n  ros__parameters:\n    rate: 1e3\n'
                                       '    loop_delay: 1e-3\n    stiffness: [1e1, 2.0]\n')
    values = parameter_values(tmp_path / 'arm.yaml')
    assert (values['rate'], values['loop_delay'], values['stiffness']) == (
        1000.0, 1e-3, [10.0, 2.0])
