# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `init`: a parameter file for the controller of a robot."""

from __future__ import annotations

import os
from pathlib import Path
from shutil import which
from string import Template
from typing import Annotated, Any, TYPE_CHECKING

from rich.console import Console
import typer

from .options import (
    AcceptInertia,
    At,
    chosen_robot,
    command,
    console,
    Force,
    Gravity,
    Locked,
    MODEL,
    numbers,
    output,
    Robot,
    Root,
    Tip,
)
from ..catalog.requirements import require_modules
from ..errors import check_new, InertiaError, RosError, writing

if TYPE_CHECKING:
    from ..catalog.robots import CatalogRobot
    from ..control.settings.settings import Settings

WORKFLOW = Path('.github', 'workflows', 'verify.yml')
TEST = Template('''\
"""The parameter file passes `robodyn verify $robot --config $config --brief`."""

from pathlib import Path
import subprocess
import sys


def test_random_worlds_break_no_criterion():
    run = subprocess.run([sys.executable, '-m', 'robodyn_ros.cli', 'verify', '$robot', '--config',
                          '$config', '--brief'], capture_output=True, text=True,
                         cwd=Path(__file__).parent)
    assert run.returncode == 0, run.stdout + run.stderr
''')
ACTIONS = Template("""\
# Verify the parameter file in random simulated worlds at each push.
name: verify
on: [push, pull_request]
jobs:
  verify:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: '3.12'
      # Repository variable ROBODYN_ROS: a Git URL (git+https://...), or the path of a wheel
      - run: pip install $$ROBODYN_ROS
        env:
          ROBODYN_ROS: $${{ vars.ROBODYN_ROS }}
      - run: pip install plotly
      - run: robodyn verify $robot --config $config --brief --report build/risks.html
      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: risks
          path: build
""")


@command(MODEL, 'my_arm.urdf --robot-compensates-gravity')
def init(robot: Robot, locked: Locked = [], at: At = '',  # noqa: B006
         root: Root = '',
         tip: Tip = '',
         gravity: Gravity = '',
         output: Annotated[Path | None, output(
             'File to write; default: ROBOT.yaml in this folder.')] = None,
         force: Force = False,
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
    from ..control.settings.settings import Settings

    chosen = chosen_robot(robot, locked, root, tip, gravity, at)
    given = chosen.urdf_parameters() | {name: value for name, value in (
        ('root', root), ('tip', tip), ('gravity', numbers('--gravity', gravity))) if value}
    if robot_compensates is not None:
        given['robot_compensates_gravity'] = robot_compensates
    run(chosen, given, console(), output=output or Path(f'{chosen.name}.yaml'), force=force,
        settings=Settings(rate=rate, loop_delay=delay), accept=accept, ci=ci)


def verification_files(robot: str, config: Path) -> dict[Path, str]:
    """
    Return a test and a workflow beside a parameter file, by path.

    :param robot: name or path of the robot, as `verify` takes it.
    """
    return {config.parent / path: text.substitute(robot=robot, config=config.name)
            for path, text in ((f'test_{config.stem}.py', TEST), (WORKFLOW, ACTIONS))}


def run(robot: CatalogRobot, given: dict[str, Any], console: Console, *, output: Path,
        settings: Settings, force: bool, accept: bool, ci: bool = False) -> None:
    """
    Write the parameter file, and print what is missing in the URDF.

    :param given: parameters besides limits and gains: the robot, gravity compensation.
    :param ci: whether to write a test and a workflow that verify the file, too.
    :param accept: whether to compute gains from numbers that are probably in other units.
    :raises InertiaError: masses, lengths or inertias are probably in other units.
    :raises ArgumentError: the file exists already, or cannot be written.
    """
    from ..model.unit_checks import unit_doubts
    from ..nodes.clients.controller_file import controller_file, missing, parameters

    also = verification_files(_relative(robot, output), output) if ci else {}
    if not force:
        check_new([output, *also], '--output', 'give another --output, or --force to replace it'
                  + (', or leave out --ci' if ci else ''))
    model = robot.model
    if not accept and (doubts := [doubt.text for doubt in unit_doubts(model) if doubt.dynamic]):
        raise InertiaError(
            f'gains are not computed: {"; ".join(doubts)}', name=model.name, value=doubts,
            remedy='correct the URDF, or accept its numbers: --accept-inertia')
    values = given | parameters(model, robot.pose, settings)
    text = controller_file(model, values, robot.pose, robot.source, settings)
    for path, content in {output: text, **also}.items():
        with writing(path, '--output', 'give another --output'):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding='utf-8')
    console.print(f'Parameters of the controller: {output}', soft_wrap=True)
    for path in also:
        console.print(f'Verification in continuous integration: {path}', soft_wrap=True)
    if lacking := missing(model, values, settings):
        console.print('Missing in the URDF:', style='bold')
        for sentence in lacking:
            console.print(f'- {sentence}')
    start = ('ros2 launch robodyn_ros controller.launch.py config:=' if which('ros2') else
             'robodyn_controller --ros-args --params-file ')     # ROS wheels lack ros2
    console.print(f'Check every value, then: {start}{output.resolve()}', soft_wrap=True)


def _relative(robot: CatalogRobot, output: Path) -> str:
    """Return the robot as a command in the folder of the parameter file names it."""
    known = robot.urdf_parameters()['urdf']
    return (Path(os.path.relpath(known, output.resolve().parent)).as_posix()
            if Path(known).is_absolute() else known)
