# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Motions to excite and to repeat: Fourier series, taught motions, trajectory files."""

import numpy as np
import pytest
from robodyn_ros.errors import IdentificationError, TrajectoryError
from robodyn_ros.identification.excitation.trajectory_file import (
    Fourier, JointTrajectory, MAX_POINTS, read, smoothed, through_poses, write)
from scipy.interpolate import BPoly
import yaml

pytestmark = pytest.mark.slow

@pytest.fixture(params=[(2, 1.0), (5, 10.0), (7, 4.5)], ids=str)
def series(request):
    return Fourier(*request.param)


def motion(series, times, seed=3, pose=(0.3, -1.2)):
    coefficients = np.random.default_rng(seed).normal(size=(2, series.size))
    return series.motion(times, coefficients, np.array(pose))


def test_series_are_at_rest_and_bounded(series):
    for period in range(3):
        q, qd, qdd = motion(series, [period * series.period])
        assert np.allclose(q, [0.3, -1.2], atol=1e-12)
        assert np.allclose(qd, 0.0, atol=1e-12) and np.allclose(qdd, 0.0, atol=1e-10)
    times, h = np.linspace(0.0, series.period, 31), 1e-5 * series.period
    before, here, after = (motion(series, times + step) for step in (-h, 0.0, h))
    for k in (0, 1):
        slope = (after[k] - before[k]) / (2.0 * h)
        assert np.allclose(slope, here[k + 1], rtol=0.0, atol=1e-6 * np.abs(here[k + 1]).max())


def test_every_series_at_rest_can_be_had(series):
    position, _, _ = series.basis(series.grid(8))
    assert np.linalg.matrix_rank(position) == series.size == 2 * (series.harmonics - 1)


def test_peaks_between_samples_of_the_grid_are_bounded(series):
    fine = series.period * np.arange(20_000) / 20_000
    for seed in range(5):
        for k, coarse in enumerate(motion(series, series.grid(8), seed, (0.0, 0.0))):
            peak = np.abs(motion(series, fine, seed, (0.0, 0.0))[k]).max(0)
            assert (peak <= np.abs(coarse).max(0) / np.cos(np.pi / 8) + 1e-12).all()


def test_bernstein_bounds_the_acceleration(series):
    _, qd, qdd = motion(series, series.grid(400))
    assert (np.abs(qdd).max(0) <= series.highest_frequency * np.abs(qd).max(0) * 1.001).all()


@pytest.mark.parametrize('harmonics, period, name', [
    (1, 10.0, 'harmonics'), (5, 0.0, 'period'), (5, np.nan, 'period'), (5, np.inf, 'period')])
def test_refuses_what_is_no_series(harmonics, period, name):
    with pytest.raises(IdentificationError) as caught:
        Fourier(harmonics, period)
    assert caught.value.name == name


NAMES = 'shoulder', 'elbow'
VELOCITY, ACCELERATION = np.array([1.0, 2.0]), np.array([4.0, 8.0])


def shown(rate=100.0, duration=4.0, tremor=0.0, seed=1):
    """Return samples of a hand that rests, moves to and fro, and rests: (N,) and (N, 2)."""
    time = np.arange(0.0, duration + 2.0, 1.0 / rate)
    phase = np.clip((time - 1.0) / duration, 0.0, 1.0)
    smooth = phase**3 * (10.0 - 15.0 * phase + 6.0 * phase**2)
    position = np.column_stack((0.6 * smooth, 0.4 * np.sin(2.0 * np.pi * smooth)))
    noise = np.random.default_rng(seed).normal(0.0, tremor, position.shape)
    return time, position + noise * ((phase > 0.0) & (phase < 1.0))[:, None]


def on_grid(motion):
    """Return the quintic segments between its waypoints, twenty samples each: q, q̇, q̈."""
    rows = np.stack((motion.positions, motion.velocities, motion.accelerations), axis=1)
    curve = BPoly.from_derivatives(motion.times, rows)
    t = np.linspace(0.0, motion.times[-1], 20 * len(motion.times))
    return t, *(curve(t, nu=order) for order in range(3))


