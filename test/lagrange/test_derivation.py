# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Closed forms against numbers, as SymPy computes them, and against each other."""

from dataclasses import replace

import numpy as np
import pytest
from robodyn_ros import Dynamics, load_dh, load_urdf
from robodyn_ros.errors import DerivationError, UnknownNameError
from robodyn_ros.lagrange import derive
from robodyn_ros.lagrange.derivation import joint_deviation, MAX_EFFORT_DEVIATION
from robodyn_ros.lagrange.equations import pairs
from robodyn_ros.model.resources import robot_path
from robots import GRIPPER, random_tree
import sympy as sp

pytestmark = pytest.mark.slow

MIXED = """
convention: {convention}
gravity: [g/4, -g, g/2]
links:
  - {{theta: 0.3, d: d1, {first}, mass: m1, com: [{x1}, 0.1, r1], inertia: {I1}, armature: J1}}
  - {{theta: pi/2, d: 0.1, {second}, joint: prismatic, offset: 0.2, mass: m2, com: [{x2}, r2, 0]}}
  - {{theta: 0, d: 0, {third}, mass: m3, com: [{x3}, 0, 0.1], inertia: [Ia, 0.3, Ic]}}
values: {{m1: 2, m2: 1.5, m3: 1, d1: 0.2, a1: 0.3, al: 0.4, r1: 0.1, r2: -0.2, J1: 0.05,
         Ia: 0.2, Ic: 0.25, g: 9.81}}
"""
PLANAR = """
convention: {}
gravity: [0, -g, 0]
links:
  - {{theta: 0, d: 0, a: {}, alpha: 0, mass: m1, com: [{}, 0, 0], inertia: [0, 0, I1]}}
  - {{theta: 0, d: 0, a: {}, alpha: 0, mass: m2, com: [{}, 0, 0], inertia: [0, 0, I2]}}
  - {{theta: 0, d: 0, a: {}, alpha: 0, mass: m3, com: [{}, 0, 0]}}
values: {{m1: 2, m2: 1.5, m3: 1, l1: 0.5, l2: 0.4, l3: 0.3, I1: 0.1, I2: 0.2, g: 9.81}}
"""


def mixed(tmp_path, convention):
    modified = convention == 'modified'
    path = tmp_path / f'{convention}.yaml'
    path.write_text(MIXED.format(
        convention=convention, x1=0, x2=0, x3=0.2, I1='[0.1, 0.2, 0.25]',
        first='a: 0, alpha: 0' if modified else 'a: a1, alpha: al',
        second='a: a1, alpha: al' if modified else 'a: 0, alpha: pi/2',
        third='a: 0, alpha: pi/2' if modified else 'a: 0, alpha: 0'))
    return path


def planar(tmp_path, convention):
    path = tmp_path / f'{convention}.yaml'
    path.write_text(PLANAR.format(*(
        ['modified', '0', 'l1', 'l1', 'l2', 'l2', 'l3'] if convention == 'modified' else
        ['standard', 'l1', '0', 'l2', '0', 'l3', '0'])))
    return path


def numbers(derivation, matrix, q):
    known = {**derivation.values, **dict(zip(derivation.q, q.tolist()))}
    return np.array(matrix.subs(known), float)


