# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables on disk as columns by name: CSV of any dialect, and NumPy's .npz."""

import csv
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy import ndarray

from ...errors import RecordingError

SEPARATORS = (',', ';', '\t', '|', ' ')
COMMENT = ('#', '%')
LOOKED_AT = 50      # lines from which the dialect is told


@dataclass
class Table:
    """
    Columns of a file.

    :param columns: (N,) numbers by header, NaN where a cell is empty.
    :param header: False where the names are but numbers, for the file has none.
    :param arrays: names of arrays of the file that stand for several columns.
    :param joint_names: what the file calls the joints, where it does.
    :param notes: what was understood, for a person.
    """

    columns: dict[str, ndarray]
    header: bool = True
    arrays: dict[str, list[str]] = field(default_factory=dict)
    joint_names: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)


def read_csv(path: Path) -> Table:
    """
    Return the columns of a text table, whatever separates them.

    Lines that begin with # or % are comments; the last one before the numbers is the header where
    it has as many words as there are columns. A comma may be the decimal point where something
    else separates. Cells that are empty, or `nan`, are NaN.

    :raises RecordingError: there are no two lines of equally many numbers.
    """
    try:
        text = path.read_text(encoding='utf-8-sig')
    except UnicodeDecodeError:
        raise _no_table(path, 'it is not text in UTF-8') from None
    lines = [line for line in text.splitlines() if line.strip()]
    body = [line for line in lines if not line.lstrip().startswith(COMMENT)]
    if len(body) < 2:
        raise _no_table(path, f'it has {len(body)} lines')
    separator = _separator(body[:LOOKED_AT])
    first = _cells(body[0], separator)
    widths = Counter(len(_cells(line, separator)) for line in body[1:LOOKED_AT])
    width = widths.most_common(1)[0][0]
    if any(_is_text(cell) for cell in first):
        names, header = first, True
        body = body[1:]
    else:
        names, header = _commented(lines, separator, width), True
        if not names:
            names, header = [str(k) for k in range(width)], False
    if twice := [name for name, count in Counter(names).items() if count > 1 and name]:
        raise RecordingError(f'column {twice[0]!r} stands twice in the header of {path.name}',
                             name=twice[0], value=names, remedy='give each column its own name')
    values = _numbers(body, separator, len(names), path)
    columns = {name: values[:, k] for k, name in enumerate(names) if name}
    known = {',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'bars', ' ': 'spaces'}
    return Table(columns, header, notes=[
        f'{len(values)} lines of {len(names)} columns separated by {known[separator]}, '
        f'{"with" if header else "without"} a header'])


def read_npz(path: Path) -> Table:
    """
    Return the arrays of a .npz file as columns: those of `position` are `position[0]`, ...

    An array `joint_names` (or `names`, `joints`) names the joints.

    :raises RecordingError: it holds no arrays of numbers that are equally long.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            given = {name: file[name] for name in file.files}
    except (ValueError, BadZipFile, EOFError) as error:
        raise _no_table(path, f'NumPy says: {error}') from None
    table = Table({})
    for key in ('joint_names', 'names', 'joints'):
        if key in given and given[key].dtype.kind in 'US':
            table.joint_names = tuple(str(name) for name in np.atleast_1d(given.pop(key)))
    arrays = {name: array for name, array in given.items()
              if array.dtype.kind in 'fiu' and array.ndim in (1, 2) and array.size > 1}
    if not arrays:
        raise _no_table(path, 'it has no arrays of numbers')
    length = Counter(n for array in arrays.values() for n in array.shape).most_common(1)[0][0]
    for name, array in arrays.items():
        array = array.astype(float)
        if array.ndim == 2 and array.shape[0] != length and array.shape[1] == length:
            table.notes.append(f'{name} is transposed: its samples are in its columns')
            array = array.T
        if len(array) != length:
            table.notes.append(f'{name} {array.shape} left out: others have {length} samples')
        elif array.ndim == 1:
            table.columns[name] = array
        else:
            table.arrays[name] = [f'{name}[{k}]' for k in range(array.shape[1])]
            table.columns.update(zip(table.arrays[name], array.T))
    table.notes.insert(0, 'arrays ' + ', '.join(
        f'{name} {array.shape}' for name, array in arrays.items()))
    return table


def _no_table(path: Path, why: str) -> RecordingError:
    return RecordingError(f'{path.name} is no table of numbers: {why}', name=str(path),
                          remedy='give a CSV file, a .npz file, or a bag of ROS 2')


def _cells(line: str, separator: str) -> list[str]:
    if separator == ' ':
        return line.split()
    return [cell.strip() for cell in next(csv.reader([line], delimiter=separator))]


def _is_text(cell: str) -> bool:
    try:
        float(cell.replace(',', '.') or 'nan')
    except ValueError:
        return True
    return False


def _separator(lines: list[str]) -> str:
    """Tell what makes the same number of columns, more than one, in the most lines."""
    def quality(separator: str) -> tuple[float, int]:
        counts = Counter(len(_cells(line, separator)) for line in lines)
        columns, often = counts.most_common(1)[0]
        return (often / len(lines) if columns > 1 else 0.0), columns

    # A comma between two digits may be a decimal point: then something else separates as well
    best = max(SEPARATORS, key=lambda s: quality(s)[0])
    if best == ',':
        for other in (';', '\t', '|'):
            if quality(other)[0] == quality(best)[0]:
                return other
    return best


def _commented(lines: list[str], separator: str, width: int) -> list[str]:
    """Return the header that a comment holds, empty where none does."""
    names: list[str] = []
    for line in lines:
        if not line.lstrip().startswith(COMMENT):
            break
        cells = _cells(line.lstrip(''.join(COMMENT) + ' '), separator)
        if len(cells) == width and any(_is_text(cell) for cell in cells):
            names = cells
    return names


def _numbers(body: list[str], separator: str, width: int, path: Path) -> ndarray:
    """Return the cells (N, width) as numbers; NaN for what is empty or is a word."""
    if separator != ',' and any(re.search(r'\d,\d', line) for line in body[:LOOKED_AT]):
        body = [line.replace(',', '.') for line in body]
    try:
        values = np.loadtxt(body, delimiter=None if separator == ' ' else separator, ndmin=2,
                            comments=None)
        if values.shape[1] == width:
            return values
    except ValueError:      # empty cells, quotes, words, ragged lines
        pass
    return np.array(list(_slowly(body, separator, width, path)))


def _slowly(body: list[str], separator: str, width: int, path: Path) -> Iterator[list[float]]:
    for number, line in enumerate(body, 1):
        cells = _cells(line, separator)
        if len(cells) != width:
            if number == len(body):
                return          # what was cut off while it was written
            raise RecordingError(
                f'line {number} of the numbers in {path.name} has {len(cells)} cells',
                name=str(path), value=line, remedy=f'the others have {width}')
        yield [np.nan if not cell or _is_text(cell) else float(cell) for cell in cells]
