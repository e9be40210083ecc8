# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Reading of a recording by the suffix of its file, and of a table by its columns."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from .columns import by_count, by_header, by_map, Columns, Found, same_numbers
from . import units as of_units
from .joint_states import BAG_SUFFIXES, read_bag, read_echo, recording_of
from .read_table import FORMATS_REMEDY, read_csv, read_mat, read_npz, Table, text_of
from .recording import arrays_of, by_stamp, Recording, unwrapped, usual_period
from .units import check, is_current, to_si, Units
from ...errors import Argument, reading, RecordingError
from ...model.robot import RobotModel

MAX_SHOWN_HEADERS, MAX_NOTED_HEADERS = 40, 12    # where one has to be chosen, and in a note
ARRAY_READERS = {'.npz': read_npz, '.mat': read_mat}


class TableOptions(NamedTuple):
    """Options of the caller for a table, see :func:`~.read.read`."""

    columns: Columns
    units: Units
    rate: float | None
    joint_names: Sequence[str] | None


def assemble(table: Table, source: str, model: RobotModel, options: TableOptions) -> Recording:
    """
    Return the recording that a table holds.

    :param source: name of the file, for messages.
    :param model: whose joints are looked for.
    :raises RecordingError: the assignment of columns is ambiguous, or columns are missing.
    """
    headers = list(table.columns)
    known, said = same_numbers(table.joint_names, model.joint_names)
    joints = tuple(options.joint_names or [known.get(name, name) for name in table.joint_names]
                   or model.joint_names)
    found = _find(table, headers, joints, options)
    _require_one_length(table, found, source)
    if 'position' not in found.columns:
        raise RecordingError(f'{source} has no positions', name='position', value=headers,
                             remedy=('name the columns: ',
                                     Argument('columns', {'position': 'q{i}'}),
                                     f'; there are {_few_headers(headers)}'))
    names = tuple(name for name in joints if name in found.columns['position'])
    units = _all_units(found, options.units, names)
    time, notes = _time(table, found, source, units, options)
    arrays, lines = _arrays(table, found, source, model, names, units, options)
    # Lines with any number of the joints: other topics may share a table
    keep = ~np.all([np.isnan(array).all(1) for array in arrays.values()], axis=0)
    if not keep.any():
        first = next(iter(found.columns['position'].values()))
        raise RecordingError(f'{source} has no number in the columns of the positions'
                             + table.first_cell_text(first), name='position',
                             value=list(found.columns['position'].values()),
                             remedy='name the right columns, or write numbers such as '
                                    '-1.5 or 2e-3')
    notes = [*table.notes, *(() if options.joint_names else said), *notes, *lines]
    if not keep.all():
        notes.append(f'{np.sum(~keep)} lines left out: no values of the joints')
    order = by_stamp(time[keep])
    if (late := int(np.sum(np.diff(order) < 0))):
        notes.append(f'{late} lines were out of order; sorted by time stamp')
    keep = np.flatnonzero(keep)[order]
    used = {*(header for of in found.columns.values() for header in of.values()),
            *((found.time, found.fraction) if options.rate is None else ())}
    if rest := [header for header in headers if header not in used]:
        notes.append(f'columns not used: {_few_headers(rest, MAX_NOTED_HEADERS)}')
    return Recording(names, time[keep], source=source, notes=tuple(notes),
                     effort_unit='A' if is_current(units.get('effort', '')) else 'N·m',
                     **{quantity: array[keep] for quantity, array in arrays.items()})


def _require_one_length(table: Table, found: Found, source: str) -> None:
    """Refuse a table whose positions or efforts may be among the arrays of another length."""
    missing = [quantity for quantity in ('position', 'effort') if quantity not in found.columns]
    others = {name: shape for name, shape in table.left_out.items() if len(shape) == 2}
    if missing and others:
        length = len(next(iter(table.columns.values())))
        name, shape = next(iter(others.items()))
        raise RecordingError(
            f'{source} has arrays of {length} samples, and {name} of the shape {shape}',
            name=name, value=shape,
            remedy='bring all quantities to the same stamps, for example by interpolation, and '
                   'save them with one time')


def _arrays(table: Table, found: Found, source: str, model: RobotModel, names: Sequence[str],
            units: dict[str, Any], options: TableOptions) -> tuple[dict[str, ndarray], list[str]]:
    """Return arrays (N, nv) in SI units by quantity, and notes about columns and units."""
    kinds = [model.joint_types[model.joint_index(name)] if name in model.joint_names
             else 'revolute' for name in names]
    arrays, notes = {}, []
    for quantity, columns in found.columns.items():
        if missing := [name for name in names if name not in columns]:
            if quantity == 'effort':
                raise RecordingError(f'{source} has no effort of {", ".join(missing)}',
                                     name=missing[0], value=list(columns.values()),
                                     remedy='record it, or lock the joint in the model')
            notes.append(f'{quantity} not used: missing for {", ".join(missing)}')
            continue
        values = np.column_stack([table.columns[columns[name]] for name in names])
        unit = units.get(quantity, of_units.SI_UNITS[quantity])
        arrays[quantity] = of_units.to_si(quantity, values, unit, names, kinds)
        how = ('by number, in the order of the joints: ' if found.by_number
               and quantity not in options.columns else '')
        notes.append(f'{quantity} in {of_units.unit_text(unit)}: {how}' + ', '.join(
            f'{columns[name]} → {name}' if columns[name] != name else name for name in names))
    return arrays, notes


