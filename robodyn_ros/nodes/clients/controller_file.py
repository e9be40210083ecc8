# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameter file of a controller: written with comments for one robot, and read."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
from numpy import ndarray

from ..controller import robot
from ..controller.parameters import law_parameters, TABLE
from ..middleware.parameter_files import values_in
from ..middleware.parameters import Parameter, WRITTEN
from ...catalog.robots import one_line
from ...control.laws import registry
from ...control.settings.motion_limits import (
    known_limits, limit_warnings, most_resting_error, resting_error_warning)
from ...control.settings.settings import checked_masses, Settings
from ...control.settings.suggested_gains import suggest_gains, SuggestedGains
from ...errors import ParameterError
from ...model.robot import RobotModel, roomy_position

LINE_WIDTH = 96
NODE = '/controller'
UNKNOWN_FRICTION = 0.005    # effort limits, as worlds have at most
WIDEST_TOLERANCE = 10.0     # resting errors; friction of a true effort limit needs about half
MOTOR_TEST_EFFORT = 0.1     # effort limits; of arms whose efforts and velocities are limited
PARAMETER_ORDER = (
    'urdf', 'root', 'tip', 'locked_joints', 'locked_positions', 'gravity',
    'robot_compensates_gravity', 'accepted_links', 'rate', 'trigger', 'loop_delay', 'mode',
    'stiffness', 'damping', 'acceleration_kp', 'acceleration_kd', 'effort_limit',
    'effort_rate_limit', 'velocity_limit', 'motor_test_effort', 'armature', 'viscous_friction',
    'coulomb_friction', 'friction_compensation', 'payload_frame', 'payload_mass',
    'payload_com', 'payload_inertia')

# Parameters of the simulator, and those of the controller that they are equal to
SIMULATOR_PARAMETERS = {**{p.name: p.name for p in robot.PARAMETERS}, 'armature': 'armature',
                        'compensates_gravity': 'robot_compensates_gravity'}


def parameters(model: RobotModel, pose: ndarray | None, settings: Settings) -> dict[str, Any]:
    """
    Return limits of the URDF and stable gains as parameters of the controller.

    A list of limits is left out where the URDF lacks the limit of any joint, and so is the test of
    the motors where one of both is. ``armature`` is there if it is assumed for some joint.

    :param pose: of :func:`.suggest_gains`.
    :param settings: with the ``rate`` and the ``loop_delay`` for which the gains are stable.
    """
    values: dict[str, Any] = {'rate': settings.rate, 'loop_delay': settings.loop_delay,
                              'mode': settings.mode}
    if 2.0 / settings.rate > settings.loop_delay:
        values['trigger'] = 'state'     # a state would wait up to a period for the timer
    gains = suggest_gains(model, pose, settings)
    values |= {name: gain.tolist() for name, gain in gains._asdict().items()
               if name != 'armature' or (gain != model.armature).any()}
    # The gains are for the friction of the model: as much again for what it does not know, or what
    # such friction moves light joints by in the worst pose
    drives = known_limits(model.effort_limit, 'effort_limit')
    unknown = UNKNOWN_FRICTION * np.where(drives, model.effort_limit, 0.0)
    masses = checked_masses(replace(model, armature=gains.armature))
    errors = (np.abs(np.linalg.inv(masses)) @ unknown).max(axis=0) / gains.acceleration_kp
    most = most_resting_error(model)
    values['goal_tolerance'] = errors.round(3).clip(2.0 * most, WIDEST_TOLERANCE * most).tolist()
    if drives.all():
        values['effort_limit'] = model.effort_limit.tolist()
    if known_limits(model.velocity_limit, 'velocity_limit').all():
        values['velocity_limit'] = model.velocity_limit.tolist()
        if 'effort_limit' in values:
            values['motor_test_effort'] = MOTOR_TEST_EFFORT
    return values


