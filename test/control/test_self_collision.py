# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Self-collision distance: measured as MuJoCo does, and kept by references."""

from types import SimpleNamespace

from control.one_cycle import bounded
from control.rig import follow, risen
from control.task_bench import Bench, DYNAMICS, PANDA
from control.test_time_scaling import held_and_back, SOLID
from flight_recorder.flights import replayed
from hypothesis import assume, given, settings, strategies as st
import mujoco
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf, Settings
from robodyn_ros.control.controller.controller import Controller
from robodyn_ros.control.settings.task_and_bounds import bounds_of, watched_pairs
from robodyn_ros.control.steps import guard, time_scaling
from robodyn_ros.control.steps.cycle_data import CONTROLLER_STATE, Vectors
from robodyn_ros.control.steps.self_collision import (
    APPROACH_RATE, closest_points, closing_row, keep_apart, pair_distance, self_collision_share,
    SEPARATION_RATE_SHARE)
from robodyn_ros.dynamics.model_data import parameters
from robodyn_ros.errors import ParameterError
from robodyn_ros.model.capsules import link_capsules, segment
from robodyn_ros.model.resources import robot_path

pytestmark = pytest.mark.slow

near = pytest.approx
TEXT = robot_path('two_link').read_text()
START, FOLDED = np.array([0.3, 1.5]), np.array([0.3, 3.1])
FREE = 'panda_link5 panda_hand'


def prepared(model, **given):
    return bounded(model, self_collision_distance=0.02, **given)


def distances(prepared, q, rate=None):
    """Distances (P,), and -d/dt of them, of the watched pairs."""
    bounds, robot, work = prepared
    rate = np.zeros(len(q)) if rate is None else rate
    share = self_collision_share(bounds, robot, work, q, rate)
    pairs = np.array([pair_distance(bounds, int(a), int(b)) for a, b in bounds.pairs])
    return pairs[:, 0], pairs[:, 1], share


@pytest.fixture(scope='module')
def panda():
    return prepared(PANDA)


coordinate = st.floats(-1.0, 1.0).map(lambda x: round(x, 3))
point = st.tuples(coordinate, coordinate, coordinate)


@pytest.mark.proof
@settings(max_examples=150)
@given(point, point, point, point)
def test_closest_points_of_segments(a, b, c, d):
    """The distance is convex in both places: there is no better one on a grid, or at the ends."""
    p, q = map(np.array, closest_points(a, b, c, d))
    a, b, c, d = map(np.array, (a, b, c, d))
    t = np.linspace(0.0, 1.0, 41)
    on, to = a + t[:, None] * (b - a), c + t[:, None] * (d - c)
    least = np.linalg.norm(on[:, None] - to, axis=2).min()
    assert np.linalg.norm(p - q) <= least + 1e-9
    for x, (begin, end) in ((p, (a, b)), (q, (c, d))):      # on the segments
        assert (np.linalg.norm(x - begin) + np.linalg.norm(x - end)
                == near(np.linalg.norm(end - begin), abs=1e-7))


def mujoco_distances(model, q):
    """Distances of the watched pairs in MuJoCo, whose capsules are placed by another library."""
    watched, (capsules, _) = watched_pairs(model, 0.02, ''), link_capsules(model)
    spec = mujoco.MjSpec()
    for one in capsules:
        T = DYNAMICS.pose(q, one.link)
        ends = [T[:3, 3] + T[:3, :3] @ end for end in segment(one)]
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=np.concatenate(ends),
                                size=[one.size[0], 0.0, 0.0])
    mj = spec.compile()
    data = mujoco.MjData(mj)
    mujoco.mj_forward(mj, data)
    return [mujoco.mj_geomDistance(mj, data, int(a), int(b), 10.0, None) for a, b in watched.pairs]


