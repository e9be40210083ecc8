# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommands `driver ...`: an arm whose motors are on a CAN bus, from first contact to torque."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from importlib.util import find_spec
from itertools import count
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, TYPE_CHECKING
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
from rich.console import Console
from rich.live import Live
from rich.table import Table
import typer

from .options import (
    AsJson, chosen_robot, command, console, Force, Locked, output, plain, print_json, Robot, RUN,
    table, Tip)
from ..errors import check_new, writing

if TYPE_CHECKING:
    from ..catalog.robots import CatalogRobot
    from ..driver import Reading
    from ..drivers.arm import Arm
    from ..drivers.bring_up import Compared, Scan
    from ..drivers.diagnosis import Diagnosis
    from ..drivers.holding import Held
    from ..drivers.mit_can import MitCan
    from ..flight_recorder.reading_log import RecordedDriver
    from ..model.robot import RobotModel

FRAME_PERIOD = 0.1    # [s] of a terminal's table
RECORDING_PERIOD = 0.01    # [s] of readings in a report
RECORDING = 'readings.mcap'    # which `driver:=` replays
SERIAL = '/dev/tty', '/dev/cu', 'COM'    # beginnings of serial ports
GROUP = 'driver'


def arms(incomplete: str) -> list[str]:
    """Return the names of arms that begin so, for the shell."""
    from ..drivers.arm import arm_names

    return [name for name in arm_names() if name.startswith(incomplete)]


ArmFile = Annotated[str, typer.Argument(
    metavar='ARM', autocompletion=arms,
    help='Name of an arm, see `robodyn driver list`, or its YAML file.')]
Channel = Annotated[str, typer.Option(
    '--channel', help='Replaces the channel of the bus, such as can1 or /dev/ttyACM0.')]
Poses = Annotated[int, typer.Option(
    '--poses', min=2, max=9, help='Number of poses.')]


@command(RUN, '', GROUP)
def driver_list() -> None:
    """List the arms that come with this package."""
    from ..drivers.arm import arm_names, load_arm

    shown = table('Arms', 'ARM', 'name', 'motors', 'bus', 'confirmed', 'URDF')
    for name in arm_names():
        arm = load_arm(name)
        shown.add_row(name, arm.name, ', '.join(dict.fromkeys(m.type for m in arm.motors)),
                      str(arm.bus['channel']), 'no' if arm.unconfirmed else 'yes',
                      str(arm.urdf.get('from', '')))
    console().print(shown)


@command(RUN, 'can0', GROUP)
def driver_scan(where: Annotated[str, typer.Argument(
                    metavar='ARM_OR_CHANNEL', help='Arm whose bus it is, or a channel: can0, '
                    '/dev/ttyACM0.')],
                family: Annotated[str, typer.Option(
                    '--family', help='damiao or robstride; default: that of the arm.')] = 'damiao',
                last: Annotated[int, typer.Option(
                    '--last', min=1, max=127, help='Last identifier to ask.')] = 32,
                as_json: AsJson = False) -> None:
    """List the motors on a bus, with their registers and errors; nothing is enabled."""
    from ..driver import ARM_FILES
    from ..drivers.arm import arm_names, load_arm
    from ..drivers.bring_up import codec_named, scan
    from ..drivers.frames import open_bus

    bus: Any = {'channel': where, 'interface': (
        'damiao_serial' if where.startswith(SERIAL) else 'socketcan')}
    kind = codec_named(family)
    if where in arm_names() or where.endswith(ARM_FILES):
        arm = load_arm(where)
        bus, kind = arm.bus, type(arm.motors[0].codec)
    with closing(open_bus(bus)) as opened:
        found = scan(opened, range(1, last + 1), kind, bus.get('bitrate', 1e6))
    if as_json:
        print_json({**found._asdict(), 'motors': [motor._asdict() for motor in found.motors],
                    'others': {f'{name:#x}': number for name, number in found.others.items()}})
    else:
        console().print(_scanned(found))
    raise typer.Exit(int(not found.motors))


@command(RUN, 'yam', GROUP)
def driver_check(arm: ArmFile, channel: Channel = '', as_json: AsJson = False) -> None:
    """Compare the file of an arm with the registers of its motors; nothing is changed."""
    rows = _checked(_arm(arm, channel))
    if as_json:
        print_json([row._asdict() for row in rows])
    else:
        console().print(_compared(rows))
    raise typer.Exit(int(any(row.right is False for row in rows)))


