# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Picture of one trajectory followed under three control laws."""

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
import numpy as np

from .results import Tracking
from ..model.robot import RobotModel
from ..report.units import units

MIN_SHOWN_ERROR = 1e-3    # [mrad | mm], of the logarithmic axis


def draw(model: RobotModel, trackings: list[Tracking], path: Path) -> None:
    """Write a PNG: tracking error (all joints, then each) and effort against time."""
    unit, effort_unit = units(model, 'm')
    figure = Figure(figsize=(13, 10), layout='constrained', dpi=110)
    grid = figure.add_gridspec(3, len(trackings), height_ratios=(1.1, 1, 1))
    figure.suptitle(f'{_plain(model.name)}: one trajectory, three control laws of equal stiffness')

    norms = figure.add_subplot(grid[0, :])
    for tracking in trackings:
        norm = 1e3 * np.sqrt(np.mean(tracking.error**2, axis=1))
        norms.semilogy(tracking.time, np.maximum(norm, MIN_SHOWN_ERROR), lw=1.2,
                       label=f'{tracking.mode}: RMS {1e3 * tracking.rms:.3g} {unit}')
    norms.set(ylabel=f'error, RMS of all joints [{unit}]', xlim=(0, trackings[0].time[-1]),
              ylim=(MIN_SHOWN_ERROR, None))
    norms.grid(which='both', alpha=0.25)
    norms.legend(loc='lower right', ncols=len(trackings))

    colors = mpl.colormaps['tab10' if model.nv <= 10 else 'viridis'].resampled(max(model.nv, 10))
    torques = None
    for column, tracking in enumerate(trackings):
        errors = figure.add_subplot(grid[1, column], sharex=norms)
        torques = figure.add_subplot(grid[2, column], sharex=norms, sharey=torques)
        for joint, name in enumerate(model.joint_names):
            color = colors(joint)
            errors.plot(tracking.time, 1e3 * tracking.error[:, joint], color=color, lw=1.1)
            torques.plot(tracking.time, tracking.effort[:, joint], color=color, lw=1.1,
                         label=_plain(name))
        errors.set_title(tracking.mode)
        errors.grid(alpha=0.25)
        torques.grid(alpha=0.25)
        torques.set_xlabel('time [s]')
        if column == 0:
            errors.set_ylabel(f'error of each joint [{unit}]\n(note the scales)')
            torques.set_ylabel(f'effort [{effort_unit}]')
            handles, labels = torques.get_legend_handles_labels()
    figure.legend(handles, labels, loc='outside lower center', ncols=min(model.nv, 7))
    figure.savefig(path)


def _plain(name: str) -> str:
    """Return a name so that it is not drawn as a formula."""
    return name.replace('$', r'\$')
