# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Samples of curves, and the figure of a simulated run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray

from ..extras import pip_install
from ..model.robot import RobotModel, units

MAX_POINTS = 4000    # of a curve
FAULT_COLOR = '#c03020'
COLORS = ('#2f7ed8', '#e07b1a', '#2a9d5c', '#d03b4f', '#8b6bd1', '#a0764a', '#d16ba5', '#7f8c99',
          '#b5a81c', '#22a3b8')


def envelope(values: ndarray, most: int = MAX_POINTS) -> ndarray:
    """
    Return indices of at most so many samples that keep each peak of a curve (N,), and its breaks.

    Of each of ``most / 2`` intervals they are those of the least and of the greatest value; a
    break is the first of the samples in a row that are NaN, of which there may be more.
    """
    n = len(values)
    if n <= most:
        return np.arange(n)
    width = -(-n // (most // 2))
    first = np.arange(0, n, width)
    intervals = np.full((len(first), width), np.nan)
    intervals.ravel()[:n] = values
    absent = np.isnan(intervals)
    low = np.where(absent, np.inf, intervals).argmin(axis=1)
    high = np.where(absent, -np.inf, intervals).argmax(axis=1)
    absent = np.isnan(values)
    breaks = np.flatnonzero(absent & ~np.append(False, absent[:-1]))
    return np.unique(np.concatenate((first + low, first + high, breaks)))


def finite(values: ndarray) -> list[float | None]:
    """Return numbers of six digits for JSON, None where they are not finite."""
    x = np.asarray(values, float)
    known = np.isfinite(x)
    size = np.abs(np.where(known & (x != 0.0), x, 1.0))
    digits = np.clip(5.0 - np.floor(np.log10(size)), -300.0, 300.0)
    scale = 10.0**np.abs(digits)
    with np.errstate(invalid='ignore', over='ignore'):
        rounded = np.where(digits >= 0.0, np.round(x * scale) / scale, np.round(x / scale) * scale)
    return [value if there else None for value, there in zip(rounded.tolist(), known.tolist())]


if TYPE_CHECKING:
    from matplotlib.figure import Figure


def run_figure(model: RobotModel, time: ndarray, position: ndarray, reference: ndarray,
               velocity: ndarray, effort: ndarray, fault: str, fault_time: float) -> Figure:
    """
    Return a Matplotlib figure of a run, one colour a joint, with the time after a fault shaded.

    :param model: the robot, for names and units.
    :param time: (N,) [s]; position [rad | m], reference (NaN: none), velocity and effort are
        (N, nv).
    :param fault: reason of a fault in words; ``fault_time``: its time [s], NaN without one.
    :raises ImportError: Matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('a plot needs Matplotlib: run '
                          f'`{pip_install("matplotlib")}`') from error

    angle, torque = units(model)
    small, _ = units(model, 'm')
    speed = angle.replace(' |', '/s |') + '/s'
    rows = [(f'position [{angle}], reference dashed', position),
            (f'error [{small}]', 1e3 * (reference - position)),
            (f'velocity [{speed}]', velocity), (f'effort [{torque}]', effort)]
    if np.isnan(reference).all():       # a law without a trajectory
        del rows[1]
    figure = Figure(figsize=(9.0, 2.2 * len(rows)), layout='constrained')
    axes = figure.subplots(len(rows), 1, sharex=True)
    colors = mpl.colormaps['tab10']
    for ax, (name, values) in zip(axes, rows):
        ax.set_ylabel(name, fontsize=8)
        ax.grid(alpha=0.3)
        for i, joint in enumerate(model.joint_names):
            ax.plot(time, values[:, i], color=colors(i % 10), lw=1.2, label=joint)
        if np.isfinite(fault_time):
            ax.axvspan(fault_time, time[-1], lw=0, color=FAULT_COLOR, alpha=0.08)
    for i in range(model.nv):
        axes[0].plot(time, reference[:, i], color=colors(i % 10), lw=1.0, ls='--')
    axes[0].set_title(fault.replace('$', r'\$'), color=FAULT_COLOR, fontsize=9, loc='left')
    axes[0].legend(fontsize=7, ncols=min(model.nv, 5), loc='best')
    axes[-1].set_xlabel('time [s]')
    return figure
