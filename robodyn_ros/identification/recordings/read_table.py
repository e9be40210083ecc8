# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables from text of any CSV dialect, and from arrays of NumPy and MATLAB."""

from collections import Counter
from collections.abc import Iterable, Iterator
import csv
from dataclasses import dataclass, field
import itertools
from pathlib import Path
import re
import struct
import zlib

import numpy as np
from numpy import ndarray
from scipy.io import loadmat

from .units import known
from ...errors import RecordingError

SEPARATORS = (',', ';', '\t', '|', ' ')
COMMENT_SIGNS = ('#', '%')
DIALECT_LINES = 50    # of a file, from which its dialect is determined
FORMATS_REMEDY = 'pass a CSV file, a .npz or .mat file, or a bag of ROS 2'
CSV_REMEDY = 'save it as CSV there, and give that file'
MAT_MATRIX, MAT_COMPRESSED = 14, 15
MAT_TYPES = {*range(1, 8), 9, 12, 13, MAT_MATRIX, MAT_COMPRESSED, 16, 17, 18}
FORMAT_REMEDIES = {
    **dict.fromkeys(('.xlsx', '.xls', '.ods', '.parquet', '.h5', '.hdf5', '.json', '.pkl'),
                    CSV_REMEDY),
    '.npy': 'put time, position and effort side by side with numpy.savez, and give the .npz file',
    '.bag': 'it is a bag of ROS 1: `rosbags-convert` of pip install rosbags makes one of ROS 2'}


@dataclass
class Table:
    """
    Columns of a file.

    :param columns: (N,) numbers by header, NaN where a cell is empty.
    :param header: False where the file has none, so that the names are numbers.
    :param arrays: names of arrays of the file that consist of several columns.
    :param joint_names: names of the joints in the file, if any.
    :param notes: how the file was interpreted, one line each.
    :param left_out: shapes of arrays with another number of samples, by name.
    :param first_cells: text of the first cell of each column.
    """

    columns: dict[str, ndarray]
    header: bool = True
    arrays: dict[str, list[str]] = field(default_factory=dict)
    joint_names: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    left_out: dict[str, tuple[int, ...]] = field(default_factory=dict)
    first_cells: dict[str, str] = field(default_factory=dict)

    def first_cell_text(self, name: str) -> str:
        """Return the first cell of a column as part of a message."""
        return f', but {self.first_cells[name]!r}' if self.first_cells.get(name) else ''


