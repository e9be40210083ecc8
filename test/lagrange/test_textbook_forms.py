# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The arms of the textbook, in the form that the textbook prints.

J. J. Craig, Introduction to Robotics (2005): two-link arm in sections 6.7 and 6.8, RP arm in
example 6.5.
Where this package's notes err, the physics is written here.
"""

import pytest
from robodyn_ros.lagrange import derive
from robodyn_ros.lagrange.report import Style
import sympy as sp

pytestmark = pytest.mark.slow

m1, m2, l1, l2, g = sp.symbols('m_1 m_2 l_1 l_2 g', real=True)
t1, t2, d2 = sp.symbols('theta_1 theta_2 d_2', real=True)
w1, w2, u2 = sp.symbols('thetadot_1 thetadot_2 ddot_2', real=True)
c1, s1, c2, s2 = sp.cos(t1), sp.sin(t1), sp.cos(t2), sp.sin(t2)
c12, s12 = sp.cos(t1 + t2), sp.sin(t1 + t2)


@pytest.fixture(scope='module', params=['craig_2r', 'two_link'])
def two_link(request):
    """Return the arm of rows with symbols, and of a URDF with numbers: the same formulas."""
    return derive(request.param, frame={'craig_2r': 'tool', 'two_link': 'tool0'}[request.param],
                  axes='xy')


@pytest.fixture(scope='module')
def rp():
    return derive('craig_rp', frame='link2', axes='xz')


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


def test_rp(rp):
    I1, I2 = sp.symbols('I_zz1 I_yy2', real=True)
    assert rp.q == (t1, d2) and rp.qd == (w1, u2)
    same(rp.M, [[m1*l1**2 + I1 + I2 + m2*d2**2, 0], [0, m2]])
    same(velocity_terms(rp, rp.B, rp.C), [2*m2*d2*w1*u2, -m2*d2*w1**2])
    same(rp.g, [(m1*l1 + m2*d2)*g*c1, m2*g*s1])
    assert printed(rp, rp.M_form) == [['m_1 l_1^2 + I_zz1 + I_yy2 + m_2 d_2^2', '0'],
                                      ['0', 'm_2']]
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
