# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of messages: bags, echoes in a file, and joints side by side."""

from dataclasses import replace
import sys
import tracemalloc

from backports import zstd
import motions
from motions import noted, recorded, robot
import numpy as np
import pytest
from robodyn_ros.errors import RecordingError, UnknownNameError
from robodyn_ros.extras import pip_install_extra
from robodyn_ros.identification.recordings.read import read
from robodyn_ros.identification.recordings.recording import Recording
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import get_typestore, Stores

pytestmark = pytest.mark.slow

STORE = get_typestore(Stores.ROS2_HUMBLE)
TYPE, TEXT = 'sensor_msgs/msg/JointState', 'std_msgs/msg/String'
SECONDS = 1_757_503_719
START = SECONDS * 10**9
NAMES = 'a', 'b', 'c'
PLUGINS = (StoragePlugin.SQLITE3, StoragePlugin.MCAP)
R = recorded('two_link', duration=1.0)
COUNT = len(R)
ROS1_HEADER = '%time,field.header.seq,field.header.stamp,field.header.frame_id,' + ','.join(
    f'field.{name}{k}' for name in ('name', 'position', 'velocity', 'effort') for k in range(2))


def compare(r, rtol=0.0):
    motions.compare(r, R, rtol, 1e-2 * rtol)


# Bags

def message(stamp, names, *values):
    types = STORE.types
    stamp = types['builtin_interfaces/msg/Time'](*divmod(stamp, 10**9))
    header = types['std_msgs/msg/Header'](stamp, '')
    return types[TYPE](header, list(names), *(np.array(v, float) for v in values))


def samples(joints=R.joint_names, late=0, stamped=True, r=R):
    """Messages of some joints, the log's time each a little later than the stamp."""
    index = [r.joint_names.index(name) for name in joints]
    for k, t in enumerate(r.time):
        stamp = START + round(t * 1e9)
        yield stamp + late, message(stamp if stamped else 0, joints, r.position[k, index],
                                    r.velocity[k, index], r.effort[k, index])


@pytest.fixture
def write(tmp_path):
    """Return what writes a bag of messages by topic; '/names' is a topic of another type."""
    def write(topics, name='bag', plugin=StoragePlugin.MCAP):
        path = tmp_path / name
        with Writer(path, version=9, storage_plugin=plugin) as writer:
            for topic, messages in topics.items():
                kind = TEXT if topic == '/names' else TYPE
                connection = writer.add_connection(topic, kind, typestore=STORE)
                for received, content in messages:
                    writer.write(connection, received, STORE.serialize_cdr(content, kind))
        return path
    return write


OTHER = {'/names': [(START, STORE.types[TEXT]('x'))]}


@pytest.mark.parametrize('plugin', PLUGINS)
def test_a_bag_with_and_without_metadata(write, plugin):
    bag = write({'/joint_states': samples(('joint2', 'joint1'), late=10**6), **OTHER},
                plugin=plugin)
    for path in (bag, next(p for p in bag.iterdir() if p.suffix in ('.mcap', '.db3'))):
        r = read(path, robot('two_link'))
        compare(r)
        assert '250 messages of /joint_states' in r.notes[0] and 'header stamps' in r.notes[0]
    (bag / 'metadata.yaml').unlink()
    compare(read(bag, robot('two_link')))
    file = next(bag.iterdir())
    (bag / f'{file.name}.zstd').write_bytes(zstd.compress(file.read_bytes()))
    compare(read(bag / f'{file.name}.zstd', robot('two_link')))
    file.unlink()
    compare(read(bag, robot('two_link')))


def test_messages_of_a_bag_that_came_out_of_order(write):
    """As from a network, for joints in messages of their own, too."""
    both = [*samples()]
    both[40], both[41], both[80:83] = both[41], both[40], both[82:79:-1]
    received = [(START + 10**6 * k, content) for k, (_, content) in enumerate(both)]
    r = read(write({'/joint_states': received}), robot('two_link'))
    compare(r)
    assert noted(r, '3 messages were out of order')
    apart = [*samples(('joint1',))], [*samples(('joint2',))]
    apart[0][40], apart[0][41] = apart[0][41], apart[0][40]
    received = [(START + 10**6 * k, content) for k, (_, content) in enumerate(
        each for pair in zip(*apart) for each in pair)]
    r = read(write({'/joint_states': received}, 'apart'), robot('two_link'))
    np.testing.assert_allclose(r.position, R.position, atol=1e-9)


