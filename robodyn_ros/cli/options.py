# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Application, common options and console of the `robodyn` subcommands."""

import json
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
import typer
from typer.core import TyperGroup

from .arguments import as_option, locked_joints, numbers
from .usage import EXAMPLES, EXIT_CODES, FORMER_OPTIONS, PANELS, robots
from ..errors import RobodynError

if TYPE_CHECKING:
    from ..catalog.robots import CatalogRobot

# Tables that go into a file or a pipe are not cut to the 80 columns rich would assume
PIPE_WIDTH = 140


class Commands(TyperGroup):
    """Group of commands that end with one line after an error, and silently after Ctrl-C."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the subcommands, panel by panel."""
        return [name for panel in PANELS.values() for name in panel]

    def get_command(self, ctx: Any, name: str) -> Any:
        """Return a subcommand, with its panel, and an example in its help."""
        command: Any = super().get_command(ctx, name)
        if command is not None and name in EXAMPLES:
            command.epilog = f'Example: {EXAMPLES[name]}'
            command.rich_help_panel = next(p for p, names in PANELS.items() if name in names)
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the subcommand and its arguments, with former option names replaced."""
        name, command, rest = super().resolve_command(ctx, args)
        for i, word in enumerate(rest):
            option, equals, value = word.partition('=')
            if new := FORMER_OPTIONS.get(name or '', {}).get(option):
                warn_of_option(option, new)
                rest[i] = new + equals + value
        return name, command, rest

    def invoke(self, ctx: Any) -> Any:
        """Run the subcommand."""
        try:
            return super().invoke(ctx)
        except RobodynError as error:
            Console(stderr=True, highlight=False, emoji=False, soft_wrap=True).print(
                f'robodyn: {error.render(as_option)}', style='red', markup=False)
            ctx.exit(1)
        except KeyboardInterrupt:
            ctx.exit(130)


def warn_of_option(former: str, present: str) -> None:
    """Print the new name of a renamed option on stderr."""
    Console(stderr=True, highlight=False).print(
        f'robodyn: {former} is called {present} now, and the old name goes with the next release',
        style='yellow', markup=False)


app = typer.Typer(cls=Commands, no_args_is_help=True, pretty_exceptions_enable=False,
                  epilog=EXIT_CODES,
                  help='Model-based torque control of robot arms: command-line tools.')

Robot = Annotated[str, typer.Argument(
    metavar='ROBOT', autocompletion=robots,
    help='Path of a URDF, or a known name: two_link, rp, arm6, panda, ur5, kinova, ...')]
Locked = Annotated[list[str], typer.Option(
    '--locked', metavar='JOINT=VALUE', help='Joint to lock, and its position (rad or m); replaces '
    'the locked joints of config/ROBOT.yaml. Repeatable.')]
At = Annotated[str, typer.Option(
    metavar='V1,V2,...', help='Pose, one value per joint (rad or m); default: from '
    'config/ROBOT.yaml, else zero or mid-range.')]

AcceptInertia = Annotated[bool, typer.Option(
    '--accept-inertia', help='Accept physically inconsistent inertias, and numbers that are '
    'probably in other units.')]

ReportFile = Annotated[Path | None, typer.Option(
    '--report', metavar='HTML', help='Also write a report: one page with tables and interactive '
    'plots.')]

AsJson = Annotated[bool, typer.Option(
    '--json', help='Print only the figures, as JSON on one line.')]

NodeName = Annotated[str, typer.Option(
    '--node', help='Name of the running controller, with its namespace.')]

Root = Annotated[str, typer.Option('--root', help='Link that is the fixed base.')]
Gravity = Annotated[str, typer.Option(
    '--gravity', metavar='X,Y,Z', help='Gravity (m/s²) in the frame of the base; default: from '
    'the URDF, else 0,0,-9.81 in the frame of its root link.')]
Tip = Annotated[str, typer.Option('--tip', help='Last link of the chain; omits other branches.')]


def chosen_robot(robot: str, locked: list[str], root: str = '', tip: str = '', gravity: str = '',
                 at: str = '', **options: Any) -> 'CatalogRobot':
    """Return the robot of these options; ``options`` are further arguments of `load_robot`."""
    from ..catalog.robots import load_robot

    return load_robot(robot, locked_joints(locked), numbers('--at', at), root=root or None,
                      tip=tip or None, gravity=numbers('--gravity', gravity) or None, **options)


def plain(value: Any) -> Any:
    """Return a value as JSON has it: lists for arrays, None for non-finite numbers."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if hasattr(value, 'tolist'):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def print_json(values: Any) -> None:
    """Print values as JSON, with null for non-finite numbers."""
    typer.echo(json.dumps(plain(values)))


def table(title: str, *headings: str) -> Table:
    """Return an empty table whose first column is left-aligned."""
    found = Table(title=title, title_justify='left', title_style='bold', box=box.SIMPLE_HEAD)
    for k, heading in enumerate(headings):
        found.add_column(heading, justify='right' if k else 'left', overflow='fold')
    return found


def console(as_json: bool = False) -> Console:
    """
    Return the console of the results; it takes names from a URDF literally, not as markup.

    :param as_json: whether the results are JSON on stdout: all else goes to stderr then.
    """
    plain: dict[str, Any] = {'highlight': False, 'markup': False, 'emoji': False,
                             'stderr': as_json}
    out = Console(**plain)
    return out if out.is_terminal else Console(**plain, width=PIPE_WIDTH)
