# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Reading of a recording by the suffix of its file."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .assemble import assemble, TableOptions
from .columns import Columns
from .joint_states import recording_of
from .read_arrays import read_mat, read_npz
from .read_bag import BAG_SUFFIXES, read_bag
from .read_echo import read_echo
from .read_table import FORMATS_REMEDY, read_csv, text_of
from .recording import Recording
from .units import check, is_current, to_si, Units
from .unwrap import unwrapped
from ...errors import reading, RecordingError
from ...model.robot import RobotModel

ARRAY_READERS = {'.npz': read_npz, '.mat': read_mat}


def read(path: str | Path, model: RobotModel, *, columns: Columns | None = None,
         units: Units | None = None, rate: float | None = None,
         joint_names: Sequence[str] | None = None, topic: str | None = None) -> Recording:
    """
    Return the recording of the joints of a model, in its order and in SI units.

    A folder, a .mcap or a .db3 file, compressed or not, is a ROS 2 bag (requires the extra
    `identify`), .npz and .mat contain arrays of NumPy and MATLAB, anything else is a text with one
    sample per line: joint states as ROS prints them (:mod:`~.read_echo`), or a table. Jumps by a
    turn of joints without limits, as of encoders that count from -π to π, are removed.

    :param path: of the file or folder.
    :param model: whose joints are looked for.
    :param columns: of tables, for 'time', 'position', 'velocity' and 'effort': a pattern with
        {name}, {i} (from 1) or {i0}, such as 'q{i}'; or the headers or numbers (from 0) of the
        columns in the order of the joints; or None for a quantity that is not used. Other
        quantities are recognised by usual headers.
    :param units: for the same quantities: a unit ('deg', 'deg/s', 'mN·m', 'A', 'ms', ...), with a
        minus to invert the sign; a factor to SI; or a mapping from joints to these.
    :param rate: sample rate [Hz], instead of a time column.
    :param joint_names: joints in the order of the columns, where headers contain numbers only;
        None: the order of the model. For a bag: its names of the model's joints, in the order of
        the model; None: as in the model, otherwise joints with the same number.
    :param topic: see :func:`~.read_bag.read_bag`.
    :raises RecordingError: the file cannot be read, or lacks a joint.
    :raises UnknownNameError: there is no such column, topic or quantity.
    """
    path, units = Path(path).expanduser(), units or {}
    check(units)
    if not path.exists():
        raise RecordingError(f'no file {path}', name=str(path),
                             remedy=FORMATS_REMEDY)
    if rate is not None and not 0 < rate < np.inf:
        raise RecordingError(f'the rate is {rate!r}', name='rate', value=rate,
                             remedy='give samples a second, more than zero')
    with reading(path, RecordingError, str(path), FORMATS_REMEDY):
        return _read(path, model, TableOptions(columns or {}, units, rate, joint_names), topic)


def _read(path: Path, model: RobotModel, options: TableOptions, topic: str | None) -> Recording:
    units, joint_names = options.units, options.joint_names
    if path.is_dir() or path.name.lower().endswith(BAG_SUFFIXES):
        recording = _scaled(read_bag(path, model, topic, joint_names), model, units)
    elif arrays := ARRAY_READERS.get(path.suffix.lower()):
        recording = assemble(arrays(path), path.name, model, options)
    elif (found := read_echo(text := text_of(path))) and not options.columns \
            and options.rate is None:
        states, what = found
        recording = _scaled(recording_of(states, what, path.name, model, joint_names), model,
                            units)
    else:
        recording = assemble(read_csv(path, text), path.name, model, options)
    recording = _unwrapped(recording.of(model.joint_names), model)
    return replace(recording, notes=(*recording.notes, _summary(recording)))


def _scaled(recording: Recording, model: RobotModel, units: Units) -> Recording:
    """Apply the caller's units to data from messages."""
    kinds = [model.joint_types[model.joint_index(name)] for name in recording.joint_names]
    changes: dict[str, Any] = {}
    for quantity, unit in units.items():
        values = getattr(recording, quantity)
        if values is not None and quantity != 'time':
            changes[quantity] = to_si(quantity, values, unit, recording.joint_names, kinds)
    lines = [f'{quantity} in {units[quantity]}, as given' for quantity in changes]
    return replace(recording, **changes, notes=(*recording.notes, *lines),
                   effort_unit='A' if is_current(units.get('effort', '')) else 'N·m')


def _unwrapped(recording: Recording, model: RobotModel) -> Recording:
    """
    Return the recording without jumps by a turn of rotary joints.

    A joint with limits is left as it is where they exclude the angles without jumps.
    """
    position, notes = recording.position.copy(), []
    for j in np.flatnonzero(~model.slides):
        angle, jumps = unwrapped(position[:, j])
        limited = not model.periodic[j] and model.position_upper[j] > model.position_lower[j]
        if not jumps or limited and (np.nanmin(angle) < model.position_lower[j]
                                     or np.nanmax(angle) > model.position_upper[j]):
            continue
        position[:, j] = angle
        notes.append(f'{model.joint_names[j]}: {jumps} jumps by a turn removed')
    return replace(recording, position=position, notes=(*recording.notes, *notes))


def _summary(recording: Recording) -> str:
    time = recording.time[np.isfinite(recording.time)]
    steps = np.diff(time)
    rising = steps[steps > 0]
    rate = f'{1 / np.median(rising):.6g} Hz' if len(rising) else 'an unknown rate'
    long = float(np.ptp(time)) if len(time) else 0.0
    have = [name for name in ('position', 'velocity', 'effort')
            if getattr(recording, name) is not None]
    return (f'{len(recording)} samples of {len(recording.joint_names)} joints over {long:.6g} s '
            f'at {rate}: {", ".join(have)}')
