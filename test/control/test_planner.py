# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The planner of references: compiled and plain, the same request gives the same bits."""

from control.planned import FARTHEST, LIMITS, NAMES, planned, samples
import numpy as np
import pytest
from robodyn_ros.control.references.compile_planner import compile_planner, plan
from robodyn_ros.control.references.joint_requests import plan_joints
from robodyn_ros.control.references.request import (
    ACCELERATIONS,
    DERIVATIVES,
    KIND,
    MAY_END_MOVING,
    OK,
    PATH,
    request,
    segments_of,
    STOP,
    TARGET,
    WAYPOINT,
    WAYPOINTS,
)
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.settings.motion_limits import limit_rows
from robodyn_ros.errors import TrajectoryError
from thorough import seeds


def asked(kind, rng):
    """Return a random request of a kind, of which many are refused."""
    count = rng.integers(2, 9) if kind == PATH else 1
    r = request(2, 0, 1, segments_of(2, count), count)
    r.limits[0] = limit_rows(LIMITS)
    r.limits[0, -1] = rng.choice([0.0, 1.0])            # continuous joints
    r.state[:3] = rng.uniform(-1.0, 1.0, (3, 2)) * [[1.0], [1.5], [6.0]] * rng.choice([0.0, 1.0])
    r.counts[[KIND, WAYPOINTS, DERIVATIVES, MAY_END_MOVING]] = (
        kind, count, rng.integers(ACCELERATIONS + 1), rng.integers(2))
    r.times[:] = np.cumsum(rng.uniform(0.05, 1.0, count)) - rng.choice([0.0, 0.05])
    r.times[0] *= rng.integers(2)
    steps = rng.uniform(-0.02, 0.02, (count, 2)) * (np.arange(count) == 0)[:, None]
    r.waypoints[:, 0] = r.state[0] + steps + np.cumsum(rng.uniform(-0.1, 0.1, (count, 2)), 0)
    r.waypoints[0, 0] = r.state[0] + steps[0]
    r.waypoints[:, 1:] = rng.uniform(-0.2, 0.2, (count, 3, 2))
    r.waypoints[-1, 1] *= r.counts[MAY_END_MOVING]
    r.asked[:2] = rng.uniform(-1.6, 1.6, (2, 2))
    r.span[0] = rng.uniform(0.0, 0.2) * (kind == WAYPOINT or rng.random() < 0.3)
    return r


@pytest.mark.parametrize('kind', [STOP, TARGET, WAYPOINT, PATH])
def test_plain_python_plans_the_same_bits(kind):
    compile_planner()
    planned = 0
    for seed in range(seeds(60, 1000)):
        one, other = (asked(kind, np.random.default_rng(seed)) for _ in range(2))
        wrong = plan(plan_joints, one)
        assert plan_joints(other) == wrong, seed
        assert one.result.tolist() == other.result.tolist(), seed
        planned += wrong == OK
        n = one.result[2] if wrong == OK else 0
        for name in ('times', 'coefficients', 'efforts'):
            first, second = (getattr(r.points, name)[:n] for r in (one, other))
            assert first.tobytes() == second.tobytes(), (seed, name)
    assert planned > 15


@pytest.mark.parametrize('kind', ['target', 'path'])
@pytest.mark.parametrize('moves', [False, True])
def test_a_joint_that_is_not_named_may_be_outside_its_limits(kind, moves):
    """It stays where it is, to the bit, while the others move; named, it is refused."""
    pose = np.array([0.1, FARTHEST + 0.2])
    times, rows = (np.array([0.0]), [[0.5]]) if kind == 'target' else (
        np.array([1.0, 2.0]), [[0.4], [0.5]])
    old = planned(Waypoints(('joint1',), np.array([3.0]), np.array([[0.3]])), None, pose) \
        if moves else None
    found = planned(Waypoints(('joint1',), times, np.array(rows)), old, pose)
    end = samples(found, [10.0, 11.0, 99.0])
    assert (end[0, :, 1] == pose[1]).all() and not end[1:, :, 1].any()
    assert end[0, -1, 0] == pytest.approx(0.5)
    with pytest.raises(TrajectoryError, match='joint2'):
        planned(Waypoints(NAMES, times, np.array([[*row, pose[1]] for row in rows])), old, pose)
