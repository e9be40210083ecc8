# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joint states, efforts and trajectories on the wire, as rclpy reads and writes them."""

import math

from builtin_interfaces.msg import Duration, Time
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from robodyn_ros.errors import ArgumentError, TrajectoryError
from robodyn_ros.wire.cdr import write
from robodyn_ros.wire.codecs import (
    EffortDecoder, EffortEncoder, JointStateDecoder, JointStateEncoder)
from robodyn_ros.wire.decoders import ACCEPTED, FOREIGN, LENGTHS
from robodyn_ros.wire.joint_trajectory import FIELDS, JointTrajectoryMessage
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header, MultiArrayDimension, MultiArrayLayout
from trajectories import head, trajectory_bytes
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

NAMES = ('a', 'elbow', 'Gelenk_ä', '')
TEXT = st.text(st.characters(exclude_characters='\0', exclude_categories=('Cs',)), max_size=9)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)


def message(names=NAMES, position=None, velocity=None, effort=None, frame_id='base', stamp=(7, 9)):
    """Return a serialized JointState; arrays that are not given count 1, 2, 3 or -1, -2, -3."""
    state = JointState()
    state.header.frame_id = frame_id
    state.header.stamp.sec, state.header.stamp.nanosec = stamp
    count = np.arange(1.0, len(names) + 1)
    state.name = list(names)
    state.position = list(count if position is None else position)
    state.velocity = list(-count if velocity is None else velocity)
    state.effort = list(10 * count if effort is None else effort)
    return serialize_message(state)


def numbers(decoder):
    return decoder.state.view(float).reshape(-1, 7)[:, :4].copy()


def rows(serialized, names, received):
    """Return what rclpy reads for our names: rows of position, velocity, effort, received."""
    read = deserialize_message(serialized, JointState)
    at = {name: k for k, name in enumerate(read.name)}
    return np.array([[read.position[at[n]],
                      read.velocity[at[n]] if len(read.velocity) else math.nan,
                      read.effort[at[n]] if len(read.effort) else math.nan, received]
                     if n in at else 4 * [math.nan] for n in names]).reshape(-1, 4)


@settings(max_examples=100)
@given(st.data())
def test_reads_what_rclpy_reads(data):
    present = data.draw(st.lists(TEXT, unique=True, max_size=9))
    ours = data.draw(st.permutations(present))[:data.draw(st.integers(0, len(present)))]
    absent = data.draw(st.lists(TEXT.filter(lambda n: n not in present), unique=True, max_size=2))
    values = st.lists(NUMBER, min_size=len(present), max_size=len(present))
    stamp = data.draw(st.tuples(st.integers(-2**31, 2**31 - 1), st.integers(0, 999_999_999)))
    serialized = message(present, data.draw(values), data.draw(values | st.just([])),
                         data.draw(values | st.just([])), data.draw(TEXT), stamp)
    decoder = JointStateDecoder([*ours, *absent])
    code = decoder.decode(serialized, 3.5)
    assert code == (ACCEPTED if ours else FOREIGN)
    np.testing.assert_array_equal(numbers(decoder), rows(serialized, [*ours, *absent], 3.5))
    if ours:
        assert decoder.stamp == pytest.approx(stamp[0] + 1e-9 * stamp[1], rel=1e-15)
        assert decoder.missing == tuple(absent)


@settings(max_examples=70)
@given(st.lists(TEXT, max_size=9), TEXT, st.integers(-2**31, 2**31 - 1), st.data())
def test_rclpy_reads_what_the_encoder_writes(names, frame_id, seconds, data):
    encoder = JointStateEncoder(names, frame_id)
    for _ in range(2):
        position, velocity, effort = (
            data.draw(st.lists(NUMBER, min_size=len(names), max_size=len(names)))
            for _ in range(3))
        read = deserialize_message(
            encoder.encode(seconds * 10**9 + 123, position, velocity, effort), JointState)
        assert (read.header.stamp.sec, read.header.stamp.nanosec) == (seconds, 123)
        assert (read.header.frame_id, list(read.name)) == (frame_id, list(names))
        assert [list(a) for a in (read.position, read.velocity, read.effort)] == [
            position, velocity, effort]


def test_joints_may_be_spread_over_messages_in_any_order():
    decoder = JointStateDecoder(NAMES)
    assert decoder.missing == NAMES
    arm, rest = message(['elbow', 'wheel', 'a']), message(['', 'Gelenk_ä'], effort=[])
    for k in range(3):
        assert decoder.decode(arm, 2.0 * k) == ACCEPTED
        assert decoder.decode(rest, 2.0 * k + 1) == ACCEPTED
        np.testing.assert_array_equal(numbers(decoder), [
            [3, -3, 30, 2 * k], [1, -1, 10, 2 * k],
            [2, -2, math.nan, 2 * k + 1], [1, -1, math.nan, 2 * k + 1]])
    assert decoder.missing == ()


