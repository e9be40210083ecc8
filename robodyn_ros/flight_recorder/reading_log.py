# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Readings of a driver in a file (MCAP), and the driver that replays them."""

from collections import deque
from collections.abc import Mapping
from io import BytesIO
import json
from pathlib import Path
import time
from typing import Any

import numpy as np
from numpy import ndarray

from .file import attachment, JOINT_STATE, require_mcap, TOPICS, written
from ..driver import (
    ages_of, Driver, DriverFacts, DriverLost, facts_of, Fault, LOG, make, Reading, reading_of)
from ..errors import ArgumentError, check_new, reading as reading_file, RecordingError
from ..model.resources import package_version
from ..model.robot import RobotModel
from ..wire.codecs import JointStateEncoder

ARRAYS, FORMAT = 'readings.npz', 'robodyn_ros readings 1'
ROWS = 'position', 'velocity', 'effort', 'age', 'command'
MOST_READINGS = 60_000      # the latest that are kept: a minute at 1 kHz
GIVE = 'pass a file, all of it, that the option record of a driver has written'


class RecordedDriver:
    """
    Driver whose latest readings are written to a file when it is closed.

    Its optional members are those of that driver.

    :param model: of the arm.
    :param driver: that reads and writes the arm, or its name for :func:`.driver.make`, then with
        ``options``.
    :param file: name of the new file, which ends in ``.mcap``.
    :raises ArgumentError: the file exists, or its folder does not.
    :raises RecordingError: the library that writes it is missing.
    """

    def __init__(self, model: RobotModel, driver: Driver | str, file: str,
                 options: Mapping[str, Any] = {}):      # noqa: B006  (it is read only)
        self._file = Path(file)
        require_mcap(self._file)
        check_new([self._file], 'record', 'pass the name of a new file')
        if self._file.suffix != LOG or not self._file.absolute().parent.is_dir():
            raise ArgumentError(f'{file} cannot be written', name='record', value=file,
                                remedy=f'name a file *{LOG} in a folder that exists')
        self._driver = make(driver, model, options) if isinstance(driver, str) else driver
        self._joints, self._clock = model.joint_names, time.time_ns() - time.monotonic_ns()
        self._command = np.full(model.nv, np.nan)
        self._kept: deque[tuple[int, ndarray, list[tuple[str, str, bool]], str]] = deque(
            maxlen=MOST_READINGS)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith('_'):
            super().__setattr__(name, value)
        else:
            setattr(self._driver, name, value)

    def read(self) -> Reading | None:
        """Return the next reading of the driver."""
        try:
            reading = self._driver.read()
        except Exception as error:
            self._keep(failure=f'{type(error).__name__}: {error}')
            raise
        if reading is not None:
            try:
                reading = Reading(*reading)
                effort = np.full(len(self._joints), np.nan) if reading.effort is None \
                    else reading.effort
                self._keep(np.array([reading.position, reading.velocity, effort,
                                     ages_of(reading), self._command], float),
                           [Fault(*fault) for fault in reading.faults])
            except Exception as error:      # the reader of this driver raises it, too
                self._keep(failure=f'{type(error).__name__}: {error}')
        return reading

    def write(self, tau: ndarray) -> None:
        """Have the driver write efforts."""
        self._driver.write(tau)
        self._command = tau.copy()

    def close(self) -> None:
        """Close the driver; write the file."""
        try:
            self._driver.close()
        finally:
            self._save()

    def _keep(self, rows: ndarray | None = None, faults: Any = (), failure: str = '') -> None:
        if rows is None or rows.shape != (len(ROWS), len(self._joints)):
            rows = np.full((len(ROWS), len(self._joints)), np.nan)
        self._kept.append((time.monotonic_ns() + self._clock, rows, faults, failure))

    def _save(self) -> None:
        kept = list(self._kept)
        stamps = np.array([stamp for stamp, *_ in kept], np.int64)
        rows = np.array([row for _, row, *_ in kept]).reshape(-1, len(ROWS), len(self._joints))
        text = json.dumps({
            'format': FORMAT, 'joints': self._joints, 'reading': reading_of(self._driver),
            'facts': facts_of(self._driver)._asdict(),
            'faults': {k: faults for k, (_, _, faults, _) in enumerate(kept) if faults},
            'failures': {k: failure for k, (*_, failure) in enumerate(kept) if failure},
        }, default=lambda value: np.asarray(value).tolist())
        data = BytesIO()
        np.savez_compressed(data, text=np.frombuffer(text.encode(), np.uint8), stamps=stamps,
                            rows=rows)
        end, encoder = int(stamps[-1]) if len(stamps) else 0, JointStateEncoder(self._joints)
        with written(self._file, package_version()) as out:
            out.add_metadata('robodyn_ros', {'driver': type(self._driver).__name__})
            out.add_attachment(end, end, ARRAYS, 'application/zip', data.getvalue())
            schema = out.register_schema('sensor_msgs/msg/JointState', 'ros2msg',
                                         JOINT_STATE.encode())
            channel = out.register_channel(f'{TOPICS}/joint_states', 'cdr', schema)
            for k, (stamp, row) in enumerate(zip(stamps.tolist(), rows)):
                out.add_message(channel, stamp, encoder.encode(stamp, *row[:3]), stamp, k)


