# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`robodyn export`: files, and what it refuses."""

import subprocess

from c_compiler import compile_c, needs_compiler
import pytest
from robodyn_ros.cli.app import app
from typer.testing import CliRunner


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
    ([], 'no language is chosen: give either --c or --js'),
    (['--c', '--js'], 'two languages are chosen: give either --c or --js'),
    (['--js', '--float'], '--float is given with --js: leave it out'),
    (['--c', '-o', 'my-arm.c'], 'my-arm.c is no name of an exported file'),
    (['--c', '-o', 'arm.js'], 'arm.js is no name of an exported file'),
    (['--c', '-o', 'nowhere/arm.c'], 'cannot be written'),
    (['--c', '--frame', 'tol0'], "no frame 'tol0': did you mean 'tool0'?"),
    (['--c', '--quantity', 'poise'], "no quantity 'poise': did you mean 'pose'?"),
    (['--c', '--quantity', 'pose'], 'pose is that of a frame: name one: --frame NAME'),
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
