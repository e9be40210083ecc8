# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""DH rows against transforms, URDF and textbooks, in Python and in YAML; arithmetic of numbers."""

from dataclasses import replace
import math

from hypothesis import given, HealthCheck, settings, strategies as st
import numpy as np
from numpy import cos, sin
import pytest
from robodyn_ros import DhLink, Dynamics, from_dh, load_dh, load_urdf
from robodyn_ros.errors import ArgumentError, DhFileError, InertiaError, UnknownNameError
from robodyn_ros.model.arithmetic import evaluate, parse
from robodyn_ros.model.resources import OWN_ROWS, robot_path, rows_path, share_path
from robodyn_ros.model.rigid_body import rpy_rotation
from robots import differences
from thorough import seeds

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


@pytest.mark.parametrize(('rows', 'said'), [
    ([ROWS[0] | {'mas': 1.0}], "'mas'.*did you mean 'mass'"),
    ([ROWS[0] | {'inertia': [1.0, 2.0]}], r'shape \(3, 3\) or three, its diagonal'),
    ([ROWS[0] | {'inertia': [1.0, np.nan, 1.0]}], 'inertia of row 1'),
    ([ROWS[0] | {'inertia': [1.0, 1.0, -1.0]}], 'without negative principal moments'),
    ([{key: value for key, value in ROWS[0].items() if key != 'alpha'}], 'row 1 has no alpha'),
    ([3], 'row 1 is 3.*DhLink')])
def test_a_row_as_in_a_file_is_refused_likewise(rows, said):
    with pytest.raises((ArgumentError, UnknownNameError), match=said):
        from_dh(rows)


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


KNOWN = {'pi': math.pi, 'l1': 0.5, 'm_2': 3.0}


@pytest.mark.parametrize(('text', 'value'), [
    ('0.5', 0.5), ('1e-3', 1e-3), ('-pi/2', -math.pi / 2), ('+l1', 0.5), (' l1 ', 0.5),
    ('m_2*l1**2/12 - 1', 3.0 * 0.25 / 12 - 1), ('2*(l1 + m_2)', 7.0), ('l1**-1', 2.0)])
def test_values(text, value):
    assert evaluate(parse(text), KNOWN, float) == value


@pytest.mark.parametrize('text', [
    '', '1 +', '__import__("os").system("true")', 'l1.real', 'l1[0]', 'sin(l1)', '"a"', 'True',
    '1j', '[1]', 'lambda: 1', 'a if b else c', 'a @ b', 'a // b', 'a % b', '1 < 2', '(a := 1)',
    '9**9**9', 'a**b', 'a**0.5', 'a**9', 'a**-9', '_a', 'ﬁ', 'π', 'a\0', 'a' * 32, '(' * 150,
    '-' * 199 + '1 +', '1' * 201, '((a + b)**8)**8', '(a+b)*(c+d)*(e+f)*(g+h)*(i+j)*(k+l)*(m+n)',
    '{}'.format('#'), 'a; b', 'a\nb', 'None', '...'])
def test_anything_else_is_refused(text):
    with pytest.raises(ArgumentError) as caught:
        parse(text)
    assert '\n' not in str(caught.value) and len(str(caught.value)) < 400


GOOD = """
convention: modified
gravity: [0, -g, 0]
links:
  - {theta: 0, d: 0, a: 0, alpha: 0, mass: m1, com: [l1, 0, 0]}
  - {theta: 0, d: 0, a: l1, alpha: 0, mass: m2, com: [l2, 0, 0]}
values: {l1: 0.5, l2: 4e-1, m1: 2, m2: m1/2, g: 9.81}
"""


def written(tmp_path, text):
    path = tmp_path / 'arm.yaml'
    path.write_text(text)
    return path