class ReadingLog:
    """
    Driver that replays recorded readings in real time, and then is lost.

    It repeats what was read: faults and failures, too. The efforts that it is given move nothing.

    :param model: of the arm; its joints have to be those of the file.
    :param file: name of a file that a :class:`RecordedDriver` has written.
    :raises RecordingError: the file cannot be read, is damaged, or is of another arm.
    """

    def __init__(self, model: RobotModel, file: str):
        self._file, self._next, self._begin = file, 0, 0
        with reading_file(Path(file), RecordingError, 'file', GIVE):
            with np.load(BytesIO(attachment(Path(file), ARRAYS)), allow_pickle=False) as arrays:
                self._stamps, self._rows = arrays['stamps'], arrays['rows']
                text = json.loads(arrays['text'].tobytes())
            if text['format'] != FORMAT:
                raise ValueError(f'format {text["format"]!r}, not {FORMAT!r}')
            shape = len(self._stamps), len(ROWS), len(text['joints'])
            if self._rows.shape != shape or self._rows.dtype != float \
                    or self._stamps.dtype != np.int64:
                raise ValueError(f'readings are {self._rows.dtype} {self._rows.shape}')
            self.reading = str(text['reading'])
            self.facts = DriverFacts(**text['facts'])._replace(obeys=True)  # no test moves it
            self._faults = {int(k): [Fault(*fault) for fault in faults]
                            for k, faults in text['faults'].items()}
            self._failures = {int(k): str(failure) for k, failure in text['failures'].items()}
        if text['joints'] != [*model.joint_names]:
            raise RecordingError(f'{file} has the joints {", ".join(text["joints"])}, and not '
                                 f'{", ".join(model.joint_names)}', name='file', value=file,
                                 remedy='pass the URDF of the arm that was recorded')

    def read(self) -> Reading:
        """Return the next reading when it is due."""
        if self._next == len(self._stamps):
            raise DriverLost(f'{self._file} has ended')
        k, self._next = self._next, self._next + 1
        self._begin = self._begin or time.monotonic_ns() - int(self._stamps[0])
        time.sleep(max(0.0, 1e-9 * (self._begin + int(self._stamps[k]) - time.monotonic_ns())))
        if failure := self._failures.get(k):
            raise RuntimeError(failure)
        position, velocity, effort, age, _ = self._rows[k].copy()
        return Reading(position, velocity, effort, age, self._faults.get(k, ()))

    def write(self, tau: ndarray) -> None:
        """Take efforts, which move nothing."""

    def close(self) -> None:
        """Do nothing: the file has been read."""
