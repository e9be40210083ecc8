# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The arms of the textbook, in the form that it prints, in a terminal and in LaTeX."""

from functools import cache
import re
import shutil
import subprocess

import pytest
from robodyn_ros import load_urdf
from robodyn_ros.lagrange import derive, latex, text
from robodyn_ros.lagrange.report import Style
from robodyn_ros.model.resources import robot_path
import sympy as sp

pytestmark = pytest.mark.slow

m1, m2, l1, l2, g = sp.symbols('m_1 m_2 l_1 l_2 g', real=True)
t1, t2, d2 = sp.symbols('theta_1 theta_2 d_2', real=True)
w1, w2, u2 = sp.symbols('thetadot_1 thetadot_2 ddot_2', real=True)
c1, s1, c2, s2 = sp.cos(t1), sp.sin(t1), sp.cos(t2), sp.sin(t2)
c12, s12 = sp.cos(t1 + t2), sp.sin(t1 + t2)


@cache
def arm(name):
    if name == 'arm6':
        locked = {f'joint_{i}': 0.3 for i in (4, 5, 6)}
        return derive(load_urdf(robot_path('arm6'), locked=locked), frame='link_3', axes='zrp')
    frame, axes = {'craig_2r': ('tool', 'xy'), 'two_link': ('tool0', 'xy'),
                   'craig_rp': ('link2', 'xz')}[name]
    return derive(name, frame=frame, axes=axes)


@pytest.fixture(params=['craig_2r', 'two_link'])
def two_link(request):
    """Return the arm of rows with symbols, and of a URDF with numbers: the same formulas."""
    return arm(request.param)


def same(found, expected):
    assert (found - sp.Matrix(expected)).applyfunc(sp.expand) == sp.zeros(*found.shape)


def printed(derivation, rows):
    style = Style('ascii', derivation.q)
    return [[style.sum(x) for x in row] for row in rows]


def velocity_terms(d, B, C):
    i, j = d.qd
    return B * i * j + C * sp.Matrix([i**2, j**2])


def test_two_link(two_link):
    assert two_link.q == (t1, t2) and two_link.qd == (w1, w2)
    same(two_link.M, [[l2**2*m2 + 2*l1*l2*m2*c2 + l1**2*(m1 + m2), l2**2*m2 + l1*l2*m2*c2],
                      [l2**2*m2 + l1*l2*m2*c2, l2**2*m2]])
    same(velocity_terms(two_link, two_link.B, two_link.C), [
        -m2*l1*l2*s2*w2**2 - 2*m2*l1*l2*s2*w1*w2, m2*l1*l2*s2*w1**2])
    same(two_link.g, [m2*l2*g*c12 + (m1 + m2)*l1*g*c1, m2*l2*g*c12])
    assert printed(two_link, two_link.M_form) == [
        ['(m_1 + m_2) l_1^2 + m_2 l_2^2 + 2 m_2 l_1 l_2 c_2', 'm_2 l_2^2 + m_2 l_1 l_2 c_2'],
        ['m_2 l_2^2 + m_2 l_1 l_2 c_2', 'm_2 l_2^2']]
    assert printed(two_link, two_link.B_form) == [['-2 m_2 l_1 l_2 s_2'], ['0']]
    assert printed(two_link, two_link.C_form) == [['0', '-m_2 l_1 l_2 s_2'],
                                                  ['m_2 l_1 l_2 s_2', '0']]
    assert printed(two_link, [two_link.g_form]) == [
        ['(m_1 + m_2) l_1 g c_1 + m_2 l_2 g c_12', 'm_2 l_2 g c_12']]
    task = two_link.task
    same(two_link.matrix(task.J), [[l1*s2, 0], [l1*c2 + l2, l2]])
    same(two_link.matrix(task.M), [[m2 + m1/s2**2, 0], [0, m2]])
    V = velocity_terms(two_link, two_link.matrix(task.B), two_link.matrix(task.C))
    same(V, [-(m2*l1*c2 + m2*l2)*w1**2 - m2*l2*w2**2
             - (2*m2*l2 + m2*l1*c2 + m1*l1*c2/s2**2)*w1*w2,
             m2*l1*s2*w1**2 + m2*l1*s2*w1*w2])
    same(two_link.matrix(task.G), [m1*g*c1/s2 + m2*g*s12, m2*g*c12])
    task = two_link.task
    assert printed(two_link, task.M) == [['m_2 + m_1 / s_2^2', '0'], ['0', 'm_2']]
    assert printed(two_link, task.B) == [['-2 m_2 l_2 - m_2 l_1 c_2 - m_1 l_1 c_2 / s_2^2'],
                                         ['m_2 l_1 s_2']]
    assert printed(two_link, task.G) == [['m_2 g s_12 + m_1 g c_1 / s_2'], ['m_2 g c_12']]
    assert printed(two_link, two_link.task.B_joint) == [
        ['-m_2 l_1 l_2 s_2 - m_1 l_1^2 c_2 / s_2'], ['m_2 l_1 l_2 s_2']]
    assert printed(two_link, two_link.task.C_joint) == [['0', '-m_2 l_1 l_2 s_2'],
                                                        ['m_2 l_1 l_2 s_2', '0']]


