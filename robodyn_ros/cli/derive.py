# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `derive`: equations of motion in closed form."""

from __future__ import annotations

from typing import Annotated, cast, TYPE_CHECKING

import typer

from .options import chosen_robot, command, console, Gravity, Locked, MODEL, Root, Tip
from ..errors import ArgumentError
from ..model.resources import rows_path

if TYPE_CHECKING:
    from ..model.robot import RobotModel

MIN_WIDTH = 40    # columns; formulas are not broken below


@command(MODEL, 'craig_2r --frame tool --axes xy --latex')
def derive(robot: Annotated[str, typer.Argument(
               metavar='ROBOT', help='Path of a URDF file, of a .yaml file of DH rows, or a known '
                                     'name: two_link, rp, ..., craig_2r, craig_rp.')],
           locked: Locked = [],  # noqa: B006
           root: Root = '',
           tip: Tip = '',
           gravity: Gravity = '',
           frame: Annotated[str, typer.Option(
               help='Also derive M_x, V_x and G_x of this frame, in its own axes.')] = '',
           axes: Annotated[str, typer.Option(
               help='Axes of the task: as many of xyzrpy as there are joints.')] = '',
           in_numbers: Annotated[bool, typer.Option(
               '--numbers', help='Use numbers instead of symbols.')] = False,
           rounding: Annotated[float, typer.Option(
               '--round-angles', metavar='RAD', help='Tolerance for treating an angle of a URDF '
               'as a right angle: 1e-5 for 1.5708.')] = 1e-9,
           latex: Annotated[bool, typer.Option(
               '--latex', help='Print LaTeX, for a document that uses amsmath.')] = False,
           ascii_only: Annotated[bool, typer.Option(
               '--ascii', help='Print m_1 l_1^2 instead of m₁ l₁².')] = False,
           force: Annotated[bool, typer.Option(
               '--force', help='Allow any number of joints.')] = False) -> None:
    """Derive M(q), B(q), C(q), g(q) of a small arm in closed form and check them with RNEA."""
    from ..lagrange import derive as derived, latex as as_latex, text
    from ..lagrange.report import TERMINAL_WIDTH

    out, source = console(), cast('RobotModel | str', robot)
    if rows_path(robot) is None:
        source = chosen_robot(robot, locked, root, tip, gravity).model
    elif locked or root or tip or gravity:
        raise ArgumentError(f'{robot!r} has DH rows', name='robot', value=robot,
                            remedy='leave out --locked, --root, --tip and --gravity: they are for '
                                   'a URDF')
    with out.status('deriving, and checking with RNEA ...'):        # in a terminal only
        found = derived(source, numbers=in_numbers, frame=frame or None, axes=axes,
                        rounding=rounding, force=force)
    width = max(out.width, MIN_WIDTH) if out.is_terminal else TERMINAL_WIDTH
    try:
        'θ̈ₓᵀ'.encode(out.encoding)
    except (UnicodeEncodeError, LookupError):
        ascii_only = True
    out.print(as_latex(found) if latex else text(found, ascii_only=ascii_only, width=width),
              soft_wrap=True)
    if not found.trusted:
        raise typer.Exit(1)