def missing(model: RobotModel, values: Mapping[str, Any], settings: Settings) -> list[str]:
    """Return sentences on missing or wrong data of the URDF, and on the consequences."""
    fixed = np.array(model.joint_types) != 'continuous'
    unlimited = fixed & ~np.isfinite(model.position_upper - model.position_lower)
    frictionless = (model.viscous_friction == 0.0) & (model.coulomb_friction == 0.0)
    out = [] if 'robot_compensates_gravity' in values else [
        'Gravity compensation: set robot_compensates_gravity: true if the arm stays up under zero '
        'effort (Franka, UR), false if it sinks. A wrong value throws the arm.']
    drives = known_limits(model.effort_limit, 'effort_limit')
    deflection = UNKNOWN_FRICTION * model.effort_limit / values.get('stiffness', np.inf)
    far = drives & (deflection > WIDEST_TOLERANCE * most_resting_error(model))
    for lacking, sentence in (
            (~drives, 'Effort limit of {}: set effort_limit for all joints; '
             'the controller does not start without.'),
            (far, 'Effort limit of the drive of {}: half a percent of that of the URDF as '
             'friction would hold the joint far from its target. Check it: gains and rotor '
             'inertia depend on it.'),
            (~known_limits(model.velocity_limit, 'velocity_limit'), 'Velocity limit of {}: set '
             'velocity_limit for all joints; the controller does not start without. Rotor inertia '
             'and gains depend on it, too: rather correct the URDF, and repeat `robodyn init`.'),
            (unlimited, 'Position limits of {}: these joints may hit their stops.'),
            (model.position_lower == model.position_upper, 'Position range of {}: lower and upper '
             'limit are the same, so that these joints cannot move.'),
            (frictionless, 'Friction of {}: `robodyn identify` estimates it; without it, friction '
             'is not compensated.'),
            (model.armature == 0.0, 'Rotor inertia (armature) of {}: with it, higher gains are '
             'stable, and light joints get more effort near their limits.')):
        if lacking.any():
            out.append(sentence.format(_names(model, lacking)))
    for wrong in limit_warnings(model, settings):
        out.append(f'{wrong[0].upper()}{wrong[1:]}.')
    if 'armature' in values:
        scarcity = settings.scarcity(model)
        out.append(f'Without rotor inertia, {scarcity.sentence(scarcity.scarce)}. This file sets '
                   'these values; `robodyn identify` estimates the real ones. With smaller ones, '
                   'or none as in Gazebo, the arm would exceed its velocity limits several times: '
                   'correct or remove the values, and compute new gains.')
    gains = {name: values[name] for name in SuggestedGains._fields if name in values}
    for mode in ('joint_impedance', 'computed_torque') if gains else ():
        with suppress(ParameterError):      # gains for inertias in another unit
            if kept := resting_error_warning(model, replace(settings, mode=mode, **gains)):
                out.append(f'In the mode {mode}, {kept}.')
    if model.implausible_links:
        out.append(f'Physically consistent inertia of {", ".join(model.implausible_links)} '
                   '(triangle inequality): correct the URDF, or list the links in '
                   'accepted_links.')
    return out


