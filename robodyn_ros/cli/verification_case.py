# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the subcommand `verify` is given: robot, parameter file, motion and worlds file."""

from collections.abc import Mapping
from dataclasses import fields, replace
import hashlib
from pathlib import Path
import shlex
from typing import Any

from rich.console import Console

from ..catalog.robots import load_robot, read_configuration
from ..control.laws import registry
from ..control.references.reference_planning import plan
from ..control.references.trajectory import Waypoints
from ..control.settings.motion_limits import motion_limits
from ..control.settings.parameters import ControlParameters
from ..control.settings.settings import GAINS, Settings
from ..errors import ArgumentError, ParameterError, TrajectoryError
from ..model.resources import robot_path, share_path
from ..model.robot import RobotModel
from ..nodes.middleware.parameter_files import (
    check_gravity_given,
    config_path,
    meant,
    values_in,
)
from ..realtime.loop_settings import TRIGGERS
from ..verification import worlds as worlds_files
from ..verification.trial import Case

BRIEF = 2.0             # s of a world
NODE = '/controller'
ROBOT_PARAMETERS = ('urdf', 'root', 'tip', 'locked_joints', 'locked_positions', 'gravity',
                    'accepted_links')


def verification_case(robot: str, locked: Mapping[str, float], config: Path | None,
                      motion: Path | None, worlds: Path | None, seed: int, out: Console, *,
                      brief: bool = False) -> tuple[Case, str]:
    """
    Return what is verified, and the command line that asks for it.

    :raises RobodynError: a file cannot be read, or does not fit the robot.
    """
    values = _configured(robot, config)
    if not locked:
        locked = dict(zip(values.get('locked_joints', []), values.get('locked_positions', [])))
    chosen = load_robot(robot, locked, [], root=values.get('root') or None,
                        tip=values.get('tip') or None, gravity=values.get('gravity') or None)
    check_gravity_given(values, chosen.name)
    settings = _settings(values, out)
    model = chosen.model
    found = (worlds_files.default_worlds(model, settings) if worlds is None
             else worlds_files.read(worlds, model, settings))
    follows = any(registry.find(mode).follows for mode in found.modes)
    if motion is not None and not follows:
        raise ArgumentError(f'no mode of the worlds follows {motion}: {", ".join(found.modes)}',
                            name='--motion', value=str(motion), remedy='set gains of a mode that '
                            'follows trajectories, or name one in the modes of --worlds')
    if brief:
        found = replace(found, seconds=min(found.seconds, BRIEF))
    trigger = str(values.get('trigger', 'timer'))
    if trigger not in TRIGGERS:
        raise ParameterError(f'parameter trigger = {trigger!r} is refused', name='trigger',
                             value=trigger, remedy=f'choose one of {", ".join(TRIGGERS)}')
    simulated = worlds_files.MAX_RATE / max(1, round(worlds_files.MAX_RATE / settings.rate))
    if abs(simulated - settings.rate) > 0.01 * settings.rate:
        out.print(f'! rate: {settings.rate:g} Hz is simulated at {simulated:g} Hz, because worlds '
                  'have steps of 1 ms', style='yellow', soft_wrap=True)
    words = ['robodyn', 'verify', robot]
    for option, value in (('--config', config), ('--motion', motion), ('--worlds', worlds),
                          ('--seed', seed or None)):
        words += [option, str(value)] if value is not None else []
    for name, position in locked.items() if config is None else ():
        words += ['--locked', f'{name}={position:g}'] if name not in values.get(
            'locked_joints', []) else []
    again = shlex.join([*words, *(['--brief'] if brief else [])])
    given = (robot_path(robot), share_path('config', f'{robot}.yaml') if config is None else
             config_path(str(config)), motion, worlds)
    return Case(chosen.name, model, settings, found, seed, trigger,
                None if motion is None else _waypoints(motion, model, settings),
                tuple((str(path), f'sha256 {hashlib.sha256(path.read_bytes()).hexdigest()[:16]}')
                      for path in given if path is not None and path.is_file())), again


def _configured(robot: str, config: Path | None) -> dict[str, Any]:
    if config is not None:
        return values_in(config_path(str(config)), NODE)
    robot_path(robot)       # an unknown robot has no parameter file either
    if known := read_configuration(robot):
        return known['controller']
    raise ParameterError(f'{robot} has no parameter file', name='--config', value=robot,
                         remedy=f'write one with `robodyn init {robot}`, and give it with '
                         '--config')


def _settings(values: Mapping[str, Any], out: Console) -> Settings:
    """Return the settings of a parameter file; print names that resemble a parameter."""
    known = [f.name for f in fields(ControlParameters)]
    mode = values.get('mode', Settings().mode)
    own = [f.name for f in registry.find(mode).declared if f.name not in GAINS]
    for name in values:
        if name not in (*known, *own, *ROBOT_PARAMETERS) and (question := meant(name, known)):
            out.print(f'! parameter {name} has no effect here{question}', style='yellow',
                      soft_wrap=True)
    return Settings(**{name: values[name] for name in known if name in values},
                    gains={name: values[name] for name in own if values.get(name)})


def _waypoints(path: Path, model: RobotModel, settings: Settings) -> Waypoints:
    """Return the motion of a trajectory file or a recording, whose time begins at zero."""
    if path.suffix in ('.yaml', '.yml'):
        from ..identification.excitation.trajectory_file import read

        motion = read(path)
    else:
        from ..identification.excitation.taught_motion import smoothed
        from ..identification.recordings.read import read as read_recording

        recording = read_recording(path, model)
        velocity = settings.joint_records(model)['velocity_limit']
        motion = smoothed(recording.joint_names, recording.time, recording.position, velocity,
                          settings.acceleration(model, velocity), 0.2)
    for name in model.joint_names:
        if name not in motion.joint_names:
            raise TrajectoryError(f'{path} has no joint {name}', name=name, value=str(path),
                                  remedy='give a motion of all joints: '
                                  + ', '.join(model.joint_names))
    order = [motion.joint_names.index(name) for name in model.joint_names]
    found = Waypoints(model.joint_names, motion.times - motion.times[0],
                      motion.positions[:, order], motion.velocities[:, order],
                      motion.accelerations[:, order])
    limits = motion_limits(model, settings, settings.joint_records(model)['velocity_limit'])
    plan(limits, found, None, motion.positions[0, order], 0.0, 0)       # refuses it
    return found
