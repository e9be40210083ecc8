# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `export`: dynamics as source text of C or JavaScript, or a controller in C."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, TYPE_CHECKING

from rich.console import Console
import typer

from .options import (
    chosen_robot, command, console, Force, Gravity, Locked, MODEL, numbers, output, Robot, Root,
    Tip, write_texts)
from ..errors import (
    ArgumentError, check_new, ParameterError, printable, require_modules, RobodynError, RosError,
    UnknownNameError)
from ..model.resources import package_version

if TYPE_CHECKING:
    from ..dynamics.source_text import Dialect, Kernel
    from ..model.robot import RobotModel


@command(MODEL, 'my_arm.urdf --c --frame tool0 -o my_arm.c')
def export(robot: Robot, locked: Locked = [],  # noqa: B006
           root: Root = '',
           tip: Tip = '',
           gravity: Gravity = '',
           as_c: Annotated[bool, typer.Option(
               '--c', help='Write C99, with a header and a test.')] = False,
           as_js: Annotated[bool, typer.Option('--js', help='Write JavaScript.')] = False,
           config: Annotated[list[str], typer.Option(
               '--config', metavar='YAML', help='Write a C library and a ros2_control plugin of '
               'the controller with this parameter file (experimental). Repeatable: modes, gains '
               'and payloads to select at run time.')] = [],  # noqa: B006
           payload: Annotated[str, typer.Option(
               '--payload', metavar='MASS,DISTANCE', help='With --config: largest mass (kg) of a '
               'payload set at run time, and largest distance (m) of its center from '
               'payload_frame.')] = '',
           aarch64: Annotated[bool, typer.Option(
               '--aarch64', help='With --config: also write assembly for ARM.')] = False,
           output: Annotated[Path | None, output(
               'File to write; its name becomes the prefix of the functions. Default: ROBOT.c or '
               'ROBOT.js. With --config, the folder; default: ROBOT_controller.')] = None,
           quantity: Annotated[list[str], typer.Option(
               '--quantity', metavar='NAME', help='Quantity to export, a method of Dynamics; '
               'default: all but derivatives. Repeatable.')] = [],  # noqa: B006
           frame: Annotated[list[str], typer.Option(
               '--frame', metavar='NAME', help='Frame whose pose, Jacobian and Jacobian rate are '
               'exported. Repeatable.')] = [],  # noqa: B006
           single: Annotated[bool, typer.Option(
               '--float', help='Compute in single precision, with --c.')] = False,
           force: Force = False) -> None:
    """Write the dynamics of a robot as C or JavaScript, or its controller as a C library."""
    if [as_c, as_js, bool(config)].count(True) != 1:
        raise ArgumentError('it is not clear what to write', name='--c', remedy='use one of --c, '
                            '--js and --config')
    if config:
        if locked or root or tip or gravity or quantity or frame or single:
            raise ArgumentError(
                '--config takes no options of the dynamics', name='--config', value=config,
                remedy='leave out --quantity, --frame and --float, and write locked joints, '
                'root, tip and gravity into the parameter file')
        load = numbers('--payload', payload) or [0.0, 0.0]
        if len(load) != 2 or not all(isfinite(x) and x >= 0.0 for x in load):
            raise ArgumentError(f'--payload is {payload}', name='--payload', value=payload,
                                remedy='use a mass and a distance of at least 0: 3,0.1')
        require_modules('export --config', ['rclpy'], RosError)     # which declares parameters
        write_controller(robot, config, output or Path(f'{Path(robot).stem}_controller'),
                         console(), force=force, payload=(load[0], load[1]), aarch64=aarch64)
        return
    if payload or aarch64:
        raise ArgumentError('--payload and --aarch64 belong to --config', name='--payload',
                            remedy='leave them out, or add --config')
    if single and as_js:
        raise ArgumentError('--float is given with --js', name='--float',
                            remedy='leave it out: numbers of JavaScript are doubles')
    from ..dynamics.c_code import c_file, DOUBLE, FLOAT, QUANTITY_MEANINGS
    from ..dynamics.entry_points import TABLE
    from ..dynamics.source_text import distinct, identifier, JAVASCRIPT, javascript_file

    chosen = chosen_robot(robot, locked, root, tip, gravity, massless='warn')
    language = 'c' if as_c else 'js'
    path = output or Path(f'{identifier(chosen.name)}.{language}')
    if path.suffix != f'.{language}' or identifier(path.stem) != path.stem:
        raise ArgumentError(
            f'{path.name} is not a name for an exported file', name='--output', value=str(path),
            remedy='write letters, digits and underscores, the prefix of the functions, and '
                   f'.{language}: my_arm.{language}')
    for name in quantity:
        if name not in QUANTITY_MEANINGS:
            raise UnknownNameError('quantity', name, QUANTITY_MEANINGS)
        if 'frame' in TABLE[name].options and not frame:
            raise ArgumentError(f'{name} needs a frame', name='--frame', value=name,
                                remedy='add --frame NAME')
    for name in frame:
        chosen.model.frame(name)
    dialect, out = JAVASCRIPT if as_js else FLOAT if single else DOUBLE, console()
    found = distinct(_kernels(chosen.model, dict.fromkeys(quantity), dict.fromkeys(frame),
                              dialect, out))
    about = _about(chosen.model, path.stem, language, single)
    if as_c:
        file = c_file(chosen.model, found, path.stem, about, dialect=dialect)
        texts = {path: file.source, path.with_suffix('.h'): file.header}
    else:
        texts = {path: javascript_file(found, path.stem, about)}
    if not force:
        check_new(texts, '--output', 'choose another --output, or --force to replace it')
    write_texts(texts, '--output', 'choose another --output', folders=False)
    out.print(f'{", ".join(map(str, texts))}: {", ".join(kernel.name for kernel in found)}',
              soft_wrap=True)


