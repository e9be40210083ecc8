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
from robodyn_ros.errors import ArgumentError, InertiaError, UnknownNameError
from robodyn_ros.model.validate import mass_matrix
from robots import differences

pytestmark = pytest.mark.slow

NUMBER = st.floats(-2.0, 2.0)


def rz(x, d=0.0):
    return np.array([[cos(x), -sin(x), 0, 0], [sin(x), cos(x), 0, 0], [0, 0, 1, d], [0, 0, 0, 1]])


def rx(x, a=0.0):
    return np.array([[1, 0, 0, a], [0, cos(x), -sin(x), 0], [0, sin(x), cos(x), 0], [0, 0, 0, 1]])


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


def placed(links, q, convention, base):
    """Homogeneous transforms of the link frames, as the books multiply them."""
    T, out = base, []
    for link, x in zip(links, q):
        x = x + link.offset
        theta = link.theta + (x if link.joint == 'revolute' else 0.0)
        d = link.d + (x if link.joint == 'prismatic' else 0.0)
        if convention == 'standard':
            T = T @ rz(theta, d) @ rx(link.alpha, link.a)
        else:
            T = T @ rx(link.alpha, link.a) @ rz(theta, d)
        out.append(T)
    return out


def frames(model, q):
    """Return the same from the model, by its definition."""
    bodies, out = [], {}
    for i in range(model.nv):
        turn = q[i] if model.joint_types[i] != 'prismatic' else 0.0
        slide = q[i] if model.joint_types[i] == 'prismatic' else 0.0
        joint = np.eye(4)
        joint[:3, :3], joint[:3, 3] = model.joint_rotation[i], model.joint_origin[i]
        bodies.append((bodies[-1] if i else np.eye(4)) @ joint @ rz(turn, slide))
    for name, frame in model.frames.items():
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = frame.rotation, frame.origin
        out[name] = (bodies[frame.body] if frame.body >= 0 else np.eye(4)) @ T
    return out


