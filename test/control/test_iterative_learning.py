# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Iterative learning: the error of a repeated motion, under a wrong model, and what goes wrong."""

from dataclasses import replace

from benchmarks.learning import LAWS, RepeatedMotion, with_friction, wrong_model
import numpy as np
import pytest
from robodyn_ros import load_urdf, Settings
from robodyn_ros.control.learning import learned_efforts
from robodyn_ros.control.learning.iterative_learning import (
    IterativeLearning,
    MAX_WORSE_REPEATS,
    Repeat,
    REST_TIME,
)
from robodyn_ros.control.references.sine_motion import amplitudes, waypoints
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.errors import ParameterError, TrajectoryError

pytestmark = pytest.mark.slow

ARM = load_urdf('two_link')
MODEL, POSE = wrong_model(ARM), np.array([0.3, 0.5])
MOTION = waypoints(ARM, POSE, amplitudes(ARM, POSE), 2.0)
GAINS = {'stiffness': [400.0, 100.0], 'damping': [40.0, 10.0], 'acceleration_limit': [20.0],
         'acceleration_kp': [100.0], 'acceleration_kd': [20.0]}


def settings(mode='joint_impedance', **more):
    return Settings(mode=mode, **{**GAINS, **more})


def learning(mode='joint_impedance', motion=MOTION, model=MODEL, **more):
    return IterativeLearning(model, settings(mode, **more), motion)


def perfect(found, error=0.0):
    """Return a repeat with a constant error (nv,)."""
    time = np.arange(-0.1, found.times[-1] + 0.1, 1e-3)
    x = np.array([np.interp(time, found.times, q) for q in found.waypoints.positions.T]).T
    return Repeat(time, x - error)


@pytest.mark.parametrize('mode, pushed', [*zip(LAWS, [3, None], strict=True)])
def test_the_error_of_a_wrong_model_falls_by_80_percent(mode, pushed):
    """Masses ±20 %, unknown friction, 2 ms of delay; a repeat with a push is left out."""
    def push(repeat, time):
        return [15.0, 5.0] if repeat == pushed and 1.0 < time < 1.4 else 0.0
    world, found = RepeatedMotion(MODEL, settings(mode), with_friction(ARM), POSE,
                                  push=push), learning(mode)
    outcomes = []
    for k in range(4 if pushed is None else 5):
        before = found.best_efforts
        outcomes.append(found.learn(world.run(found.waypoints)))
        assert outcomes[k].learned == (k != pushed)
        if k == pushed:
            assert 'times worse than the best' in outcomes[k].message and found.efforts is before
    assert outcomes[-1].rms < 0.2 * outcomes[0].rms
    assert found.best_rms == min(outcome.rms for outcome in outcomes)
    assert (outcomes[-1].joints < 0.3 * outcomes[0].joints).all() and not found.ended


def test_efforts_are_bounded_whatever_the_error():
    found = learning(feedforward_limit=0.1)
    time = np.arange(-0.1, 5.0, 1e-3)
    assert found.learn(Repeat(time, np.random.default_rng(0).normal(0.0, 10.0, (len(time), 2)))
                       ).learned
    most = np.abs(found.waypoints.efforts).max(0) / ARM.effort_limit
    assert most == pytest.approx(0.1)
    assert not found.efforts[[0, -1]].any()         # they begin and end with zero


def test_learning_ends_where_it_makes_things_worse():
    """The best efforts are restored each time, and stay."""
    found = learning()
    assert found.learn(perfect(found, 0.01)).learned
    best, outcome = found.best_efforts, None
    for k in range(MAX_WORSE_REPEATS):
        outcome = found.learn(perfect(found, 0.1 * (k + 1)))
        assert not outcome.learned and found.efforts is best
    assert 'learning has ended: 3 repeats' in outcome.message and found.ended
    assert not found.learn(perfect(found, 0.001)).learned and found.best_rms < 0.0011


BAD = [(lambda r: replace(r, fault='the state is stale'), 'a fault ended it .the state is stale.'),
       (lambda r: replace(r, limited=0.02), 'the limits acted in 2.0 % of the cycles'),
       (lambda r: replace(r, position=np.where(r.time[:, None] < 1.0, r.position, np.nan)),
        'not finite'),
       (lambda r: Repeat(r.time[::80], r.position[::80]), 'states are missing for 0.080 s'),
       (lambda r: Repeat(r.time[:2000], r.position[:2000]), 'states are missing for 1.1'),
       (lambda r: Repeat(r.time[500:], r.position[500:]), 'states are missing for 0.4'),
       (lambda r: Repeat(r.time + 1e3, r.position), 'states are missing for'),
       (lambda r: Repeat(r.time[::-1], r.position), 'times do not increase'),
       (lambda r: Repeat(r.time, r.position[:, :1]), 'shape'),
       (lambda r: Repeat(r.time[:0], r.position[:0]), 'shape')]


