# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommands of `robodyn`; each imports what it needs when it runs."""

from pathlib import Path
import sys
from typing import Annotated

import typer

from . import (  # noqa: F401  (their commands)
    contact_commands,
    drive_gains,
    export_command,
    identification_commands,
    identify_commands,
    payload_commands,
    verify_commands,
    view_command,
)
from .arguments import locked_joints, numbers
from .options import (
    AcceptInertia,
    app,
    AsJson,
    At,
    chosen_robot,
    console,
    Gravity,
    Locked,
    print_json,
    ReportFile,
    Robot,
    Root,
    Tip,
)
from ..catalog.requirements import require_modules
from ..errors import DemoError, ParameterError, RosError
from ..model.resources import package_version


def _version(asked: bool) -> None:
    if asked:
        console().print(f'robodyn_ros {package_version()}')
        raise typer.Exit()


@app.callback()
def _common(version: Annotated[bool, typer.Option(
        '--version', callback=_version, is_eager=True, help='Show the version and exit.')] = False,
            ) -> None:
    """Handle the options before the subcommand."""


def _require_report(report: Path | None) -> None:
    """Refuse --report before any measurement if its library is missing."""
    if report is not None:
        from ..report import REQUIRED_MODULES

        require_modules('--report', REQUIRED_MODULES, DemoError)


@app.command()
def inspect(robot: Robot, locked: Locked = [],  # noqa: B006  (typer copies it)
            root: Root = '',
            tip: Tip = '',
            gravity: Gravity = '',
            at: At = '',
            as_json: AsJson = False) -> None:
    """Show joints, bodies, limits, gravity torques at a pose, and warnings about the URDF."""
    from .inspect import figures, report

    chosen = chosen_robot(robot, locked, root, tip, gravity, at, massless='warn')
    if as_json:
        print_json(figures(chosen.model, chosen.pose))
    else:
        console().print(report(chosen.model, chosen.pose, chosen.source))


@app.command()
def init(robot: Robot, locked: Locked = [], at: At = '',  # noqa: B006
         root: Root = '',
         tip: Tip = '',
         gravity: Gravity = '',
         output: Annotated[Path | None, typer.Option(
             metavar='FILE', help='File to write; default: ROBOT.yaml in this folder.')] = None,
         force: Annotated[bool, typer.Option('--force', help='Replace FILE.')] = False,
         robot_compensates: Annotated[bool | None, typer.Option(
             '--robot-compensates-gravity/--controller-compensates-gravity', help='Whether the '
             'robot adds gravity compensation itself (Franka, UR); default: left for you to fill '
             'in.')] = None,
         accept: AcceptInertia = False,
         rate: Annotated[float, typer.Option(
             min=1.0, max=1e4, help='Rate of the controller (Hz).')] = 1000.0,
         delay: Annotated[float, typer.Option(
             '--loop-delay', min=0.0, max=0.1, help='Longest time from the measurement of a '
             'state to the effect of its efforts (s); gains are stable up to it.')] = 0.002,
         ci: Annotated[bool, typer.Option(
             '--ci', help='Also write a test and a GitHub workflow that run `robodyn verify '
             '--brief`.')] = False) -> None:
    """Write a commented parameter file: limits, stable gains, and missing URDF data."""
    require_modules('init', ['rclpy'], RosError)
    from .init import run
    from ..control.settings.settings import Settings
    chosen = chosen_robot(robot, locked, root, tip, gravity, at)
    given = chosen.urdf_parameters() | {name: value for name, value in (
        ('root', root), ('tip', tip), ('gravity', numbers('--gravity', gravity))) if value}
    if robot_compensates is not None:
        given['robot_compensates_gravity'] = robot_compensates
    run(chosen, given, console(), output=output or Path(f'{chosen.name}.yaml'), force=force,
        settings=Settings(rate=rate, loop_delay=delay), accept=accept, ci=ci)


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
    from .derive import run

    raise typer.Exit(run(robot, console(), locked=locked_joints(locked), root=root or None,
                         tip=tip or None, gravity=numbers('--gravity', gravity) or None,
                         frame=frame or None, axes=axes, numbers=in_numbers,
                         rounding=rounding, as_latex=latex, ascii_only=ascii_only, force=force))


@app.command()
def warmup(robot: Robot, locked: Locked = [],  # noqa: B006
           everything: Annotated[bool, typer.Option(
               '--all', help='Compile all quantities, not only those of the controller.')] = False,
           root: Root = '',
           tip: Tip = '',
           gravity: Gravity = '') -> None:
    """Compile the code of a robot in advance; report cold and cached start-up times."""
    from .warmup import names, start, table

    model = chosen_robot(robot, locked, root, tip, gravity).model
    wanted, out = names(everything), console()
    with out.status('compiling ...') as status:
        cold, first = start(model, wanted, lambda name: status.update(f'compiled: {name}'))
        cached, second = start(model, wanted, lambda name: status.update(f'loaded: {name}'))
    out.print(table(model, wanted, cold, cached, (first, second)))


@app.command('check-machine')
def check_machine(duration: Annotated[float, typer.Option(
        min=1.0, max=86400.0, help='Duration of the measurement (s); a longer one shows rarer '
        'events.')] = 120.0,
        fix: Annotated[bool, typer.Option(
            '--fix', help='Do not measure: print the commands for missing settings (permissions, '
            'idle states, frequency governor) and, in a terminal, offer to run them.')] = False,
        report: ReportFile = None, as_json: AsJson = False) -> None:
    """Measure the loop rate that this machine sustains, and recommend improvements."""
    _require_report(report)
    from .check_machine import fix as offer
    from .check_machine import run

    if not fix:
        found = run(duration, console(as_json), page=report)
        if as_json:
            print_json(found)
    elif not offer(console(), lambda text: sys.stdin.isatty() and typer.confirm(text)):
        raise typer.Exit(1)


