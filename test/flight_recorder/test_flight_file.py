# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Flight recordings come back bit by bit, are what viewers read, and are refused when damaged."""

from functools import cache
from io import BytesIO
import json
import zipfile

from control.rig import risen, TWO_LINK as MODEL
from flight_recorder.flights import about, eventful, go, same_bits
from hypothesis import example, given, HealthCheck, settings, strategies as st
import numpy as np
import own_laws
import pytest
from robodyn_ros.control.laws import registry
from robodyn_ros.errors import RecordingError
from robodyn_ros.flight_recorder import arrays, file
from robodyn_ros.flight_recorder.replay import last_fault
from robodyn_ros.wire.codecs import EffortDecoder, JointStateDecoder
from robodyn_ros.wire.decoders import ACCEPTED
from robots import differences
from thorough import seeds

pytestmark = pytest.mark.slow

mcap_reader = pytest.importorskip('mcap.reader', reason='needs pip install mcap')


@cache
def flown():
    """Return a snapshot, and where it comes from."""
    rig = eventful(1500)
    return rig.controller.history.take(), about(rig.controller)


@pytest.fixture(scope='module')
def path(tmp_path_factory):
    snapshot, said = flown()
    path = tmp_path_factory.mktemp('flight') / 'a flight.mcap'
    file.write(path, MODEL, snapshot, said)
    return path


def same(one, other):
    """Whether two snapshots are the same, bit by bit."""
    arrays = all(a.tobytes() == b.tobytes() and a.dtype == b.dtype and a.shape == b.shape
                 for a, b in zip(one[:5], other[:5]))
    versions = one.versions.keys() == other.versions.keys() and all(
        b.settings.mode == a.settings.mode and np.array_equal(a.joints, b.joints)
        and a.record.tobytes() == b.record.tobytes()
        and all(x.tobytes() == y.tobytes() for x, y in zip(a.robot, b.robot))
        for a, b in zip(one.versions.values(), other.versions.values()))
    return arrays and versions and one.points.keys() == other.points.keys() and all(
        x.tobytes() == y.tobytes() for serial in one.points
        for x, y in zip(one.points[serial], other.points[serial]))


