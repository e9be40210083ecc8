# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Figure of a simulated run: positions, tracking errors, velocities and efforts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray

from .units import units
from ..extras import pip_install
from ..model.robot import RobotModel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAULT_COLOR = '#c03020'


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
