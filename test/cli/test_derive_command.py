# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`robodyn derive` as a person runs it."""

import io
import subprocess
import sys

import pytest
from rich.console import Console
from robodyn_ros.cli import derive
from robodyn_ros.cli.app import app
from robodyn_ros.model.resources import share_path
from typer.testing import CliRunner

pytestmark = pytest.mark.slow

ROBODYN = [sys.executable, '-m', 'robodyn_ros.cli']


def run(*words):
    return CliRunner().invoke(app, ['derive', *map(str, words)])


@pytest.mark.parametrize('robot', ['two_link', 'craig_2r'])
def test_a_known_name(robot):
    result = run(robot, '--ascii')
    assert result.exit_code == 0
    assert '  M[1,1] = (m_1 + m_2) l_1^2 + m_2 l_2^2 + 2 m_2 l_1 l_2 c_2\n' in result.output
    assert 'checked against recursive Newton-Euler' in result.output


def test_without_sympy_the_remedy_is_said():
    code = 'import sys; sys.modules["sympy"] = None; from robodyn_ros.cli import main; '\
           'sys.exit(main())'
    done = subprocess.run([sys.executable, '-c', code, 'derive', 'two_link'], text=True,
                          capture_output=True)
    assert done.returncode == 1 and 'Traceback' not in done.stderr
    assert 'need sympy, which is not installed: run `pip install sympy`' in done.stderr


def test_a_terminal_shows_that_it_is_at_work():
    for terminal in True, False:
        out = Console(file=io.StringIO(), force_terminal=terminal, width=100)
        code = derive.run('craig_2r', out, locked={}, root=None, tip=None, gravity=None,
                          frame=None, axes='', numbers=False, rounding=1e-9, as_latex=False,
                          ascii_only=False, force=False)
        assert code == 0 and ('deriving, and' in out.file.getvalue()) == terminal


def test_a_path_task_space_and_latex(tmp_path):
    path = tmp_path / 'mine.yaml'
    path.write_text(share_path('examples', 'craig_2r.yaml').read_text())
    result = run(path, '--frame', 'tool', '--axes', 'xy', '--latex')
    assert result.exit_code == 0
    assert r'(M_x)_{11} &= m_{2} + \frac{m_{1}}{s_{2}^{2}} \\' in result.output


def test_numbers_and_locked_joints():
    result = run('arm6', '--locked', 'joint_3=0,joint_4=0,joint_5=0,joint_6=0', '--numbers')
    assert result.exit_code == 0
    assert 'M[1,1] = ' in result.output and 'm₁' not in result.output
    assert run('two_link', '--numbers', '--locked', 'joint2=0').output.count('M[1,1]') == 1


def test_a_result_that_is_not_to_be_trusted_ends_with_1(monkeypatch):
    monkeypatch.setattr('robodyn_ros.lagrange.derivation.MAX_EFFORT_DEVIATION', 1e-30)
    result = run('two_link')
    assert result.exit_code == 1
    assert 'NOT TO BE TRUSTED' in result.output


@pytest.mark.parametrize(('words', 'said'), [
    (['arm6'], '--force'),
    (['no_such_robot'], "no robot 'no_such_robot'"),
    (['craig_2r', '--locked', 'joint1=0'], 'DH rows'),
    (['no_such.yaml'], 'no_such.yaml'),
])
def test_an_error_is_one_line(words, said):
    """On stderr; that `robodyn` ends with this code, and no more, is tested in test_app.py."""
    result = run(*words)
    assert result.exit_code == 1 and not result.stdout
    assert said in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_end_to_end_without_unicode(start):
    process = start([*ROBODYN, 'derive'], 'craig_rp', env={
        'PYTHONIOENCODING': 'ascii', 'PYTHONUTF8': '0', 'LC_ALL': 'C'})
    assert process.wait() == 0
    assert '  M[1,1] = m_1 l_1^2 + I_zz1 + I_yy2 + m_2 d_2^2' in process.text
