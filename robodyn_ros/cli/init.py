# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `init`: a parameter file for the controller of a robot."""

from __future__ import annotations

from enum import Enum
import os
from pathlib import Path
from shutil import which
from typing import Annotated, TYPE_CHECKING

import typer

from .options import (
    AcceptInertia, At, chosen_robot, command, console, Force, Gravity, Locked, MODEL, numbers,
    output, print_doubts, Robot, Root, template, Tip, write_texts)
from ..errors import check_new, InertiaError, require_modules, RosError

if TYPE_CHECKING:
    from ..catalog.robots import CatalogRobot

WORKFLOW = Path('.github', 'workflows', 'verify.yml')


class Compensator(str, Enum):
    """Who compensates gravity."""

    ROBOT = 'robot'
    CONTROLLER = 'controller'


@command(MODEL, 'my_arm.urdf --gravity-by robot')
def init(robot: Robot, locked: Locked = [], at: At = '',  # noqa: B006
         root: Root = '',
         tip: Tip = '',
         gravity: Gravity = '',
         output: Annotated[Path | None, output(
             'File to write; default: ROBOT.yaml in this folder.')] = None,
         force: Force = False,
         compensator: Annotated[Compensator | None, typer.Option(
             '--gravity-by', help='Which of both compensates gravity; a Franka or UR does so '
             'itself. Default: left for you to fill in.')] = None,
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
    from ..model.robot import roomy_position
    from ..model.unit_checks import unit_doubts
    from ..nodes.clients.controller_file import controller_file, missing, parameters

    chosen = chosen_robot(robot, locked, root, tip, gravity, at, roomy=True)
    given = chosen.urdf_parameters() | {name: value for name, value in (
        ('root', root), ('tip', tip), ('gravity', numbers('--gravity', gravity))) if value}
    if compensator is not None:
        given['robot_compensates_gravity'] = compensator == Compensator.ROBOT
    file, out = output or Path(f'{chosen.name}.yaml'), console()
    settings = Settings(rate=rate, loop_delay=delay)
    also = verification_files(_relative(chosen, file), file) if ci else {}
    if not force:
        check_new([file, *also], '--output', 'choose another --output, or --force to replace it'
                  + (', or leave out --ci' if ci else ''))
    model = chosen.model
    if not accept and (doubts := [doubt.text for doubt in unit_doubts(model) if doubt.dynamic]):
        raise InertiaError(
            f'gains are not computed: {"; ".join(doubts)}', name=model.name, value=doubts,
            remedy='correct the URDF, or accept its numbers: --accept-inertia')
    pose = None if (chosen.pose == roomy_position(model)).all() else chosen.pose
    values = given | parameters(model, pose, settings)
    text = controller_file(model, values, pose, chosen.source, settings)
    write_texts({file: text, **also}, '--output', 'choose another --output'
                + (', or leave out --ci' if ci else ''))
    out.print(f'Parameters of the controller: {file}', soft_wrap=True)
    for path in also:
        out.print(f'Verification in continuous integration: {path}', soft_wrap=True)
    if lacking := missing(model, values, settings):
        out.print('Missing in the URDF:', style='bold')
        for sentence in lacking:
            out.print(f'- {sentence}')
    print_doubts(out, model)
    start = ('ros2 launch robodyn_ros controller.launch.py config:=' if which('ros2') else
             'robodyn_controller --ros-args --params-file ')     # ROS wheels lack ros2
    out.print(f'Check every value, then: {start}{file.resolve()}', soft_wrap=True)


def verification_files(robot: str, config: Path) -> dict[Path, str]:
    """
    Return a test and a workflow beside a parameter file, by path.

    :param robot: name or path of the robot, as `verify` takes it.
    """
    return {config.parent / path: template(name).substitute(robot=robot, config=config.name)
            for path, name in ((f'test_{config.stem}.py', 'test_verify.py'),
                               (WORKFLOW, 'verify.yml'))}


def _relative(robot: CatalogRobot, output: Path) -> str:
    """Return the robot as a command in the folder of the parameter file names it."""
    known = robot.urdf_parameters()['urdf']
    return (Path(os.path.relpath(known, output.resolve().parent)).as_posix()
            if Path(known).is_absolute() else known)