def controller_file(model: RobotModel, values: Mapping[str, Any], pose: ndarray | None,
                    source: str, settings: Settings) -> str:
    """
    Return the text of a ROS parameter file for the node `controller`, in any namespace.

    It has a section for the node `simulator`, too, with the parameters that both must agree on.

    :param values, settings: parameters to set, and what they are for; see :func:`parameters`.
    :param pose: that of :func:`parameters`.
    :param source: where the robot was read from, for the heading.
    """
    at = roomy_position(model) if pose is None else pose
    heading = [f'Parameters of the robodyn_ros controller for {model.name} ({source}).',
               'Check every value before the arm moves; docs/parameters.md has all parameters.',
               '', f'Joints, in the order of all lists: {", ".join(model.joint_names)}',
               'Gains: critically damped, 10 rad/s, more against friction, less where another '
               f'pose would be unstable; for the inertia at q = [{_numbers(at)}]'
               + (', or its mean over the workspace where that is larger.' if pose is None
                  else '.')]
    if lacking := missing(model, values, settings):
        heading += ['', 'Missing in the URDF:', *(f'- {sentence}' for sentence in lacking)]
    if model.warnings:
        heading += ['', 'Unusual in the URDF:', *(f'- {text}' for text in model.warnings)]
    lines = [line for text in heading for line in _comment(text, '')]
    lines += ['', '/**/controller:', '  ros__parameters:']
    declared, unset = {p.name: p for p in TABLE}, _of_urdf(model)
    for name in dict.fromkeys((*PARAMETER_ORDER, *values)):
        if name in values:
            line = f'    {name}: {one_line(values[name])}'
        elif name in unset:
            line = f'    # {name}: {unset[name]}'
        else:
            continue
        p = declared[name]
        unit = f' [{p.unit}]' if p.unit else ''
        lines += ['', *_comment(f'{p.description}{unit}', '    '), line]
    lines += ['', '# The same robot for simulation.launch.py', '/**/simulator:',
              '  ros__parameters:']
    lines += [f'    {theirs}: {one_line(values[ours])}'
              for theirs, ours in SIMULATOR_PARAMETERS.items()
              if ours in values]
    return '\n'.join(lines) + '\n'


def _of_urdf(model: RobotModel) -> dict[str, str]:
    """Return values of the URDF as YAML, for the comments on parameters that are not set."""
    def listed(values: ndarray) -> str:
        return '[' + ', '.join(one_line(v) if np.isfinite(v) else '?'
                               for v in values.tolist()) + ']'
    zeros = np.zeros(model.nv)
    return {'robot_compensates_gravity': '?',
            **({'accepted_links': one_line(list(model.implausible_links))}
               if model.implausible_links else {}),
            **{name: listed(np.where(known_limits(limit, name), limit, np.nan))
               for name, limit in (('effort_limit', model.effort_limit),
                                   ('velocity_limit', model.velocity_limit))},
            'effort_rate_limit': listed(Settings().per_joint(model, 'effort_rate_limit')),
            'motor_test_effort': one_line(MOTOR_TEST_EFFORT),
            'armature': listed(model.armature), 'viscous_friction': listed(model.viscous_friction),
            'coulomb_friction': listed(model.coulomb_friction),
            'friction_compensation': listed(zeros),
            'payload_frame': one_line(model.link_names[-1]),
            'payload_mass': '0.0', 'payload_com': '[0.0, 0.0, 0.0]',
            'payload_inertia': '[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]'}


def _names(model: RobotModel, which: ndarray) -> str:
    if which.all() and model.nv > 1:
        return 'all joints'
    return ', '.join(name for name, chosen in zip(model.joint_names, which) if chosen)


def _comment(text: str, indent: str) -> list[str]:
    """Return the lines of a comment, at most LINE_WIDTH long, with hanging list items."""
    hanging = '  ' if text.startswith('- ') else ''
    return wrap(text, LINE_WIDTH, initial_indent=f'{indent}# ', break_long_words=False,
                subsequent_indent=f'{indent}# {hanging}', break_on_hyphens=False) or [f'{indent}#']


def _numbers(values: ndarray) -> str:
    return ', '.join(f'{v:.4g}' for v in values)


def parameter_values(file: Path) -> dict[str, Any]:
    """
    Return the parameters of the controller node as a file gives them, others at their defaults.

    :raises ParameterError: the file has no section for the node, or a value is refused.
    """
    present = values_in(file, NODE)
    values = {parameter.name: _value(parameter, present, file) for parameter in TABLE}
    law = registry.find(values['mode'])
    return values | {parameter.name: _value(parameter, present, file)
                     for parameter in law_parameters(law) if parameter.name not in values}


def _value(parameter: Parameter, present: dict[str, Any], file: Path) -> Any:
    given = present.get(parameter.name)
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