def test_publishers_of_a_joint_are_told_apart():
    """`other` is when the joint was last heard of from somebody else."""
    decoder = JointStateDecoder(['a', 'elbow'])
    nobody = math.nan
    for received, sequence, names, other in ((1.0, 7, ['a'], [nobody, nobody]),
                                             (1.5, 1, ['elbow', 'x'], [nobody, nobody]),
                                             (2.0, 8, ['a'], [nobody, nobody]),
                                             (3.0, 2, ['a', 'elbow'], [2.0, nobody]),
                                             (4.0, 3, ['a', 'elbow'], [2.0, nobody]),
                                             (5.0, 9, ['a'], [2.0, nobody]),
                                             (6.0, 9, ['a'], [5.0, nobody]),
                                             (7.0, nobody, ['a'], [5.0, nobody]),
                                             (8.0, 1, ['a'], [5.0, nobody])):
        assert decoder.decode(message(names), received, sequence) == ACCEPTED
        np.testing.assert_array_equal(decoder.state.other, other)
    decoder.forget()
    assert decoder.missing == ('a', 'elbow') and np.isnan(decoder.state.other).all()


def test_names_are_checked():
    with pytest.raises(ArgumentError, match='twice'):
        JointStateDecoder(['a', 'b', 'a'])
    with pytest.raises(ArgumentError, match='NUL'):
        JointStateEncoder(['a\0'])
    with pytest.raises(ArgumentError, match=r'velocity has shape \(1,\).*\(2,\)'):
        JointStateEncoder(['a', 'b']).encode(0, [1, 2], [1], [1, 2])


@pytest.mark.parametrize('numbers', [1.0, [1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]]])
def test_numbers_are_never_broadcast(numbers):
    out = np.zeros(2)
    with pytest.raises(ArgumentError, match=r'tau has shape .*: give it shape \(2,\)'):
        write('tau', numbers, out)
    assert not out.any()


def effort_message(data, labels=()):
    dimensions = [MultiArrayDimension(label=text, size=2, stride=3) for text in labels]
    return serialize_message(Float64MultiArray(layout=MultiArrayLayout(dim=dimensions), data=data))


@given(st.lists(NUMBER, max_size=9), st.lists(st.text('ä/x', max_size=7), max_size=3))
def test_reads_what_rclpy_writes(data, labels):
    out = np.full(len(data), np.nan)
    assert EffortDecoder(len(data)).decode(effort_message(data, labels), out) == ACCEPTED
    assert out.tolist() == data


@given(st.lists(NUMBER, max_size=9))
def test_rclpy_reads_encoded_efforts(tau):
    encoder = EffortEncoder(len(tau))
    for numbers in ([7.0] * len(tau), tau):
        read = deserialize_message(encoder.encode(numbers), Float64MultiArray)
        assert (read.data.tolist(), read.layout.dim) == (numbers, [])


def test_a_refused_message_leaves_the_output_alone():
    # Others are in test_wire_fuzz.py.
    out = np.full(3, 7.0)
    assert EffortDecoder(3).decode(effort_message([1, 2]), out) == LENGTHS
    assert out.tolist() == [7, 7, 7]
    with pytest.raises(ArgumentError, match=r'out has shape \(3,\): give it shape \(2,\)'):
        EffortDecoder(2).decode(effort_message([1, 2]), np.zeros(3))
    with pytest.raises(ArgumentError, match='tau has shape'):
        EffortEncoder(2).encode(np.zeros(1))


def trajectory_message(**change):
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
    # A trajectory_message that ends before its last byte is never read as a shorter one.
    whole = trajectory_bytes(['a', 'b'], [0.0, 1.0, 2.0], np.zeros((3, 2)))
    assert JointTrajectoryMessage(whole).points()[0].tolist() == [0.0, 1.0, 2.0]
    for size in range(len(whole)):
        assert 'ends' in (why := refusal(whole[:size])) or 'cut off' in why
    # Big-endian bytes are not taken for little-endian ones.
    data = bytearray(serialize_message(trajectory_message()))
    data[1] = 0
    assert 'little-endian' in refusal(bytes(data)) and 'little-endian' in refusal(b'')
    # Two joints never become one by decoding.
    data = bytearray(serialize_message(trajectory_message(joint_names=['??', '!!'])))
    data[data.index(b'??'):data.index(b'??') + 2] = b'\xff\xfe'
    data[data.index(b'!!'):data.index(b'!!') + 2] = b'\xfe\xff'
    first, second = JointTrajectoryMessage(bytes(data)).joint_names
    assert first != second and repr(first) == r"'\udcff\udcfe'"


@pytest.mark.parametrize(('change', 'why'), [
    ({'points': []}, 'the trajectory has no waypoints'),
    ({'joint_names': ['a']}, 'the positions of waypoint 0 are 2 numbers: pass one for each of '
                             'the 1 names'),
    ({'joint_names': 100_000 * ['a']}, '100000 joint names: use at most 1000'),
    ({'joint_names': ['a', 50_000 * 'b']}, 'a joint name of 50000 bytes: use at most 1000'),
    ({'header': Header(frame_id=50_000 * 'b')}, 'the frame id of 50000 bytes'),
    ({'header': Header(stamp=Time(nanosec=10**9))}, 'the stamp has 1000000000 ns')])
def test_refused_whole(change, why):
    """What is wrong, with the number found and the number there may be."""
    assert why in refusal(serialize_message(trajectory_message(**change)))


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
    asked = trajectory_message()
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
