# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the launch files: refusals, warnings, and parameters that two nodes share."""

from collections.abc import Collection, Mapping
from pathlib import Path
import sys
from types import MappingProxyType
from typing import Any

from .middleware.parameter_files import config_path, meant, value_in
from ..control.settings.parameters import LoopParameters
from ..errors import ParameterError

FALSE = 'false', 'False', 'FALSE', '0', 'no', 'off'


def check_respawn(respawn: bool, autostart: str) -> None:
    """
    Refuse a controller that would be started, and armed, again after each of its crashes.

    Re-arming after a fault is the decision of an operator; a crash is an unexplained fault.

    :param respawn: whether the process is started again when it has ended.
    :param autostart: argument of the launch file; empty leaves it to the parameter file, which
        may say true.
    :raises ParameterError: both are requested.
    """
    if respawn and autostart not in FALSE:
        raise ParameterError(
            f'respawn:=true with autostart:={autostart or "(as the file says)"} would arm the '
            'robot again after a crash', name='autostart', value=autostart,
            remedy='set autostart:=false, and activate the controller when the reason is known')


def manager_rate(rate: str, config: str) -> int:
    """
    Return the rate of a controller manager [Hz], which has to be that of the controller.

    :param rate: argument of the launch file; empty: the rate of the configuration.
    :param config: argument of the launch file; empty: the default rate of the controller.
    :raises ParameterError: the rates differ, or the configuration cannot be read.
    """
    found = value_in(config_path(config), '/controller', 'rate') if config else None
    controller = LoopParameters().rate if found is None else float(found)
    if rate and float(rate) != controller:
        raise ParameterError(
            f'the controller manager would run at {float(rate):g} Hz, and the controller at '
            f'{controller:g} Hz', name='rate', value=rate,
            remedy=f'set rate:={controller:g}, or leave it out, or set rate: {float(rate)} in '
                   f'the file of config:={config}')
    return round(controller)


def declared(file: str, arguments: Mapping[str, tuple[str, str]],
             choices: Mapping[str, Collection[str]] = MappingProxyType({})) -> list[Any]:
    """
    Return the declarations of the arguments of a launch file; warn of those that are ignored.

    :param file: path of the launch file.
    :param arguments: default and description, by name; ``choices``: the only values, by name.
    """
    from launch.actions import DeclareLaunchArgument  # only a ROS installation has it

    warn_of_unknown(file, arguments)
    return [DeclareLaunchArgument(name, description=text, choices=choices.get(name),
                                  default_value=default)
            for name, (default, text) in arguments.items()]


def warn_of_unknown(file: str, arguments: Collection[str]) -> None:
    """
    Warn of arguments of ``ros2 launch`` that are ignored, as a misspelled one is.

    :param file: path of the launch file; nothing is said where another one includes it.
    :param arguments: names of its arguments.
    """
    if Path(file).name not in [Path(word).name for word in sys.argv]:
        return
    given = [name for name, equals, _ in (word.partition(':=') for word in sys.argv) if equals]
    if not (unknown := [name for name in given if name not in arguments]):
        return
    from .controller.parameters import TABLE  # slow, and rarely needed

    parameters = [p.name for p in TABLE]
    for name in unknown:
        hint = meant(name, arguments)
        if not hint and (parameter := meant(name, parameters)):
            hint = f'{parameter} Write parameters into a file: config:=FILE or overrides:=FILE'
        print(f'warning: argument {name} is ignored: {Path(file).name} has no such argument{hint}',
              file=sys.stderr)


def rotors(config: str, namespace: str) -> dict[str, list[float]]:
    """
    Return the parameter ``armature`` of the simulator: that of the controller, {} for its own.

    :param config: parameter file with sections for both nodes, in ``namespace``.
    :raises ParameterError: a section is missing.
    """
    simulator, controller = (
        value_in(Path(config), f'/{namespace}/{node}'.replace('//', '/'), 'armature')
        for node in ('simulator', 'controller'))
    if not controller or simulator is not None:
        return {}
    return {'armature': [float(value) for value in controller]}