def test_rp():
    rp = arm('craig_rp')
    I1, I2 = sp.symbols('I_zz1 I_yy2', real=True)
    assert rp.q == (t1, d2) and rp.qd == (w1, u2)
    same(rp.M, [[m1*l1**2 + I1 + I2 + m2*d2**2, 0], [0, m2]])
    same(velocity_terms(rp, rp.B, rp.C), [2*m2*d2*w1*u2, -m2*d2*w1**2])
    same(rp.g, [(m1*l1 + m2*d2)*g*c1, m2*g*s1])
    assert printed(rp, rp.M_form) == [['m_1 l_1^2 + I_zz1 + I_yy2 + m_2 d_2^2', '0'], ['0', 'm_2']]
    assert printed(rp, rp.B_form) == [['2 m_2 d_2'], ['0']]
    assert printed(rp, rp.C_form) == [['0', '0'], ['-m_2 d_2', '0']]
    assert printed(rp, [rp.g_form]) == [['(m_1 l_1 + m_2 d_2) g c_1', 'm_2 g s_1']]
    # ∂k/∂q is [0, m_2 d_2 θ̇_1²], not a force on the joint that turns.
    k = (sp.Matrix(rp.qd).T * rp.M * sp.Matrix(rp.qd))[0] / 2
    assert [sp.expand(k.diff(q)) for q in rp.q] == [0, m2*d2*w1**2]


SCARA = """
convention: standard
links:
  - {theta: 0, d: h, a: l1, alpha: 0, mass: m1, com: [-r1, 0, 0], inertia: [0, 0, Izz1]}
  - {theta: 0, d: 0, a: l2, alpha: pi, mass: m2, com: [-r2, 0, 0], inertia: [0, 0, Izz2]}
  - {theta: 0, d: 0, a: 0, alpha: 0, joint: prismatic, mass: m3}
values: {m1: 3, Izz1: 0.1, m2: 2, Izz2: 0.05, m3: 1, l1: 0.4, l2: 0.3, r1: 0.2, r2: 0.15, h: 0.3,
         g: 9.81}
"""


def test_scara_depends_on_its_elbow_alone(tmp_path):
    path = tmp_path / 'scara.yaml'
    path.write_text(SCARA)
    scara = derive(path, frame='link3', axes='xyz')
    assert scara.trusted
    task, style = scara.task, Style('ascii', scara.q)
    assert style.sum(scara.M_form[0][1]) == (
        '(m_2 + m_3) l_2^2 - 2 m_2 l_2 r_2 + m_2 r_2^2 + I_zz2 '
        '+ ((m_2 + m_3) l_2 - m_2 r_2) l_1 c_2')
    assert style.sum(task.M[0][0]) == (
        'm_2 + m_3 + (m_1 l_1^2 - 2 m_1 l_1 r_1 + m_1 r_1^2 + I_zz1) / (l_1^2 s_2^2) '
        '+ (m_2 r_2^2 + I_zz2) c_2^2 / (l_2^2 s_2^2)')
    used = {a.args[0] for rows in (task.M, task.B, task.C, task.B_joint, task.C_joint)
            for a in scara.matrix(rows).atoms(sp.cos, sp.sin)}
    assert used == {t2}


@pytest.fixture
def arms():
    found = {'two_link': arm('craig_2r'), 'rp': arm('craig_rp'), 'arm6': arm('arm6')}
    assert all(one.trusted for one in found.values())
    return found


def test_errors(arms):
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


def test_lines_fit_and_broken_ones_say_the_same(arms):
    for name, width, plain in (('arm6', 60, False), ('arm6', 80, True), ('rp', 120, False)):
        broken = text(arms[name], width=width, ascii_only=plain)
        assert max(map(len, broken.splitlines())) <= width
        assert broken.split() == text(arms[name], width=10_000, ascii_only=plain).split()


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
