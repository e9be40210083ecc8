# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Application, common options, console, and access to robots and running controllers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.resources import files
from io import TextIOWrapper
import json
from math import isfinite
from pathlib import Path
import re
import shlex
from string import Template
import sys
import time
from typing import Annotated, Any, TYPE_CHECKING, TypeVar

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text
import typer
from typer.core import TyperGroup

from ..errors import (
    Argument, ArgumentError, DemoError, require_modules, RobodynError, RosError, writing)

if TYPE_CHECKING:
    from ..catalog.robots import CatalogRobot
    from ..control.references.trajectory import Waypoints
    from ..identification.excitation.trajectory_file import JointTrajectory
    from ..model.robot import RobotModel
    from ..nodes.clients.play import Player
    from ..nodes.clients.running_controller import RunningController
    from ..nodes.middleware.client_session import Session


def save_picture(figure: Any, picture: Path) -> None:
    """
    Write a figure of Matplotlib.

    :raises ArgumentError: the file cannot be written.
    """
    try:
        figure.savefig(picture, dpi=130)
    except (OSError, ValueError) as error:
        raise ArgumentError(f'{picture} cannot be written ({error})', name='--picture',
                            value=str(picture),
                            remedy='choose a --picture path that ends in .png') from error


# Options whose names differ from those of the library's parameters
OPTIONS = {'joint_names': 'joints', 'pose': 'at', 'ranges': 'range', 'topic': 'states',
           'velocity': 'velocity-limit'}
SEPARATORS = {'ranges': ':'}


def as_option(argument: Argument) -> str:
    """
    Return an argument that an error proposes in the syntax of the command line.

    ``units={'effort': {'joint2': '-N·m'}}`` becomes ``--units effort.joint2=-N·m``.
    """
    option = '--' + OPTIONS.get(argument.name, argument.name).replace('_', '-')
    if argument.value is True:
        return option
    return ' '.join(f'{option} {_quoted(word)}' for word in _words(argument))


def _words(argument: Argument) -> list[str]:
    value = argument.value
    if isinstance(value, dict):
        pairs = [(f'{key}.{joint}', of_joint) for key, each in value.items()
                 if isinstance(each, dict) for joint, of_joint in each.items()]
        pairs += [(key, each) for key, each in value.items() if not isinstance(each, dict)]
        return [f'{key}={_text(each, SEPARATORS.get(argument.name, ","))}' for key, each in pairs]
    if argument.name == 'accept' and isinstance(value, tuple):      # the option is repeated
        return [str(kind) for kind in value]
    return [_text(value, ',')]


def _text(value: object, separator: str) -> str:
    return separator.join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def _quoted(word: str) -> str:
    """Return a word as a shell takes it; letters such as · need no quotes."""
    return word if re.fullmatch(r'[\w.,:=/·°*-]+', word) else shlex.quote(word)


def numbers(option: str, text: str) -> list[float]:
    """
    Return the numbers in ``1,2.5,-3``.

    :param option: for errors.
    :raises ArgumentError: a word is not a number.
    """
    try:
        return [float(word) for word in text.split(',')] if text.strip() else []
    except ValueError:
        raise ArgumentError(f'{option} {text!r} cannot be read', name=option, value=text,
                            remedy='write numbers with commas between them: 0,-0.5,1.2') from None


def locked_joints(words: Iterable[str]) -> dict[str, float]:
    """
    Return positions by joint from ``name=position`` words; a word may contain several.

    :raises ArgumentError: a joint has no position.
    """
    locked: dict[str, float] = {}
    for word in ','.join(words).split(','):
        if not word.strip():
            continue
        name, _, value = word.partition('=')
        try:
            locked[name.strip()] = float(value)
        except ValueError:
            raise ArgumentError(f'--locked {word!r} has no position', name='--locked', value=word,
                                remedy='write a joint and its position [rad | m], '
                                       'finger_joint=0.02; `robodyn inspect ROBOT` lists the '
                                       'joints') from None
    return locked


Callback = TypeVar('Callback', bound=Callable[..., None])

# Tables that go into a file or a pipe are not cut to the 80 columns rich would assume
PIPE_WIDTH = 140


