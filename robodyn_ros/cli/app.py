# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The subcommands of `robodyn`: each a thin door to one room, which is imported when it opens."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from ..errors import RobodynError, RosError
from ..model.library import package_version
from .arguments import locked_joints, numbers

# Tables that go into a file or a pipe are not cut to the 80 columns rich would assume
PIPE_WIDTH = 140


class Commands(TyperGroup):
    """Ends a command that fails on purpose with one line, and an interrupted one without any."""

    def invoke(self, ctx: Any) -> Any:
        """Run the subcommand."""
        try:
            return super().invoke(ctx)
        except RobodynError as error:
            Console(stderr=True, highlight=False, emoji=False, soft_wrap=True).print(
                f'robodyn: {error}', style='red', markup=False)
            ctx.exit(1)
        except KeyboardInterrupt:
            ctx.exit(130)


app = typer.Typer(cls=Commands, no_args_is_help=True, add_completion=False,
                  pretty_exceptions_enable=False,
                  help='Model-based torque control of robot arms: tools around the library.')

Robot = Annotated[str, typer.Argument(
    metavar='ROBOT', help='Path of a URDF file, or a known name: two_link, rp, arm6, panda, ur5, '
                          'kinova, ...')]
Locked = Annotated[list[str], typer.Option(
    '--locked', metavar='JOINT=VALUE', help='Joint that does not move, and where it is '
    '(rad or m). Can be given several times; replaces those of config/ROBOT.yaml.')]
At = Annotated[str, typer.Option(
    metavar='V1,V2,...', help='Pose, one value a joint (rad or m); otherwise that of '
    'config/ROBOT.yaml, or zero, or the middle of limits that exclude zero.')]


def console() -> Console:
    """Return where results go; names from a URDF are no markup there."""
    plain: dict[str, Any] = {'highlight': False, 'markup': False, 'emoji': False}
    out = Console(**plain)
    return out if out.is_terminal else Console(**plain, width=PIPE_WIDTH)


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
            root: Annotated[str, typer.Option(help='Link that is the base.')] = '',
            tip: Annotated[str, typer.Option(help='Link at the end of the only chain that '
                                                  'moves.')] = '',
            at: At = '') -> None:
    """Show a robot: its joints and bodies, their limits, gravity at a pose, and what is odd."""
    from ..demo.robot import choose
    from .inspect import report

    chosen = choose(robot, locked_joints(locked), numbers('--at', at), root=root or None,
                    tip=tip or None)
    console().print(report(chosen.model, chosen.pose, chosen.source))


@app.command()
def derive(robot: Annotated[str, typer.Argument(
               metavar='ROBOT', help='Path of a URDF file, of a .yaml file of DH rows, or a known '
                                     'name: two_link, rp, ..., craig_2r, craig_rp.')],
           locked: Locked = [],  # noqa: B006
           root: Annotated[str, typer.Option(help='Link that is the base.')] = '',
           tip: Annotated[str, typer.Option(help='Link at the end of the only chain that '
                                                 'moves.')] = '',
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
           root: Annotated[str, typer.Option(help='Link that is the base.')] = '',
           tip: Annotated[str, typer.Option(help='Link at the end of the only chain that '
                                                 'moves.')] = '') -> None:
    """Compile the code of a robot ahead of use; show how long a cold and a cached start take."""
    from ..demo.robot import choose
    from .warmup import names, start, table

    model = choose(robot, locked_joints(locked), [], root=root or None, tip=tip or None).model
    wanted, out = names(everything), console()
    with out.status('compiling ...') as status:
        cold, first = start(model, wanted, lambda name: status.update(f'compiled: {name}'))
        cached, second = start(model, wanted, lambda name: status.update(f'loaded: {name}'))
    out.print(table(model, wanted, cold, cached, (first, second)))