@pytest.mark.parametrize('convention', ['modified', 'standard'])
def test_matrices_are_what_the_recursion_computes(tmp_path, convention):
    """Revolute, prismatic, revolute; skew, with an angle that is a symbol and one that is none."""
    path = mixed(tmp_path, convention)
    derivation, dynamics = derive(path), Dynamics(load_dh(path))
    random = np.random.default_rng(1)
    for _ in range(3):
        q, qd = random.normal(size=(2, 3))
        M, B, C, g = (numbers(derivation, X, q) for X in (
            derivation.M, derivation.B, derivation.C, derivation.g))
        np.testing.assert_allclose(M, dynamics.mass_matrix(q), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(g[:, 0], dynamics.gravity(q), rtol=1e-9, atol=1e-12)
        products = np.array([qd[i] * qd[j] for i, j in pairs(3)])
        np.testing.assert_allclose(B @ products + C @ qd ** 2,
                                   dynamics.bias(q, qd) - dynamics.gravity(q), rtol=1e-9,
                                   atol=1e-12)


def test_arms_of_dh_files(tmp_path):
    modified, standard = (derive(planar(tmp_path, c)) for c in ('modified', 'standard'))
    assert modified.trusted and standard.trusted
    for name in 'MBCg':
        difference = getattr(modified, name) - getattr(standard, name)
        assert difference.applyfunc(sp.expand) == sp.zeros(*difference.shape)
    t1, t2, t3 = modified.q
    angles = {a.args[0] for X in (modified.M, modified.B, modified.C)
              for a in X.atoms(sp.cos, sp.sin)}
    assert angles == {t2, t3, t2 + t3}
    assert {a.args[0] for a in modified.g.atoms(sp.cos, sp.sin)} == {t1, t1 + t2, t1 + t2 + t3}


def test_trees_with_skew_axes():
    derivation = derive(load_urdf(random_tree(3, 4)), numbers=True)
    assert derivation.deviation < MAX_EFFORT_DEVIATION and not derivation.values


def test_joints_that_mimic_others():
    hand = derive(load_urdf(GRIPPER))
    assert hand.M.shape == (2, 2)
    assert hand.trusted and hand.deviation < 1e-12


def test_numbers_are_those_of_the_symbols():
    right, plain = derive('two_link'), derive('two_link', numbers=True)
    assert not plain.values and plain.M.free_symbols <= {*plain.q}
    difference = right.M.subs(right.values) - plain.M
    assert max(abs(float(x.subs({plain.q[0]: 0.3, plain.q[1]: 0.7}))) for x in difference) < 1e-14
    arm = right.arm
    heavier = {s: x * (1 + 1e-7 * (s.name == 'm_2')) for s, x in arm.values.items()}
    wrong = joint_deviation(replace(arm, values=heavier), right.M_form, right.B_form,
                            right.C_form, right.g_form)
    assert right.deviation < 1e-14 and 1e-8 < wrong < 1e-6
    assert not replace(right, deviation=wrong).trusted


def test_coordinates_and_digits(tmp_path):
    path = tmp_path / 'slide.yaml'
    path.write_text('convention: standard\nlinks: [{theta: 0, d: d1, a: 0, alpha: 0, '
                    'joint: prismatic, mass: m1}]\nvalues: {m1: 2, d1: 0.1}')
    derivation = derive(path)
    assert [s.name for s in derivation.q] == ['q_1']
    assert derivation.M == sp.Matrix([[sp.Symbol('m_1', real=True)]])
    assert derivation.trusted and derivation.B.shape == (1, 0)
    # The cosine of 0.3 is a decimal, and its square and that of the sine are not quite 1.
    pendulum = derive(load_urdf(robot_path('two_link'), locked={'joint1': 0.3}))
    m, length = sp.symbols('m_1 l_1', real=True)
    assert pendulum.M == sp.Matrix([[m * length**2]])
    assert pendulum.C == sp.zeros(1) and pendulum.trusted
    locked = {'joint_1': 0.3, 'joint_4': 0.2, 'joint_5': -0.7, 'joint_6': 0.1}
    arm = derive(load_urdf(robot_path('arm6'), locked=locked))
    numbers = {x for term in (*arm.M, *arm.B, *arm.C) for x in term.atoms(sp.Number)}
    assert all(x.is_integer for x in numbers) and arm.trusted
    assert not arm.M.has(arm.q[0])          # M depends on the elbow alone


@pytest.mark.parametrize(('arguments', 'kind', 'said'), [
    ({'source': 'arm6'}, DerivationError, '6 joints'),
    ({'source': 'two_link', 'axes': 'xyz'}, DerivationError, 'not square'),
    ({'source': 'two_link', 'axes': 'xz'}, DerivationError, 'singular in every pose'),
    ({'source': 'two_link', 'axes': 'yx'}, DerivationError, "'yx'"),
    ({'source': 'two_link', 'axes': ''}, DerivationError, 'without axes'),
    ({'source': 'two_link', 'axes': 'xy', 'frame': None}, DerivationError, 'of no frame'),
    ({'source': 'two_link', 'axes': 'xy', 'frame': 'tool1'}, UnknownNameError, 'tool0'),
    ({'source': 'arm6', 'axes': 'xyzr', 'locked': ('joint_5', 'joint_6'), 'force': True},
     DerivationError, 'too long'),
    ({'row': 'c2', 'values': 'c2: 1'}, DerivationError, 'cosine'),
    ({'row': '1', 'values': 'l1: 1, l_1: 2'}, DerivationError, 'alike'),
    ({'row': '1/k', 'values': 'k: 2'}, DerivationError, 'name of its own')], ids=str)
def test_what_is_refused(arguments, kind, said, tmp_path):
    more = dict(arguments)
    if 'row' in more:               # names that would be misread, in a file of DH rows
        (path := tmp_path / 'arm.yaml').write_text(
            f'convention: standard\nlinks: [{{theta: 0, d: 0, a: {more.pop("row")}, alpha: 0, '
            f'mass: 1}}]\nvalues: {{{more.pop("values")}}}')
        more['source'] = path
    if 'locked' in more:
        more['source'] = load_urdf(robot_path('arm6'), locked=dict.fromkeys(more['locked'], 0.0))
        del more['locked']
    if 'axes' in more:
        more = {'frame': 'tool0', **more}
    with pytest.raises(kind, match=said):
        derive(**more)


def test_angles_written_with_few_digits(tmp_path):
    text = robot_path('two_link').read_text().replace('1.5707963267948966 0 0', '1.5708 0.00001 0')
    model = load_urdf(text)
    skew, straight = derive(model), derive(model, rounding=1e-4)
    assert skew.trusted and straight.trusted
    same = derive('two_link')
    assert (straight.M, straight.g) == (same.M, same.g)
    assert len(str(skew.g)) > 2 * len(str(same.g))
    with pytest.raises(DerivationError, match='rounding'):
        derive(model, rounding=0.1)


def test_a_geared_motor_adds_to_m(tmp_path):
    path = tmp_path / 'geared.yaml'
    path.write_text("""
convention: modified
links: [{theta: 0, d: 0, a: 0, alpha: 0, mass: m, com: [l, 0, 0], rotor_inertia: J, gear_ratio: r}]
values: {m: 2, l: 0.5, J: 1e-4, r: 50}
""")
    m, length, J, r = sp.symbols('m l J r', real=True)
    found = derive(str(path))
    assert sp.expand(found.M[0] - m * length**2 - J * r**2) == 0 and found.trusted