def test_stamps_publishers_and_units(write):
    r = read(write({'/joint_states': samples(stamped=False)}), robot('two_link'))
    compare(r)
    assert 'times of receipt (all header stamps are zero)' in r.notes[0]
    merged = sorted([*samples(('joint1',)), *samples(('joint2',), late=1000)],
                    key=lambda one: one[0])
    r = read(write({'/joint_states': merged}, 'merged'), robot('two_link'))
    np.testing.assert_allclose(r.position, R.position, atol=1e-9)
    assert noted(r, '2 kinds')
    wrong = replace(R, position=np.rad2deg(R.position), effort=-R.effort)
    r = read(write({'/joint_states': samples(r=wrong)}, 'wrong'), robot('two_link'),
             units={'position': 'deg', 'effort': '-N·m'})
    np.testing.assert_allclose(r.position, R.position, atol=1e-12)
    np.testing.assert_array_equal(r.effort, R.effort)


def test_joints_of_a_bag_that_are_called_otherwise(write):
    def bag(name, joints):
        return write({'/joint_states': samples(joints, r=replace(R, joint_names=joints))}, name)

    r = read(bag('numbers', ('fer_joint1', 'fer_joint2')), robot('two_link'))
    compare(r)
    assert noted(r, 'fer_joint1 → joint1, fer_joint2 → joint2')
    words = bag('words', ('shoulder', 'elbow'))
    compare(read(words, robot('two_link'), joint_names=('shoulder', 'elbow')))
    for names, error, said in (
            (None, RecordingError, r'it has shoulder, elbow.*joint_names='),
            (('shoulder', 'knee'), UnknownNameError, "no joint in words, /joint_states 'knee'"),
            (('shoulder',), RecordingError, '1 names of joints')):
        with pytest.raises(error, match=said):
            read(words, robot('two_link'), joint_names=names)


def test_which_topic(write):
    hand = Recording(('finger',), R.time, R.position[:, :1], R.velocity[:, :1], R.effort[:, :1])
    bag = write({'/hand/joint_states': samples(('finger',), r=hand),
                 '/arm/joint_states': samples()})
    two = write({f'/{x}/joint_states': samples() for x in 'ab'}, 'two')
    compare(read(bag, robot('two_link')))
    compare(read(two, robot('two_link'), topic='/b/joint_states'))
    for path, topic, error, said in (
            (bag, '/hand/joint_states', RecordingError, 'none of the joints.*it has finger'),
            (bag, '/arm/joint_state', UnknownNameError, '/arm/joint_states'),
            (two, None, RecordingError, '2 topics')):
        with pytest.raises(error, match=said):
            read(path, robot('two_link'), topic=topic)


def test_what_is_no_bag(write, tmp_path, monkeypatch):
    (tmp_path / 'a.mcap').write_bytes(b'no bag')
    (tmp_path / 'a.db3').write_bytes(b'no bag')
    (tmp_path / 'empty').mkdir()
    (tmp_path / 'a.db3.zstd').write_bytes(b'no bag')
    for path in ('a.mcap', 'a.db3', 'a.db3.zstd', 'empty', write(OTHER)):
        with pytest.raises(RecordingError):
            read(tmp_path / path, robot('two_link'))
    for name in {'rosbags', *(name for name in sys.modules if name.startswith('rosbags.'))}:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(RecordingError, match='rosbags') as refused:
        read(tmp_path / 'a.mcap', robot('two_link'))
    assert pip_install_extra('identify') in str(refused.value)