def test_what_is_written_is_read(path):
    snapshot, said = flown()
    found = file.read(path)
    assert found.about == said and same(found.snapshot, snapshot)
    assert list(differences(found.model, MODEL)) == []
    assert same_bits(found.model, found.snapshot) == len(snapshot.cycles)
    assert [p.name for p in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize('mode', ['disturbance_observer', 'adaptive'])
def test_what_a_law_learned_is_replayed(mode):
    """Also where the recording begins with a law that has already learned."""
    rig = risen(recorded=250, mode=mode)
    go(rig, [0.5, 0.3])
    rig.run(0.5)
    snapshot = rig.controller.history.take()
    assert same_bits(MODEL, snapshot) == len(snapshot.cycles)
    assert abs(rig.controller._law_memory[0]).max() > 1e-6


def test_its_messages_are_what_any_reader_finds(path):
    snapshot, said = flown()
    topics, decoder, tau = {}, JointStateDecoder(MODEL.joint_names), np.zeros(2)
    with path.open('rb') as stream:
        reader = mcap_reader.make_reader(stream, validate_crcs=True)
        assert reader.get_header().profile == 'ros2'
        assert {a.name for a in reader.iter_attachments()} == {'flight.json', 'flight.npz'}
        for schema, channel, message in reader.iter_messages():
            assert (channel.message_encoding, schema.encoding) == ('cdr', 'ros2msg')
            topics.setdefault((channel.topic, schema.name), []).append(message)
    counts = {topic: len(messages) for (topic, _), messages in topics.items()}
    assert counts['/flight/joint_states'] == counts['/flight/guard'] == len(snapshot.cycles)
    assert counts['/flight/commands'] == snapshot.cycles['published'].sum() > 0
    states = topics['/flight/joint_states', 'sensor_msgs/msg/JointState']
    k = 200
    assert decoder.decode(states[k].data, 0.0) == ACCEPTED
    assert (decoder.state['position'] == snapshot.state['position'][k]).all()
    assert states[k].log_time == pytest.approx(1e9 * (1.7e9 + snapshot.cycles['now'][k]), abs=500)
    command = topics['/flight/commands', 'std_msgs/msg/Float64MultiArray'][-1]
    assert EffortDecoder(2).decode(command.data, tau) == ACCEPTED
    assert (tau == snapshot.tau[1:][snapshot.cycles['published'] == 1][-1]).all()
    decisions = [m.data for m in topics['/flight/guard', 'diagnostic_msgs/msg/DiagnosticArray']]
    first = next(d for d in decisions if b'FAULT' in d)
    assert all(word in first for word in (b'STALE_STATE', b'joint1', b'computed_torque'))


def test_the_joint_of_a_collision_is_the_one_that_was_found():
    """The controller finds it after the detection, which was at the joint before it."""
    rig = risen(recorded=500, mode='joint_impedance', collision_threshold=[10.0, 3.0])
    rig.external[0] = 60.0
    while rig.phase == 'RUNNING':
        rig.tick()
    rig.external[1] = 30.0
    rig.run(0.1)
    assert 'joint2' in rig.controller.reason and rig.controller.reason_code == 'COLLISION'
    code, sentence = last_fault(MODEL.joint_names, rig.controller.history.take())
    assert code == 'COLLISION' and 'joint2' in sentence


def test_times_and_files(tmp_path):
    snapshot, said = flown()
    snapshot = snapshot._replace(cycles=snapshot.cycles.copy())
    snapshot.cycles['now'][:3] = np.nan, -np.inf, 1e300
    file.write(tmp_path / 'f', MODEL, snapshot, said)
    assert same(file.read(tmp_path / 'f').snapshot, snapshot)
    with pytest.raises(OSError):
        file.write(tmp_path / 'missing' / 'f.mcap', MODEL, *flown())


@settings(max_examples=seeds(15, 100), suppress_health_check=list(HealthCheck))
@given(share=st.floats(0.0, 1.0, exclude_max=True))
@example(0.0)
@example(0.9999)
def test_a_file_that_was_cut_is_refused(path, share):
    cut = path.with_name('cut')
    data = path.read_bytes()
    cut.write_bytes(data[:int(share * len(data))])
    try:
        with pytest.raises(RecordingError):
            file.read(cut)
    finally:
        cut.unlink()


@settings(max_examples=seeds(30, 300), suppress_health_check=list(HealthCheck))
@given(where=st.floats(0.0, 1.0, exclude_max=True), flip=st.integers(1, 255), end=st.booleans())
def test_a_damaged_file_is_refused_or_means_the_same(path, where, flip, end):
    """Bytes that only viewers read may be others; the summary, at the end, is hit more often."""
    damaged = path.with_name('damaged')
    data = bytearray(path.read_bytes())
    data[len(data) - 1 - int(where * 2000) if end else int(where * len(data))] ^= flip
    damaged.write_bytes(data)
    try:
        found = file.read(damaged)
    except RecordingError as error:
        assert error.remedy
    else:
        assert same(found.snapshot, flown()[0]) and found.about == flown()[1]
    finally:
        damaged.unlink()


@cache
def sound():
    """Return the arrays of a recording."""
    snapshot, said = flown()
    text = json.dumps(arrays.described(MODEL, snapshot, said))
    with np.load(BytesIO(arrays.packed(text, snapshot))) as file:
        return dict(file)


def changed(**others):
    """Write the arrays of a recording, some of them others."""
    out = BytesIO()
    np.savez(out, **sound() | {name: change(sound()[name].copy())
                               for name, change in others.items()})
    return out.getvalue()


def words(**others):
    def change(text):
        return np.frombuffer(json.dumps({**json.loads(text.tobytes()), **others}).encode(),
                             np.uint8)
    return change


def setting(**changed):
    def change(text):
        said = [{**one, **changed} for one in json.loads(text.tobytes())['settings']]
        return words(settings=said)(text)
    return change


def field(name, value):
    def change(array):
        array[name][len(array) // 2] = value
        return array
    return change


@pytest.mark.parametrize('others', [
    {'text': words(format='robodyn_ros flight 0')}, {'text': words(model='/etc/passwd')},
    {'text': words(about={})}, {'text': words(settings=[])}, {'text': words(settings=4 * [{}])},
    {'text': setting(rate=-1.0)}, {'text': setting(mode='pdd')}, {'text': setting(mode='pd')},
    {'text': lambda a: a[:-1]}, {'tau': lambda a: a[:-1]}, {'tau': lambda a: a.astype(np.float32)},
    {'memory': field('phase', 5)}, {'memory': field('joint', 2)}, {'memory': field('mode', -1)},
    {'memory': field('segment', 10**12)}, {'cycles': field('version', 99)},
    {'cycles': field('serial', 99)}, {'settings': field('mode', 7)},
    {'vectors': lambda a: a[:, :-2].copy()}, {'vectors': lambda a: a[:, 0]},
    {'text': words(laws={})}, {'text': words(laws={'3': 'own_laws:SPRING'})},
    {'segments': lambda a: 0 * a}, {'times': lambda a: a[1:]}])
def test_arrays_that_do_not_fit_are_refused(others):
    with pytest.raises((ValueError, LookupError, TypeError)):
        arrays.unpacked(changed(**others))


def test_arrays_that_fit_are_taken():
    arrays.unpacked(changed())


def test_nothing_in_it_is_executed(tmp_path):
    objects = BytesIO()
    np.savez(objects, text=np.array([{}], object))
    with pytest.raises(ValueError):
        arrays.unpacked(objects.getvalue())
    bomb = BytesIO()
    with zipfile.ZipFile(bomb, 'w') as archive:
        archive.writestr('text.npy', b'')
        archive.infolist()[0].file_size = 1 << 33
    with pytest.raises(ValueError):
        arrays.unpacked(bomb.getvalue())


@pytest.mark.parametrize('content', [b'', b'no recording', b'\x89MCAP0\r\n', None])
def test_what_is_no_recording_is_refused_in_one_line(tmp_path, content):
    path = tmp_path / 'file'
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises(RecordingError, match='flight recorder') as refused:
        file.read(path)
    assert '\n' not in str(refused.value)


def test_a_recording_imports_nothing(tmp_path, monkeypatch):
    """The module of a law is imported where the reader of the file names it, not the file."""
    monkeypatch.setitem(registry._laws, 'elsewhere:LAW', own_laws.FLOAT)
    number = registry.number('elsewhere:LAW')
    snapshot, said = flown()
    text = json.dumps(arrays.described(MODEL, snapshot, said))
    data = changed(text=lambda a: np.frombuffer(text.replace(
        '"laws": {', f'"laws": {{"{number}": "elsewhere:LAW", ').encode(), np.uint8),
        memory=field('mode', number))
    arrays.unpacked(data)
    monkeypatch.delitem(registry._laws, 'elsewhere:LAW')
    with pytest.raises(ValueError, match='elsewhere:LAW is not loaded: name it with --law'):
        arrays.unpacked(data)
