# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`robodyn record` as a person runs it, on topics that the test publishes."""

from functools import cache
import os
import sys
import time

import numpy as np
from processes import until
import pytest
from rclpy.qos import QoSProfile, ReliabilityPolicy
from robodyn_ros import load_urdf
from robodyn_ros.cli.play import record
from robodyn_ros.errors import RecordingError, RobodynError, RosError
from robodyn_ros.identification.recordings import recording as recording_file
from robodyn_ros.identification.recordings.read import read
from robodyn_ros.identification.recordings.recording import Recording
from robodyn_ros.model.resources import robot_path
from robodyn_ros.nodes.clients.record import Recorder
from robodyn_ros.nodes.middleware.raw_subscription import Sample
from robodyn_ros.wire.codecs import JointStateEncoder
from sensor_msgs.msg import JointState

RECORD = [sys.executable, '-m', 'robodyn_ros.cli', 'record']
JOINTS = ('joint1', 'joint2')
STEP = 5_000_000            # ns
BEGIN = 1_700_000_000 * 10**9


@cache
def model():
    return load_urdf(robot_path('two_link'))


def sample(k):
    """Return the k-th message that was published: positions, velocities, efforts of both."""
    return np.array([[0.1 * k, -0.2 * k], [k, k + 0.25], [1 / (k + 1), 3.0]])


class Robot:
    """Publishes numbered states, of some joints each."""

    def __init__(self, node, topic='joint_states', groups=((0, 1),), qos=10):
        self.publishers = [node.create_publisher(JointState, topic, qos) for _ in groups]
        self.groups, self.count = groups, 0
        self.encoders = [JointStateEncoder([JOINTS[i] for i in group]) for group in groups]

    def publish(self):
        for publisher, group, encoder in zip(self.publishers, self.groups, self.encoders):
            publisher.publish(encoder.encode(BEGIN + self.count * STEP,
                                             *sample(self.count)[:, list(group)]))
        self.count += 1

    def until(self, condition):
        until(condition, lambda: self.publish() or time.sleep(0.002))

    def heard(self):
        return all(p.get_subscription_count() for p in self.publishers)


def check(recording):
    """Check that what was recorded are messages in a row, every bit."""
    first = round(recording.velocity[0, 0])
    rows = np.array([sample(first + k) for k in range(len(recording))])
    np.testing.assert_array_equal(recording.position, rows[:, 0])
    np.testing.assert_array_equal(recording.velocity, rows[:, 1])
    np.testing.assert_array_equal(recording.effort, rows[:, 2])
    np.testing.assert_allclose(recording.time - recording.time[0],
                               1e-9 * STEP * np.arange(len(recording)), atol=1e-9)


def test_until_ctrl_c(start, tmp_path, node):
    path = tmp_path / 'motion.npz'
    process = start(RECORD, path)
    robot = Robot(node)
    robot.until(lambda: 'recording /joint_states; Ctrl-C' in process.text)
    more = robot.count + 150
    robot.until(lambda: robot.count > more)
    time.sleep(0.1)             # what is under way
    assert process.interrupt() == 0, process.text
    recording = read(path, model())
    check(recording)
    assert len(recording) > 100 and recording.joint_names == JOINTS
    assert f'{len(recording)} samples of 2 joints (position, velocity, effort)' in process.text
    assert os.listdir(tmp_path) and not list(tmp_path.glob('.*'))


def test_so_many_seconds_from_two_publishers(start, tmp_path, node):
    """Best effort both, on a topic of another name, into a table of text."""
    path = tmp_path / 'motion.csv'
    process = start(RECORD, path, '--states', '/arm/states', '--duration', 0.5)
    robot = Robot(node, '/arm/states', ((1,), (0,)),
                  QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT))
    robot.until(lambda: process.popen.poll() is not None)
    assert process.wait() == 0, process.text
    recording = read(path, model())
    check(recording)
    assert 'messages of 2 kinds' in process.text
    header = path.read_text().splitlines()[0].split(',')
    assert header[0] == 'time' and {*header[1:3]} == {'position_joint1', 'position_joint2'}


def test_lost_messages_are_counted(node):
    recorder, robot = Recorder(node, 'joint_states'), Robot(node)
    robot.until(lambda: len(recorder) and robot.heard())
    recorder.update()
    assert recorder.lost == 0 and recorder.joints == 2
    recorder._samples.append(_later(recorder, robot, 3))
    recorder.update()
    assert recorder.lost == 3
    recorder.stop()


def _later(recorder, robot, missing):
    """Return a sample as it comes when ``missing`` ones before it did not."""
    before = recorder._numbers[JOINTS]
    return Sample(robot.encoders[0].encode(0, *sample(0)), before + missing + 1, 0)


def test_without_stamps_the_times_of_publication_count(node):
    recorder = Recorder(node, 'joint_states')
    publisher = node.create_publisher(JointState, 'joint_states', 10)
    encoder = JointStateEncoder(JOINTS)
    until(lambda: len(recorder) >= 20,
          lambda: publisher.publish(encoder.encode(0, *sample(0))) or time.sleep(0.01))
    recorder.stop()
    assert (np.diff(recorder.recording().time) > 0.009).all()


def test_what_cannot_be_recorded_is_said(tmp_path, node):
    (tmp_path / 'there.npz').write_text('precious')
    for name, said in (('a.txt', 'end it in .npz or .csv'), ('there.npz', 'is there already'),
                       ('no/a.npz', 'a folder that is not there')):
        with pytest.raises(RobodynError, match=said):
            record(tmp_path / name)
    assert (tmp_path / 'there.npz').read_text() == 'precious'
    Robot(node, '/arm/states').publish()
    with pytest.raises(RosError, match='nothing has come on /joint_states: choose another topic: '
                                       '/arm/states'):
        record(tmp_path / 'a.npz', wait=0.5)
    assert not list(tmp_path.glob('*a.npz*'))


def test_a_failed_write_loses_nothing(tmp_path, monkeypatch):
    """The folder has gone while it was recorded."""
    monkeypatch.setattr('tempfile.tempdir', str(tmp_path))
    recording = Recording(JOINTS, np.arange(3), *np.arange(18.0).reshape(3, 3, 2))
    with pytest.raises(RecordingError, match='it is in .*motion.npz: move it') as caught:
        recording_file.write(tmp_path / 'gone' / 'motion.npz', recording)
    kept = caught.value.remedy.split()[3].rstrip(':')
    np.testing.assert_array_equal(read(kept, model()).effort, recording.effort)


@pytest.mark.parametrize('suffix', ['.npz', '.csv'])
@pytest.mark.parametrize('names', [JOINTS, ('joint2', 'arm, "left"', 'joint1'),
                                   ('joint1_velocity', 'joint1', 'joint2')])
def test_files_are_read_again(tmp_path, suffix, names):
    rng = np.random.default_rng(0)
    shape = 40, len(names)
    effort = rng.normal(size=shape)
    effort[3, 0] = np.nan
    recording = Recording(names, np.arange(40) / 3, rng.normal(size=shape), None, effort)
    path = tmp_path / f'motion{suffix}'
    recording_file.write(path, recording)
    again, known = read(path, model()), recording.of(JOINTS)
    for name in ('time', 'position', 'effort'):
        np.testing.assert_array_equal(getattr(again, name), getattr(known, name))
    assert again.velocity is None
