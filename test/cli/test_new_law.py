# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`robodyn new-law`, `new-driver`: what they write works as it is; nothing is overwritten."""

import sys

import pytest
from robodyn_ros.cli.options import app
from typer.testing import CliRunner

app_module = pytest.importorskip('robodyn_ros.cli.app')


def written(folder, *arguments):
    return CliRunner().invoke(app, ['new-law', *arguments, '--folder', str(folder)])


@pytest.mark.parametrize('plain', ['0', '1'])
def test_their_tests_pass(start, tmp_path, plain):
    """Compiled, and in plain Python, which takes over 5 s."""
    pytest.importorskip('mujoco')
    result = written(tmp_path, 'my_spring')
    assert result.exit_code == 0 and 'mode my_spring:MY_SPRING' in result.output
    result = CliRunner().invoke(app, ['new-driver', 'my_arm', '--folder', str(tmp_path)])
    assert result.exit_code == 0 and 'parameter driver my_arm:MyArm' in result.output
    tests = ['test_my_spring.py', *(['test_my_arm.py'] if plain == '0' else [])]
    process = start([sys.executable, '-m', 'pytest', '-v', *tests], cwd=tmp_path,
                    env={} if plain == '0' else {'ROBODYN_PLAIN': plain})
    assert process.wait() == 0, process.text
    assert all(f'{name}::' in process.text for name in tests), process.text


@pytest.mark.parametrize('name', ['two words', 'class', '1st', 'Upper', '../x'])
def test_names_of_no_module(tmp_path, name):
    result = written(tmp_path, name)
    assert result.exit_code == 1 and 'no name of a Python module' in result.output
    assert not [*tmp_path.iterdir()]


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / 'test_spring.py').write_text('mine')
    result = written(tmp_path, 'spring')
    assert result.exit_code == 1 and 'exists' in result.output and '--force' in result.output
    assert [path.name for path in tmp_path.iterdir()] == ['test_spring.py']
    assert written(tmp_path, 'spring', '--force').exit_code == 0
    assert 'mine' not in (tmp_path / 'test_spring.py').read_text()