# Panels of `robodyn --help`, in their order
MODEL, RUN, IDENTIFY, DIAGNOSE, DEVELOP = 'Model', 'Run', 'Identify', 'Diagnose', 'Develop'
PANELS = MODEL, RUN, IDENTIFY, DIAGNOSE, DEVELOP


class Commands(TyperGroup):
    """Group of commands that end with one line after an error, and silently after Ctrl-C."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the subcommands, panel by panel."""
        commands: Any = self.commands
        return sorted(commands, key=lambda name: (
            PANELS.index(commands[name].rich_help_panel), name))

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command line; letters that stdout does not have, as N·m in ASCII, become ?."""
        with suppress(OSError):     # a terminal that was opened for reading too
            if isinstance(sys.stdout, TextIOWrapper):       # closed: None
                sys.stdout.reconfigure(errors='replace')
        return super().main(*args, **options)

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


app = typer.Typer(
    cls=Commands, no_args_is_help=True, pretty_exceptions_enable=False,
    help='Model-based torque control of robot arms: command-line tools.',
    epilog='Exit codes: 0, done; 1, an error or a check that failed, explained on stderr; 2, '
           'invalid arguments; 3, `identify` wrote files in which joints are unidentified; 130, '
           'Ctrl-C.')


def command(panel: str, example: str, group: str = '', **settings: Any
            ) -> Callable[[Callback], Callback]:
    """
    Declare a function as a subcommand of its name, with dashes.

    :param panel: of `robodyn --help`, one of PANELS.
    :param example: words of an example after `robodyn` and the name.
    :param group: of commands it belongs to, one of GROUPS; its name is ``group_name`` then.
    :param settings: of the context of click.
    """
    def declared(function: Callback) -> Callback:
        name = function.__name__.removeprefix(f'{group}_').rstrip('_').replace('_', '-')
        return (GROUPS[group] if group else app).command(
            name, rich_help_panel=None if group else panel, context_settings=settings,
            epilog=f'Example: robodyn {group} {name} {example}'.replace('  ', ' ').rstrip()
            )(function)
    return declared


#: Groups of commands, `robodyn GROUP COMMAND`.
GROUPS = {name: typer.Typer(no_args_is_help=True, help=text) for name, text in {
    'calibrate': 'Of a running arm: collision thresholds, masses and friction, a payload.',
    'driver': 'Bring an arm up whose motors are on a CAN bus: list, scan, check, watch, hold, '
              'report.'}.items()}
for _group, _commands in GROUPS.items():
    app.add_typer(_commands, name=_group, rich_help_panel=RUN)


def robots(incomplete: str) -> list[str]:
    """Return the names of robots that begin so, for the shell."""
    from ..model.resources import robot_names

    return [name for name in robot_names() if name.startswith(incomplete)]


def given_report(path: Path | None) -> Path | None:
    """Refuse --report before any measurement if its library is missing, or its file unwritable."""
    if path is not None:
        from ..report import REQUIRED_MODULES
        from ..report.document import check_writable

        require_modules('--report', REQUIRED_MODULES, DemoError)
        check_writable(path)
    return path


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
    '--report', metavar='HTML', callback=given_report, help='Also write a report: one page with '
    'tables and interactive plots.')]

AsJson = Annotated[bool, typer.Option(
    '--json', help='Print only the figures, as JSON on one line.')]

Force = Annotated[bool, typer.Option('--force', help='Replace files that exist.')]


def output(text: str, metavar: str = 'FILE') -> Any:
    """Return the declaration of --output, -o."""
    return typer.Option('--output', '-o', metavar=metavar, help=text)


def template(name: str) -> Template:
    """Return the template of a file that a command writes."""
    file = files(__package__).joinpath('templates', f'{name}.template')
    return Template(file.read_text(encoding='utf-8'))


def write_texts(texts: Mapping[Path, str], option: str, remedy: str, *, folders: bool = True
                ) -> None:
    """
    Write files, all or, where one cannot be written, none.

    :param folders: whether missing folders are created.
    :raises ArgumentError: naming that one.
    """
    created: list[Path] = []
    try:
        for path in texts:
            with writing(path, option, remedy):
                if folders:
                    path.parent.mkdir(parents=True, exist_ok=True)
                if not path.exists():
                    created.append(path)
                path.open('a').close()
    except ArgumentError:
        for path in created:
            path.unlink(missing_ok=True)
        raise
    for path, text in texts.items():
        with writing(path, option, remedy):
            path.write_text(text, encoding='utf-8')


NodeName = Annotated[str, typer.Option(
    '--node', help='Name of the running controller, with its namespace.')]
States = Annotated[str, typer.Option(
    '--states', help='Topic of the joint states; default: `joint_states` in the namespace of '
    '--node.')]
SimTime = Annotated[bool, typer.Option('--sim-time', help='Use the time of /clock.')]
Wait = Annotated[float, typer.Option(
    '--wait', min=0.1, help='Seconds to wait for the controller, publishers and subscribers.')]

Root = Annotated[str, typer.Option('--root', help='Link that is the fixed base.')]
Gravity = Annotated[str, typer.Option(
    '--gravity', metavar='X,Y,Z', help='Gravity (m/s²) in the frame of the base; default: from '
    'the URDF, else 0,0,-9.81 in the frame of its root link.')]
Tip = Annotated[str, typer.Option('--tip', help='Last link of the chain; omits other branches.')]


def chosen_robot(robot: str, locked: list[str], root: str = '', tip: str = '', gravity: str = '',
                 at: str = '', **options: Any) -> CatalogRobot:
    """Return the robot of these options; ``options`` are further arguments of `load_robot`."""
    from ..catalog.robots import load_robot

    return load_robot(robot, locked_joints(locked), numbers('--at', at), root=root or None,
                      tip=tip or None, gravity=numbers('--gravity', gravity) or None, **options)


@contextmanager
def connected(command: str, node: str, sim_time: bool, wait: float
              ) -> Iterator[tuple[Session, RunningController]]:
    """
    Yield a session of a command, and a client of the parameters of a controller.

    :param wait: longest time to wait for an answer [s].
    :raises RosError: rclpy is not installed.
    """
    require_modules(command, ['rclpy'], RosError)
    from ..nodes.clients.running_controller import RunningController
    from ..nodes.middleware.client_session import session

    with session(f'robodyn_{command.replace(" ", "_")}', sim_time) as here:
        yield here, RunningController(here, node, wait)


@contextmanager
def playing(command: str, node: str, states: str, sim_time: bool, wait: float, *,
            confirm: bool = True) -> Iterator[tuple[Session, RunningController, Player]]:
    """
    Yield as :func:`connected`, and a player of trajectories for the controller, RUNNING.

    :param confirm: whether it is a controller of this package, whose diagnostics are checked.
    """
    with connected(command, node, sim_time, wait) as (here, controller):
        from ..nodes.clients.play import Player

        player = Player(here, node, states, confirm=confirm, within=wait, option='--node')
        player.find()
        yield here, controller, player


def play_with_bar(player: Player, bars: Progress, text: str, motion: Waypoints | JointTrajectory
                  ) -> None:
    """Play a motion, which a bar shows; errors are those of :meth:`.Player.play`."""
    bar = bars.add_task(text)
    player.play(motion, lambda at, end: bars.update(bar, completed=at, total=end))


def seconds_bar(out: Console) -> Progress:
    """Return the bars of what takes a known time [s]."""
    return Progress(TextColumn('{task.description}'), BarColumn(),
                    TextColumn('{task.completed:.1f} of {task.total:.1f} s'), console=out)


def wait_with_bar(here: Session, bars: Progress, text: str, seconds: float) -> None:
    """Wait for some time, which a bar shows."""
    bar, begun = bars.add_task(text, total=seconds), time.monotonic()
    here.until(lambda: bars.update(bar, completed=time.monotonic() - begun), seconds)


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


def print_doubts(out: Console, model: RobotModel) -> None:
    """Print the warnings of a model about numbers that are probably wrong."""
    for sentence in model.warnings:
        if 'probably' in sentence:
            out.print(f'! {sentence}', style='yellow', soft_wrap=True)


def table(title: str, *headings: str, text: Collection[str] = ()) -> Table:
    """Return an empty table whose first column, and those of ``text``, are left-aligned."""
    found = Table(title=title, title_justify='left', title_style='bold', box=box.SIMPLE_HEAD,
                  pad_edge=False, padding=(0, 1, 0, 0))
    for k, heading in enumerate(headings):
        found.add_column(Text(heading), overflow='fold',
                         justify='right' if k and heading not in text else 'left')
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
