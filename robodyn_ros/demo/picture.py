# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of the demo: three control laws on one trajectory; push, hand and collision."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
import numpy as np

from .contact_scene import CONTACT_DURATION, late_force, WITH, WITHOUT
from .results import Results, Trace, Tracking
from ..model.robot import RobotModel
from ..report.run_figure import units

MIN_SHOWN_ERROR = 1e-3    # [mrad | mm], of the logarithmic axis
BEFORE, AFTER = 0.1, 0.8        # s around the contact


def draw(model: RobotModel, results: Results, path: Path) -> None:
    """Write the picture of a scene as PNG."""
    figure = Figure(figsize=(13, 10) if results.trackings else (12, 7.5), layout='constrained',
                    dpi=110)
    (_draw_trackings if results.trackings else _draw_contacts)(figure, model, results)
    for axes in figure.axes:
        axes.grid(which='both', alpha=0.25)
    figure.savefig(path)


def _draw_trackings(figure: Figure, model: RobotModel, results: Results) -> None:
    """Draw tracking error (all joints, then each) and effort against time."""
    trackings: list[Tracking] = results.trackings
    unit, effort_unit = units(model, 'm')
    grid = figure.add_gridspec(3, len(trackings), height_ratios=(1.1, 1, 1))
    figure.suptitle(f'{_plain(model.name)}: one trajectory, three control laws of equal stiffness')
    norms = figure.add_subplot(grid[0, :])
    for one in trackings:
        norm = 1e3 * np.sqrt(np.mean(one.error**2, axis=1))
        norms.semilogy(one.time, np.maximum(norm, MIN_SHOWN_ERROR), lw=1.2,
                       label=f'{one.mode}: RMS {1e3 * one.rms:.3g} {unit}')
    norms.set(ylabel=f'error, RMS of all joints [{unit}]', xlim=(0, trackings[0].time[-1]),
              ylim=(MIN_SHOWN_ERROR, None))
    norms.legend(loc='lower right', ncols=len(trackings))
    colors = mpl.colormaps['tab10' if model.nv <= 10 else 'viridis'].resampled(max(model.nv, 10))
    efforts = None
    for column, one in enumerate(trackings):
        errors = figure.add_subplot(grid[1, column], sharex=norms, title=one.mode)
        efforts = figure.add_subplot(grid[2, column], sharex=norms, sharey=efforts,
                                     xlabel='time [s]')
        for joint, name in enumerate(model.joint_names):
            errors.plot(one.time, 1e3 * one.error[:, joint], color=colors(joint), lw=1.1)
            efforts.plot(one.time, one.effort[:, joint], color=colors(joint), lw=1.1,
                         label=_plain(name))
        if column == 0:
            errors.set_ylabel(f'error of each joint [{unit}]\n(note the scales)')
            efforts.set_ylabel(f'effort [{effort_unit}]')
            figure.legend(*efforts.get_legend_handles_labels(), loc='outside lower center',
                          ncols=min(model.nv, 7))


def _draw_contacts(figure: Figure, model: RobotModel, results: Results) -> None:
    """Draw displacement and estimate of the push, way of the hand, force of the post."""
    traces = results.traces
    figure.suptitle(f'{_plain(model.name)}: pushed, guided by hand, into a post')
    (pushed, felt), (led, pressed) = figure.subplots(2, 2)
    _pair(pushed, traces['tool'], 1e3, 'tool', 'F / K while the force acts',
          'Pushed: cartesian_impedance', 'displacement [mm]')
    _pair(felt, traces['felt'], 1.0, 'estimated', 'exerted by the push',
          'Felt: external efforts of the joints', f'norm [{units(model)[1]}]')
    _pair(led, traces['hand'], 1e3, 'tool', 'hand', 'Guided: gravity_compensation', 'way [mm]')
    for name, color in ((WITHOUT, 'tab:gray'), (WITH, 'tab:red')):
        time, force, _ = traces[name]
        near = (time > -BEFORE) & (time < AFTER)
        pressed.plot(1e3 * time[near], force[near], color=color, lw=1.4, label=(
            f'{name}: {late_force(traces[name]):.0f} N after {CONTACT_DURATION:g} s'))
    pressed.axvline(1e3 * results.found, color='black', lw=0.8, ls=':',
                    label=f'found after {1e3 * results.found:.1f} ms')
    pressed.set(title='Collision: joint_impedance into a post', ylabel='force of the post [N]',
                xlabel='time since the contact [ms]')
    pressed.legend(fontsize=8)


def _pair(axes: Any, trace: Trace, scale: float, name: str, reference: str, title: str,
          label: str) -> None:
    axes.plot(trace.time, scale * trace.reference, color='tab:gray', lw=1.0, ls='--',
              label=reference)
    axes.plot(trace.time, scale * trace.value, color='tab:blue', lw=1.4, label=name)
    axes.set(title=title, ylabel=label, xlabel='time [s]')
    axes.legend(fontsize=8)


def _plain(name: str) -> str:
    """Return a name so that it is not drawn as a formula."""
    return name.replace('$', r'\$')
