# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Files that `ros2 topic pub` takes, written and read back; what they may not hold is named."""

import numpy as np
import pytest
from robodyn_ros.errors import TrajectoryError
from robodyn_ros.identification.excitation.trajectory_file import (
    JointTrajectory,
    MAX_POINTS,
    read,
    write,
)
import yaml

pytestmark = pytest.mark.slow

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


def test_comes_back_as_it_was_written(path):
    asked = trajectory()
    write(path, asked)
    found = read(path)
    assert found.joint_names == asked.joint_names
    assert np.abs(found.times - asked.times).max() < 1e-9
    for field in ('positions', 'velocities', 'accelerations'):
        assert np.abs(getattr(found, field) - getattr(asked, field)).max() < 1e-9


def test_is_plain_yaml_of_the_message(path):
    write(path, trajectory(2))
    content = yaml.safe_load(path.read_text())
    assert list(content) == ['joint_names', 'points']
    assert content['joint_names'] == ['shoulder', 'no', '1e3: #']
    for point in content['points']:
        assert list(point) == ['positions', 'velocities', 'accelerations', 'time_from_start']
        assert all(type(v) is float for key in list(point)[:3] for v in point[key])
        assert all(type(v) is int for v in point['time_from_start'].values())
        assert 0 <= point['time_from_start']['nanosec'] < 1_000_000_000


def test_no_number_is_a_negative_zero(path):
    zeros = np.full((1, 1), -1e-12)
    write(path, JointTrajectory(('a',), np.array([1.0]), zeros, zeros, zeros))
    assert '-0.0' not in path.read_text()


def test_a_header_may_be_there(path):
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


@pytest.mark.parametrize('text', ['', '[]', 'joint_names: [a]\npoints: []\n', '\x00'])
def test_refuses_what_is_no_trajectory(path, text):
    path.write_text(text)
    with pytest.raises(TrajectoryError):
        read(path)


def test_refuses_a_file_that_is_not_there(path):
    with pytest.raises(TrajectoryError, match='cannot be read'):
        read(path)


def test_writes_no_more_points_than_can_be_followed(path):
    with pytest.raises(TrajectoryError, match='lower rate'):
        write(path, trajectory(MAX_POINTS + 1, ('a',)))
    assert not path.exists()
