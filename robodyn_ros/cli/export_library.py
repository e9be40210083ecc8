# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `export --config`: the controller of a robot as a C library."""

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from rich.console import Console

from ..c_library.exported import Options
from ..c_library.library import HEADER, write_library
from ..c_library.ros2_control_package import package_name, write_package
from ..control.laws import registry
from ..control.laws.law import PARTNER, POLICY
from ..control.settings.settings import Settings
from ..dynamics.source_text import identifier
from ..errors import ArgumentError, check_new, ParameterError
from ..nodes.controller import robot as robot_parameters
from ..nodes.controller.parameters import law_parameters, ROBOT, settings, STOPS, TABLE
from ..nodes.middleware.parameter_files import config_path, unread, value_in
from ..nodes.middleware.parameters import Parameter, WRITTEN

NODE = '/controller'


def run(robot: str, configs: Sequence[str], output: Path, out: Console, *, force: bool,
        payload: tuple[float, float] = (0.0, 0.0), aarch64: bool = False) -> None:
    """
    Write the library of a robot with the parameters of its controller node.

    :param configs: parameter files, or names of those in the config folder of this package. Robot
        and rate are those of the first one; the others differ in what a node may change at run
        time.
    :param payload: greatest mass [kg] and distance [m] of a payload that is set at run time.
    :param aarch64: whether to write machine code for ARM as well.
    :raises RobodynError: the node would refuse robot or parameters, the library cannot do what
        they ask for, or the folder exists or cannot be written.
    """
    if not force:
        check_new([output], '--output',
                  'give another --output, or --force to replace what is in it')
    package = package_name(output)
    given, exported = {}, {}
    for config in configs:
        file = config_path(config)
        values = parameter_values(file) | {'urdf': robot, 'robot_description': ''}
        if file.stem in given:
            raise ArgumentError(f'two files are named {file.stem}', name='--config',
                                value=str(file), remedy='rename one: settings have the names of '
                                'their files')
        _check_mode(values)
        given[file.stem] = values
        law = registry.find(values['mode'])
        known = [parameter.name for parameter in (*TABLE, *law_parameters(law))]
        for warning in unread(['--ros-args', '--params-file', str(file)], NODE, known):
            out.print(f'warning: {warning}', soft_wrap=True)
        exported[file.stem] = settings(values)
    first, *others = given.values()
    for name, other in zip([*given][1:], others, strict=True):
        _check_same(name, first, other)
    model = robot_parameters.controlled(first, robot_parameters.description(first))
    with out.status('compiling ...'):           # in a terminal only
        library = write_library(
            model, exported, output, identifier(model.name),
            Options(*payload, first['heartbeat_timeout'], first['emergency_stop']),
            aarch64=aarch64)
        write_package(model, exported, output)
    modes = ', '.join(f'{name}: {values["mode"]}' for name, values in given.items())
    out.print(f'{library}, {output / HEADER}: {modes} at {first["rate"]:g} Hz, '
              f'{model.nv} joints', soft_wrap=True)
    out.print(f'{output}: ROS package {package} with a ros2_control plugin, see its README.md',
              soft_wrap=True)
    if first['arming_samples'] > 1 and not first['robot_compensates_gravity']:
        out.print(f'warning: arming_samples is {first["arming_samples"]}: after activation in '
                  'ros2_control, nothing holds the arm for as many cycles unless it compensates '
                  'gravity itself; set arming_samples: 1', soft_wrap=True)


def _check_mode(values: dict[str, Any]) -> None:
    law = registry.find(values['mode'])
    if law.reference in (POLICY, PARTNER):
        raise ParameterError(f'mode {law.name} follows a {law.reference}, and the library has no '
                             'input for it', name='mode', value=law.name,
                             remedy='choose another mode')


def _check_same(name: str, first: dict[str, Any], other: dict[str, Any]) -> None:
    """Refuse another value of what the first file decides: the robot, and stops of the arm."""
    changeable = {field.name for field in fields(Settings)}
    for key in (parameter.name for parameter in (*ROBOT, *STOPS)):
        if key not in changeable and first[key] != other[key]:
            raise ParameterError(
                f'{key} is {other[key]!r} in {name}, and {first[key]!r} in the first file',
                name=key, value=other[key],
                remedy='give the same: it cannot change while the arm is driven')


def parameter_values(file: Path) -> dict[str, Any]:
    """
    Return the parameters of the controller node as a file gives them, others at their defaults.

    :raises ParameterError: the file has no section for the node, or a value is refused.
    """
    values = {parameter.name: _value(parameter, file) for parameter in TABLE}
    law = registry.find(values['mode'])
    return values | {parameter.name: _value(parameter, file) for parameter in law_parameters(law)
                     if parameter.name not in values}


def _value(parameter: Parameter, file: Path) -> Any:
    given = value_in(file, NODE, parameter.name)
    if given is None:
        return parameter.default
    kind = parameter.type
    element = {list[float]: float, list[int]: int, list[str]: str}.get(kind)
    if not (isinstance(given, list) and all(type(one) is element for one in given)
            if element else type(given) is kind):
        raise ParameterError(f'parameter {parameter.name} = {given!r} in {file} is refused',
                             name=parameter.name, value=given, remedy=f'write {WRITTEN[kind]}')
    parameter.check(given)
    return given
