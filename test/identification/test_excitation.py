# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Exciting motions keep what was asked of them, and tell more than what they began as."""

from dataclasses import replace
import re

from cli.commands import done, refused, robodyn
from lxml import etree
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.cli.options import as_option
from robodyn_ros.control.inputs.pose_tracking import sample
from robodyn_ros.control.references.reference_planning import interpolate
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.errors import IdentificationError, UnknownNameError
from robodyn_ros.identification.excitation.base_regressor import (
    BaseRegressor, Limits, little_information, motion_limits, of_matrix, quality, Shares,
    smooth_condition)
from robodyn_ros.identification.excitation.collisions import Collisions, GROUND_NAME, shapes
from robodyn_ros.identification.excitation.optimize import excite, MotionCost
from robodyn_ros.identification.excitation.trajectory_file import Fourier, read
from robots import ARM, LOCKED, OWN, REAL, WIDE

pytestmark = pytest.mark.slow

SERIES = Fourier(3, 4.0)
# At the tip of two_link and around its base: they meet where it folds back
BOX = '<collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision>'


@pytest.fixture(scope='module')
def two_link():
    return load_robot('two_link', {}, [])


@pytest.fixture(scope='module')
def found(two_link):
    """Return a motion of two_link: of all that the file names, but without collisions."""
    limits = motion_limits(two_link.model, Shares(effort=0.3), acceleration={'joint1': 20.0})
    return excite(Dynamics(two_link.model), two_link.pose, limits, series=SERIES, starts=2)


def folding(two_link):
    """two_link with shapes at the tip of the second link and around the base."""
    text = two_link.path.read_text()
    for link, origin in (('base_link', ''), ('link2', '<origin xyz="0.45 0 0"/>')):
        text = text.replace(f'<link name="{link}">', f'<link name="{link}">'
                            + BOX.replace('<geometry>', origin + '<geometry>'))
    return text


def test_limits_hold_between_the_samples_that_were_looked_at(two_link, found):
    _, q, qd, qdd = found.trajectory(rate=2000.0)
    tau = Dynamics(two_link.model).batch.inverse_dynamics(q, qd, qdd)
    limits = found.limits
    assert (q >= limits.lower).all() and (q <= limits.upper).all()
    assert (np.abs(qd) <= limits.velocity).all() and (np.abs(qdd) <= limits.acceleration).all()
    # Efforts are no series: their peaks may be a little higher than on the grid
    assert (np.abs(tau) <= limits.effort * 1.001).all()
    assert (limits.velocity == 0.8 * two_link.model.velocity_limit).all()
    use = found.usage
    shares = [np.maximum(use.upper - limits.middle, limits.middle - use.lower) / limits.half, *(
        getattr(use, name) / getattr(limits, name) for name in (
            'velocity', 'acceleration', 'effort'))]
    assert np.max(shares) > 0.95
    for values, most in ((q.max(0), use.upper), (-q.min(0), -use.lower),
                         (np.abs(qd).max(0), use.velocity),
                         (np.abs(qdd).max(0), use.acceleration)):
        assert np.allclose(values, most, rtol=1e-3)


def test_motions_tell_more_and_are_at_rest_at_both_ends(found, two_link):
    for attempt in found.attempts:
        assert attempt.reached.condition < 0.8 * attempt.start.condition
    assert found.reached.condition == min(a.reached.condition for a in found.attempts)
    regressor = BaseRegressor(Dynamics(two_link.model), found.limits,
                              SERIES.highest_frequency * found.limits.velocity)
    _, q, qd, qdd = found.trajectory(rate=30.0)
    matrix = regressor(q, qd, qdd).reshape(-1, len(found.columns))
    assert np.isclose(np.linalg.cond(matrix), found.reached.condition, rtol=0.02)
    limits = motion_limits(two_link.model)
    one, same, other = (excite(Dynamics(two_link.model), two_link.pose, limits, series=SERIES,
                               starts=1, seed=seed, criterion='information') for seed in (4, 4, 5))
    assert (one.coefficients == same.coefficients).all()
    assert not np.allclose(one.coefficients, other.coefficients)
    assert one.reached.information > one.attempts[0].start.information
    times, q, qd, qdd = found.trajectory(repeat=2)
    period = len(times) // 2
    assert np.isclose(times[-1], 2 * SERIES.period) and np.isclose(1 / times[1], found.rate)
    for k in (0, -1):
        assert (q[k] == two_link.pose).all() and not qd[k].any() and not qdd[k].any()
    assert np.allclose(q[:period], q[period:-1]) and np.allclose(qdd[:period], qdd[period:-1])


