# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Common style and `--save FILE` option of the pictures of the examples."""

import argparse
from pathlib import Path
import sys
from typing import Any

from cycler import cycler
import matplotlib

BLUE, ORANGE, GREEN, GREY = '#1f6fb4', '#e07b1a', '#2a9d5c', '#7a828c'
matplotlib.rcParams.update({
    'axes.grid': True, 'axes.spines.right': False, 'axes.spines.top': False,
    'axes.prop_cycle': cycler(color=[BLUE, ORANGE, GREEN, '#b03a5b', '#6a51a3', GREY]),
    'figure.constrained_layout.use': True, 'font.size': 9.5, 'grid.alpha': 0.25,
    'legend.frameon': False, 'lines.linewidth': 1.6})


def _file() -> Path:
    """Return the file of `--save`: by default NAME_OF_THE_EXAMPLE.png in this folder."""
    parser = argparse.ArgumentParser(description=sys.modules['__main__'].__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--save', type=Path, metavar='FILE',
                        default=Path(f'{Path(sys.argv[0]).stem}.png'))
    return parser.parse_args().save


# At import, so that `--help` and wrong arguments do not wait for a simulation
FILE = _file()


def save(figure: Any) -> None:
    """Save a figure of Matplotlib to the file of `--save`."""
    figure.savefig(FILE, dpi=130)
    print(f'picture: {FILE}')