@command(RUN, 'yam my_arm.urdf', GROUP)
def driver_watch(arm: ArmFile, robot: Robot, locked: Locked = [],  # noqa: B006
                 tip: Tip = '', channel: Channel = '',
                 page: Annotated[bool, typer.Option(
                     '--page/--no-page', help='Show the robot in the browser, where viser is '
                     'installed.')] = True,
                 seconds: Annotated[float, typer.Option(
                     '--seconds', min=0.0, help='Ends it; 0: Ctrl-C does.')] = 0.0) -> None:
    """Show the joints while a person moves them, motors off: signs, zeros and ids."""
    from .view import _page
    from ..viewer import REQUIRED_MODULES

    chosen, out = chosen_robot(robot, locked, tip=tip), console()
    with _drives(_arm(arm, channel), chosen.model, out) as drives:
        if page and all(find_spec(name) for name in REQUIRED_MODULES):
            with _page(chosen, 8080, True, out, live=True) as shown:
                for reading in _readings(drives, seconds):
                    shown.show(np.asarray(reading.position))
        else:
            with Live(console=out, auto_refresh=False) as live:
                for reading in _readings(drives, seconds):
                    live.update(_watched(chosen.model, reading), refresh=True)


@command(RUN, 'yam my_arm.urdf', GROUP)
def driver_hold(arm: ArmFile, robot: Robot, locked: Locked = [],  # noqa: B006
                tip: Tip = '', channel: Channel = '', poses: Poses = 3,
                as_json: AsJson = False) -> None:
    """
    Compare efforts with gravity in poses that the motors hold by their own springs.

    A person brings the arm to each pose, and takes hold of it while it comes down. The springs
    exert 30 % of the effort limits at most, and no torque is computed.
    """
    chosen, out = chosen_robot(robot, locked, tip=tip), console(as_json)
    with _drives(_arm(arm, channel), chosen.model, out) as drives:
        held, diagnosis = _hold(drives, chosen, poses, out)
    if as_json:
        print_json(_plain_diagnosis(held, diagnosis))
    else:
        out.print(_diagnosed(chosen.model, held, diagnosis))
    raise typer.Exit(int(not diagnosis.agrees))


@command(RUN, 'yam my_arm.urdf -o yam.zip', GROUP)
def driver_report(arm: ArmFile, robot: Robot, locked: Locked = [],  # noqa: B006
                  tip: Tip = '', channel: Channel = '', poses: Poses = 3,
                  seconds: Annotated[float, typer.Option(
                      '--seconds', min=0.1, help='Length of the recording.')] = 10.0,
                  file: Annotated[Path, output('ZIP file.')] = Path('driver_report.zip'),
                  force: Force = False) -> None:
    """
    Write one file for an issue: registers, the table of `hold`, and a recording.

    While it is recorded a person moves the arm, whose motors are off.
    """
    from ..flight_recorder.reading_log import RecordedDriver
    from ..model.resources import package_version

    if not force:
        check_new([file], '--output', 'choose another file, or add --force')
    with writing(file, '--output'):
        file.open('ab').close()     # before a person carries an arm around
    chosen, described, out = chosen_robot(robot, locked, tip=tip), _arm(arm, channel), console()
    checked = _checked(described)
    with TemporaryDirectory() as folder, _drives(described, chosen.model, out) as drives:
        recorded = RecordedDriver(chosen.model, drives, str(log := Path(folder) / RECORDING))
        held, diagnosis = _hold(drives, chosen, poses, out)
        typer.prompt(f'Motors are off. Move each joint for {seconds:g} s; Enter begins',
                     default='', show_default=False, err=True)
        for _ in _readings(recorded, seconds, RECORDING_PERIOD):
            pass
        diagnostics = drives.diagnostics()
        recorded.close()
        readings = log.read_bytes()
    about = {'robodyn_ros': package_version(), 'arm': described.name,
             'bus': dict(described.bus), 'motors': [str(motor) for motor in described.motors],
             'check': [row._asdict() for row in checked],
             'hold': _plain_diagnosis(held, diagnosis), 'diagnostics': diagnostics}
    with writing(file, '--output'), ZipFile(file, 'w', ZIP_DEFLATED) as archive:
        archive.writestr('report.json', json.dumps(plain(about), indent=1, ensure_ascii=False))
        archive.writestr(RECORDING, readings)
        archive.writestr('robot.urdf', chosen.model.to_urdf())
    out.print(_diagnosed(chosen.model, held, diagnosis))
    out.print(f'Written: {file}')


def _arm(name: str, channel: str) -> Arm:
    from ..drivers.arm import load_arm

    arm = load_arm(name)
    return replace(arm, bus={**arm.bus, 'channel': channel}) if channel else arm