def test_columns_are_the_base_parameters():
    # 43 is what Gaz et al. 2019 find of the Panda, 36 of the UR5 is known just as well
    for name, count in (('panda', 43), ('ur5', 36)):
        dynamics = Dynamics(load_robot(name, {}, []).model)
        limits = motion_limits(dynamics.model)
        fastest, nv = 3.0 * limits.velocity, dynamics.model.nv
        assert len(BaseRegressor(dynamics, limits, fastest, ())) == count
        more = BaseRegressor(dynamics, limits, fastest, ('friction', 'offset'))
        assert len(more) == count + 3 * nv


def test_slope_of_the_cost_is_its_derivative(two_link):
    dynamics, limits = Dynamics(two_link.model), motion_limits(two_link.model, Shares(effort=0.2))
    cost = MotionCost(dynamics, SERIES, two_link.pose, limits, BaseRegressor(
        dynamics, limits, SERIES.highest_frequency * limits.velocity), Collisions(
            two_link.model, shapes(two_link.path, 'visual'), two_link.pose, 0.03))
    random, h = np.random.default_rng(2), 1e-6
    for criterion in (smooth_condition(4.0), little_information):
        x, way = random.normal(size=(2, 2, SERIES.size)) * [[[4.0]], [[1.0]]]
        _, slope = cost(x, criterion, 100.0)
        ahead, behind = (cost(x + step * way, criterion, 100.0)[0] for step in (h, -h))
        assert np.isclose((ahead - behind) / (2 * h), np.sum(slope * way), rtol=1e-3)


def test_smooth_condition_tends_to_the_condition():
    matrix = np.random.default_rng(0).normal(size=(40, 2, 6))
    value, _ = of_matrix(smooth_condition(200.0), matrix)
    assert np.isclose(np.exp(value), quality(matrix).condition, rtol=0.01)


def test_a_mesh_that_is_missing_has_a_remedy_that_works(tmp_path):
    """As shapes are needed for a check against the ground."""
    (path := tmp_path / 'arm.urdf').write_text(ARM.replace(
        '<inertial>', '<collision><geometry><mesh filename="package://a/b.stl"/></geometry>'
        '</collision><inertial>', 1))
    with pytest.raises(IdentificationError, match='--shapes none, no --ground'):
        shapes(path)


def test_collisions_are_kept_out_of(two_link, tmp_path):
    path = tmp_path / 'folding.urdf'
    path.write_text(folding(two_link))
    dynamics, limits = Dynamics(two_link.model), motion_limits(two_link.model)
    collisions = Collisions(two_link.model, shapes(path), two_link.pose, 0.01)
    ask = {'series': SERIES, 'starts': 1, 'seed': 0}
    blind = excite(dynamics, two_link.pose, limits, **ask)
    careful = excite(dynamics, two_link.pose, limits, collisions=collisions, **ask)
    touches = collisions.touches(blind.trajectory(rate=100.0)[1])
    assert [t[:2] for t in touches] == [('base_link', 'link2')] and touches[0].distance < 0.0
    assert not collisions.touches(careful.trajectory(rate=1000.0)[1])
    assert 'collisions were not checked' in blind.notes and not careful.notes
    assert careful.reached.condition < careful.attempts[0].start.condition
    folded = np.array([0.0, 3.0])       # what touches at the start is left out, by name
    collisions = Collisions(two_link.model, shapes(path), folded, 0.01)
    assert collisions.excluded == (('base_link', 'link2'),)
    assert not collisions.touches(folded[None])


def test_ground_is_kept_off_and_may_not_be_touched_at_the_start(two_link):
    seen = shapes(two_link.path, 'visual')
    collisions = Collisions(two_link.model, seen, two_link.pose, 0.01, ground=-0.5)
    touch, = [t for t in collisions.touches(np.array([[-1.2, 0.0]])) if t.second == 'link2']
    # The ball of 0.04 m at the end of 0.9 m, 1.2 rad below the horizontal
    assert touch.first == GROUND_NAME
    assert np.isclose(touch.distance, 0.5 - 0.9 * np.sin(1.2) - 0.04, atol=1e-6)
    with pytest.raises(IdentificationError, match='from the ground at the start') as caught:
        Collisions(two_link.model, seen, two_link.pose, 0.01, ground=0.1)
    assert caught.value.name in two_link.model.link_names


@pytest.mark.parametrize('old, new, word', [
    ('size="0.2 0.2 0.2"', 'size="0.2 nan 0.2"', "size='0.2 nan 0.2'"),
    ('<box size="0.2 0.2 0.2"/>', '<cone radius="1"/>', "'cone'"),
    ('<box size="0.2 0.2 0.2"/>', '', 'None'),
    ('<box size="0.2 0.2 0.2"/>', '<mesh filename="package://none/x.stl"/>', 'not there'),
    ('<box size="0.2 0.2 0.2"/>', '<mesh filename="beside.dae"/>', 'MuJoCo reads')])
