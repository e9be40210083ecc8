# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `derive`: equations of motion in closed form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, TYPE_CHECKING

from rich.console import Console
import typer

from .options import command, console, Gravity, Locked, locked_joints, MODEL, numbers, Root, Tip
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
    raise typer.Exit(run(robot, console(), locked=locked_joints(locked), root=root or None,
                         tip=tip or None, gravity=numbers('--gravity', gravity) or None,
                         frame=frame or None, axes=axes, numbers=in_numbers,
                         rounding=rounding, as_latex=latex, ascii_only=ascii_only, force=force))


def run(robot: str, out: Console, *, locked: Mapping[str, float], root: str | None,
        tip: str | None, gravity: Sequence[float] | None, frame: str | None, axes: str,
        numbers: bool, rounding: float, as_latex: bool, ascii_only: bool, force: bool) -> int:
    """Derive and print the equations of motion; return 1 if their check failed."""
    from ..catalog.robots import load_robot
    from ..lagrange import derive, latex, text
    from ..lagrange.report import TERMINAL_WIDTH

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