def test_a_damaged_length_asks_for_no_memory(write):
    path, = write({'/joint_states': samples()}).glob('*.mcap')
    content = path.read_bytes()
    at = 9              # of the length of the first record, behind the magic bytes and its kind
    path.write_bytes(content[:at] + (2**30).to_bytes(8, 'little') + content[at + 8:])
    with pytest.raises(RecordingError):     # before: what is imported only once
        read(path, robot('two_link'))
    tracemalloc.start()
    try:
        with pytest.raises(RecordingError, match='Truncated'):
            read(path, robot('two_link'))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 2**27


# Echoes of `ros2 topic echo --csv` and of `rostopic echo -p`

def numbers(k, joints):
    index = [R.joint_names.index(name) for name in joints]
    return [f'{x:.9g}' for a in (R.position, R.velocity, R.effort) for x in a[k, index]]


def ros2(k, joints=('joint2', 'joint1'), back=0):
    seconds, nanoseconds = divmod(round(1e9 * R.time[k]) - back, 10**9)
    return ','.join([str(SECONDS + seconds), str(nanoseconds), 'base_link', *joints,
                     *numbers(k, joints)])


def ros1(k, joints=('joint2', 'joint1')):
    stamp = START + round(1e9 * R.time[k])
    return ','.join([str(stamp + 10**6), str(k), str(stamp), '', *joints, *numbers(k, joints)])


@pytest.fixture
def echoed(tmp_path):
    """Return what reads lines of a file."""
    def echoed(lines, **how):
        (tmp_path / 'a.csv').write_text('\n'.join(lines))
        return read(tmp_path / 'a.csv', robot('two_link'), **how)
    return echoed


def test_echoes(echoed):
    # No header; the names of the joints are cells, and so a line of its own is no message.
    lines = [ros2(k) for k in range(COUNT)]
    lines[50:50] = ['A message was lost!!!', '\ttotal count change:1']
    r = echoed([*lines, '1757503720,5,base'])
    compare(r, 1e-7)
    assert r.notes[0] == (f'{COUNT} lines of `ros2 topic echo --csv`, 3 others left out; time: '
                          'header stamps')
    # The header is a comment, names are cells, and the stamp is not the time of receipt.
    r = echoed([ROS1_HEADER, *(ros1(k) for k in range(COUNT))])
    compare(r, 1e-7)
    assert r.notes[0] == f'{COUNT} lines of `rostopic echo -p`; time: header stamps'
    # A gripper on the same topic, and a driver that changes the order of its joints.
    compare(echoed([text for k in range(COUNT) for text in (
        ros2(k, ('joint1', 'joint2') if k % 2 else ('joint2', 'joint1')),
        f'{SECONDS},{k},,finger,0.1,0.2,0.3')]), 1e-7)


def test_joints_of_an_echo_that_are_called_otherwise(echoed):
    lines = [ros2(k).replace('joint1', 'shoulder').replace('joint2', 'elbow')
             for k in range(COUNT)]
    with pytest.raises(RecordingError, match='it has elbow, shoulder'):
        echoed(lines)
    compare(echoed(lines, joint_names=('shoulder', 'elbow')), 1e-7)


def test_columns_of_a_line_that_lacks_efforts_are_asked_for(echoed):
    """Velocities or efforts: a line does not say which; column numbers are those of the file."""
    lines = [ros2(k).rsplit(',', 2)[0] for k in range(COUNT)]
    with pytest.raises(RecordingError, match='no header and 9 columns'):
        echoed(lines)
    r = echoed(lines, rate=250.0, columns={'position': [6, 5]})
    np.testing.assert_allclose(r.position, R.position, rtol=1e-7, atol=1e-9)


def test_echoes_out_of_order(echoed):
    """Late ones are sorted; where the clock is set back, what follows is another stretch."""
    lines = [ros2(k) for k in range(COUNT)]
    lines[40:43], lines[90:92] = lines[42:39:-1], lines[91:89:-1]
    r = echoed(lines)
    compare(r, 1e-7)
    assert any(note.startswith('3 messages were out of order') for note in r.notes)
    r = echoed([ros2(k, back=5 * 10**8 if k >= 100 else 0) for k in range(COUNT)])
    np.testing.assert_allclose(r.position, R.position, rtol=1e-7, atol=1e-9)
    assert np.flatnonzero(np.diff(r.time) < 0).tolist() == [99]