def test_shapes_that_cannot_be_read_are_named(two_link, tmp_path, old, new, word):
    (tmp_path / 'beside.dae').write_text('')
    path = tmp_path / 'odd.urdf'
    path.write_text(folding(two_link).replace(old, new))
    with pytest.raises(IdentificationError, match='base_link') as caught:
        shapes(path)
    assert word in str(caught.value) and caught.value.name == 'base_link'


def test_meshes_are_found_and_their_bodies_placed():
    robot = load_robot('panda', {}, [])
    found = shapes(robot.path)
    assert sum(shape.mesh is not None for shape in found) >= 9
    collisions = Collisions(robot.model, found, robot.pose, 0.01, ground=-0.01)
    assert collisions.excluded == () and collisions.left_out == ()
    forearm_down = np.array([[0.0, 1.7, 0.0, -1.57, 0.0, 1.57, 0.0]])
    assert (GROUND_NAME, 'panda_link7') in {
        touch[:2] for touch in collisions.touches(forearm_down)}


@pytest.mark.parametrize('ask, name, word', [
    ({'ranges': {'joint1': (-1.0, 4.0)}}, 'joint1', 'the range -1 to 4'),
    ({'ranges': {'joint2': (1.0, -1.0)}}, 'joint2', 'lower end first'),
    ({'velocity': {'joint1': 9.0}}, 'joint1', 'up to the limit 8'),
    ({'velocity': {'joint1': 0.0}}, 'joint1', 'above 0'),
    ({'velocity': {'joint9': 1.0}}, 'joint9', 'joint9'),
    ({'acceleration': {'joint2': -1.0}}, 'joint2', 'above 0')])
def test_limits_that_cannot_be_are_named(two_link, ask, name, word):
    with pytest.raises((IdentificationError, UnknownNameError), match=word) as caught:
        motion_limits(two_link.model, **ask)
    assert caught.value.name == name


def test_an_unlimited_joint_is_named_with_the_remedy(two_link):
    free = load_urdf(ARM.replace('type="revolute"', 'type="continuous"'))
    two = replace(two_link.model, position_lower=np.full(2, -np.inf))
    for model, word in (
            (free, '--range shoulder='),
            (two, 'joint1, joint2: no position limits: state the range that each may use: '
                  '--range joint1=-3.1:3.1 --range joint2=-3.1:3.1'),
            (replace(two_link.model, velocity_limit=np.array([np.inf, 5.0])),
             '--velocity-limit joint1='),
            (replace(two_link.model, effort_limit=np.array([np.inf, 5.0])),
             '--acceleration joint1=')):
        with pytest.raises(IdentificationError) as caught:
            motion_limits(model)
        assert word in caught.value.render(as_option)
    limits = motion_limits(free, Shares(position=0.5), ranges={'shoulder': (-1., 3.)})
    assert (limits.lower[0], limits.upper[0]) == (0.0, 2.0)
    free = replace(two_link.model, velocity_limit=np.array([np.inf, 5.0]),
                   effort_limit=np.array([np.inf, 5.0]))
    limits = motion_limits(free, velocity={'joint1': 2.0}, acceleration={'joint1': 2.0})
    assert limits.velocity[0] == 1.6 and limits.acceleration[0] == 2.0


@pytest.mark.parametrize('pose, share, ask, word', [
    ([3.1, 0.0], 0.7, {}, 'joint1 starts at 3.1'), ([0.0, 0.0], 0.2, {}, 'joint1 bears 18.6'),
    ([0.0, 0.5], 0.7, {'criterion': 'best'}, 'criterion'),
    ([0.0, 0.5], 0.7, {'starts': 0}, 'starts'),
    ([0.0, 0.5], 0.7, {'include': ['mass']}, 'mass')])
def test_what_cannot_be_searched_is_refused(two_link, pose, share, ask, word):
    with pytest.raises(IdentificationError, match=word):
        excite(Dynamics(two_link.model), np.array(pose), motion_limits(
            two_link.model, Shares(effort=share)), **{'series': SERIES, 'starts': 1, **ask})


