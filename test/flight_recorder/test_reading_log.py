# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Readings of a driver are recorded, and replayed as a driver; damaged files are refused."""

from contextlib import suppress

from driven_arm import driven_arm, fault_is_over
import numpy as np
from processes import until
import pytest
from robodyn_ros import drive, load_urdf
from robodyn_ros.control.steps import guard
from robodyn_ros.driver import DriverFacts, DriverLost, facts_of, Fault, make, Reading, reading_of
from robodyn_ros.errors import ArgumentError, ParameterError, RecordingError
from robodyn_ros.flight_recorder import reading_log
from robodyn_ros.flight_recorder.reading_log import ReadingLog, RecordedDriver
from robodyn_ros.simulation.driver import SimulatedArm
from robodyn_ros.wire.codecs import JointStateDecoder

reader = pytest.importorskip('mcap.reader', reason='needs pip install mcap')

MODEL = load_urdf('two_link')
HOT = Fault('joint2', 'rotor too hot')
READINGS = (Reading([0.1, 0.2], [0.3, np.nan], None),
            OSError('unplugged'), None,
            Reading([0.1, 0.2], [0.3, 0.4], [np.nan, 5.0], [0.0, np.inf], [HOT]),
            Reading([0.5, 0.6], [0.7, 0.8], [1.0, 2.0], 0.25, [Fault('', 'warm', stop=False)]))


class Scripted:
    """Returns or raises what it is given, in turn."""

    reading = 'inline'
    facts = DriverFacts(False, True, [9.0, 8.0], None, [0.1, 0.2], 500.0)

    def __init__(self, model, readings=READINGS):
        self._readings, self.closed = iter(readings), False

    def read(self):
        """Return the next reading."""
        if isinstance(reading := next(self._readings), Exception):
            raise reading
        return reading

    def write(self, tau):
        """Take efforts."""

    def diagnostics(self):
        """Return the temperature."""
        return {'temperature': 41}

    def close(self):
        """Remember it."""
        self.closed = True


def recorded(file, readings=READINGS):
    """Record readings; return the driver that was recorded."""
    arm = Scripted(MODEL, readings)
    driver = RecordedDriver(MODEL, arm, str(file))
    for _ in readings:
        try:
            driver.read()
        except OSError:
            pass
        driver.write(np.array([1.0, 2.0]))
    driver.close()
    return arm


def test_a_driver_is_the_same_after_a_round_trip(tmp_path):
    file = tmp_path / 'run.mcap'
    assert recorded(file).closed
    log = make(str(file), MODEL, {})
    assert isinstance(log, ReadingLog) and reading_of(log) == 'inline'
    # No effort moves it: there is nothing to test
    for replayed, fact in zip(facts_of(log), Scripted.facts._replace(obeys=True), strict=True):
        assert replayed == fact
    for reading in filter(None, READINGS):
        if isinstance(reading, Exception):
            with pytest.raises(RuntimeError, match='OSError: unplugged'):
                log.read()
            continue
        position, velocity, effort, age, faults = log.read()
        np.testing.assert_array_equal(position, reading.position)
        np.testing.assert_array_equal(velocity, reading.velocity)
        np.testing.assert_array_equal(effort, [np.nan] * 2 if reading.effort is None
                                      else reading.effort)
        np.testing.assert_array_equal(age, np.broadcast_to(reading.age, 2))
        assert list(faults) == list(reading.faults)
    log.write(np.ones(2))
    with pytest.raises(DriverLost, match='has ended'):
        log.read()
    log.close()


def test_optional_members_are_those_of_the_driver(tmp_path):
    driver = RecordedDriver(MODEL, Scripted(MODEL), str(tmp_path / 'run.mcap'))
    assert reading_of(driver) == 'inline' and facts_of(driver) is Scripted.facts
    assert driver.diagnostics() == {'temperature': 41} and not hasattr(driver, 'enable')
    driver.period = 0.004               # as the reader of the driver sets it
    assert driver._driver.period == driver.period == 0.004


def test_only_the_latest_readings_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(reading_log, 'MOST_READINGS', 2)
    recorded(tmp_path / 'run.mcap')
    log = ReadingLog(MODEL, str(tmp_path / 'run.mcap'))
    assert log.read().faults == [HOT] and log.read().position[0] == 0.5