@settings(max_examples=60, deadline=None)
@given(rows(), st.sampled_from(['standard', 'modified']), st.tuples(*[NUMBER] * 4))
def test_link_frames_are_the_products_of_the_book(links, convention, q):
    base, tool = rz(0.3, 0.2) @ rx(-0.7, 0.1), rx(0.4, 0.5) @ rz(1.0)
    model = from_dh(links, convention, base, tool)
    at, expected = frames(model, q), placed(links, q, convention, base)
    for i, T in enumerate(expected):
        np.testing.assert_allclose(at[f'link{i + 1}'], T, atol=1e-12)
    np.testing.assert_allclose(at['tool'], expected[-1] @ tool, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(rows(), st.tuples(*[NUMBER] * 4), st.integers(0, 2**32))
def test_both_conventions_of_one_arm_give_one_torque(links, q, seed):
    """Its rows move by half a row, and its bodies are seen from the other convention's frames."""
    modified = []
    for i, link in enumerate(links):
        before = links[i - 1] if i else None
        # The modified frame i is the standard one before its own Tx(a) Rx(α)
        A = rx(link.alpha, link.a)
        modified.append(DhLink(
            link.theta, link.d, before.a if before else 0.0, before.alpha if before else 0.0,
            link.joint, link.offset, link.mass, A[:3, :3] @ link.com + A[:3, 3],
            A[:3, :3] @ link.inertia @ A[:3, :3].T, link.armature))
    q, qd, qdd = np.array(q), *np.random.default_rng(seed).normal(size=(2, 4))
    one, other = Dynamics(from_dh(links)), Dynamics(from_dh(modified, 'modified'))
    tau = one.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(other.inverse_dynamics(q, qd, qdd), tau, rtol=1e-10,
                               atol=1e-10 * abs(tau).max())
    np.testing.assert_allclose(one.mass_matrix(q), mass_matrix(one.model, q)[0]
                               + np.diag([link.armature for link in links]), atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(rows(), st.sampled_from(['standard', 'modified']), st.integers(0, 2**32))
def test_the_urdf_that_the_rows_mean_gives_the_same(links, convention, seed):
    """Written by hand: a joint about z, and a fixed one before (modified) or behind it."""
    rng = np.random.default_rng(seed)
    ours = Dynamics(from_dh(links, convention))
    urdf = load_urdf(urdf_of(links, convention))
    other = Dynamics(replace(urdf, armature=np.array([link.armature for link in links])))
    q, qd, qdd = rng.normal(size=(3, len(links)))
    for name, arguments in {'inverse_dynamics': (q, qd, qdd), 'gravity': (q,),
                            'mass_matrix': (q,), 'coriolis_matrix': (q, qd)}.items():
        theirs = getattr(other, name)(*arguments)
        np.testing.assert_allclose(getattr(ours, name)(*arguments), theirs, rtol=0,
                                   atol=1e-11 * max(1.0, abs(theirs).max()))
    for i in range(len(links)):
        np.testing.assert_allclose(ours.pose(q, f'link{i + 1}'), other.pose(q, f'frame{i + 1}'),
                                   atol=1e-12)


def urdf_of(links, convention):
    """Rz(θ) Tz(d) Tx(a) Rx(α), the other way round in the modified convention, as URDF."""
    def joint(name, kind, parent, child, xyz, rpy):
        return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/>'
                f'<child link="{child}"/><origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="0 0 1"/>'
                '<limit lower="-9" upper="9" effort="1" velocity="1"/></joint>')

    def numbers(*values):
        return ' '.join(repr(float(value)) for value in values)

    out, at = ['<robot name="dh"><link name="frame0"/>'], 'frame0'
    for i, link in enumerate(links, 1):
        kind = 'prismatic' if link.joint == 'prismatic' else 'continuous'
        theta = link.theta + (link.offset if link.joint == 'revolute' else 0.0)
        d = link.d + (link.offset if link.joint == 'prismatic' else 0.0)
        if convention == 'standard':
            before = numbers(0, 0, 0), numbers(0, 0, 0)
            behind = (numbers(link.a * cos(theta), link.a * sin(theta), d),
                      numbers(link.alpha, 0, theta))
        else:
            before = numbers(link.a, 0, 0), numbers(link.alpha, 0, 0)
            behind = numbers(0, 0, d), numbers(0, 0, theta)
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = (map(repr, row) for row in link.inertia.tolist())
        out += [joint(f'joint{i}', kind, at, f'turn{i}', *before), f'<link name="turn{i}"/>',
                joint(f'fixed{i}', 'fixed', f'turn{i}', f'frame{i}', *behind),
                f'<link name="frame{i}"><inertial><origin xyz="{numbers(*link.com)}"/>'
                f'<mass value="{link.mass!r}"/><inertia ixx="{xx}" ixy="{xy}" ixz="{xz}" '
                f'iyy="{yy}" iyz="{yz}" izz="{zz}"/></inertial></link>']
        at = f'frame{i}'
    return '\n'.join([*out, '</robot>'])


def test_the_planar_arm_of_the_textbooks():
    """Two point masses at the ends of their links, gravity along -y."""
    m1, m2, l1, l2, g = 1.3, 0.7, 0.6, 0.4, 9.81
    model = from_dh([DhLink(0, 0, l1, 0, mass=m1), DhLink(0, 0, l2, 0, mass=m2)],
                    gravity=(0, -g, 0))
    dyn, (q1, q2), qd = Dynamics(model), (0.4, -1.1), np.array([0.8, -0.5])
    M = np.array([
        [m1 * l1**2 + m2 * (l1**2 + 2 * l1 * l2 * cos(q2) + l2**2),
         m2 * (l1 * l2 * cos(q2) + l2**2)],
        [m2 * (l1 * l2 * cos(q2) + l2**2), m2 * l2**2]])
    c = m2 * l1 * l2 * sin(q2) * np.array([-2 * qd[0] * qd[1] - qd[1]**2, qd[0]**2])
    G = np.array([(m1 + m2) * l1 * g * cos(q1) + m2 * g * l2 * cos(q1 + q2),
                  m2 * g * l2 * cos(q1 + q2)])
    np.testing.assert_allclose(dyn.mass_matrix([q1, q2]), M, rtol=1e-12)
    np.testing.assert_allclose(dyn.inverse_dynamics([q1, q2], qd, [0, 0]), c + G, rtol=1e-12)


def test_motors_and_friction():
    """The rotor of a geared motor turns faster than the joint, and its energy goes by squares."""
    model = from_dh([
        DhLink(0, 0, 1, 0, mass=1, armature=0.5, rotor_inertia=2e-4, gear_ratio=100.0),
        DhLink(0, 0, 1, 0, mass=1, rotor_inertia=0.3, coulomb=0.2, viscous=0.1),
        DhLink(0, 0, 1, 0, mass=1, gear_ratio=50.0, coulomb=0.2, static_friction=0.4)])
    np.testing.assert_allclose(model.armature, [0.5 + 2.0, 0.3, 0.0], rtol=1e-15)
    np.testing.assert_array_equal(model.static_friction, [0.0, 0.2, 0.4])
    np.testing.assert_array_equal(model.backward_friction, [
        [0.0, 0.1, 0.0], [0.0, 0.2, 0.2], [0.0, 0.2, 0.4]])


@pytest.mark.parametrize(('wrong', 'name'), [
    ({'theta': np.nan}, 'theta'), ({'mass': -1.0}, 'mass'), ({'joint': 'ball'}, 'joint'),
    ({'com': (1, 2)}, 'com'), ({'inertia': [[1, 2, 0], [0, 1, 0], [0, 0, 1]]}, 'inertia'),
    ({'inertia': -np.eye(3)}, 'inertia'), ({'viscous': np.inf}, 'viscous'),
    ({'rotor_inertia': -1e-4}, 'rotor_inertia'), ({'gear_ratio': 0.0}, 'gear_ratio'),
    ({'gear_ratio': np.nan}, 'gear_ratio'),
    ({'rotor_inertia': 1.0, 'gear_ratio': 1e200}, 'gear_ratio'),
    ({'static_friction': -1.0}, 'static_friction')])
def test_a_row_that_cannot_be_is_named(wrong, name):
    with pytest.raises(ArgumentError, match='row 2') as refusal:
        from_dh([DhLink(0, 0, 1, 0, mass=1), DhLink(**{'theta': 0, 'd': 0, 'a': 1, 'alpha': 0,
                                                       'mass': 1, **wrong})])
    assert refusal.value.name == name


def test_arguments_that_cannot_be():
    link = DhLink(0, 0, 1, 0, mass=1)
    for name, arguments in {'convention': ([link], 'classic'), 'links': ([],),
                            'base': ([link], 'standard', 2 * np.eye(4)),
                            'tool': ([link], 'modified', None, np.eye(3)),
                            'gravity': ([link], 'standard', None, None, (0, 0))}.items():
        with pytest.raises(ArgumentError) as refusal:
            from_dh(*arguments)
        assert refusal.value.name == name
    with pytest.raises(InertiaError, match='joint2'):
        from_dh([link, DhLink(0, 0, 1, 0)])


@pytest.mark.parametrize(('given', 'name'), [
    ({'theta': 'a'}, 'theta'), ({'mass': None}, 'mass'), ({'mass': 1j}, 'mass'),
    ({'gear_ratio': None}, 'gear_ratio'), ({'com': ('a', 0, 0)}, 'com'),
    ({'inertia': [[1, 2], [3]]}, 'inertia')])
def test_what_is_no_number_is_refused_by_name(given, name):
    with pytest.raises(ArgumentError) as error:
        from_dh([replace(DhLink(0, 0, 1, 0, mass=1.0), **given)])
    assert error.value.name == name


@pytest.mark.parametrize('given', [{'gravity': 'down'}, {'base': [[1], [2, 3]]}, {'tool': 1j},
                                   {'name': ''}, {'name': 'a\nb'}])
def test_what_else_cannot_be_is_refused_by_name(given):
    with pytest.raises(ArgumentError) as error:
        from_dh([DhLink(0, 0, 1, 0, mass=1.0, com=(1, 0, 0))], **given)
    assert error.value.name == next(iter(given))


ROWS = [{'theta': 0, 'd': 0.1, 'a': 0.5, 'alpha': 0.3, 'mass': 2.0, 'com': [0.1, 0, 0],
         'inertia': [0.1, 0.2, 0.25]},
        {'theta': 0.2, 'd': 0, 'a': 0.4, 'alpha': 0, 'joint': 'prismatic', 'mass': 1.0}]


def test_what_a_yaml_file_may_say_rows_in_python_may_say_too(tmp_path):
    from robodyn_ros import load_dh

    path = tmp_path / 'arm.yaml'
    path.write_text(f'name: arm\nconvention: standard\nlinks: {ROWS}\nbase: [0, 0, 0.4]\n'
                    'tool: [0.1, 0, 0]\n'.replace("'", ''))
    ours = from_dh(ROWS, base=[0, 0, 0.4], tool=(0.1, 0, 0), name='arm')
    assert not list(differences(ours, load_dh(path)))
    assert ours.inertia[0].trace() == pytest.approx(0.55)


@pytest.mark.parametrize(('change', 'said'), [
    ({'mas': 1.0}, "'mas'.*did you mean 'mass'"),
    ({'inertia': [1.0, 2.0]}, r'shape \(3, 3\) or three, its diagonal'),
    ({'inertia': [1.0, np.nan, 1.0]}, 'inertia of row 1'),
    ({'inertia': [1.0, 1.0, -1.0]}, 'without negative principal moments'),
])
def test_rows_that_cannot_be_are_named(change, said):
    with pytest.raises((ArgumentError, UnknownNameError), match=said):
        from_dh([ROWS[0] | change])


def test_a_row_has_to_be_one_and_whole():
    with pytest.raises(ArgumentError, match='row 1 has no alpha'):
        from_dh([{key: value for key, value in ROWS[0].items() if key != 'alpha'}])
    with pytest.raises(ArgumentError, match='row 1 is 3.*DhLink'):
        from_dh([3])
    with pytest.raises(ArgumentError, match=r'tool.*\(4, 4\) or three'):
        from_dh(ROWS, tool=[0.1, 0.2])