def _kernels(model: RobotModel, quantities: Iterable[str], frames: Iterable[str],
             dialect: Dialect, out: Console) -> list[Kernel]:
    from ..dynamics.c_code import QUANTITY_MEANINGS
    from ..dynamics.source_text import kernels

    found = []
    for quantity in quantities or [name for name in QUANTITY_MEANINGS
                                   if not name.endswith('derivatives')]:
        try:
            found += kernels(model, quantity, dialect, frames)
        except RobodynError as error:
            if quantities:
                raise
            out.print(f'left out: {error}', soft_wrap=True)
    return found


def _about(model: RobotModel, name: str, language: str, single: bool) -> list[str]:
    gravity = ', '.join(f'{g:g}' for g in model.gravity_vector)
    option = f'--{language}{" --float" if single else ""}'
    about = [
        f'{name}: rigid-body dynamics of the robot {printable(model.name)}, generated by '
        f'robodyn_ros {package_version()} (robodyn export {option}); do not edit.',
        f'Order of the joints in all vectors: {", ".join(map(printable, model.joint_names))}.',
        f'Units: rad or m, s, N·m or N, kg. Poses and Jacobians are in the axes of '
        f'{printable(model.base_link)}, in which gravity is ({gravity}) m/s². Rotor inertia is '
        'included, friction is not. The base is at rest, without external wrenches.',
        'Matrices are stored by rows. The caller must check that inputs are finite: outputs for '
        'other inputs may be finite.']
    if language == 'c':
        about[-1] += ' Outputs must not overlap inputs.'
        about.append(f'Test: cc -std=c99 -O2 -DROBODYN_TEST {name}.c -lm && ./a.out')
    return about


def write_controller(robot: str, configs: Sequence[str], output: Path, out: Console, *,
                     force: bool, payload: tuple[float, float], aarch64: bool) -> None:
    """
    Write the library of a robot with the parameters of its controller node.

    :param configs: parameter files, or names of those in the config folder of this package. Robot
        and rate are those of the first one; the others differ in what a node may change at run
        time.
    :param payload: greatest mass [kg] and distance [m] of a payload that is set at run time.
    :param aarch64: whether to write assembly for ARM as well.
    :raises RobodynError: the node would refuse robot or parameters, the library cannot do what
        they ask for, or the folder exists or cannot be written.
    """
    from ..c_library.exported import Options
    from ..c_library.library import HEADER, package_name, write_library, write_package
    from ..control.laws import registry
    from ..control.laws.law import PARTNER, POLICY
    from ..control.settings.motion_limits import resting_error_warning, velocity_warning
    from ..dynamics.source_text import identifier
    from ..nodes.clients.controller_file import NODE, parameter_values
    from ..nodes.controller import robot as robot_parameters
    from ..nodes.controller.parameters import law_parameters, settings, TABLE
    from ..nodes.middleware.parameter_files import (
        check_gravity_given, config_path, unread, values_in)

    if not force:
        check_new([output], '--output',
                  'choose another --output, or --force to replace what is in it')
    package = package_name(output)
    given, exported = {}, {}
    for config in configs:
        file = config_path(config)
        values = parameter_values(file) | {'urdf': robot, 'robot_description': ''}
        if file.stem in given:
            raise ArgumentError(f'two files are named {file.stem}', name='--config',
                                value=str(file), remedy='rename one: settings have the names of '
                                'their files')
        given[file.stem] = values
        law = registry.find(values['mode'])
        if law.reference in (POLICY, PARTNER):
            raise ParameterError(
                f'mode {law.name} follows a {law.reference}, and the library has no input for it',
                name='mode', value=law.name, remedy='choose another mode')
        known = [parameter.name for parameter in (*TABLE, *law_parameters(law))]
        for warning in unread(['--ros-args', '--params-file', str(file)], NODE, known):
            out.print(f'warning: {warning}', soft_wrap=True)
        exported[file.stem] = settings(values)
    first, *others = given.values()
    for name, other in zip([*given][1:], others, strict=True):
        _check_same(name, first, other)
    model = robot_parameters.controlled(first, robot_parameters.description(first))
    for config in configs:
        check_gravity_given(values_in(config_path(config), NODE), model.name)
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
    for name, one in exported.items():
        for warning in filter(None, (resting_error_warning(model, one),
                                     velocity_warning(model, one))):
            out.print(f'warning: {name}: {warning}', soft_wrap=True)
    if first['arming_samples'] > 1 and not first['robot_compensates_gravity']:
        out.print(f'warning: arming_samples is {first["arming_samples"]}: after activation in '
                  'ros2_control, nothing holds the arm for as many cycles unless it compensates '
                  'gravity itself; set arming_samples: 1', soft_wrap=True)


def _check_same(name: str, first: dict[str, Any], other: dict[str, Any]) -> None:
    """Refuse another value of what the first file decides: the robot, and stops of the arm."""
    from ..control.settings.settings import Settings
    from ..nodes.controller.parameters import ROBOT, STOPS

    changeable = {field.name for field in fields(Settings)}
    for key in (parameter.name for parameter in (*ROBOT, *STOPS)):
        if key not in changeable and first[key] != other[key]:
            raise ParameterError(
                f'{key} is {other[key]!r} in {name}, and {first[key]!r} in the first file',
                name=key, value=other[key],
                remedy='use the same: it cannot change while the arm is driven')