@contextmanager
def _drives(arm: Arm, model: RobotModel, out: Console) -> Iterator[MitCan]:
    """Yield the driver, whose motors are off."""
    from ..drivers import mit_can

    with closing(mit_can.MitCan(arm, model)) as drives:
        if arm.unconfirmed:
            out.print(f'! {arm.name} is unconfirmed: nobody has seen its file on hardware')
        yield drives


def _checked(arm: Arm) -> list[Compared]:
    from ..drivers.bring_up import check
    from ..drivers.frames import open_bus

    with closing(open_bus(arm.bus)) as bus:
        return check(bus, arm)


def _readings(drives: MitCan | RecordedDriver, seconds: float, period: float = FRAME_PERIOD
              ) -> Iterator[Reading]:
    """Yield readings with the motors off, for a time or until Ctrl-C."""
    drives.period = period
    for _ in range(round(seconds / period)) if seconds else count():
        if (reading := drives.read()) is not None:
            yield reading


def _hold(drives: MitCan, robot: CatalogRobot, poses: int, out: Console
          ) -> tuple[list[Held], Diagnosis]:
    from ..drivers.arm import with_friction
    from ..drivers.holding import compare, hold

    held: list[Held] = []
    while len(held) < poses:
        typer.prompt(f'Pose {len(held) + 1} of {poses}: bring the arm to a pose in which its '
                     'joints carry weight, hold it there; Enter switches the motors on',
                     default='', show_default=False, err=True)
        held.append(hold(drives, out.print))
    return held, compare(drives, with_friction(drives.arm, robot.model), held)


def _scanned(found: Scan) -> Table:
    from rich.console import Group

    shown = table('Motors', 'id', 'reply', 'type', 'PMAX', 'VMAX', 'TMAX', 'timeout [s]',
                  'firmware', 'gear', 'state', '°C')
    for motor in found.motors:
        registers = motor.registers
        shown.add_row(f'{motor.id:#04x}', f'{motor.reply:#04x}', ' '.join(motor.types) or '?',
                      *(f'{registers[name]:g}' if name in registers else '-'
                        for name in ('PMAX', 'VMAX', 'TMAX')), f'{motor.timeout:g}',
                      *(f'{registers[name]:g}' if name in registers else '-'
                        for name in ('sw_ver', 'Gr')),
                      motor.words or ('not asked' if motor.enabled is None else
                                      'on' if motor.enabled else 'off'),
                      '-' if np.isnan(motor.temperature) else f'{motor.temperature:g}')
    strangers = ', '.join(f'{name:#x}' for name in found.others) or 'none'
    return Group(shown, f'Before a question: {found.load:.1%} of the bus busy; identifiers of '
                 f'frames: {strangers}')      # type: ignore[return-value]


def _compared(rows: list[Compared]) -> Table:
    shown = table('File and motors', 'joint', 'what', 'file', 'motor', '')
    for row in rows:
        shown.add_row(*row[:4], {True: 'ok', False: 'WRONG', None: ''}[row.right])
    return shown


def _watched(model: RobotModel, reading: Reading) -> Table:
    shown = table('Joints (motors off)', 'joint', 'position', 'lower', 'upper', 'age [s]')
    age = np.broadcast_to(reading.age, model.nv)
    for i, name in enumerate(model.joint_names):
        shown.add_row(name, *(f'{values[i]:.3f}' for values in (
            np.asarray(reading.position), model.position_lower, model.position_upper, age)))
    return shown


def _diagnosed(model: RobotModel, held: list[Held], diagnosis: Diagnosis) -> Any:
    from rich.console import Group

    shown = table('Measured efforts and g(q)', 'joint', *(
        f'{what} {k + 1}' for k in range(len(held)) for what in ('τ', 'g')), 'ratio')
    for i, name in enumerate(model.joint_names):
        shown.add_row(name, *(f'{value:.2f}' for pose, g in zip(held, diagnosis.gravity)
                              for value in (pose.effort[i], g[i])),
                      '-' if np.isnan(diagnosis.ratio[i]) else f'{diagnosis.ratio[i]:.2f}')
    lines = [f'{"or " * (k > 0)}{one.text}' for k, one in enumerate(diagnosis.findings)]
    if diagnosis.unseen:
        lines.append(f'not seen in these poses: the sign of {", ".join(diagnosis.unseen)} '
                     '(see `robodyn driver watch`)')
    return Group(shown, *lines)


def _plain_diagnosis(held: list[Held], diagnosis: Diagnosis) -> dict[str, Any]:
    return {'poses': [pose._asdict() for pose in held], **diagnosis._asdict(),
            'findings': [one._asdict() for one in diagnosis.findings]}
