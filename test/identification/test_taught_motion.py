# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Trajectories from poses and motions that were shown by hand."""

import numpy as np
import pytest
from robodyn_ros.errors import TrajectoryError
from robodyn_ros.identification.excitation.taught_motion import smoothed, through_poses
from scipy.interpolate import BPoly

pytestmark = pytest.mark.slow

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


def test_a_pose_that_was_kept_twice_is_one():
    poses = np.array([[0.0, 0.0], [0.0, 1e-4], [0.5, 0.2]])
    assert len(through_poses(NAMES, poses, VELOCITY, ACCELERATION).times) == 2
    with pytest.raises(TrajectoryError, match='1 different poses are no motion'):
        through_poses(NAMES, poses[:2], VELOCITY, ACCELERATION)


def test_a_slow_motion_is_repeated_as_it_was_shown():
    """Its shape within 3 mrad, its time, without the rest around it and from rest to rest."""
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


def test_what_cannot_be_repeated_is_refused():
    time, position = shown()
    with pytest.raises(TrajectoryError, match='has not been moved'):
        smoothed(NAMES, time, 0.0 * position, VELOCITY, ACCELERATION, 0.15)
    with pytest.raises(TrajectoryError, match='has not been moved'):
        smoothed(NAMES, time[:0], position[:0], VELOCITY, ACCELERATION, 0.15)
    holes = (time < 2.0) | (time > 2.4)
    with pytest.raises(TrajectoryError, match='no sample came for 0.4'):
        smoothed(NAMES, time[holes], position[holes], VELOCITY, ACCELERATION, 0.15)
    with pytest.raises(TrajectoryError, match='elbow has no limit of velocity'):
        smoothed(NAMES, time, position, np.array([1.0, np.inf]), ACCELERATION, 0.15)
