# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joint states as ROS's own commands print them; joints in another order than the model's."""

from motions import recorded, robot
import numpy as np
import pytest
from robodyn_ros.errors import RecordingError
from robodyn_ros.identification.recordings.read import read

pytestmark = pytest.mark.slow

START = 1_757_503_719
COUNT = 200


def numbers(r, k, joints):
    index = [r.joint_names.index(name) for name in joints]
    return [f'{x:.9g}' for a in (r.position, r.velocity, r.effort) for x in a[k, index]]


def ros2(r, k, joints=('joint2', 'joint1'), stamp=None):
    seconds, nanoseconds = divmod(round(1e9 * r.time[k]) if stamp is None else stamp, 10**9)
    return ','.join([str(START + seconds), str(nanoseconds), 'base_link', *joints,
                     *numbers(r, k, joints)])


def ros1(r, k, joints=('joint2', 'joint1')):
    stamp = 10**9 * START + round(1e9 * r.time[k])
    return ','.join([str(stamp + 10**6), str(k), str(stamp), '', *joints, *numbers(r, k, joints)])


ROS1_HEADER = '%time,field.header.seq,field.header.stamp,field.header.frame_id,' + ','.join(
    f'field.{name}{k}' for name in ('name', 'position', 'velocity', 'effort') for k in range(2))


def compare(got, r, count=COUNT):
    np.testing.assert_allclose(got.time, r.time[:count] - r.time[0], atol=1e-8)
    for name in ('position', 'velocity', 'effort'):
        np.testing.assert_allclose(getattr(got, name), getattr(r, name)[:count], rtol=1e-7,
                                   atol=1e-9)


def test_ros2_topic_echo(tmp_path):
    """No header; the names of the joints are cells, and so a line of its own is no message."""
    r = recorded('two_link')
    lines = [ros2(r, k) for k in range(COUNT)]
    lines[50:50] = ['A message was lost!!!', '\ttotal count change:1']
    (tmp_path / 'a.csv').write_text('\n'.join(lines) + '\n1757503720,5,base')
    got = read(tmp_path / 'a.csv', robot('two_link'))
    compare(got, r)
    assert got.notes[0] == (f'{COUNT} lines of `ros2 topic echo --csv`, 3 others left out; time: '
                            'header stamps')


def test_messages_of_several_joints_side_by_side(tmp_path):
    """A gripper on the same topic, and a driver that changes the order of its joints."""
    r = recorded('two_link')
    lines = [text for k in range(COUNT) for text in (
        ros2(r, k, ('joint1', 'joint2') if k % 2 else ('joint2', 'joint1')),
        f'{START},{k},,finger,0.1,0.2,0.3')]
    (tmp_path / 'a.csv').write_text('\n'.join(lines))
    compare(read(tmp_path / 'a.csv', robot('two_link')), r)


def test_rostopic_echo(tmp_path):
    """The header is a comment, names are cells, and the stamp is not the time of receipt."""
    r = recorded('two_link')
    (tmp_path / 'a.csv').write_text('\n'.join([ROS1_HEADER, *(ros1(r, k) for k in range(COUNT))]))
    got = read(tmp_path / 'a.csv', robot('two_link'))
    compare(got, r)
    assert got.notes[0] == f'{COUNT} lines of `rostopic echo -p`; time: header stamps'


def test_joints_that_are_called_otherwise(tmp_path):
    r = recorded('two_link')
    text = '\n'.join(ros2(r, k) for k in range(COUNT))
    for old, new in (('joint1', 'shoulder'), ('joint2', 'elbow')):
        text = text.replace(old, new)
    (tmp_path / 'a.csv').write_text(text)
    with pytest.raises(RecordingError, match='it has elbow, shoulder'):
        read(tmp_path / 'a.csv', robot('two_link'))
    compare(read(tmp_path / 'a.csv', robot('two_link'), joint_names=('shoulder', 'elbow')), r)


def test_columns_of_a_line_that_lacks_efforts_are_asked_for(tmp_path):
    """Velocities or efforts: a line does not say which; column numbers are those of the file."""
    r = recorded('two_link')
    (tmp_path / 'a.csv').write_text('\n'.join(ros2(r, k).rsplit(',', 2)[0] for k in range(COUNT)))
    with pytest.raises(RecordingError, match='no header and 9 columns'):
        read(tmp_path / 'a.csv', robot('two_link'))
    got = read(tmp_path / 'a.csv', robot('two_link'), rate=250.0, columns={'position': [6, 5]})
    np.testing.assert_allclose(got.position, r.position[:COUNT], rtol=1e-7, atol=1e-9)


def test_messages_out_of_order(tmp_path):
    """Late ones are sorted; where the clock is set back, what follows is another stretch."""
    r = recorded('two_link')
    lines = [ros2(r, k) for k in range(COUNT)]
    lines[40:43], lines[90:92] = lines[42:39:-1], lines[91:89:-1]
    (tmp_path / 'a.csv').write_text('\n'.join(lines))
    got = read(tmp_path / 'a.csv', robot('two_link'))
    compare(got, r)
    assert any(note.startswith('3 messages were out of order') for note in got.notes)
    back = [ros2(r, k, stamp=round(1e9 * r.time[k]) - (5 * 10**8 if k >= 100 else 0))
            for k in range(COUNT)]
    (tmp_path / 'a.csv').write_text('\n'.join(back))
    got = read(tmp_path / 'a.csv', robot('two_link'))
    np.testing.assert_allclose(got.position, r.position[:COUNT], rtol=1e-7, atol=1e-9)
    assert np.flatnonzero(np.diff(got.time) < 0).tolist() == [99]
