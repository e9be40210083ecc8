# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Damaged files of every kind that this package reads: each is read, or refused by its name."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
import tempfile
import traceback
from typing import NamedTuple
import warnings

from fuzz import texts
from fuzz.judge import Canary, FAILED, LONGEST, VALID, Verdict
import numpy as np
from robodyn_ros import load_dh, load_urdf, Settings
from robodyn_ros.errors import RobodynError
from robodyn_ros.flight_recorder.reading_log import ReadingLog, RecordedDriver
from robodyn_ros.identification import result_files
from robodyn_ros.identification.excitation import trajectory_file
from robodyn_ros.identification.recordings.read import read as read_recording
from robodyn_ros.identification.recordings.recording import Recording, write as write_recording
from robodyn_ros.model.friction_file import read_friction
from robodyn_ros.model.resources import rows_path
from robodyn_ros.nodes.middleware.parameter_files import values_in
from robodyn_ros.realtime import statistics
from robodyn_ros.realtime.statistics import no_cycles
from robodyn_ros.simulation.driver import SimulatedArm
from robodyn_ros.verification import worlds
from robodyn_ros.verification.results import Results
from robodyn_ros.verification.trial import Case, Outcome
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import get_typestore, Stores
from scipy.io import savemat
import yaml

ROBOT = load_urdf('two_link')
SAMPLES = np.linspace(0.0, 1.0, 40)
FRICTION = {'/**/controller': {'ros__parameters': {
    'viscous_friction': [0.1, 0.2], 'coulomb_friction': [0.3, 0.1], 'gravity': [0.0, 0.0, -9.8]}}}
CONDITIONS = {'friction': {'viscous_friction': [0.1, 0.2]}, 'cutoff': 20.0, 'delay': 0.001,
              'model_errors': {'names': ['a', 'b'], 'covariance': [[1.0], [0.1, 2.0]]}}


class Kind(NamedTuple):
    """A kind of file: its name, what writes a good one into a folder, and what reads it."""

    name: str
    make: Callable[[Path], object]
    read: Callable[[Path], object]


def _recording(path: Path) -> None:
    wave = np.column_stack([np.sin(5 * SAMPLES), np.cos(3 * SAMPLES)])
    write_recording(path, Recording(ROBOT.joint_names, SAMPLES, wave, 0.5 * wave, 2.0 * wave))


def _bag(path: Path) -> None:
    """Write the storage file of a bag of joint states."""
    store = get_typestore(Stores.ROS2_HUMBLE)
    kinds = store.types
    plugin = StoragePlugin.MCAP if path.suffix == '.mcap' else StoragePlugin.SQLITE3
    with tempfile.TemporaryDirectory() as folder:
        bag = Path(folder) / 'bag'
        with Writer(bag, version=9, storage_plugin=plugin) as writer:
            name = 'sensor_msgs/msg/JointState'
            topic = writer.add_connection('/joint_states', name, typestore=store)
            for time in SAMPLES:
                stamp = kinds['builtin_interfaces/msg/Time'](0, int(1e9 * time) % 10**9)
                message = kinds[name](kinds['std_msgs/msg/Header'](stamp, ''),
                                      [*ROBOT.joint_names], *3 * [np.full(2, time)])
                writer.write(topic, int(1e9 * time), store.serialize_cdr(message, name))
        storage, = (p for p in bag.iterdir() if p.suffix == path.suffix)
        path.write_bytes(storage.read_bytes())


@cache
def _case() -> Case:
    settings = Settings(mode='gravity_compensation')
    return Case('two_link', ROBOT, settings, worlds.default_worlds(ROBOT, settings), 0, 'timer',
                None)


def _results(path: Path) -> None:
    results = Results(path, _case())
    for index in range(8):
        results.add(Outcome(index, {'injection': '', 'mode': 'pd'}, figures={'error': 0.1}))


def _resumed(path: Path) -> None:
    results = Results(path, _case())
    results.known()
    list(results.outcomes(8))
    results.turning_points((0, 1))


def _timing(path: Path) -> None:
    statistics.save(path, no_cycles(30), statistics.TimingAbout(
        1000.0, 'timer', 'native', 'none', 30, 0, 0, 0))


def _worlds(path: Path) -> None:
    path.write_text(worlds.text(_case().worlds, 'Worlds'), encoding='utf-8')


