# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Linear regressions compressed to triangular factors, joint by joint and block by block."""

from collections.abc import Sequence

import numpy as np
from numpy import ndarray

VALIDATION_BLOCKS = 5    # of equal numbers of samples, for cross-validation


class Compressed:
    """
    Triangular factors of the rows of each joint in each block of samples.

    A factor R has |R (φ, -1)| equal to the norm of the errors that the parameters φ leave of this
    joint in this block. Every estimate that weights joints or leaves blocks out follows from a few
    hundred rows then, and columns on which a joint does not depend take no part.

    :param matrix: (N, nv, P) and ``target`` (N, nv) of the regression.
    :param bounds: of the blocks, (blocks + 1) indices of samples; None: VALIDATION_BLOCKS of
        equal size.
    """

    def __init__(self, matrix: ndarray, target: ndarray, bounds: Sequence[int] | None = None):
        self.nv, self.size = matrix.shape[1:]
        self.bounds = np.linspace(0, len(target), VALIDATION_BLOCKS + 1).astype(int).tolist() \
            if bounds is None else list(bounds)
        self._used = [np.append(np.flatnonzero(matrix[:, j].any(axis=0)), self.size)
                      for j in range(self.nv)]
        self._factors = [[triangle(np.column_stack([matrix[a:b, j, used[:-1]], target[a:b, j]]))
                          for j, used in enumerate(self._used)]
                         for a, b in zip(self.bounds, self.bounds[1:])]

    def joints(self, columns: ndarray | None = None, without: int | None = None
               ) -> list[ndarray]:
        """
        Return rows (k, p + 1) of each joint that stand for all of its samples.

        :param columns: (p,) indices of the parameters; None: all.
        :param without: block that is left out.
        """
        return [self._rows(j, [block[j] for k, block in enumerate(self._factors) if k != without],
                           columns) for j in range(self.nv)]

    def blocks(self, sigma: ndarray, columns: ndarray) -> list[ndarray]:
        """Return the triangular factor (p + 1, p + 1) of each block, joints divided by σ (nv,)."""
        return [triangle(np.vstack([self._rows(j, [block[j]], columns) / sigma[j]
                                    for j in range(self.nv)])) for block in self._factors]

    def whole(self, sigma: ndarray, without: int | None = None) -> ndarray:
        """Return the triangular factor (P + 1, P + 1) of all rows, joints divided by σ (nv,)."""
        return triangle(np.vstack([rows / s for rows, s in zip(
            self.joints(without=without), sigma)]))

    def squares(self, block: int, parameters: ndarray) -> ndarray:
        """Return the sums of squared errors (nv,) that parameters (P,) leave in a block."""
        extended = np.append(parameters, -1.0)
        return np.array([np.sum((factor @ extended[used])**2)
                         for factor, used in zip(self._factors[block], self._used)])

    def _rows(self, joint: int, factors: Sequence[ndarray], columns: ndarray | None) -> ndarray:
        stacked = np.vstack(factors)
        whole = np.zeros((len(stacked), self.size + 1))
        whole[:, self._used[joint]] = stacked
        return whole if columns is None else whole[:, np.append(columns, self.size)]


def triangle(rows: ndarray) -> ndarray:
    """Return the triangular factor (k, k) of the QR decomposition of rows (n, k)."""
    return np.asarray(np.linalg.qr(rows, mode='r'))