def test_every_field_arrives(tmp_path):
    path = written(tmp_path, """
name: crane
convention: standard
base: [[0, -1, 0, 0.1], [1, 0, 0, 0.2], [0, 0, 1, h], [0, 0, 0, 1]]
tool: [0, 0, h/2]
links:
  - {theta: pi/3, d: h, a: 0.1, alpha: -pi/2, offset: 0.3, mass: 2, com: [1e-1, 0.2, 0.3],
     inertia: [[3, 0.1, 0], [0.1, 4, 0], [0, 0, 5]], armature: 0.7, viscous: 0.8, coulomb: 0.9}
  - {theta: 0.2, d: 0, a: 0, alpha: 0.5, joint: prismatic, offset: h, mass: 1,
     inertia: [1, J, 1], rotor_inertia: 1e-4, gear_ratio: 10*h, static_friction: 0.3}
values: {h: 0.4, J: h*2}
""")
    rows = [
        DhLink(np.pi / 3, 0.4, 0.1, -np.pi / 2, offset=0.3, mass=2, com=[0.1, 0.2, 0.3],
               inertia=[[3, 0.1, 0], [0.1, 4, 0], [0, 0, 5]], armature=0.7, viscous=0.8,
               coulomb=0.9),
        DhLink(0.2, 0, 0, 0.5, 'prismatic', 0.4, 1, inertia=np.diag([1, 0.8, 1]),
               rotor_inertia=1e-4, gear_ratio=4.0, static_friction=0.3)]
    base = [[0, -1, 0, 0.1], [1, 0, 0, 0.2], [0, 0, 1, 0.4], [0, 0, 0, 1.0]]
    expected = from_dh(rows, 'standard', base, [0, 0, 0.2], name='crane')
    assert [*differences(load_dh(path), expected)] == []


def test_the_examples():
    rows, urdf = load_dh(rows_path('craig_2r')), load_urdf(robot_path('two_link'))
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 2))
    np.testing.assert_allclose(Dynamics(rows).inverse_dynamics(q, qd, qdd),
                               Dynamics(urdf).inverse_dynamics(q, qd, qdd), rtol=1e-12)
    assert {path.stem for path in share_path('examples').glob('*.yaml')} == set(OWN_ROWS)


