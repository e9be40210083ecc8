# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Picture of the contact scene: the push, the hand, and the force of the post."""

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
import numpy as np

from .contact_scene import CONTACT_DURATION, ContactResults, Trace
from ..model.robot import RobotModel
from ..report.units import units

BEFORE, AFTER = 0.1, 0.8        # s around the contact
COLORS = {'without detection': 'tab:gray', 'with detection': 'tab:red'}


def draw(model: RobotModel, results: ContactResults, path: Path) -> None:
    """Write a PNG: displacement and estimate of the push, way of the hand, force of the post."""
    _, effort_unit = units(model)
    figure = Figure(figsize=(12, 7.5), layout='constrained', dpi=110)
    figure.suptitle(f'{model.name}: pushed, guided by hand, into a post'.replace('$', r'\$'))
    (pushed, felt), (led, pressed) = figure.subplots(2, 2)
    _pair(pushed, results.pushed, 1e3, 'tool', 'F / K while the force acts')
    pushed.set(title='Pushed: cartesian_impedance', ylabel='displacement [mm]')
    _pair(felt, results.felt, 1.0, 'estimated', 'exerted by the push')
    felt.set(title='Felt: external efforts of the joints', ylabel=f'norm [{effort_unit}]')
    _pair(led, results.led, 1e3, 'tool', 'hand')
    led.set(title='Guided: gravity_compensation', ylabel='way [mm]')
    for name, trace in results.pressed.items():
        near = (trace.time > -BEFORE) & (trace.time < AFTER)
        pressed.plot(1e3 * trace.time[near], trace.value[near], color=COLORS[name], lw=1.4,
                     label=f'{name}: {trace.value[trace.time > CONTACT_DURATION].max():.0f} N '
                     f'after {CONTACT_DURATION:g} s')
    if np.isfinite(results.found):
        pressed.axvline(1e3 * results.found, color='black', lw=0.8, ls=':',
                        label=f'found after {1e3 * results.found:.1f} ms')
    pressed.set(title='Collision: joint_impedance into a post', ylabel='force of the post [N]',
                xlabel='time since the contact [ms]')
    for axes in (pushed, felt, led):
        axes.set_xlabel('time [s]')
    for axes in (pushed, felt, led, pressed):
        axes.grid(alpha=0.25)
        axes.legend(fontsize=8)
    figure.savefig(path)


def _pair(axes: Any, trace: Trace | None, scale: float, name: str, reference: str) -> None:
    if trace is None:
        return
    axes.plot(trace.time, scale * trace.reference, color='tab:gray', lw=1.0, ls='--',
              label=reference)
    axes.plot(trace.time, scale * trace.value, color='tab:blue', lw=1.4, label=name)
