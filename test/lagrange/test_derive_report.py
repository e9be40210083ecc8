# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Printed equations: in a terminal, and in LaTeX."""

import re
import shutil
import subprocess

import pytest
from robodyn_ros import load_urdf
from robodyn_ros.lagrange import derive, latex, text
from robodyn_ros.model.resources import robot_path

pytestmark = pytest.mark.slow


@pytest.fixture(scope='module')
def arms():
    locked = {f'joint_{i}': 0.3 for i in (4, 5, 6)}
    return {'two_link': derive('craig_2r', frame='tool', axes='xy'), 'rp': derive('craig_rp'),
            'arm6': derive(load_urdf(robot_path('arm6'), locked=locked), frame='link_3',
                           axes='zrp')}


def test_text(arms):
    lines = text(arms['two_link']).splitlines()
    assert '  M[1,1] = (m₁ + m₂) l₁² + m₂ l₂² + 2 m₂ l₁ l₂ c₂' in lines
    assert '  M[1,2] = M[2,1] = m₂ l₂² + m₂ l₁ l₂ c₂' in lines
    assert '  B[1,12] = -2 m₂ l₁ l₂ s₂' in lines
    assert '  Gₓ[1] = m₂ g s₁₂ + m₁ g c₁ / s₂' in lines
    assert 'where, in SI units, m₁ = 2, m₂ = 1, l₁ = 0.5, l₂ = 0.4, g = 9.81' in lines
    for arm in arms.values():
        assert text(arm, ascii_only=True).isascii()
    lines = text(arms['rp'], ascii_only=True).splitlines()
    assert '  M[1,1] = m_1 l_1^2 + I_zz1 + I_yy2 + m_2 d_2^2' in lines
    assert "Coriolis, columns theta_1' d_2'" in lines
    said = '\n'.join(lines)         # only symbols that are used have values
    assert 'I_zz1 = 0.02' in said and 'I_xx1' not in said


@pytest.mark.parametrize('width', [60, 80, 120])
def test_lines_fit_and_broken_ones_say_the_same(arms, width):
    for arm in arms.values():
        for plain in (False, True):
            broken = text(arm, width=width, ascii_only=plain)
            assert max(map(len, broken.splitlines())) <= width
            assert broken.split() == text(arm, width=10_000, ascii_only=plain).split()


def test_latex(arms):
    for arm in arms.values():
        source = '\n'.join(line for line in latex(arm).splitlines() if not line.startswith('%'))
        assert source.isascii()
        assert source.count('{') == source.count('}')
        assert source.count(r'\left(') == source.count(r'\right)')
        begun = re.findall(r'\\(begin|end)\{(\w+\*)\}', source)
        assert begun[::2] == [('begin', name) for _, name in begun[1::2]]
        for block in re.findall(r'\\begin\{align\*\}\n(.*?)\n\\end', source, re.DOTALL):
            rows = block.split('\\\\\n')
            assert all(row.count('&') == 1 for row in rows)
    assert (r'M_{11} &= \left(m_{1} + m_{2}\right) l_{1}^{2} + m_{2} l_{2}^{2} '
            r'+ 2 m_{2} l_{1} l_{2} c_{2} \\') in latex(arms['two_link'])
    assert r'(M_x)_{11} &= m_{2} + \frac{m_{1}}{s_{2}^{2}} \\' in latex(arms['two_link'])


@pytest.mark.skipif(not shutil.which('pdflatex'), reason='needs pdflatex')
def test_latex_compiles(arms, tmp_path):
    document = tmp_path / 'arms.tex'
    document.write_text('\\documentclass{article}\\usepackage{amsmath}\\begin{document}\n'
                        + '\n'.join(map(latex, arms.values())) + '\n\\end{document}\n')
    subprocess.run(['pdflatex', '-interaction=nonstopmode', '-halt-on-error', document],
                   cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
