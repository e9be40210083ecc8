# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Picture of the three references of Jacobians, tasks and wrenches, for docs/theory.md."""

from pathlib import Path
import sys

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
import numpy as np
from robodyn_ros import DhLink, Dynamics, from_dh

POSE = (0.9, -0.55)         # rad
LENGTH = 0.28               # of the axes drawn [m]
TEXTS = {'aligned': "'aligned': point of the frame,\naxes of the base",
         'body': "'body': point and axes\nof the frame",
         'world': "'world': point and axes\nof the base"}


def panel(axes: Axes, reference: str, poses: list[np.ndarray]) -> None:
    """Draw the arm, its frame faintly, and the point and the axes of one reference."""
    base, tool = poses[0], poses[-1]
    corners = np.array([pose[:2, 3] for pose in poses])
    axes.plot(*corners.T, color='0.75', lw=7, solid_capstyle='round', zorder=1)
    axes.plot(*corners[:-1].T, 'o', color='0.45', ms=7, zorder=2)
    for pose in (base, tool):
        triad(axes, pose[:2, 3], pose[:2, :2], 0.25)
    point = base if reference == 'world' else tool
    turn = tool if reference == 'body' else base
    triad(axes, point[:2, 3], turn[:2, :2], 1.0)
    axes.plot(*point[:2, 3], 'o', color='k', ms=6, zorder=5)
    axes.annotate('base', base[:2, 3], (-6, -14), textcoords='offset points', ha='right')
    axes.annotate('frame', tool[:2, 3], (6, -14), textcoords='offset points')
    axes.set_title(TEXTS[reference], fontsize=10)
    axes.set(xlim=(-0.35, 1.25), ylim=(-0.15, 1.0), aspect='equal')
    axes.axis('off')


def triad(axes: Axes, origin: np.ndarray, rotation: np.ndarray, alpha: float) -> None:
    """Draw x (red) and y (green); strong ones get their names."""
    for direction, color, name in zip(rotation.T, ('tab:red', 'tab:green'), 'xy'):
        tip = origin + LENGTH * direction
        axes.annotate('', tip, origin, arrowprops={
            'arrowstyle': '-|>', 'color': color, 'alpha': alpha, 'lw': 2, 'shrinkA': 0})
        if alpha == 1.0:
            axes.text(*(tip + 0.05 * direction), name, color=color, ha='center', va='center')


def draw(path: Path) -> None:
    """Write the SVG."""
    mpl.rcParams.update({'svg.fonttype': 'none', 'svg.hashsalt': path.name})
    arm = from_dh([DhLink(0, 0, 0.6, 0, mass=1), DhLink(0, 0, 0.5, 0, mass=1)], tool=np.eye(4))
    dynamics = Dynamics(arm)
    poses = [dynamics.pose(POSE, name) for name in ('base', 'link1', 'tool')]
    figure = Figure(figsize=(9, 2.9), layout='constrained')
    for axes, reference in zip(figure.subplots(1, 3), TEXTS):
        panel(axes, reference, poses)
    figure.savefig(path, metadata={'Date': None})


if __name__ == '__main__':
    draw(Path(sys.argv[1] if sys.argv[1:] else __file__).with_suffix('.svg'))
