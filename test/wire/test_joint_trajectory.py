# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
JointTrajectory messages that are refused, and the reasons; sizes of messages.

test_wire_fuzz.py compares what is read with what rclpy reads.
"""

from builtin_interfaces.msg import Duration, Time
import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from robodyn_ros.errors import TrajectoryError
from robodyn_ros.wire.joint_trajectory import FIELDS, JointTrajectoryMessage
from std_msgs.msg import Header
from trajectories import head, trajectory_bytes
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint


def message(**change):
    """Three good waypoints of two joints."""
    points = [JointTrajectoryPoint(positions=[k, -k], velocities=[0.5 * k, 0.0],
                                   time_from_start=Duration(sec=k)) for k in range(3)]
    return JointTrajectory(**{'joint_names': ['a', 'b'], 'points': points, **change})


def refusal(data):
    """Why these bytes are refused."""
    with pytest.raises(TrajectoryError) as error:
        JointTrajectoryMessage(data).points()
    return str(error.value)


@pytest.mark.parametrize('fields', [1, 2, 3, 4])
def test_bytes_made_by_numpy_are_a_message(fields):
    """What other tests send by the million is what rclpy reads."""
    rows = np.random.default_rng(fields).normal(size=(fields, 5, 3))
    data = trajectory_bytes(['a', 'bb', 'elbow'], 0.25 + np.arange(5), *rows, stamp=(-3, 7))
    read = deserialize_message(data, JointTrajectory)
    for field, row in zip(FIELDS, rows):
        assert [list(getattr(p, field)) for p in read.points] == row.tolist()
    assert read.joint_names == ['a', 'bb', 'elbow']
    assert read.points[4].time_from_start == Duration(sec=4, nanosec=250_000_000)
    assert read.header.stamp == Time(sec=-3, nanosec=7)


def test_what_is_refused_and_told_apart():
    # A message that ends before its last byte is never read as a shorter one.
    whole = trajectory_bytes(['a', 'b'], [0.0, 1.0, 2.0], np.zeros((3, 2)))
    assert JointTrajectoryMessage(whole).points()[0].tolist() == [0.0, 1.0, 2.0]
    for size in range(len(whole)):
        assert 'ends' in (why := refusal(whole[:size])) or 'cut off' in why
    # Big-endian bytes are not taken for little-endian ones.
    data = bytearray(serialize_message(message()))
    data[1] = 0
    assert 'little-endian' in refusal(bytes(data)) and 'little-endian' in refusal(b'')
    # Two joints never become one by decoding.
    data = bytearray(serialize_message(message(joint_names=['??', '!!'])))
    data[data.index(b'??'):data.index(b'??') + 2] = b'\xff\xfe'
    data[data.index(b'!!'):data.index(b'!!') + 2] = b'\xfe\xff'
    first, second = JointTrajectoryMessage(bytes(data)).joint_names
    assert first != second and repr(first) == r"'\udcff\udcfe'"


@pytest.mark.parametrize(('change', 'why'), [
    ({'points': []}, 'the trajectory has no waypoints'),
    ({'joint_names': ['a']}, 'the positions of waypoint 0 are 2 numbers: give one for each of '
                             'the 1 names'),
    ({'joint_names': 100_000 * ['a']}, '100000 joint names: give at most 1000'),
    ({'joint_names': ['a', 50_000 * 'b']}, 'a joint name of 50000 bytes: give at most 1000'),
    ({'header': Header(frame_id=50_000 * 'b')}, 'the frame id of 50000 bytes'),
    ({'header': Header(stamp=Time(nanosec=10**9))}, 'the stamp has 1000000000 ns')])
def test_refused_whole(change, why):
    """What is wrong, with the number found and the number there may be."""
    assert why in refusal(serialize_message(message(**change)))


@pytest.mark.parametrize(('which', 'change', 'why'), [
    (0, {'positions': [1.0]}, 'the positions of waypoint 0 are 1 numbers'),
    (1, {'positions': [1.0]}, 'the positions of waypoint 1 are 1 numbers'),
    (2, {'velocities': [1.0, 2.0, 3.0]}, 'the velocities of waypoint 2 are 3 numbers'),
    (0, {'velocities': []}, 'waypoint 1 has not the fields'),
    (1, {'velocities': []}, 'waypoint 1 has not the fields'),
    (2, {'velocities': []}, 'waypoint 2 has not the fields'),
    (2, {'effort': [1.0, 1.0]}, 'waypoint 2 has not the fields'),
    (2, {'time_from_start': Duration(sec=1, nanosec=2**32 - 1)}, 'waypoint 2 has 4294967295 ns')])
def test_refused_waypoint(which, change, why):
    """The first waypoint that differs is named, wherever it is."""
    asked = message()
    for field, value in change.items():
        setattr(asked.points[which], field, value)
    assert why in refusal(serialize_message(asked))


def test_the_number_of_waypoints_is_known_before_any_is_read():
    """Of a million, or of four thousand million that are not there."""
    data = trajectory_bytes([f'joint{i}' for i in range(7)], np.arange(1e6), np.zeros((10**6, 7)))
    assert len(data) > 80e6
    read = JointTrajectoryMessage(data[:4096])
    assert read.waypoints == 10**6
    with pytest.raises(TrajectoryError, match='ends within waypoint 49'):
        read.points()
    assert JointTrajectoryMessage(head(['a'], 2**32 - 1, (0, 0), '')).waypoints == 2**32 - 1
