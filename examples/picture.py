# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Style and file of the pictures of the examples; every example takes `--save FILE`."""

import argparse
import sys
from pathlib import Path
from typing import Any

import matplotlib
from cycler import cycler

BLUE, ORANGE, GREEN, GREY = '#1f6fb4', '#e07b1a', '#2a9d5c', '#7a828c'
matplotlib.rcParams.update({
    'axes.grid': True, 'axes.spines.right': False, 'axes.spines.top': False,
    'axes.prop_cycle': cycler(color=[BLUE, ORANGE, GREEN, '#b03a5b', '#6a51a3', GREY]),
    'figure.constrained_layout.use': True, 'font.size': 9.5, 'grid.alpha': 0.25,
    'legend.frameon': False, 'lines.linewidth': 1.6})


def save(figure: Any, description: str | None) -> None:
    """
    Save a figure to the file of `--save`: by default NAME_OF_THE_EXAMPLE.png in this folder.

    :param description: docstring of the example, for `--help`.
    """
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--save', type=Path, metavar='FILE',
                        default=Path(f'{Path(sys.argv[0]).stem}.png'))
    file = parser.parse_args().save
    figure.savefig(file, dpi=130)
    print(f'picture: {file}')