def test_poses_are_reached_at_rest_as_fast_as_the_limits_allow():
    """On every leg one limit of one joint is met, and none is exceeded."""
    rng = np.random.default_rng(3)
    for scale in (0.01, 0.3, 3.0):
        poses = rng.uniform(-scale, scale, (6, 2))
        motion = through_poses(NAMES, poses, VELOCITY, ACCELERATION)
        assert motion.joint_names == NAMES and (motion.positions == poses).all()
        assert not motion.velocities.any() and not motion.accelerations.any()
        t, _, qd, qdd = on_grid(motion)
        for begin, end in zip(motion.times, motion.times[1:]):
            of = (t >= begin) & (t <= end)
            use = max((abs(qd[of]) / VELOCITY).max(), (abs(qdd[of]) / ACCELERATION).max())
            assert use == pytest.approx(1.0, abs=0.02)


def test_poses_and_motions_are_repeated():
    poses = np.array([[0.0, 0.0], [0.0, 1e-4], [0.5, 0.2]])
    assert len(through_poses(NAMES, poses, VELOCITY, ACCELERATION).times) == 2
    with pytest.raises(TrajectoryError, match='1 different poses are no motion'):
        through_poses(NAMES, poses[:2], VELOCITY, ACCELERATION)
    # Its shape within 3 mrad, its time, without the rest around it and from rest to rest.
    time, position = shown()
    motion = smoothed(NAMES, time, position, VELOCITY, ACCELERATION, spacing=0.15)
    t, q, qd, qdd = on_grid(motion)
    assert 3.0 < motion.times[-1] < 6.0
    assert (abs(motion.positions[[0, -1]] - position[[0, -1]]) < 1e-3).all()
    assert not motion.velocities[[0, -1]].any() and not motion.accelerations[[0, -1]].any()
    lags = np.arange(0.5, 1.2, 0.002)
    apart = [np.abs(q - np.column_stack([np.interp(t + lag, time, row) for row in position.T])
                    ).max() for lag in lags]
    assert min(apart) < 3e-3


@pytest.mark.parametrize('seed', range(5))
def test_tremor_is_smoothed_away_and_limits_are_kept(seed):
    """A fast motion with 5 mrad of noise: slowed by one factor, the path stays."""
    time, position = shown(rate=1000.0, duration=1.0, tremor=5e-3, seed=seed)
    motion = smoothed(NAMES, time, position, VELOCITY, ACCELERATION, spacing=0.15)
    t, q, qd, qdd = on_grid(motion)
    assert (abs(qd) < 1.02 * VELOCITY).all() and (abs(qdd) < 1.02 * ACCELERATION).all()
    assert motion.times[-1] > 1.5
    _, clean = shown(rate=1000.0, duration=1.0)
    nearest = np.array([np.abs(clean - point).max(axis=1).min() for point in q[::50]])
    assert nearest.max() < 0.03


TIME, SHOWN = shown()
HOLES = (TIME < 2.0) | (TIME > 2.4)


@pytest.mark.parametrize(('time', 'position', 'velocity', 'said'), [
    (TIME, 0.0 * SHOWN, VELOCITY, 'has not been moved'),
    (TIME[:0], SHOWN[:0], VELOCITY, 'has not been moved'),
    (TIME[HOLES], SHOWN[HOLES], VELOCITY, 'no sample came for 0.4'),
    (TIME, SHOWN, np.array([1.0, np.inf]), 'elbow has no limit of velocity')])
def test_what_cannot_be_repeated_is_refused(time, position, velocity, said):
    with pytest.raises(TrajectoryError, match=said):
        smoothed(NAMES, time, position, velocity, ACCELERATION, 0.15)