# Messages

def messages(count=50, period=0.01):
    """Joints a and b in every message, c in others between them, twice as slow."""
    for k in range(count):
        t = k * period
        yield t, ('a', 'b'), (t, 2 * t), (1.0, 2.0), (5.0, 6.0)
        if k % 2 == 0:
            yield t + period / 3, ('c',), (3 * (t + period / 3),), (3.0,), (7.0,)


def test_messages_of_all_joints_are_the_samples():
    r = Recording.from_messages([(0.1 * k, NAMES, (k, 2 * k, 3 * k), (), (1, 2, 3))
                                 for k in range(5)])
    assert r.joint_names == NAMES and r.velocity is None and not r.notes
    np.testing.assert_array_equal(r.position, np.outer(np.arange(5), [1, 2, 3]))
    np.testing.assert_array_equal(r.effort, np.tile([1, 2, 3], (5, 1)))
    # In any order, and of some joints only
    r = Recording.from_messages([(0.0, ('a', 'b'), (1, 2), (), ()),
                                 (0.1, ('b', 'a'), (2, 1), (), ())])
    np.testing.assert_array_equal(r.position, [[1, 2], [1, 2]])
    r = Recording.from_messages(messages(), joints=('b', 'x'))
    assert r.joint_names == ('b',) and len(r) == 50


def test_partial_messages():
    r = Recording.from_messages(messages())
    assert r.joint_names == NAMES
    np.testing.assert_allclose(r.position, np.outer(r.time, [1, 2, 3]), atol=1e-12)
    np.testing.assert_allclose(r.effort, np.tile([5, 6, 7], (len(r), 1)))
    # At the stamps of a and b that have some of c on both sides
    assert len(r) == 48 and r.time[0] == pytest.approx(0.01)
    assert noted(r, 'put together')
    r = Recording.from_messages(m for m in messages(200) if m[1] != ('c',) or not 0.5 < m[0] < 1)
    inside = (r.time > 0.52) & (r.time < 0.98)
    assert not inside.any() and (r.time > 1.01).any()
    assert noted(r, 'left out')


def test_messages_that_say_nothing_are_refused():
    good = (0.0, ('a', 'b'), (1.0, 2.0), (), ())
    r = Recording.from_messages([good, (1.0, ('a', 'b'), (1.0,), (), ()),
                                 (2.0, ('a', 'a'), (1.0, 2.0), (), ())])
    assert len(r) == 1 and '2 messages refused' in r.notes[0]
    with pytest.raises(RecordingError, match='no joint positions'):
        Recording.from_messages([(0.0, ('a',), (), (), (1.0,))])
    with pytest.raises(RecordingError, match='run backwards') as refused:
        Recording.from_messages([*messages(), *messages()])
    assert 'one clock' in refused.value.remedy
    with pytest.raises(RecordingError, match='panda_joint1') as refused:
        R.of(robot('panda').joint_names)
    assert refused.value.name == 'panda_joint1'


def test_order_and_extra_joints():
    more = Recording(('x', 'joint2', 'joint1'), R.time,
                     np.c_[R.time, R.position[:, ::-1]], None, np.c_[R.time, R.effort[:, ::-1]])
    same = more.of(('joint1', 'joint2'))
    np.testing.assert_array_equal(same.position, R.position)
    np.testing.assert_array_equal(same.effort, R.effort)
    assert 'x' in same.notes[-1]


@pytest.mark.parametrize('arrays', [{'position': np.zeros((3, 2))}, {'effort': np.zeros((4, 1))},
                                    {'time': np.zeros((4, 1))}, {'joint_names': ('a', 'a')}])
def test_shapes(arrays):
    with pytest.raises(RecordingError):
        Recording(**{'joint_names': ('a', 'b'), 'time': np.arange(4.0),
                     'position': np.zeros((4, 2)), **arrays})
