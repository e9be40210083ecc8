# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
import sys

from motions import recorded, robot
import numpy as np
import pytest
from robodyn_ros.errors import RecordingError, UnknownNameError
from robodyn_ros.extras import pip_install_extra
from robodyn_ros.identification.recordings.read import read
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import get_typestore, Stores

pytestmark = pytest.mark.slow

STORE = get_typestore(Stores.ROS2_HUMBLE)
TYPE = 'sensor_msgs/msg/JointState'
START = 1_700_000_000 * 10**9
PLUGINS = (StoragePlugin.SQLITE3, StoragePlugin.MCAP)


def message(stamp, names, *values):
    types = STORE.types
    stamp = types['builtin_interfaces/msg/Time'](*divmod(stamp, 10**9))
    header = types['std_msgs/msg/Header'](stamp, '')
    return types[TYPE](header, list(names), *(np.array(v, float) for v in values))


def samples(r, joints, late=0, stamped=True):
    """Messages of some joints, the log's time each a little later than the stamp."""
    index = [r.joint_names.index(name) for name in joints]
    for k, t in enumerate(r.time):
        stamp = START + round(t * 1e9)
        yield stamp + late, message(stamp if stamped else 0, joints, r.position[k, index],
                                    r.velocity[k, index], r.effort[k, index])


def write(path, topics, plugin=StoragePlugin.MCAP):
    """Write a bag of messages by topic; '/names' is a topic of another type."""
    with Writer(path, version=9, storage_plugin=plugin) as writer:
        for topic, publishers in topics.items():
            for publisher in publishers:
                kind = 'std_msgs/msg/String' if topic == '/names' else TYPE
                connection = writer.add_connection(topic, kind, typestore=STORE)
                for received, content in publisher:
                    writer.write(connection, received, STORE.serialize_cdr(content, kind))
    return path


@pytest.fixture(scope='module')
def some():
    """Let a second of a recording be enough to read."""
    r = recorded('two_link')
    return type(r)(r.joint_names, r.time[:250], r.position[:250], r.velocity[:250], r.effort[:250])


def compare(r, expected):
    assert r.joint_names == expected.joint_names
    np.testing.assert_allclose(r.time, expected.time, atol=1e-8)
    for name in ('position', 'velocity', 'effort'):
        np.testing.assert_array_equal(getattr(r, name), getattr(expected, name))


@pytest.mark.parametrize('plugin', PLUGINS)
def test_a_bag_with_and_without_metadata(tmp_path, plugin, some):
    bag = write(tmp_path / 'bag', {
        '/joint_states': [samples(some, ('joint2', 'joint1'), late=10**6)],
        '/names': [[(START, STORE.types['std_msgs/msg/String']('x'))]]}, plugin)
    for path in (bag, next(p for p in bag.iterdir() if p.suffix in ('.mcap', '.db3'))):
        r = read(path, robot('two_link'))
        compare(r, some)
        assert '250 messages of /joint_states' in r.notes[0] and 'header stamps' in r.notes[0]
    (bag / 'metadata.yaml').unlink()
    compare(read(bag, robot('two_link')), some)


def test_messages_that_came_out_of_order(tmp_path, some):
    """As from a network, for joints in messages of their own, too."""
    both = [*samples(some, some.joint_names)]
    both[40], both[41], both[80:83] = both[41], both[40], both[82:79:-1]
    received = [(START + 10**6 * k, content) for k, (_, content) in enumerate(both)]
    r = read(write(tmp_path / 'both', {'/joint_states': [received]}), robot('two_link'))
    compare(r, some)
    assert any('3 messages were out of order' in note for note in r.notes)
    apart = [*samples(some, ('joint1',))], [*samples(some, ('joint2',))]
    apart[0][40], apart[0][41] = apart[0][41], apart[0][40]
    received = [(START + 10**6 * k, content) for k, (_, content) in enumerate(
        each for pair in zip(*apart) for each in pair)]
    r = read(write(tmp_path / 'apart', {'/joint_states': [received]}), robot('two_link'))
    np.testing.assert_allclose(r.position, some.position, atol=1e-9)


