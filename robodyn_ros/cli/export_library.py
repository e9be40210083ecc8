# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `export --config`: the controller of a robot as a C library."""

from pathlib import Path
from typing import Any

from rich.console import Console

from ..c_library.library import HEADER, write_library
from ..c_library.ros2_control_package import package_name, write_package
from ..control.laws import registry
from ..control.laws.law import PARTNER, POLICY
from ..dynamics.source_text import identifier
from ..errors import ArgumentError, ParameterError
from ..nodes.controller import robot as robot_parameters
from ..nodes.controller.parameters import law_parameters, settings, TABLE
from ..nodes.middleware.parameter_files import config_path, unread, value_in
from ..nodes.middleware.parameters import Parameter, WRITTEN

NODE = '/controller'
# Parameters of the node by which somebody else stops the arm: the library has no such input
STOPS = 'heartbeat_timeout', 'emergency_stop'


def run(robot: str, config: str, output: Path, out: Console, *, force: bool) -> None:
    """
    Write the library of a robot with the parameters of its controller node.

    :param config: parameter file, or the name of one in the config folder of this package.
    :raises RobodynError: the node would refuse robot or parameters, the library cannot do what
        they ask for, or the folder exists or cannot be written.
    """
    if output.exists() and not force:
        raise ArgumentError(f'{output} exists', name='--output', value=str(output),
                            remedy='give another --output, or --force to replace what is in it')
    package = package_name(output)
    file = config_path(config)
    values = parameter_values(file) | {'urdf': robot, 'robot_description': ''}
    for name in STOPS:
        if values[name]:
            raise ParameterError(
                f'{name} is set in {file}, and the library has no input for it', name=name,
                value=values[name], remedy='stop the arm by robodyn_controller_stop or '
                'robodyn_controller_disarm in your program, and take it out of the file')
    law = registry.find(values['mode'])
    if law.reference in (POLICY, PARTNER):
        raise ParameterError(f'mode {law.name} follows a {law.reference}, and the library has no '
                             'input for it', name='mode', value=law.name,
                             remedy='choose another mode')
    model = robot_parameters.controlled(values, robot_parameters.description(values))
    known = [parameter.name for parameter in (*TABLE, *law_parameters(law))]
    for warning in unread(['--ros-args', '--params-file', str(file)], NODE, known):
        out.print(f'warning: {warning}', soft_wrap=True)
    with out.status('compiling ...'):           # in a terminal only
        library = write_library(model, settings(values), output, identifier(model.name))
        write_package(model, settings(values), output)
    out.print(f'{library}, {output / HEADER}: {law.name} at {values["rate"]:g} Hz, '
              f'{model.nv} joints', soft_wrap=True)
    if values['arming_samples'] > 1 and not values['robot_compensates_gravity']:
        out.print(f'warning: arming_samples is {values["arming_samples"]}: an arm that does not '
                  'compensate gravity itself is not held for so many cycles when ros2_control '
                  'activates the controller; set arming_samples: 1', soft_wrap=True)
    out.print(f'{output}: package {package} for ros2_control, see its README.md', soft_wrap=True)


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
    value = ([_scalar(one) for one in given] if isinstance(given, list) else _scalar(given))
    element = {list[float]: float, list[int]: int, list[str]: str}.get(kind)
    if not (isinstance(value, list) and all(type(one) is element for one in value)
            if element else type(value) is kind):
        raise ParameterError(f'parameter {parameter.name} = {given!r} in {file} is refused',
                             name=parameter.name, value=given, remedy=f'write {WRITTEN[kind]}')
    parameter.check(value)
    return value


def _scalar(value: Any) -> Any:
    """Return what rcl makes of a scalar: it takes 1e-3 for a number."""
    try:
        return float(value) if isinstance(value, str) and value[:1] in '+-.0123456789' else value
    except ValueError:
        return value
