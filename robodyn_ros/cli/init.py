# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `init`: a parameter file for the controller of a robot."""

import os
from pathlib import Path
from shutil import which
from typing import Any

from rich.console import Console

from . import verification_files
from ..catalog.robots import CatalogRobot
from ..control.settings.settings import Settings
from ..errors import check_new, InertiaError, writing
from ..model.unit_checks import unit_doubts
from ..nodes.clients.controller_file import controller_file, missing, parameters


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
    also = verification_files.texts(_relative(robot, output), output) if ci else {}
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
            path.parent.mkdir(parents=path != output, exist_ok=True)
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
