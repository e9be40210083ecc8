# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""DH rows against products of transforms, URDF, textbooks, and each other's convention."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from numpy import cos, sin
import pytest
from robodyn_ros import DhLink, Dynamics, from_dh, load_urdf
from robodyn_ros.errors import ArgumentError, InertiaError
from robodyn_ros.model.rigid_body import rpy_rotation
from robots import differences

pytestmark = pytest.mark.slow

NUMBER = st.floats(-2.0, 2.0)


@st.composite
def rows(draw, count=4):
    """Links with any geometry and joints, and bodies that some rigid body has."""
    made = []
    for _ in range(count):
        theta, d, a, alpha, offset = draw(st.tuples(*[NUMBER] * 5))
        r = np.random.default_rng(draw(st.integers(0, 2**32)))
        points = r.normal(size=(4, 3))
        points -= points.mean(axis=0)
        inertia = sum(p @ p * np.eye(3) - np.outer(p, p) for p in points)
        made.append(DhLink(theta, d, a, alpha, draw(st.sampled_from(['revolute', 'prismatic'])),
                           offset, r.uniform(0.5, 2.0), r.normal(size=3), inertia,
                           r.uniform(0.0, 0.1)))
    return made


@settings(max_examples=40)
@given(rows(), st.sampled_from(['standard', 'modified']), st.integers(0, 2**32))
def test_the_urdf_that_the_rows_mean_gives_the_same(links, convention, seed):
    """Written by hand: a joint about z, and a fixed one before (modified) or behind it."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(-1.5, 1.5, (2, 6))         # of base and tool: x, y, z, roll, pitch, yaw
    base, tool = np.tile(np.eye(4), (2, 1, 1))
    for T, place in zip((base, tool), places):
        T[:3, 3], T[:3, :3] = place[:3], rpy_rotation(place[3:])
    ours = Dynamics(from_dh(links, convention, base, tool))
    urdf = load_urdf(urdf_of(links, convention, *places))
    other = Dynamics(replace(urdf, armature=np.array([link.armature for link in links])))
    q, qd, qdd = rng.normal(size=(3, len(links)))
    for name, arguments in {'inverse_dynamics': (q, qd, qdd), 'gravity': (q,),
                            'mass_matrix': (q,), 'coriolis_matrix': (q, qd)}.items():
        theirs = getattr(other, name)(*arguments)
        np.testing.assert_allclose(getattr(ours, name)(*arguments), theirs, rtol=0,
                                   atol=1e-11 * max(1.0, abs(theirs).max()))
    for mine, theirs in [('tool', 'tool'), *((f'link{i}', f'frame{i}')
                                             for i in range(1, len(links) + 1))]:
        np.testing.assert_allclose(ours.pose(q, mine), other.pose(q, theirs), atol=1e-12)


def urdf_of(links, convention, base, tool):
    """Rz(θ) Tz(d) Tx(a) Rx(α), the other way round in the modified convention, as URDF."""
    def numbers(*values):
        return ' '.join(repr(float(value)) for value in values)

    def joint(name, kind, parent, child, *place):
        return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/>'
                f'<child link="{child}"/><origin xyz="{numbers(*place[:3])}" '
                f'rpy="{numbers(*place[3:])}"/><axis xyz="0 0 1"/>'
                '<limit lower="-9" upper="9" effort="1" velocity="1"/></joint>')

    out = ['<robot name="dh"><link name="base"/><link name="frame0"/><link name="tool"/>',
           joint('base', 'fixed', 'base', 'frame0', *base),
           joint('tool', 'fixed', f'frame{len(links)}', 'tool', *tool)]
    for i, link in enumerate(links, 1):
        kind = 'prismatic' if link.joint == 'prismatic' else 'continuous'
        theta = link.theta + (link.offset if link.joint == 'revolute' else 0.0)
        d = link.d + (link.offset if link.joint == 'prismatic' else 0.0)
        if convention == 'standard':
            before = np.zeros(6)
            behind = link.a * cos(theta), link.a * sin(theta), d, link.alpha, 0, theta
        else:
            before, behind = (link.a, 0, 0, link.alpha, 0, 0), (0, 0, d, 0, 0, theta)
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = (map(repr, row) for row in link.inertia.tolist())
        out += [joint(f'joint{i}', kind, f'frame{i - 1}', f'turn{i}', *before),
                f'<link name="turn{i}"/>',
                joint(f'fixed{i}', 'fixed', f'turn{i}', f'frame{i}', *behind),
                f'<link name="frame{i}"><inertial><origin xyz="{numbers(*link.com)}"/>'
                f'<mass value="{link.mass!r}"/><inertia ixx="{xx}" ixy="{xy}" ixz="{xz}" '
                f'iyy="{yy}" iyz="{yz}" izz="{zz}"/></inertial></link>']
    return '\n'.join([*out, '</robot>'])


def test_motors_friction_and_yaml():
    # The rotor of a geared motor turns faster than the joint, and its energy goes by squares.
    model = from_dh([
        DhLink(0, 0, 1, 0, mass=1, armature=0.5, rotor_inertia=2e-4, gear_ratio=100.0),
        DhLink(0, 0, 1, 0, mass=1, rotor_inertia=0.3, coulomb=0.2, viscous=0.1),
        DhLink(0, 0, 1, 0, mass=1, gear_ratio=50.0, coulomb=0.2, static_friction=0.4)])
    np.testing.assert_allclose(model.armature, [0.5 + 2.0, 0.3, 0.0], rtol=1e-15)
    np.testing.assert_array_equal(model.static_friction, [0.0, 0.2, 0.4])
    np.testing.assert_array_equal(model.backward_friction, [
        [0.0, 0.1, 0.0], [0.0, 0.2, 0.2], [0.0, 0.2, 0.4]])
    with pytest.raises(InertiaError, match='joint2'):
        from_dh([DhLink(**SECOND), DhLink(0, 0, 1, 0)])


SECOND = {'theta': 0, 'd': 0, 'a': 1, 'alpha': 0, 'mass': 1}
ROWS = [{'theta': 0, 'd': 0.1, 'a': 0.5, 'alpha': 0.3, 'mass': 2.0, 'com': [0.1, 0, 0],
         'inertia': [0.1, 0.2, 0.25]},
        {'theta': 0.2, 'd': 0, 'a': 0.4, 'alpha': 0, 'joint': 'prismatic', 'mass': 1.0}]


@pytest.mark.parametrize(('wrong', 'name'), [
    ({'theta': np.nan}, 'theta'), ({'mass': -1.0}, 'mass'), ({'joint': 'ball'}, 'joint'),
    ({'com': (1, 2)}, 'com'), ({'inertia': [[1, 2, 0], [0, 1, 0], [0, 0, 1]]}, 'inertia'),
    ({'inertia': -np.eye(3)}, 'inertia'), ({'viscous': np.inf}, 'viscous'),
    ({'rotor_inertia': -1e-4}, 'rotor_inertia'), ({'gear_ratio': 0.0}, 'gear_ratio'),
    ({'gear_ratio': np.nan}, 'gear_ratio'), ({'static_friction': -1.0}, 'static_friction'),
    ({'rotor_inertia': 1.0, 'gear_ratio': 1e200}, 'gear_ratio'),
    ({'theta': 'a'}, 'theta'), ({'mass': None}, 'mass'), ({'mass': 1j}, 'mass'),
    ({'gear_ratio': None}, 'gear_ratio'), ({'com': ('a', 0, 0)}, 'com'),
    ({'inertia': [[1, 2], [3]]}, 'inertia')])
def test_a_row_that_cannot_be_is_named(wrong, name):
    with pytest.raises(ArgumentError, match='row 2') as refusal:
        from_dh([DhLink(**SECOND), DhLink(**{**SECOND, **wrong})])
    assert refusal.value.name == name


@pytest.mark.parametrize(('name', 'given'), [
    ('convention', 'classic'), ('links', ()), ('base', 2 * np.eye(4)), ('base', [[1], [2, 3]]),
    ('tool', np.eye(3)), ('tool', [0.1, 0.2]), ('tool', 1j), ('gravity', (0, 0)),
    ('gravity', 'down'), ('name', ''), ('name', 'a\nb')])
def test_an_argument_that_cannot_be_is_named(name, given):
    with pytest.raises(ArgumentError) as refusal:
        from_dh(**{'links': [DhLink(**SECOND)], name: given})
    assert refusal.value.name == name


def test_rows_in_python_may_be_those_of_a_yaml_file():
    ours = from_dh(ROWS, base=[0, 0, 0.4], tool=(0.1, 0, 0), name='arm')
    rows = [DhLink(**{**row, 'inertia': np.diag(row.get('inertia', [0.0] * 3))}) for row in ROWS]
    base, tool = np.tile(np.eye(4), (2, 1, 1))
    base[2, 3], tool[0, 3] = 0.4, 0.1
    assert [*differences(ours, from_dh(rows, base=base, tool=tool, name='arm'))] == []