TWO = """joint_names: [a, b]
points:
- positions: [0.0, 1]
  velocities: [0.0, 0.0]
  accelerations: [0.0, 0.0]
  time_from_start: {sec: 0, nanosec: 0}
- positions: [0.1, 1.0]
  velocities: [0.0, 0.0]
  accelerations: [0.0, 0.0]
  time_from_start: {sec: 1, nanosec: 500000000}
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / 'trajectory.yaml'


def trajectory(count=50, names=('shoulder', 'no', '1e3: #')):
    random = np.random.default_rng(0)
    times = np.cumsum(random.uniform(0.01, 1.5, count))
    arrays = random.normal(size=(3, count, len(names))) * [[[1.0]], [[1e-7]], [[1e4]]]
    return JointTrajectory(names, times, *arrays)


def test_files_come_back(path):
    asked = trajectory()
    write(path, asked)
    found = read(path)
    assert found.joint_names == asked.joint_names
    assert np.abs(found.times - asked.times).max() < 1e-9
    for field in ('positions', 'velocities', 'accelerations'):
        assert np.abs(getattr(found, field) - getattr(asked, field)).max() < 1e-9
    write(path, trajectory(2))
    content = yaml.safe_load(path.read_text())
    assert list(content) == ['joint_names', 'points']
    assert content['joint_names'] == ['shoulder', 'no', '1e3: #']
    for point in content['points']:
        assert list(point) == ['positions', 'velocities', 'accelerations', 'time_from_start']
        assert all(type(v) is float for key in list(point)[:3] for v in point[key])
        assert all(type(v) is int for v in point['time_from_start'].values())
        assert 0 <= point['time_from_start']['nanosec'] < 1_000_000_000
    zeros = np.full((1, 1), -1e-12)
    write(path, JointTrajectory(('a',), np.array([1.0]), zeros, zeros, zeros))
    assert '-0.0' not in path.read_text()


def test_headers_and_numbers_of_points(path):
    with pytest.raises(TrajectoryError, match='lower rate'):
        write(path, trajectory(MAX_POINTS + 1, ('a',)))
    assert not path.exists()
    path.write_text(TWO + 'header: {stamp: {sec: 0, nanosec: 0}, frame_id: ""}\n')
    assert read(path).times.tolist() == [0.0, 1.5]


@pytest.mark.parametrize('old, new, word', [
    ('joint_names: [a, b]', 'joint_names: [a, a]', 'joint_names'),
    ('joint_names: [a, b]', 'joint_names: [a, 3]', 'joint_names'),
    ('joint_names: [a, b]\n', '', 'no joint_names'),
    ('[0.1, 1.0]', '[0.1]', 'positions of point 1'),
    ('[0.1, 1.0]', '[0.1, .nan]', 'positions of point 1'),
    ('[0.1, 1.0]', '[0.1, "1.0"]', 'positions of point 1'),
    ('[0.1, 1.0]', '[0.1, true]', 'positions of point 1'),
    ('positions: [0.1, 1.0]', 'position: [0.1, 1.0]', 'no positions'),
    ('  accelerations: [0.0, 0.0]\n  time_from_start: {sec: 1,',
     '  time_from_start: {sec: 1,', 'no accelerations'),
    ('sec: 1, nanosec: 500000000', 'sec: 0, nanosec: 0', 'not after'),
    ('nanosec: 500000000', 'nanosec: 1000000000', 'point 1 at'),
    ('sec: 1', 'sec: 1.0', 'point 1 at'),
    ('sec: 1', 'sec: -1', 'point 1 at'),
    ('points:', 'more: 1\npoints:', "'more'"),
    ('time_from_start: {sec: 1', 'effort: [1.0, 1.0]\n  time_from_start: {sec: 1', 'efforts'),
    ('joint_names', '{joint_names', 'cannot be read'),
])
def test_refuses_with_the_place(path, old, new, word):
    assert old in TWO
    path.write_text(TWO.replace(old, new))
    with pytest.raises(TrajectoryError, match='trajectory.yaml') as caught:
        read(path)
    assert word in str(caught.value)


@pytest.mark.parametrize('text', [None, '', '[]', 'joint_names: [a]\npoints: []\n', '\x00'])
def test_refuses_what_is_no_trajectory(path, text):
    if text is not None:
        path.write_text(text)
    with pytest.raises(TrajectoryError, match='cannot be read' if text is None else ''):
        read(path)
