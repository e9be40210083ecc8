# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Symmetric, positive semi-definite matrices that users give as numbers."""

from collections.abc import Sequence

import numpy as np
from numpy import ndarray

# Of √(K_ii K_jj), which makes elements of different units comparable: as printed with six digits
ELEMENT_ROUNDING = 1e-6


def as_matrix(values: Sequence[float] | ndarray, size: int) -> ndarray:
    """
    Return a symmetric matrix (size, size) of its diagonal, or of all its elements by rows.

    :param values: ``size`` or ``size``² numbers.
    """
    given = np.asarray(values, float)
    if given.size == size:
        return np.diag(given.ravel())
    full = given.reshape(size, size)
    return 0.5 * (full + full.T)


def refusal(values: Sequence[float] | ndarray, size: int) -> tuple[str, str]:
    """
    Return why numbers are no positive semi-definite matrix, and the remedy; ('', '') if they are.

    :param values: ``size`` numbers, the diagonal, or ``size``², all elements by rows.
    """
    given = np.asarray(values, float)
    if given.size not in (size, size**2):
        return (f'has {given.size} numbers',
                f'give {size} numbers, the diagonal, or {size**2}, all elements by rows')
    full = np.diag(given) if given.size == size else given.reshape(size, size)
    scale = np.sqrt(np.maximum(np.outer(full.diagonal(), full.diagonal()), 0.0))
    differs = abs(full - full.T) > ELEMENT_ROUNDING * scale
    if differs.any():
        i, j = np.argwhere(differs)[0]
        return (f'is not symmetric: {full[i, j]:g} in row {i + 1}, column {j + 1}, and '
                f'{full[j, i]:g} in row {j + 1}, column {i + 1}',
                'give the same number at both places')
    if (along := negative_direction(as_matrix(given, size))) is not None:
        return (f'is not positive semi-definite: negative along ({direction(along)})',
                'give elements beside the diagonal that are smaller, and none on it below 0')
    return '', ''


def negative_direction(matrix: ndarray) -> ndarray | None:
    """
    Return a direction x (n,), its largest element ±1, with xᵀ K x < 0, or None if there is none.

    :param matrix: (n, n) symmetric.
    """
    diagonal = matrix.diagonal()
    if (diagonal < 0.0).any():
        return np.eye(len(matrix))[int(diagonal.argmin())]
    # An axis whose diagonal element is 0 can be coupled to nothing: scaled by more than it could
    unit = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1e-12 * max(diagonal.max(), 1e-12)))
    values, vectors = np.linalg.eigh(unit[:, None] * matrix * unit)
    if values[0] >= -ELEMENT_ROUNDING:
        return None
    along = unit * vectors[:, 0]
    return along / along[int(abs(along).argmax())]


def square_root(matrix: ndarray) -> ndarray:
    """Return the symmetric square root (n, n) of a positive semi-definite matrix (n, n)."""
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def direction(along: ndarray) -> str:
    """Return the elements of a vector for a message."""
    return ', '.join(f'{x + 0.0:.2g}' for x in np.where(abs(along) < 1e-3, 0.0, along))