@pytest.mark.parametrize('spoiled, why', BAD)
def test_repeats_that_teach_nothing(spoiled, why):
    found = learning()
    before = found.efforts
    outcome = found.learn(spoiled(perfect(found, 0.01)))
    assert not outcome.learned and np.array_equal(found.efforts, before)
    with pytest.raises(AssertionError, match=why):
        raise AssertionError(outcome.message)


def test_an_arm_without_error_learns_nothing():
    found = learning()
    assert found.learn(perfect(found)).rms < 1e-4
    assert np.abs(found.efforts).max() < 0.01 * ARM.effort_limit.min()


def test_what_cannot_be_learned():
    with pytest.raises(TrajectoryError, match='does not begin at time 0'):
        learning(motion=Waypoints(ARM.joint_names, [1.0], [POSE]))
    with pytest.raises(TrajectoryError, match='does not begin at rest'):
        learning(motion=replace(MOTION, velocities=MOTION.velocities + 0.1))
    with pytest.raises(TrajectoryError, match='of at most 198.99 s'):
        learning(motion=Waypoints(ARM.joint_names, [0.0, 200.0], [POSE, POSE]))
    with pytest.raises(ParameterError, match='no efforts of trajectories are allowed'):
        learning(feedforward_limit=0.0)
    with pytest.raises(ParameterError, match='not declared as those of errors'):
        IterativeLearning(MODEL, Settings(mode='gravity_compensation'), MOTION)
    for wrong in {'cutoff': 50.0}, {'gain': 0.0}:
        with pytest.raises(ParameterError, match='is refused: give a number in'):
            IterativeLearning(MODEL, settings(), MOTION, **wrong)


def test_efforts_are_kept_for_the_same_motion(tmp_path):
    found, path = learning(), tmp_path / 'efforts.npz'
    found.learn(perfect(found, 0.01))
    found.learn(perfect(found, 0.005))
    learned_efforts.write(path, found)
    again = learning()
    learned_efforts.restore(path, again)
    assert (again.efforts == found.best_efforts).all() and again.efforts.any()
    assert [p.name for p in tmp_path.iterdir()] == ['efforts.npz']
    turned = replace(MOTION, positions=MOTION.positions + [0.01, 0.0])
    for other, why in (
            (learning(model=ARM), 'another robot .two_link '),
            (learning('computed_torque'), 'another control law .joint_impedance, not comp'),
            (learning(stiffness=[300.0, 100.0]), 'another gains'),
            (learning(payload_frame='link2', payload_mass=0.5), 'another payload .none, not 0.5'),
            (learning(coulomb_friction=[1.0], friction_compensation=[0.5]), 'another friction'),
            (learning(robot_compensates_gravity=True), 'another gravity compensation'),
            (learning(motion=turned), 'another trajectory')):
        with pytest.raises(TrajectoryError, match=f'efforts.npz was learned for {why}'):
            learned_efforts.restore(path, other)
        assert not other.efforts.any()
    with pytest.raises(TrajectoryError, match='beyond|do not fit .*feedforward_limit'):
        learned_efforts.restore(path, learning(feedforward_limit=1e-4))


def test_files_that_are_none(tmp_path):
    found, path = learning(), tmp_path / 'efforts.npz'
    with pytest.raises(TrajectoryError, match='cannot be read'):
        learned_efforts.restore(path, found)
    found.learn(perfect(found, 0.01))
    learned_efforts.write(path, found)
    whole = path.read_bytes()
    for damaged in (b'', b'nothing', whole[:-100], whole[:200] + b'\0' * 200 + whole[400:]):
        path.write_bytes(damaged)
        with pytest.raises(TrajectoryError, match='efforts.npz has no learned efforts'):
            learned_efforts.restore(path, found)
    np.savez(path, efforts=np.zeros(3))
    with pytest.raises(TrajectoryError, match='no learned efforts'):
        learned_efforts.restore(path, found)
    with pytest.raises(TrajectoryError, match='cannot be written'):
        learned_efforts.write(tmp_path / 'no' / 'efforts.npz', found)


def test_rest_lies_before_and_after_the_motion():
    found = learning()
    asked = found.waypoints
    rest = asked.times <= REST_TIME
    assert (asked.positions[rest] == MOTION.positions[0]).all()
    assert not asked.velocities[rest].any()
    assert asked.times[-1] == MOTION.times[-1] + 2.0 * REST_TIME
