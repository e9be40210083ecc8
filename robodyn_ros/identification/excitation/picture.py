# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Picture of an exciting motion: position, velocity and effort of each joint."""

import matplotlib as mpl
from matplotlib.figure import Figure
import numpy as np
from numpy import ndarray

from .optimize import Excitation

NEAR_LIMIT = 0.7    # share of a limit


def draw(title: str, found: Excitation, motion: tuple[ndarray, ndarray, ndarray, ndarray],
         effort: ndarray, units: tuple[str, str]) -> Figure:
    """
    Return the figure; dashed lines are limits, where a joint comes near them.

    :param motion: times (T,) [s] and q, q̇, q̈ (T, nv).
    :param effort: (T, nv) [N·m | N].
    :param units: of positions and of efforts.
    """
    times, q, qd, _ = motion
    colors = mpl.colormaps['tab10' if len(found.joint_names) <= 10 else 'viridis'].resampled(
        max(len(found.joint_names), 10))
    figure = Figure(figsize=(9.0, 9.0), layout='constrained')
    figure.suptitle(title.replace('$', r'\$'))
    rows = figure.subplots(3, 1, sharex=True)
    labels = (f'position [{units[0]}]', f'velocity [{units[0]}/s]', f'effort [{units[1]}]')
    limits = (None, found.limits.velocity, found.limits.effort)
    for axes, values, label, limit in zip(rows, (q, qd, effort), labels, limits):
        for i, name in enumerate(found.joint_names):
            axes.plot(times, values[:, i], color=colors(i), lw=1.2, label=name.replace('$', r'\$'))
        # Only those that a joint comes near: others would press the curves flat
        if limit is not None:
            for joint in np.flatnonzero(np.abs(values).max(0) > NEAR_LIMIT * limit).tolist():
                for sign in (-1.0, 1.0):
                    axes.axhline(sign * limit[joint], color=colors(joint), lw=0.8, ls='--')
        axes.set_ylabel(label)
        axes.grid(alpha=0.25)
    rows[-1].set(xlabel='time [s]', xlim=(times[0], times[-1]))
    figure.legend(*rows[0].get_legend_handles_labels(), loc='outside lower center',
                  ncols=min(len(found.joint_names), 7), fontsize=8)
    return figure