@pytest.mark.parametrize(('old', 'new', 'said'), [
    ('mass: m2', 'mas: m2', ("no field of row 2 called 'mas'", "did you mean 'mass'")),
    ('gravity:', 'gravty:', ("no key 'gravty'", "did you mean 'gravity'")),
    ('a: l1', 'a: l3', ('row 2, a', 'uses l3', 'did you mean')),
    ('a: l1', 'a: quux', ('row 2, a', 'uses quux', 'add it under values')),
    ('a: l1, ', '', ('row 2 has no a: add it',)),
    ('a: l1', 'a: sin(l1)', ('row 2, a', 'more than arithmetic')),
    ('a: l1', 'a: l1/0', ('row 2, a', 'division by zero')),
    ('a: l1', 'a: 1e400', ('row 2, a', 'inf')),
    ('a: l1', 'a: .nan', ('row 2, a', 'not an expression')),
    ('a: l1', 'a: [1]', ('row 2 has a [1.0]: use a finite number',)),
    ('a: l1', 'a: l1, a: l2', ("row 2 has 'a' twice",)),
    ('a: l1', 'a: l1, joint: hinge', ("row 2 has joint 'hinge'", 'revolute, prismatic')),
    ('com: [l2, 0, 0]', 'com: [l2, 0]', ('com of row 2', 'shape (3,)')),
    ('mass: m2', 'mass: -m2', ('row 2', 'mass', 'at least 0')),
    ('modified', 'craig', ("convention 'craig'", 'standard, modified')),
    ('convention: modified', '', ("no 'convention'",)),
    ('gravity: [0, -g, 0]', 'gravity: down', ('gravity', 'uses down')),
    ('gravity: [0, -g, 0]', 'gravity: 9', ('gravity is 9.0', 'shape (3,)')),
    ('gravity: [0, -g, 0]', 'tool: [0, l1]', ('tool is [0.0, 0.5]', 'a translation')),
    ('l1: 0.5', 'l1: l2', ('values, l1', 'uses l2')),
    ('l1: 0.5', 'pi: 3', ("the name 'pi'",)),
    ('l1: 0.5', '"l 1": 3', ("the name 'l 1'",)),
    ('l1: 0.5', 'l1: &x 0.5, k: *x', ('alias',)),
    ('l1: 0.5', 'l1: !!python/name:os.system ""', ('tag',)),
    ('l1: 0.5', 'l1: {{{{{{{{{1}}}}}}}}}', ('levels',)),
    ('l1: 0.5', 'l1: 0.5]', ('line 7', 'YAML')),
    ('l1: 0.5', 'l1: \x07', ('not YAML',)),
    (GOOD, 'convention: standard\nlinks: []', ('list of 1 to 50 rows',)),
    *((GOOD, f'name: {name}\n{GOOD}', ('name',)) for name in (
        r'"\x1b[31m"', r'"a\nb"', 'n' * 300)),
    (GOOD, 'convention: standard\nlinks: 3', ('list of 1 to 50 rows',)),
    (GOOD, GOOD.replace('values: {', 'values: {l3: [1], '), ('values, l3 is not a number',)),
    (GOOD, GOOD[:GOOD.index('values')] + 'values: 3', ('values is not a mapping',)),
    ('a: l1', 'a: l1, joint: [revolute]', ('row 2, joint is not a text',)),
    ('a: l1', '[a]: l1', ('a key of row 2 is not a text',)),
    (GOOD, '', ('is not a mapping',)),
    (GOOD, '[1, 2]', ('is not a mapping',)),
    (GOOD, '#' * 100_001, ('more than 100000 bytes',)),
])
def test_a_mistake_is_one_line_with_file_row_and_key(tmp_path, old, new, said):
    assert old in GOOD
    path = written(tmp_path, GOOD.replace(old, new))
    with pytest.raises(DhFileError) as caught:
        load_dh(path)
    assert 'arm.yaml' in str(caught.value)
    assert all(words in str(caught.value) for words in said), str(caught.value)
    assert '\n' not in str(caught.value)


def test_gravity_and_files_that_are_none(tmp_path):
    text = GOOD.replace('gravity: [0, -g, 0]', 'base: [[1,0,0,0],[0,0,-1,0],[0,1,0,0],[0,0,0,1]]')
    model = load_dh(written(tmp_path, text))
    np.testing.assert_array_equal(model.gravity_vector, [0, 0, -9.81])
    with pytest.raises(DhFileError, match="there is no 'gravity'"):
        load_dh(written(tmp_path, text.replace('9.81', '1.62')))
    for path in (tmp_path / 'nothing.yaml', tmp_path):
        with pytest.raises(DhFileError, match='cannot be read'):
            load_dh(path)
    with pytest.raises(InertiaError):
        load_dh(written(tmp_path, GOOD.replace('mass: m2', 'mass: 0')))


@settings(max_examples=seeds(100, 1000), suppress_health_check=[
    HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_text_is_a_sound_robot_or_refused_in_plain_words(tmp_path, data):
    text = bytearray(GOOD.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        piece = data.draw(st.sampled_from([
            b'', b'{', b']', b'- ', b'*', b'**', b'9', b'e9', b'-', b'/', b'&a ', b'!', b'\0',
            b'\xff', b': ', b'\n', b'"', b'#', b'pi', b'l2', b'? ', b'|', b'<<: ', b'%', b'~']))
        text[at:at + data.draw(st.integers(0, 3))] = piece
    path = tmp_path / 'mutant.yaml'
    path.write_bytes(text)
    try:
        model = load_dh(path)
    except (DhFileError, InertiaError) as error:
        assert str(error).isprintable()
    else:
        assert np.isfinite(Dynamics(model).gravity(np.zeros(model.nv))).all()