def test_a_fault_comes_again_in_the_replay(tmp_path):
    arm, controller = driven_arm()
    read, file = arm.read, str(tmp_path / 'run.mcap')
    arm.read = lambda: read()._replace(faults=[HOT] * (
        controller.phase in (guard.RUNNING, guard.FAULT)))    # all of them are not lost in a stall
    drive(controller, RecordedDriver(MODEL, arm, file), lambda: fault_is_over(controller))
    assert controller.reason == 'a drive reports a fault (joint2: rotor too hot)'
    until(lambda: replayed(file) == controller.reason)  # unless the replay stalls until its end


def replayed(file):
    """Return the reason for which a controller has stopped in the replay of a recording."""
    _, again = driven_arm()
    with suppress(DriverLost):
        drive(again, ReadingLog(MODEL, file), lambda: again.phase == guard.FAULT)
    return again.reason


def test_readings_that_are_none_fail_again(tmp_path):
    recorded(tmp_path / 'run.mcap', [Reading([0.1], [0.2]), Reading([0.1, 0.2], [0.3, 0.4])])
    log = ReadingLog(MODEL, str(tmp_path / 'run.mcap'))
    with pytest.raises(RuntimeError, match='ValueError'):
        log.read()
    assert log.read().velocity[1] == 0.4


def test_viewers_show_the_readings(tmp_path):
    """They are messages of a topic that drives no arm."""
    recorded(tmp_path / 'run.mcap')
    decoder = JointStateDecoder(MODEL.joint_names)
    with (tmp_path / 'run.mcap').open('rb') as stream:
        messages = [(channel.topic, message.data) for _, channel, message
                    in reader.make_reader(stream).iter_messages()]
    assert [topic for topic, _ in messages] == ['/flight/joint_states'] * 4
    decoder.decode(messages[-1][1], 0.0)
    assert decoder.state['position'].tolist() == [0.5, 0.6]


def test_the_option_of_any_driver(tmp_path):
    file = tmp_path / 'run.mcap'
    driver = make('robodyn_ros.simulation.driver:SimulatedArm', MODEL,
                  {'record': str(file), 'position': [0.3, 0.5]})
    assert isinstance(driver, RecordedDriver) and isinstance(driver._driver, SimulatedArm)
    for _ in range(3):
        driver.read()
    driver.close()
    assert ReadingLog(MODEL, str(file)).read().position == pytest.approx([0.3, 0.5])


@pytest.mark.parametrize(('options', 'error', 'why'), [
    ({'record': 'run.mcap'}, ArgumentError, 'run.mcap exists'),
    ({'record': 'nowhere/run.mcap'}, ArgumentError, 'cannot be written'),
    ({'record': 'run.txt'}, ArgumentError, 'cannot be written'),
    ({'record': 'new.mcap', 'rates': 3}, ParameterError, 'unexpected keyword')])
def test_files_that_cannot_be_written(tmp_path, monkeypatch, options, error, why):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'run.mcap').touch()
    with pytest.raises(error, match=why):
        make('robodyn_ros.simulation.driver:SimulatedArm', MODEL, options)


def test_a_file_that_is_damaged_or_not_whole_is_refused(tmp_path):
    recorded(file := tmp_path / 'run.mcap')
    data = file.read_bytes()
    contents = [data[:int(part * len(data))] for part in (0.0, 0.1, 0.5, 0.9, 0.99)]
    for name in (b'stamps.npy', b'rows.npy', b'text.npy'):
        at = data.index(name) + 60
        contents.append(data[:at] + bytes([data[at] ^ 0xff]) + data[at + 1:])
    for content in contents:
        file.write_bytes(content)
        with pytest.raises(RecordingError, match=f'{file} cannot be read'):
            make(str(file), MODEL, {})


def test_a_file_of_another_arm_or_kind_is_refused(tmp_path):
    recorded(tmp_path / 'run.mcap')
    with pytest.raises(RecordingError, match='has the joints joint1, joint2, and not '):
        make(str(tmp_path / 'run.mcap'), load_urdf('arm6'), {})
    with pytest.raises(RecordingError, match='nothing.mcap cannot be read'):
        make(str(tmp_path / 'nothing.mcap'), MODEL, {})