@pytest.mark.proof
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32))
def test_distances_are_those_of_mujoco(panda, seed):
    q = np.random.default_rng(seed).uniform(PANDA.position_lower, PANDA.position_upper)
    ours, theirs = distances(panda, q)[0], np.array(mujoco_distances(PANDA, q))
    apart = theirs > 0.0            # how deep overlapping capsules are is defined otherwise
    assert ours[apart] == near(theirs[apart], abs=1e-6) and (ours[~apart] < 1e-6).all()


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_the_rate_is_that_of_the_distance(panda, seed):
    """Compared with differences; where the closest points jump, the distance has no rate."""
    rng, h = np.random.default_rng(seed), 1e-6
    q = rng.uniform(PANDA.position_lower, PANDA.position_upper)
    rate = rng.uniform(-1.0, 1.0, PANDA.nv) * PANDA.velocity_limit
    distance, closing, share = distances(panda, q, rate)
    row = np.zeros(len(q))
    for k, (a, b) in enumerate(panda[0].pairs):
        closing_row(panda[0], panda[1], int(a), int(b), row)
        assert row @ rate == near(closing[k], abs=1e-9)
    after, before = (distances(panda, q + s * h * rate)[0] for s in (1.0, -1.0))
    smooth = abs(after + before - 2.0 * distance) < 1e-3 * h
    assume(smooth.sum() > 0.8 * len(smooth))
    assert closing[smooth] == near((before - after)[smooth] / (2.0 * h), abs=1e-3)
    left = APPROACH_RATE * (distance - 0.02)
    bounding = closing > 1e-9
    expected = np.maximum(0.0, left[bounding] / closing[bounding])
    assert share == near(expected.min() if bounding.any() else np.inf)


@pytest.mark.proof
def test_nothing_is_bounded_without_pairs():
    assert time_scaling.joint_share(*bounded(SOLID), START, np.ones(2)) == (
        np.inf, guard.NO_REASON)


@pytest.mark.proof
@pytest.mark.parametrize('angle', [1.5, 3.0])
def test_links_that_move_apart_are_free(angle):
    """However close they are."""
    q, rate = np.array([0.3, angle]), np.array([0.0, 1.0])
    toward, apart = (distances(prepared(SOLID), q, sign * rate)[2] for sign in (1.0, -1.0))
    assert toward < apart == np.inf


FOLDS = {'mode': 'computed_torque', 'self_collision_distance': 0.02}


@pytest.mark.proof
def test_an_arm_that_folds_is_slowed_and_held_before_it_touches():
    rig, bounds, seen = risen(q=START, model=SOLID, **FOLDS), prepared(SOLID), []
    why, text = held_and_back(rig, FOLDED, lambda: seen.append(
        [distances(bounds, rig.q)[0].min(), 1.0 - rig.controller.memory['slowing'][0]]))
    nearest, slowest = np.min(seen, axis=0)
    assert 0.018 < nearest < 0.03 and slowest < 0.2
    assert why.startswith('two links of the arm are at their minimum distance')
    assert '(base_link and link2, 0.02' in why and 'base_link and link2' in text


def test_pairs_that_are_allowed_are_not_watched():
    """The same motion goes on."""
    rig = risen(q=START, model=SOLID, **FOLDS,
                self_collision_allowed='link2 base_link, base_link tool0')
    follow(rig, FOLDED, 0.8, later=0.002)
    rig.run(1.5)
    assert rig.q == near(FOLDED, abs=1e-2) and rig.controller.held_by == ''


def test_a_pose_of_the_panda_is_held_before_its_hand_is_in_its_base():
    """Its meshes, its stream of poses, and the joints that follow from them."""
    bench = Bench(self_collision_distance=0.03, self_collision_allowed=FREE)
    bounds = prepared(PANDA, self_collision_allowed=FREE)
    bench.go([0.0, 0.0, 0.12])
    nearest = np.inf
    for _ in range(100):
        bench.run(0.02)
        nearest = min(nearest, distances(bounds, bench.q)[0].min())
    assert bench.phase == 'RUNNING'
    assert 0.01 < nearest < 0.08
    assert 'SELF_COLLISION' in (guard.CODES[bench.controller.memory[x][0]]
                                for x in ('held_by', 'slowed_by'))


@pytest.mark.proof
@pytest.mark.parametrize('slowed_by', [guard.NO_REASON, guard.TOOL_SPEED])
@pytest.mark.parametrize('angle, effort, other', [
    (3.0, 20.0, 0.0), (3.0, 20.0, -30.0), (3.0, 0.0, 30.0), (3.0, -20.0, 0.0), (1.5, 20.0, 0.0)],
    ids=['closes', 'is pulled', 'is pushed', 'opens', 'far'])