@app.command()
def excite(robot: Robot, locked: Locked = [], at: At = '',  # noqa: B006
           root: Annotated[str, typer.Option(help='Link that is the base.')] = '',
           tip: Annotated[str, typer.Option(help='Link at the end of the only chain that '
                                                 'moves.')] = '',
           output: Annotated[Path, typer.Option(help='Where the trajectory goes: YAML of a '
                                                     'JointTrajectory.')] = Path('excite.yaml'),
           picture: Annotated[Path | None, typer.Option(
               metavar='PNG', help='Where the picture goes; otherwise beside the '
                                   'trajectory.')] = None,
           harmonics: Annotated[int, typer.Option(help='Waves of the series, 2 or more.')] = 5,
           period: Annotated[float, typer.Option(help='Of the first one [s].')] = 10.0,
           repeat: Annotated[int, typer.Option(help='Periods in the file.')] = 1,
           starts: Annotated[int, typer.Option(help='Random motions to start from.')] = 5,
           criterion: Annotated[str, typer.Option(
               help='condition (smallest) or information (most).')] = 'condition',
           include: Annotated[str, typer.Option(
               help='What of the joints is to be identified besides the inertias: some of '
                    'friction, offset, armature, with commas; or nothing.')] = 'friction',
           velocity: Annotated[float, typer.Option(
               help='Share of the velocity limits that may be used.')] = 0.8,
           effort: Annotated[float, typer.Option(
               help='Share of the effort limits that may be used.')] = 0.7,
           position: Annotated[float, typer.Option(
               help='Share of the range of each joint that may be used.')] = 0.95,
           ranges: Annotated[list[str], typer.Option(
               '--range', metavar='JOINT=LOWER:UPPER', help='Where a joint may go (rad or m).')
           ] = [],  # noqa: B006
           velocity_limit: Annotated[list[str], typer.Option(
               metavar='[JOINT=]V', help='Velocity limit, below that of the URDF.')
           ] = [],  # noqa: B006
           acceleration: Annotated[list[str], typer.Option(
               metavar='[JOINT=]A', help='Acceleration limit; without one, efforts alone bound '
                                         'it.')] = [],  # noqa: B006
           kind: Annotated[str, typer.Option(
               '--shapes', help='What may not touch: the shapes of collision or of visual '
                                'elements, or none.')] = 'collision',
           ground: Annotated[float | None, typer.Option(
               help='Height of the ground above the origin of the base [m].')] = None,
           clearance: Annotated[float, typer.Option(
               min=0.0, help='Distance that is kept [m].')] = 0.01,
           approach: Annotated[float, typer.Option(
               help='Time to go to the start in [s]; 0: the robot has to be there.')] = 0.0,
           seed: Annotated[int, typer.Option(min=0, help='Of the random motions.')] = 0) -> None:
    """Find a motion that tells as much as possible of the parameters of a robot."""
    from ..demo.robot import choose
    from ..identification.excitation.fourier import Fourier
    from ..identification.excitation.motion_limits import Shares
    from .excite import run

    chosen = choose(robot, locked_joints(locked), numbers('--at', at), root=root or None,
                    tip=tip or None)
    run(chosen, console(), output=output, picture=picture, series=Fourier(harmonics, period),
        criterion=criterion, starts=starts, seed=seed, shares=Shares(position, velocity, effort),
        velocity=velocity_limit, acceleration=acceleration, ranges=ranges,
        include=[word.strip() for word in include.split(',') if word.strip()], kind=kind,
        ground=ground, clearance=clearance, approach=approach, repeat=repeat)


States = Annotated[str, typer.Option('--states', help='Topic of the joint states.')]
Wait = Annotated[float, typer.Option(
    min=0.1, help='Seconds to wait for who should be there.')]
Overwrite = Annotated[bool, typer.Option('--overwrite', help='Replace a recording.')]


@app.command()
def play(file: Annotated[Path, typer.Argument(
             metavar='FILE', help='Trajectory, as robodyn excite writes it: YAML of a '
                                  'JointTrajectory.')],
         topic: Annotated[str, typer.Option(
             help='Of the references of the controller.')] = '/controller/joint_trajectory',
         states: States = 'joint_states',
         delay: Annotated[float, typer.Option(min=0.0, help='Seconds to wait before it.')] = 0.0,
         approach: Annotated[float, typer.Option(
             min=0.0, metavar='SECONDS', help='Go from where the joints are to the start of the '
             'motion first, in so many seconds or more: no joint faster than half of its fastest '
             'in FILE. NOTHING LOOKS FOR COLLISIONS on this way: see that it is free. 0: the '
             'robot has to be there.')] = 0.0,
         record: Annotated[Path | None, typer.Option(
             metavar='FILE', help='Record the motion meanwhile: .npz or .csv.')] = None,
         overwrite: Overwrite = False,
         unconfirmed: Annotated[bool, typer.Option(
             '--unconfirmed', help='Do not ask the diagnostics of the controller whether it '
             'follows: for controllers of others.')] = False,
         sim_time: Annotated[bool, typer.Option(
             '--sim-time', help='Take the time of /clock.')] = False,
         wait: Wait = 10.0) -> None:
    """Play a trajectory to a running controller; fails where the controller refuses it."""
    from ..demo.requirements import check

    check('play', ['rclpy'], RosError)
    from .play import play
    play(file, console(), topic=topic, states=states, delay=delay, slowly=approach, into=record,
         overwrite=overwrite, confirm=not unconfirmed, sim_time=sim_time, wait=wait)


@app.command()
def record(file: Annotated[Path, typer.Argument(
               metavar='FILE', help='Where the recording goes: .npz or .csv.')],
           topic: Annotated[str, typer.Option(
               help='Of sensor_msgs/JointState.')] = 'joint_states',
           seconds: Annotated[float | None, typer.Option(
               min=0.1, help='Seconds from the first message on; otherwise until '
                             'Ctrl-C.')] = None,
           overwrite: Overwrite = False, wait: Wait = 30.0) -> None:
    """Record joint states, with velocities and efforts, into a file for identification."""
    from ..demo.requirements import check

    check('record', ['rclpy'], RosError)
    from .play import record_to
    record_to(file, console(), topic=topic, seconds=seconds, wait=wait, overwrite=overwrite)


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
         output: Annotated[Path, typer.Option(
             help='Folder for the picture, the parameters and the logs of the two nodes.')
         ] = Path('build/demo')) -> None:
    """Drive a simulated robot over ROS 2: it falls, floats, is pushed and follows a trajectory."""
    from ..demo.requirements import check
    from ..demo.robot import choose

    check()
    from ..demo.run import run
    chosen = choose(robot, locked_joints(locked), numbers('--at', at))
    raise typer.Exit(run(chosen, output, console(), brief=brief))