def read_csv(path: Path, text: str) -> Table:
    """
    Return the columns of a text table in any dialect.

    :param path: of the file, for messages; ``text``: what it holds.

    Lines that begin with # or % are comments; the last one before the numbers is the header where
    it has as many words as there are columns. A line of units may follow the header; lines before
    it are skipped. A decimal comma is recognised where another separator or quotes are used. Empty
    cells and `nan` are NaN; unnamed columns are called by their numbers, those that are empty at
    the ends of lines left out, and so is an incomplete last line.

    Encodings, preambles, unit lines and decimal commas are detected here, since the readers of
    pandas and polars need it as an argument; the numbers are read by ``numpy.loadtxt``.

    :raises RecordingError: there are no two lines with the same number of numbers.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    body = [line for line in lines if not line.lstrip().startswith(COMMENT_SIGNS)]
    if len(body) < 2:
        raise no_table(path, f'it has {len(body)} lines')
    separator = _separator(body[:DIALECT_LINES])
    head = [_cells(line, separator) for line in body[:DIALECT_LINES]]
    width = Counter(map(len, head[1:])).most_common(1)[0][0]
    start, names, notes = _header(head, width)
    header = True
    if not names:
        names = _commented(lines, separator, width)
    elif len(names) < width:        # a separator at the ends of lines, or lines with their numbers
        at_end = all(not cells[-1] for cells in head[start:] if len(cells) == width)
        names = [*names, ''] if at_end else ['', *names]
    if not names:
        names, header = [str(k) for k in range(width)], False
    if twice := [name for name, count in Counter(names).items() if count > 1 and name]:
        raise RecordingError(f'column {twice[0]!r} stands twice in the header of {path.name}',
                             name=twice[0], value=names, remedy='give each column its own name')
    if start >= len(body):
        raise no_table(path, 'no line of numbers follows its header')
    first = _cells(body[start], separator)
    if any(cell.startswith(('[', '{')) for cell in first):
        raise RecordingError(f'{path.name} has cells that hold several numbers', name=str(path),
                             value=body[start][:100],
                             remedy='write a number a cell, and a column a joint')
    values = _numbers(body[start:], separator, width, path)
    if not len(values):
        raise no_table(path, 'it has no whole line of numbers')
    # A separator at the ends of lines
    while (not header or not names[-1]) and len(names) > 1 and np.isnan(values[:, -1]).all():
        names, values = names[:-1], values[:, :-1]
    names = [name or f'column {k}' for k, name in enumerate(names)]     # as pandas' index
    columns = dict(zip(names, values.T))
    known = {',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'bars', ' ': 'spaces'}
    return Table(columns, header, first_cells=dict(zip(names, first)), notes=[
        f'{len(values)} lines of {len(names)} columns separated by {known[separator]}, '
        f'{"with" if header else "without"} a header', *notes])


def text_of(path: Path) -> str:
    """
    Return a text in UTF-8, in UTF-16 with a byte-order mark, or in Windows-1252.

    :raises RecordingError: the file is not text; for well-known formats it contains a remedy.
    """
    if advice := FORMAT_REMEDIES.get(path.suffix.lower()):
        raise RecordingError(f'{path.name} is of a kind that is not read', name=str(path),
                             value=path.suffix, remedy=advice)
    content = path.read_bytes()
    utf16 = content.startswith((b'\xff\xfe', b'\xfe\xff'))
    # Names of units such as ° come from Windows in its own alphabet
    for encoding in ('utf-16',) if utf16 else ('utf-8-sig', 'cp1252'):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if not re.search('[\x00-\x08\x0e-\x1f]', text):
            return text
    raise no_table(path, 'it is not text')


def no_table(path: Path, why: str, remedy: str = FORMATS_REMEDY) -> RecordingError:
    """Return the error of a file that cannot be a recording."""
    return RecordingError(f'{path.name} is not a table of numbers: {why}', name=str(path),
                          remedy=remedy)


def _cells(line: str, separator: str) -> list[str]:
    if separator == ' ':
        return line.split()
    return [cell.strip() for cell in next(csv.reader([line], delimiter=separator))]


def is_text(cell: str) -> bool:
    """Return whether a cell is neither empty nor a number."""
    try:
        float(cell.replace(',', '.') or 'nan')
    except ValueError:
        return True
    return False


def _header(head: list[list[str]], width: int) -> tuple[int, list[str], list[str]]:
    """Return the index of the first line of numbers, the cells of the header, and notes."""
    wide = [k for k, cells in enumerate(head) if len(cells) in (width, width - 1)]
    first = next((k for k in wide if _is_data(head[k])), len(head))
    texts = [k for k in wide if k < first and all(is_text(cell) for cell in head[k] if cell)]
    # A header has texts above numbers; a column of texts does not make one of the first line
    above = any(is_text(cell) and not is_text(below)
                for cell, below in zip(head[wide[0]], head[wide[-1]]))
    if first == len(head) or not texts and above:
        texts = wide[:1]
    if not texts:
        return wide[0], [], []
    names = head[texts[-1]]
    if len(texts) < 2 or not _are_units(names):
        return texts[-1] + 1, names, []
    pairs = itertools.zip_longest(head[texts[-2]], names, fillvalue='')
    return texts[-1] + 1, [f'{name} [{unit.strip("[]()")}]' if unit else name
                           for name, unit in pairs], [
        'the line below the header was read as units']


def _is_data(cells: list[str]) -> bool:
    """Return whether most cells that are not empty are numbers."""
    filled = [cell for cell in cells if cell]
    return sum(not is_text(cell) for cell in filled) > len(filled) / 2


def _are_units(cells: list[str]) -> bool:
    """Return whether every cell that is not empty is a unit, with or without brackets."""
    filled = [cell.strip('[]()') for cell in cells if cell]
    return bool(filled) and all(cell == '-' or known(cell) for cell in filled)


def _separator(lines: list[str]) -> str:
    """Return the separator that gives most lines the same number of columns above one."""
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
    """Return the header in a comment, or an empty string."""
    names: list[str] = []
    for line in lines:
        if not line.lstrip().startswith(COMMENT_SIGNS):
            break
        cells = _cells(line.lstrip(''.join(COMMENT_SIGNS) + ' '), separator)
        if len(cells) == width and any(is_text(cell) for cell in cells):
            names = cells
    return names


def _numbers(body: list[str], separator: str, width: int, path: Path) -> ndarray:
    """Return the cells (N, width) as numbers; NaN for empty cells and words."""
    if separator != ',' and any(re.search(r'\d,\d', line) for line in body[:DIALECT_LINES]):
        body = [line.replace(',', '.') for line in body]
    try:
        values = np.loadtxt(body, delimiter=None if separator == ' ' else separator, ndmin=2,
                            comments=None)
        if values.shape[1] == width:
            return values
    except ValueError:      # empty cells, quotes, words, ragged lines
        pass
    return np.array(list(_slowly(body, separator, width, path))).reshape(-1, width)


def _slowly(body: list[str], separator: str, width: int, path: Path) -> Iterator[list[float]]:
    for number, line in enumerate(body, 1):
        cells = _cells(line, separator)
        if len(cells) != width:
            if number == len(body):
                return          # what was cut off while it was written
            raise RecordingError(
                f'line {number} of the numbers in {path.name} has {len(cells)} cells',
                name=str(path), value=line, remedy=f'the others have {width}')
        yield [np.nan if not cell or is_text(cell) else float(cell.replace(',', '.'))
               for cell in cells]


def read_mat(path: Path) -> Table:
    """
    Return the arrays of a MATLAB .mat file, also those of structs, as :func:`read_npz` does.

    :raises RecordingError: there are no such arrays, or the file is of version 7.3.
    """
    content = path.read_bytes()
    major = content[124 + (content[126:127] == b'I')] if len(content) > 128 else 0
    if all(content[:4]) and major == 1:      # versions 5 to 7
        _check_elements(content[128:], '<' if content[126:128] == b'IM' else '>')
    try:
        given = loadmat(path)
    except NotImplementedError:
        raise no_table(path, 'it is of version 7.3, which is HDF5',
                       "save it in MATLAB with save(..., '-v7')") from None
    arrays: dict[str, ndarray] = {}
    for name, array in given.items():
        if isinstance(array, np.ndarray):
            names = array.dtype.names       # of a struct
            fields = dict(zip(names, array.item())) if names and array.size == 1 else {name: array}
            # Everything is a matrix there: a column of times too
            arrays |= {key: np.squeeze(value) for key, value in fields.items()}
    return _of_arrays(arrays, path)


def _check_elements(content: bytes, order: str) -> None:
    """Raise ValueError for elements of unknown types or sizes, which crash ``loadmat``."""
    at = 0
    while at + 8 <= len(content):
        kind, size = struct.unpack_from(f'{order}2I', content, at)
        begin, small = at + 8, kind >> 16
        if small:
            kind, size, begin = kind & 0xffff, small, at + 4
        data = content[begin:begin + size]
        if kind not in MAT_TYPES or len(data) < size or small > 4:
            raise ValueError(f'an element of type {kind} with {size} bytes at byte {at}')
        if kind in (MAT_MATRIX, MAT_COMPRESSED):
            _check_elements(zlib.decompress(data) if kind == MAT_COMPRESSED else data, order)
        at = begin + size + (-size % (4 if small else 8) if kind != MAT_COMPRESSED else 0)


def read_npz(path: Path) -> Table:
    """
    Return the arrays of a .npz file as columns; those of `position` are `position[0]`, ...

    An array `joint_names` (or `names`, `joints`) contains the names of the joints.

    :raises RecordingError: there are no numeric arrays of equal length.
    """
    with np.load(path, allow_pickle=False) as file:
        return _of_arrays({name: file[name] for name in file.files}, path)


def _of_arrays(given: dict[str, ndarray], path: Path) -> Table:
    table = Table({})
    for key in ('joint_names', 'names', 'joints'):
        if key in given and given[key].dtype.kind in 'US':
            table.joint_names = tuple(str(name) for name in np.atleast_1d(given.pop(key)))
    arrays = {name: array for name, array in given.items()
              if array.dtype.kind in 'fiu' and array.ndim in (1, 2) and array.size > 1}
    if not arrays:
        raise no_table(path, 'it has no arrays of numbers')
    length = _samples(arrays.values())
    for name, array in arrays.items():
        array = array.astype(float)
        if array.ndim == 2 and array.shape[0] != length and array.shape[1] == length:
            table.notes.append(f'{name} is transposed: its samples are in its columns')
            array = array.T
        if len(array) != length:
            table.notes.append(f'{name} {array.shape} left out: others have {length} samples')
            table.left_out[name] = array.shape
        elif array.ndim == 1:
            table.columns[name] = array
        else:
            table.arrays[name] = [f'{name}[{k}]' for k in range(array.shape[1])]
            table.columns.update(zip(table.arrays[name], array.T))
    table.notes.insert(0, 'arrays ' + ', '.join(
        f'{name} {array.shape}' for name, array in arrays.items()))
    return table


def _samples(arrays: Iterable[ndarray]) -> int:
    """Return the number of samples: the largest dimension of arrays that hold most numbers."""
    numbers = Counter[int]()
    for array in arrays:
        numbers[max(array.shape)] += array.size
    return numbers.most_common(1)[0][0]