def test_efforts_that_bring_links_too_close_lose_this_part(angle, effort, other, slowed_by):
    """They approach no faster than they may, also by what a hand adds, but not by its help."""
    bounds, robot, work = prepared(SOLID)
    q, rate, dynamics = np.array([0.3, angle]), np.array([0.1, 0.05]), Dynamics(SOLID)
    record = Settings().settings_record()
    m, v = np.zeros(1, CONTROLLER_STATE).view(np.recarray)[0], Vectors.zeros(2)
    m.slowed_by, v.q[:], v.qd[:], v.bias[:] = slowed_by, q, rate, dynamics.bias(q, rate)
    work.M[:], v.limits.disturbance[:] = dynamics.mass_matrix(q), [0.0, other]
    before = v.bias + [0.0, effort]
    tau = before.copy()
    keep_apart(SimpleNamespace(settings=record.view(np.recarray)[0], controller=m, vectors=v,
                               workspace=work, bounds=bounds), robot, tau)
    acts = angle > 2.0 and effort + max(0.0, other) > 0.0
    assert (abs(tau - before).max() > 1.0) == acts == (bounds.nearest[0] >= 0)
    assert m.slowed_by == (guard.SELF_COLLISION if acts and not slowed_by else slowed_by)
    row, rates = np.zeros(2), SEPARATION_RATE_SHARE * record['limit_rate']
    for a, b in bounds.pairs:
        distance, closing = pair_distance(bounds, int(a), int(b))
        closing_row(bounds, robot, int(a), int(b), row)
        acceleration = np.linalg.solve(work.M, tau - v.bias) + np.maximum(
            0.0, v.limits.disturbance)
        room = APPROACH_RATE * max(0.0, distance - bounds.clearance[0]) - closing
        assert row @ acceleration <= rates * room + 1e-6


@pytest.mark.proof
def test_a_hand_does_not_fold_an_arm_whose_pose_rests():
    """Motions that the task leaves free, which no reference has, end before the links touch."""
    rig = risen(q=START, model=SOLID, mode='cartesian_impedance', task_selection=(0.0, 1.0) * 3,
                nullspace_kp=[0.5], nullspace_kd=[3.0], self_collision_distance=0.02)
    watched, nearest, said = prepared(SOLID), np.inf, set()
    rig.external[1] = 2.0               # N·m
    for _ in range(75):
        rig.run(0.02)
        nearest = min(nearest, distances(watched, rig.q)[0].min())
        said.add(guard.CODES[rig.controller.memory['slowed_by'][0]])
    assert rig.phase == 'RUNNING'
    assert 0.019 < nearest < 0.03 and 'SELF_COLLISION' in said


@pytest.mark.parametrize('model, asked, name, word', [
    (load_urdf(TEXT), {}, 'self_collision_distance', 'no two links'),
    (SOLID, {'self_collision_allowed': 'link1 link3'}, 'self_collision_allowed',
     "no link 'link3'"),
    (SOLID, {'self_collision_allowed': 'link1'}, 'self_collision_allowed', 'not a pair'),
    (SOLID, {'self_collision_distance': -0.1}, 'self_collision_distance', 'refused'),
    (SOLID, {'self_collision_distance': np.nan}, 'self_collision_distance', 'refused')])
def test_what_cannot_be_watched_is_refused(model, asked, name, word):
    with pytest.raises(ParameterError, match=word) as caught:
        Controller(model, Settings(**{'self_collision_distance': 0.02, **asked}), specialize=False)
    assert caught.value.name == name


def test_links_that_are_always_together_and_links_without_shapes_are_told(caplog):
    watched_pairs.cache_clear()
    found = watched_pairs(PANDA, 0.02, '')
    pairs = {(found.links[a], found.links[b]) for a, b in found.pairs}
    assert ('panda_link5', 'panda_link7') not in pairs      # they touch, whatever joint 6 does
    assert ('panda_link5', 'panda_link6') not in pairs      # neighbours
    assert ('panda_link0', 'panda_hand') in pairs and ('panda_link5', 'panda_hand') in pairs
    assert 'panda_link5 and panda_link7' in caplog.text
    cut = TEXT.replace('visual>', 'collision>').replace('<sphere radius="0.05"/>', '<mesh/>')
    lost = watched_pairs(load_urdf(cut), 0.02, '')
    assert any('link1' in note and 'not there' in note for note in lost.notes)


@pytest.mark.proof
def test_a_flight_is_replayed_without_the_meshes():
    """The recording has the capsules: what was held then is held again, bit by bit."""
    rig = risen(q=START, model=SOLID, recorded=900, **FOLDS)
    follow(rig, FOLDED, 0.5, later=0.002)
    rig.run(1.2)
    assert rig.controller.held_by
    snapshot, flown = replayed(rig.controller, 800)
    assert {one.kind for one in flown.model.shapes} == {'capsule'}
    for was, now in zip(snapshot.versions.values(), flown.snapshot.versions.values()):
        for name in ('carriers', 'capsules', 'pairs', 'clearance'):
            assert (getattr(was.bounds, name) == getattr(now.bounds, name)).all()


def test_it_is_off_by_default():
    bounds = bounds_of(Settings(), PANDA, parameters(PANDA))
    assert Settings().bounds == () and len(bounds.pairs) == len(bounds.capsules) == 0
