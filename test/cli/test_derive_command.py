# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`robodyn derive` as a person runs it."""

import io

from cli.commands import done, robodyn
import pytest
from rich.console import Console
from robodyn_ros.cli import derive
from robodyn_ros.cli.app import app
from robodyn_ros.model.resources import share_path
from typer.testing import CliRunner

pytestmark = pytest.mark.slow


def test_names_paths_numbers_and_latex(tmp_path):
    # With rows of symbols here; a URDF with numbers gives the same (test_textbook_forms.py).
    output = done('derive', 'craig_2r', '--ascii').output
    assert '  M[1,1] = (m_1 + m_2) l_1^2 + m_2 l_2^2 + 2 m_2 l_1 l_2 c_2\n' in output
    assert 'checked against recursive Newton-Euler' in output
    path = tmp_path / 'mine.yaml'
    path.write_text(share_path('examples', 'craig_2r.yaml').read_text())
    output = done('derive', path, '--frame', 'tool', '--axes', 'xy', '--latex').output
    assert r'(M_x)_{11} &= m_{2} + \frac{m_{1}}{s_{2}^{2}} \\' in output
    output = done('derive', 'arm6', '--locked', 'joint_3=0,joint_4=0,joint_5=0,joint_6=0',
                  '--numbers').output
    assert 'M[1,1] = ' in output and 'm₁' not in output
    assert 'M[2,2] = ' in output and 'M[3,3]' not in output
    result = CliRunner(charset='ascii').invoke(app, ['derive', 'craig_rp'])
    assert result.exit_code == 0, result.exception
    assert '  M[1,1] = m_1 l_1^2 + I_zz1 + I_yy2 + m_2 d_2^2' in result.stdout


def test_a_terminal_shows_that_it_is_at_work(monkeypatch):
    for terminal in True, False:
        out = Console(file=io.StringIO(), force_terminal=terminal, width=100)
        monkeypatch.setattr(derive, 'console', lambda out=out: out)
        derive.derive('craig_rp')
        assert ('deriving, and' in out.file.getvalue()) == terminal


def test_a_result_that_is_not_to_be_trusted_ends_with_1(monkeypatch):
    monkeypatch.setattr('robodyn_ros.lagrange.derivation.MAX_EFFORT_DEVIATION', 1e-30)
    result = robodyn('derive', 'two_link')
    assert result.exit_code == 1 and 'NOT TO BE TRUSTED' in result.output
