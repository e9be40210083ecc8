# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables from arrays on disk: NumPy's .npz and MATLAB's .mat."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy import ndarray
from scipy.io import loadmat

from .read_table import no_table, Table


def read_mat(path: Path) -> Table:
    """
    Return the arrays of a MATLAB .mat file as columns, as :func:`read_npz` does.

    :raises RecordingError: there are no such arrays, or the file is of version 7.3.
    """
    try:
        given = loadmat(path)
    except NotImplementedError:
        raise no_table(path, 'it is of version 7.3, which is HDF5',
                       "save it in MATLAB with save(..., '-v7')") from None
    # Everything is a matrix there: a column of times too
    arrays = {name: array.squeeze() for name, array in given.items()
              if isinstance(array, np.ndarray)}
    return _of_arrays(arrays, path)


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