def test_command_writes_what_the_controller_follows(two_link, tmp_path):
    output = tmp_path / 'motion.yaml'
    said = done('excite', 'two_link', '--output', output, '--starts', 1, '--harmonics', 3,
                '--period', 4, '--velocity', 0.5, '--repeat', 2).output
    assert all(words in said for words in (
        'the URDF has no collision geometry', 'condition', '10 base parameters'))
    file, model = read(output), two_link.model
    assert (tmp_path / 'motion.png').read_bytes()[:4] == b'\x89PNG'
    points = interpolate(model, Waypoints(file.joint_names, file.times, file.positions,
                                          file.velocities, file.accelerations),
                         two_link.pose, np.zeros(2), 0.0, 1)
    assert np.abs(file.velocities).max() <= 0.5 * model.velocity_limit.max()
    # Half way through a segment the controller is where the series is
    found = excite(Dynamics(model), two_link.pose, motion_limits(model, Shares(velocity=0.5)),
                   series=SERIES, starts=1)
    middle, q, qd, _ = found.trajectory(rate=2 * found.rate)
    for k in range(1, len(middle) - 1, 7):
        x, xd = sample(points, middle[k])
        assert np.allclose(x, q[k], atol=1e-7) and np.allclose(xd, qd[k], atol=1e-5)


@pytest.mark.parametrize('words, said', [
    (['--range', 'joint1=1'], 'joint1=-1.5:2'), (['--acceleration', 'joint1='], 'joint1=2.5'),
    (['--shapes', 'none', '--ground', 0], 'leave out --ground'), (['--shapes', 'all'], 'none'),
    (['--repeat', 0], 'at least 1'), (['--harmonics', 1], 'at least 2'),
    (['--velocity', 1.5], 'up to 1')])
def test_command_says_what_is_wrong(words, said, tmp_path):
    assert said in refused('excite', 'two_link', '--output', tmp_path / 'x.yaml', *words)
    assert not (tmp_path / 'x.yaml').exists()


def test_command_names_limits_that_nobody_has_written(tmp_path):
    text = OWN['two_link'].read_text()
    (path := tmp_path / 'arm.urdf').write_text(re.sub('velocity="[^"]+"', 'velocity="1e4"', text))
    words = ['excite', path, '--output', tmp_path / 'x.yaml', '--starts', 1, '--harmonics', 2,
             '--force']
    unreal = 'velocity limits are probably placeholders: joint1 (1e+04 rad/s)'
    assert unreal in robodyn(*words).output
    assert 'placeholders' not in done(*words, '--velocity-limit', 3).output


def test_command_goes_to_the_start_first_where_it_is_told_to(tmp_path):
    """The start is in the middle of a range that the usual pose is not in."""
    output = tmp_path / 'motion.yaml'
    said = done('excite', OWN['rp'], '--output', output, '--starts', 1, '--harmonics', 2,
                '--period', 3, '--approach', 2.5, '--shapes', 'none', '--range',
                'joint1=0:2').output
    assert read(output).times[0] == 2.5 and read(output).positions[0, 0] == 1.0
    assert 'nothing has looked at that way' in said


def rounded(text, digits=None):
    """Return a URDF whose angles are those of the file, exact or of few digits."""
    root = etree.fromstring(text.encode())
    for origin in root.iterfind('joint/origin'):
        angles = np.array(origin.get('rpy', '0 0 0').split(), float)
        exact = np.pi / 12 * np.round(angles * 12 / np.pi)
        angles = np.where(abs(angles - exact) < 3e-3, exact, angles)
        origin.set('rpy', ' '.join(map(repr, (angles if digits is None else np.round(
            angles, digits)).tolist())))
    return etree.tostring(root, encoding='unicode')


@pytest.mark.parametrize('name', ['panda', 'ur5', 'kinova', 'so101'])
def test_rounded_angles_make_no_parameters(name):
    conditions = []
    for digits in (None, 4, 2):
        model = load_urdf(rounded({**REAL, **WIDE}[name].read_text(), digits),
                          locked=LOCKED.get(name, {}), massless='warn')
        lower, upper = (np.clip(limit, -3.0, 3.0) for limit in (model.position_lower,
                                                                model.position_upper))
        limits = Limits(lower, np.maximum(upper, lower + 0.1), model.velocity_limit,
                        np.full(model.nv, np.inf), model.effort_limit)
        regressor = BaseRegressor(Dynamics(model), limits, 3.0 * limits.velocity)
        states = np.random.default_rng(1).uniform(-1.0, 1.0, (3, 100, model.nv))
        states[0] = limits.lower + (limits.upper - limits.lower) * (states[0] + 1.0) / 2.0
        states[1:] *= [[limits.velocity], [3.0 * limits.velocity]]
        conditions.append((len(regressor), quality(regressor(*states)).condition))
    (count, exact), *others = conditions
    assert all(columns == count and condition < 1.1 * exact for columns, condition in others)
