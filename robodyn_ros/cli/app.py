# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The subcommands of `robodyn`: each a thin door to one room, which is imported when it opens."""

from pathlib import Path
from typing import Annotated

import typer

from ..model.library import package_version
from . import lab  # noqa: F401  (its commands)
from .arguments import locked_joints, numbers
from .common import AcceptInertia, At, Locked, Robot, Root, Tip, app, console


def _version(asked: bool) -> None:
    if asked:
        console().print(f'robodyn_ros {package_version()}')
        raise typer.Exit()


@app.callback()
def _common(version: Annotated[bool, typer.Option(
        '--version', callback=_version, is_eager=True, help='Show the version and end.')] = False,
            ) -> None:
    """Take the options that stand before any subcommand."""


@app.command()
def inspect(robot: Robot, locked: Locked = [],  # noqa: B006  (typer copies it)
            root: Root = '',
            tip: Tip = '',
            at: At = '') -> None:
    """Show a robot: its joints and bodies, their limits, gravity at a pose, and what is odd."""
    from ..demo.robot import choose
    from .inspect import report

    chosen = choose(robot, locked_joints(locked), numbers('--at', at), root=root or None,
                    tip=tip or None, massless='warn')
    console().print(report(chosen.model, chosen.pose, chosen.source))


@app.command()
def repair(robot: Robot,
           output: Annotated[Path | None, typer.Option(
               '--output', '-o', metavar='FILE', help='The URDF to write; otherwise '
               'ROBOT_repaired.urdf beside ROBOT.')] = None) -> None:
    """Write a URDF with the nearest physically consistent inertias; show what was changed."""
    from .repair import run

    run(robot, output, console())


@app.command()
def derive(robot: Annotated[str, typer.Argument(
               metavar='ROBOT', help='Path of a URDF file, of a .yaml file of DH rows, or a known '
                                     'name: two_link, rp, ..., craig_2r, craig_rp.')],
           locked: Locked = [],  # noqa: B006
           root: Root = '',
           tip: Tip = '',
           frame: Annotated[str, typer.Option(
               help='Derive M_x, V_x and G_x of this frame, in its own axes, too.')] = '',
           axes: Annotated[str, typer.Option(
               help='Which: as many of xyzrpy as there are joints.')] = '',
           numbers: Annotated[bool, typer.Option(
               '--numbers', help='Put in the numbers instead of symbols.')] = False,
           rounding: Annotated[float, typer.Option(
               '--round-angles', metavar='RAD', help='Take what is so close to a right angle in '
               'a URDF as one: 1e-5 where it says 1.5708.')] = 1e-9,
           latex: Annotated[bool, typer.Option(
               '--latex', help='Print LaTeX, for a document that uses amsmath.')] = False,
           ascii_only: Annotated[bool, typer.Option(
               '--ascii', help='Print m_1 l_1^2 instead of m₁ l₁².')] = False,
           force: Annotated[bool, typer.Option(
               '--force', help='Go on whatever the number of joints.')] = False) -> None:
    """Print M(q), B(q), C(q), g(q) of a small arm in closed form; fails if RNEA disagrees."""
    from .derive import run

    raise typer.Exit(run(robot, console(), locked=locked_joints(locked), root=root or None,
                         tip=tip or None, frame=frame or None, axes=axes, numbers=numbers,
                         rounding=rounding, as_latex=latex, ascii_only=ascii_only, force=force))


@app.command()
def warmup(robot: Robot, locked: Locked = [],  # noqa: B006
           everything: Annotated[bool, typer.Option(
               '--all', help='All quantities, not only what the controller needs.')] = False,
           root: Root = '',
           tip: Tip = '') -> None:
    """Compile the code of a robot ahead of use; show how long a cold and a cached start take."""
    from ..demo.robot import choose
    from .warmup import names, start, table

    model = choose(robot, locked_joints(locked), [], root=root or None, tip=tip or None).model
    wanted, out = names(everything), console()
    with out.status('compiling ...') as status:
        cold, first = start(model, wanted, lambda name: status.update(f'compiled: {name}'))
        cached, second = start(model, wanted, lambda name: status.update(f'loaded: {name}'))
    out.print(table(model, wanted, cold, cached, (first, second)))


@app.command('check-machine')
def check_machine(seconds: Annotated[float, typer.Option(
        min=1.0, max=86400.0, help='How long to measure; the longer, the rarer what is seen.')
        ] = 120.0) -> None:
    """Measure whether this machine can run the loop, how fast, and what would make it better."""
    from .check_machine import run

    run(seconds, console())


@app.command('loop-report')
def loop_report(file: Annotated[Path, typer.Argument(
                    metavar='FILE', help='What a controller with the parameter timing_file has '
                                         'written.')],
                picture: Annotated[Path | None, typer.Option(
                    '--picture', metavar='PNG', help='Where the histograms go; otherwise beside '
                    'FILE.')] = None) -> None:
    """Show how a control loop kept its time: figures, and a picture of histograms."""
    from .loop_report import run

    run(file, picture or file.with_suffix('.png'), console())


@app.command()
def replay(file: Annotated[Path, typer.Argument(
               metavar='FILE', help='What the flight recorder of a controller has written.')],
           cycle: Annotated[int | None, typer.Option(
               '--cycle', metavar='N', help='The cycle to show; otherwise the one in which the '
               'latest fault latched.')] = None,
           picture: Annotated[Path | None, typer.Option(
               '--picture', metavar='PNG', help='Where the picture goes; otherwise beside FILE.')
               ] = None) -> None:
    """Recompute the last seconds before a fault, and show the cycle that went wrong."""
    from .replay import run

    run(file, cycle, picture or file.with_suffix('.png'), console())


@app.command()
def demo(robot: Robot = 'panda', locked: Locked = [], at: At = '',  # noqa: B006
         brief: Annotated[bool, typer.Option(
             '--brief', help='Float and drive for a shorter time; all is checked.')] = False,
         accept_inertia: AcceptInertia = False,
         output: Annotated[Path, typer.Option(
             help='Folder for the picture, the parameters and the logs of the two nodes.')
         ] = Path('build/demo')) -> None:
    """Drive a simulated robot over ROS 2: it falls, floats, is pushed and follows a trajectory."""
    from ..demo.requirements import check
    from ..demo.robot import choose

    check()
    from ..demo.run import run
    chosen = choose(robot, locked_joints(locked), numbers('--at', at),
                    accepted_links=['*'] if accept_inertia else None, roomy=True)
    raise typer.Exit(run(chosen, output, console(), brief=brief))