@app.command('loop-report')
def loop_report(file: Annotated[Path, typer.Argument(
                    metavar='FILE', help='File written by a controller with the parameter '
                                         'timing_file.')],
                picture: Annotated[Path | None, typer.Option(
                    '--picture', metavar='PNG', help='File of the histograms; default: beside '
                    'FILE.')] = None,
                report: ReportFile = None, as_json: AsJson = False) -> None:
    """Show the timing of a control loop: statistics, and a picture of histograms."""
    _require_report(report)
    from .loop_report import figures, run

    if as_json:
        print_json(figures(file))
        return
    run(file, picture or file.with_suffix('.png'), console(), page=report)


@app.command()
def replay(file: Annotated[Path, typer.Argument(
               metavar='FILE', help='Recording of the flight recorder of a controller.')],
           cycle: Annotated[int | None, typer.Option(
               '--cycle', metavar='N', help='Cycle to show; default: the one in which the '
               'latest fault latched.')] = None,
           law: Annotated[list[str], typer.Option(
               '--law', metavar='PACKAGE.MODULE:NAME', help='Custom law of the recording; its '
               'module is imported. Repeatable.')] = [],  # noqa: B006
           picture: Annotated[Path | None, typer.Option(
               '--picture', metavar='PNG', help='File of the picture; default: beside FILE.')
               ] = None,
           report: ReportFile = None, as_json: AsJson = False) -> None:
    """Recompute the last seconds before a fault and show the cycle in which it latched."""
    _require_report(report)
    from .replay import run
    from ..control.laws import registry

    for mode in law:
        registry.find(mode)
    found = run(file, cycle, picture or file.with_suffix('.png'), console(as_json), page=report)
    if as_json:
        print_json(found)
    if found['same_code'] and found['agreeing'] != found['cycles']:
        raise typer.Exit(1)


@app.command('new-law')
def new_law(name: Annotated[str, typer.Argument(
                metavar='NAME', help='Name of the law and of its module, such as my_spring.')],
            folder: Annotated[Path, typer.Option(help='Folder to write to.')] = Path('.'),
            force: Annotated[bool, typer.Option('--force', help='Replace the files.')] = False
            ) -> None:
    """Write a commented template of a control law, and its test."""
    from .new_law import run

    run(name, folder, console(), force)


@app.command('new-driver')
def new_driver(name: Annotated[str, typer.Argument(
                   metavar='NAME', help='Name of the driver and of its module, such as my_arm.')],
               folder: Annotated[Path, typer.Option(help='Folder to write to.')] = Path('.'),
               force: Annotated[bool, typer.Option('--force', help='Replace the files.')] = False
               ) -> None:
    """Write a commented template of a driver, and its test."""
    from .new_driver import run

    run(name, folder, console(), force)


@app.command('compare-laws')
def compare_laws(robot: Robot = 'panda', locked: Locked = [], at: At = '',  # noqa: B006
                 duration: Annotated[float, typer.Option(
                     min=0.5, max=60.0, help='Duration of the motion (s), extended if the limits '
                     'of the robot require it.')] = 4.0,
                 accept_inertia: AcceptInertia = False,
                 picture: Annotated[Path, typer.Option(
                     '--picture', metavar='PNG', help='File of the picture.')
                     ] = Path('build/compare_laws.png'),
                 topics: Annotated[bool, typer.Option(
                     '--topics', help='Use the ROS 2 nodes and topics, in lockstep.')
                     ] = False, report: ReportFile = None, as_json: AsJson = False) -> None:
    """Compare all trajectory-tracking laws in MuJoCo with an exact and a perturbed model."""
    _require_report(report)
    require_modules('compare-laws', ['mujoco', 'matplotlib', *(['rclpy'] if topics else [])],
                    DemoError)
    from .compare_laws import run
    chosen = chosen_robot(robot, locked, at=at, roomy=True,
                          accepted_links=['*'] if accept_inertia else None)
    run(chosen, duration, picture, console(), topics=topics, page=report, as_json=as_json)


@app.command()
def demo(robot: Robot = 'panda', locked: Locked = [], at: At = '',  # noqa: B006
         brief: Annotated[bool, typer.Option(
             '--brief', help='Shorter motions, contacts at half the rate, all checks.'
             )] = False,
         scene: Annotated[str, typer.Option(
             help='motion: free fall, gravity, a push, a trajectory. contact: a push, guiding by '
             'hand, a collision with a post.')] = 'motion',
         accept_inertia: AcceptInertia = False,
         view: Annotated[bool, typer.Option(
             '--view', help='Show it in the browser.')] = False,
         output: Annotated[Path, typer.Option(
             help='Folder for report, picture, parameter files and logs of the nodes.')
         ] = Path('build/demo')) -> None:
    """Simulate a robot over ROS 2: a scene of motions, or one of contacts."""
    from ..demo import REQUIRED_MODULES
    from ..viewer import REQUIRED_MODULES as VIEWER

    require_modules('the demo', REQUIRED_MODULES, DemoError)
    if view:
        require_modules('demo --view', VIEWER, DemoError)
    from ..demo.run import run, SCENES
    if scene not in SCENES:
        raise ParameterError(f'--scene is {scene!r}', name='--scene', value=scene,
                             remedy=f'choose one of {", ".join(SCENES)}')
    chosen = chosen_robot(robot, locked, at=at, roomy=True,
                          accepted_links=['*'] if accept_inertia else None)
    raise typer.Exit(run(chosen, output, console(), brief=brief, scene=scene, view=view))
