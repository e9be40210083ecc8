# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `derive`: equations of motion in closed form."""

from collections.abc import Mapping, Sequence

from rich.console import Console

from ..catalog.robots import load_robot
from ..errors import ArgumentError
from ..lagrange import derive, latex, text
from ..lagrange.report import TERMINAL_WIDTH
from ..model.resources import rows_path
from ..model.robot import RobotModel

MIN_WIDTH = 40    # columns; formulas are not broken below


def run(robot: str, out: Console, *, locked: Mapping[str, float], root: str | None,
        tip: str | None, gravity: Sequence[float] | None, frame: str | None, axes: str,
        numbers: bool, rounding: float, as_latex: bool, ascii_only: bool, force: bool) -> int:
    """Derive and print the equations of motion; return 1 if their check failed."""
    source: RobotModel | str = robot
    if rows_path(robot) is None:
        source = load_robot(robot, locked, (), root=root, tip=tip, gravity=gravity).model
    elif locked or root or tip or gravity:
        raise ArgumentError(f'{robot!r} has DH rows', name='robot', value=robot,
                            remedy='leave out --locked, --root, --tip and --gravity: they are for '
                                   'a URDF')
    with out.status('deriving, and checking with RNEA ...'):        # in a terminal only
        found = derive(source, numbers=numbers, frame=frame, axes=axes, rounding=rounding,
                       force=force)
    width = max(out.width, MIN_WIDTH) if out.is_terminal else TERMINAL_WIDTH
    try:
        'θ̈ₓᵀ'.encode(out.encoding)
    except (UnicodeEncodeError, LookupError):
        ascii_only = True
    out.print(latex(found) if as_latex else text(found, ascii_only=ascii_only, width=width),
              soft_wrap=True)
    return 0 if found.trusted else 1