def test_without_stamps_the_time_of_receipt(tmp_path, some):
    bag = write(tmp_path / 'bag', {'/joint_states': [samples(some, some.joint_names,
                                                             stamped=False)]})
    r = read(bag, robot('two_link'))
    compare(r, some)
    assert 'times of receipt (all header stamps are zero)' in r.notes[0]


def test_joints_that_are_called_otherwise(tmp_path, some):
    def bag(name, joints):
        renamed = type(some)(joints, some.time, some.position, some.velocity, some.effort)
        return write(tmp_path / name, {'/joint_states': [samples(renamed, joints)]})

    r = read(bag('numbers', ('fer_joint1', 'fer_joint2')), robot('two_link'))
    compare(r, some)
    assert any('fer_joint1 → joint1, fer_joint2 → joint2' in note for note in r.notes)
    words = bag('words', ('shoulder', 'elbow'))
    with pytest.raises(RecordingError, match=r'it has shoulder, elbow.*joint_names='):
        read(words, robot('two_link'))
    compare(read(words, robot('two_link'), joint_names=('shoulder', 'elbow')), some)
    with pytest.raises(UnknownNameError, match="no joint in words, /joint_states 'knee'"):
        read(words, robot('two_link'), joint_names=('shoulder', 'knee'))
    with pytest.raises(RecordingError, match='1 names of joints'):
        read(words, robot('two_link'), joint_names=('shoulder',))


def test_joints_of_two_publishers(tmp_path, some):
    publishers = [samples(some, ('joint1',)), samples(some, ('joint2',), late=1000)]
    merged = sorted((m for p in publishers for m in p), key=lambda m: m[0])
    bag = write(tmp_path / 'bag', {'/joint_states': [merged]})
    r = read(bag, robot('two_link'))
    np.testing.assert_allclose(r.position, some.position, atol=1e-9)
    assert any('2 kinds' in note for note in r.notes)


def test_which_topic(tmp_path, some):
    hand = type(some)(('finger',), some.time, some.position[:, :1], some.velocity[:, :1],
                      some.effort[:, :1])
    bag = write(tmp_path / 'bag', {'/hand/joint_states': [samples(hand, ('finger',))],
                                   '/arm/joint_states': [samples(some, some.joint_names)]})
    compare(read(bag, robot('two_link')), some)
    with pytest.raises(RecordingError, match='none of the joints of the model: it has finger'):
        read(bag, robot('two_link'), topic='/hand/joint_states')
    with pytest.raises(UnknownNameError, match='/arm/joint_states'):
        read(bag, robot('two_link'), topic='/arm/joint_state')
    bag = write(tmp_path / 'two', {f'/{x}/joint_states': [samples(some, some.joint_names)]
                                   for x in 'ab'})
    with pytest.raises(RecordingError, match='2 topics'):
        read(bag, robot('two_link'))
    compare(read(bag, robot('two_link'), topic='/b/joint_states'), some)


def test_units_of_a_driver(tmp_path, some):
    wrong = type(some)(some.joint_names, some.time, np.rad2deg(some.position), some.velocity,
                       -some.effort)
    bag = write(tmp_path / 'bag', {'/joint_states': [samples(wrong, some.joint_names)]})
    r = read(bag, robot('two_link'), units={'position': 'deg', 'effort': '-N·m'})
    np.testing.assert_allclose(r.position, some.position, atol=1e-12)
    np.testing.assert_array_equal(r.effort, some.effort)


def test_what_is_no_bag(tmp_path, some):
    (tmp_path / 'a.mcap').write_bytes(b'no bag')
    (tmp_path / 'a.db3').write_bytes(b'no bag')
    (tmp_path / 'empty').mkdir()
    bag = write(tmp_path / 'bag', {'/names': [[(START, STORE.types['std_msgs/msg/String']('x'))]]})
    for path in ('a.mcap', 'a.db3', 'empty', bag):
        with pytest.raises(RecordingError):
            read(tmp_path / path, robot('two_link'))


def test_without_rosbags_it_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / 'a.mcap').write_bytes(b'')
    for name in {'rosbags', *(name for name in sys.modules if name.startswith('rosbags.'))}:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(RecordingError, match='rosbags') as refused:
        read(tmp_path / 'a.mcap', robot('two_link'))
    assert pip_install_extra('identify') in str(refused.value)