def _conditions(path: Path) -> None:
    """Write the numbers of an identification, and the file beside that they belong to."""
    path.with_name(result_files.FRICTION).write_text(yaml.safe_dump(FRICTION))
    path.write_text(yaml.safe_dump(CONDITIONS))


def _trajectory(path: Path) -> None:
    trajectory_file.write(path, trajectory_file.JointTrajectory(
        ROBOT.joint_names, np.array([0.0, 1.0]), *3 * [np.zeros((2, 2))]))


def _rows(path: Path) -> None:
    rows = rows_path('craig_2r')
    path.write_bytes(rows.read_bytes() if rows else b'')


def _readings(path: Path) -> None:
    driver = RecordedDriver(ROBOT, SimulatedArm(ROBOT), f'{path}.new.mcap')
    driver.read()
    driver.close()
    Path(f'{path}.new.mcap').replace(path)


def _recorded(path: Path) -> object:
    return read_recording(path, ROBOT)


KINDS = (
    Kind('recording.csv', _recording, _recorded), Kind('recording.npz', _recording, _recorded),
    Kind('recording.mat', lambda path: savemat(path, {'time': SAMPLES, 'position': np.column_stack(
        [SAMPLES, SAMPLES])}), _recorded),
    Kind('bag.mcap', _bag, _recorded), Kind('bag.db3', _bag, _recorded),
    Kind('friction.yaml', lambda path: path.write_text(yaml.safe_dump(FRICTION)),
         lambda path: read_friction(path, ROBOT)),
    Kind(result_files.NUMBERS, _conditions, lambda path: result_files.conditions_of(
        path.with_name(result_files.FRICTION))),
    Kind('trajectory.yaml', _trajectory, trajectory_file.read),
    Kind('controller.yaml', lambda path: path.write_text(yaml.safe_dump(FRICTION)),
         lambda path: values_in(path, '/left/controller')),
    Kind('worlds.yaml', _worlds, lambda path: worlds.read(path, ROBOT, _case().settings)),
    Kind('results.sqlite', _results, _resumed),
    Kind('timing.npz', _timing, statistics.load),
    Kind('readings.mcap', _readings, lambda path: ReadingLog(ROBOT, str(path))),
    Kind('rows.dh.yaml', _rows, load_dh))


@cache
def _good(kind: Kind) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / kind.name
        kind.make(path)
        kind.read(path)
        return path.read_bytes()


def damaged(kind: Kind, seed: int, index: int) -> bytes:
    """Return the contents of a file with a few accidents."""
    rng = Random(f'{seed}:{kind.name}:{index}')
    content = _good(kind)
    for _ in range(1 + int(rng.expovariate(0.7))):
        content = rng.choice((texts.flip, texts.replace, number))(content, rng)
    return content


def number(content: bytes, rng: Random) -> bytes:
    """Put a number where eight or four bytes, or the digits of a number, are."""
    extreme = rng.choice((-1, 0, 1, 2**31 - 1, 2**32 - 1, 2**40, 2**63 - 1))
    size, at = rng.choice((1, 4, 8)), rng.randrange(len(content) + 1)
    if rng.random() < 0.5:
        return content[:at] + (extreme % 256**size).to_bytes(size, 'little') + content[at + size:]
    digits = [i for i, byte in enumerate(content[:4096]) if 48 <= byte < 58]
    at = rng.choice(digits or [0])
    return content[:at] + rng.choice((b'1e999', b'nan', b'-', b'9' * 40, b'[]', b'{}', b'~', b'x',
                                      str(extreme).encode())) + content[at + 1:]


def judge(name: str, seed: int, index: int, canary: Canary | None = None) -> Verdict:
    """Judge damaged file number ``index`` of the kind with this name; below 0, a good one."""
    kind = next(one for one in KINDS if one.name == name)
    content = _good(kind) if index < 0 else damaged(kind, seed, index)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter('ignore')
        path = Path(folder) / kind.name
        kind.make(path)
        path.write_bytes(content)
        try:
            kind.read(path)
        except RobodynError as error:
            if len(str(error)) > LONGEST:
                return Verdict(FAILED, f'a message of {len(str(error))} characters')
            return Verdict(type(error).__name__)
        except Exception:
            return Verdict(FAILED, traceback.format_exc(limit=-3))
    return Verdict(VALID)
