# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Plots of the last seconds of a running robot: tracking error, efforts, external efforts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy import ndarray
import viser
from viser.uplot import Series

TIME_SPAN = 10.0    # [s] shown
SAMPLE_INTERVAL = 0.1    # [s]: drawing costs processor time
COLORS = ('#1f6fb4', '#e07b1a', '#2a9d5c', '#c8283c', '#7c5cbf', '#8c6d46', '#d16ba5', '#5f6b7a')


class History:
    """
    The last :data:`SPAN` of n values.

    :param n: number of values.
    """

    def __init__(self, n: int):
        size = round(TIME_SPAN / SAMPLE_INTERVAL)
        self._rows = np.full((size, n + 1), np.nan)

    def add(self, time: float, values: ndarray) -> bool:
        """Add values (n,) at a time [s]; return whether they were due."""
        if time < self._rows[-1, 0] + SAMPLE_INTERVAL:         # NaN, the first: due
            return False
        self._rows[:-1] = self._rows[1:]
        self._rows[-1] = time, *values
        return True

    def columns(self) -> tuple[ndarray, ...]:
        """Return times relative to the newest [s], then one array of each value."""
        known = self._rows[~np.isnan(self._rows[:, 0])]
        if len(known) < 2:
            known = np.zeros((2, self._rows.shape[1]))
            known[0, 0] = -SAMPLE_INTERVAL
        return known[:, 0] - known[-1, 0], *(np.ascontiguousarray(column) for column in
                                             known[:, 1:].T)


class LivePlot:
    """
    A folder with a plot of one quantity of each joint.

    :param names: of the joints.
    """

    def __init__(self, gui: viser.GuiApi, title: str, names: Sequence[str]):
        self._history = History(len(names))
        with gui.add_folder(title):
            self._plot: Any = gui.add_uplot(
                self._history.columns(),
                ({'label': 's'}, *(
                    Series(label=name, stroke=COLORS[i % len(COLORS)], width=1)
                    for i, name in enumerate(names))),
                scales={'x': {'time': False}}, aspect=2.2)

    def add(self, time: float, values: ndarray) -> None:
        """Add values (n,) at a time [s], if the next ones are due; NaN leaves a gap."""
        if self._history.add(time, values):
            self._plot.data = self._history.columns()