def _find(table: Table, headers: list[str], joints: tuple[str, ...], options: TableOptions
          ) -> Found:
    """Return the columns that the caller named, and the others recognised by their headers."""
    named = by_map(options.columns, headers, joints, table.arrays)
    rest = [header for header in headers
            if not any(header in of.values() for of in named.columns.values())]
    if not table.header and options.columns:
        return named
    by_column = by_header(rest, joints, options.columns) if table.header else \
        by_count(headers, joints, options.rate is None)
    for quantity, columns in by_column.columns.items():
        if quantity not in options.columns:
            named.columns[quantity] = columns
    if 'time' not in options.columns:
        named.time, named.fraction = by_column.time, by_column.fraction
    named.by_number = by_column.by_number
    return named


def _all_units(found: Found, given: Units, names: Sequence[str]) -> dict[str, Any]:
    """Return the units in headers, overridden by those of the caller."""
    units: dict[str, Any] = {**found.units(given)}
    for quantity, unit in given.items():
        before = units.get(quantity)
        if isinstance(unit, Mapping) and before is not None:
            unit = {**(before if isinstance(before, Mapping)
                       else dict.fromkeys(names, before)), **unit}
        units[quantity] = unit
    return units


def _few_headers(headers: Sequence[str], shown: int = MAX_SHOWN_HEADERS) -> str:
    """Return the first of many headers, and the number of the others."""
    more = len(headers) - shown
    return ', '.join(headers[:shown]) + (f' and {more} more' if more > 0 else '')


def _time(table: Table, found: Found, source: str, units: Units,
          options: TableOptions) -> tuple[ndarray, list[str]]:
    """Return the stamps [s] of all rows, and notes about them."""
    count = len(next(iter(table.columns.values())))
    if options.rate is not None:
        return np.arange(count) / options.rate, [
            f'time counted at {options.rate:g} Hz, as given'
            + (f'; {found.time} is not used' if found.time is not None else '')]
    if found.time is None:
        raise RecordingError(f'{source} has no column of time', name='time',
                             value=list(table.columns),
                             remedy=('name it (', Argument('columns', {'time': 't'}),
                                     '), or give the sample rate (', Argument('rate', 500.0),
                                     f'); there are {_few_headers(list(table.columns))}'))
    stamps = table.columns[found.time]
    if not np.isfinite(stamps).any():
        raise RecordingError(f'the column {found.time} of {source} holds no number'
                             + table.first_cell_text(found.time), name='time', value=found.time,
                             remedy=('write the time in seconds, or give the sample rate (',
                                     Argument('rate', 500.0), ')'))
    if found.fraction is not None:
        return stamps + 1e-9 * table.columns[found.fraction], \
            [f'time in s and ns: {found.time}, {found.fraction}']
    finite = stamps[np.isfinite(stamps)]
    guess = of_units.epoch_unit(finite[0])
    unit = units.get('time', guess or 's')
    if isinstance(unit, str | float | int):
        factor = of_units.factor('time', unit, '')
    else:
        raise RecordingError('the unit of time is given joint by joint', name='time', value=unit,
                             remedy='set one')
    why = ', for it counts from 1970' if guess and 'time' not in units else ''
    # Seconds since 1970 leave a double some tenths of a microsecond: taken off before scaling
    zero = finite[0] if guess else 0.0
    return (stamps - zero) * factor, [f'time in {unit}{why}: {found.time}']


def read(path: str | Path, model: RobotModel, *, columns: Columns | None = None,
         units: Units | None = None, rate: float | None = None,
         joint_names: Sequence[str] | None = None, topic: str | None = None) -> Recording:
    """
    Return the recording of the joints of a model, in its order and in SI units.

    A folder, a .mcap or a .db3 file, compressed or not, is a ROS 2 bag (requires the extra
    `identify`), .npz and .mat contain arrays of NumPy and MATLAB, anything else is a text with one
    sample per line: joint states as ROS prints them, or a table. Jumps by a turn of joints without
    limits, as of encoders that count from -π to π, are removed.

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
    :param topic: see :func:`~.joint_states.read_bag`.
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
                             remedy='use a number of samples per second above 0')
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
    recording = without_jumps(recording, model)
    return replace(recording, notes=(*recording.notes, _summary(recording)))


def _scaled(recording: Recording, model: RobotModel, units: Units) -> Recording:
    """Apply the caller's units to data from messages."""
    kinds = [model.joint_types[model.joint_index(name)] for name in recording.joint_names]
    changes: dict[str, Any] = {}
    for quantity, unit in units.items():
        values = getattr(recording, quantity)
        if values is not None and quantity != 'time':
            changes[quantity] = to_si(quantity, values, unit, recording.joint_names, kinds)
    lines = [f'{quantity} in {of_units.unit_text(units[quantity])}, as given'
             for quantity in changes]
    return replace(recording, **changes, notes=(*recording.notes, *lines),
                   effort_unit='A' if is_current(units.get('effort', '')) else 'N·m')


def without_jumps(recording: Recording, model: RobotModel) -> Recording:
    """
    Return the recording of all joints of the model without jumps by a turn of rotary ones.

    A joint with limits is left as it is where they exclude the angles without jumps.

    :raises RecordingError: it lacks a joint of the model.
    """
    recording = recording.of(model.joint_names)
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
    period = usual_period(time)
    rate = f'{1 / period:.6g} Hz' if period > 0.0 else 'an unknown rate'
    long = float(np.ptp(time)) if len(time) else 0.0
    return (f'{len(recording)} samples of {len(recording.joint_names)} joints over {long:.6g} s '
            f'at {rate}: {", ".join(arrays_of(recording))}')
