# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The robot that a person names: its URDF, and what config/ says about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from numpy import ndarray

from ..errors import RobodynError, UnknownNameError
from ..model.library import robot_path, share_path
from ..model.pose import initial_position, roomy_position
from ..model.robot import RobotModel
from ..model.urdf import load_urdf

# Nodes of a parameter file; `/**/` lets them match in any namespace
SECTIONS = ('controller', 'simulator')


@dataclass(frozen=True, eq=False)
class Robot:
    """
    A robot, ready to be looked at or driven.

    :param name: for file names: the known name, or that of the file.
    :param source: what it was read from, for a person.
    :param pose: (nv,) [rad | m] where it starts.
    :param parameters: of each node, as config/ has them, with the locked joints and the pose of
        this robot.
    """

    name: str
    path: Path
    source: str
    model: RobotModel
    pose: ndarray
    parameters: Mapping[str, Mapping[str, Any]]


def configuration(name: str) -> dict[str, dict[str, Any]] | None:
    """Return the parameters of each node in config/NAME.yaml, None where there is no such file."""
    try:
        nodes = yaml.safe_load(share_path('config', f'{name}.yaml').read_text())
    except UnknownNameError:
        return None
    return {section: nodes[f'/**/{section}']['ros__parameters'] for section in SECTIONS}


def write_parameters(path: Path, parameters: Mapping[str, Mapping[str, Any]]) -> None:
    """Write a ROS parameter file for both nodes."""
    path.write_text(yaml.safe_dump({f'/**/{node}': {'ros__parameters': dict(values)}
                                    for node, values in parameters.items()}, allow_unicode=True))


def description(robot: Robot) -> dict[str, Any]:
    """Return the parameters of a node that say which robot it is: urdf and locked joints."""
    try:
        known = robot_path(robot.name) == robot.path
    except RobodynError:
        known = False
    locked = {name: value for name, value in robot.parameters['controller'].items()
              if name.startswith('locked_')}
    return {'urdf': robot.name if known else str(robot.path.resolve()), **locked}


def choose(name_or_path: str, locked: Mapping[str, float], pose: Sequence[float], *,
           root: str | None = None, tip: str | None = None, massless: str = 'refuse',
           accepted_links: Sequence[str] | None = None, roomy: bool = False) -> Robot:
    """
    Load a robot by its known name, then with what config/NAME.yaml says, or from a URDF file.

    :param locked: joints locked, and where [rad | m]; they replace those of the configuration.
    :param pose: (nv,) [rad | m]; empty: that of the configuration, if it is about the same joints,
        else :func:`~robodyn_ros.model.pose.initial_position`.
    :param roomy: that is to be moved: :func:`~robodyn_ros.model.pose.roomy_position` instead.
    :param massless: as :func:`~robodyn_ros.model.urdf.load_urdf` takes it.
    :param accepted_links: bodies whose inertia is not judged, '*' for all; None: those of the
        configuration.
    """
    path = robot_path(name_or_path)
    known = path != Path(name_or_path).expanduser()
    name = name_or_path if known else path.stem
    configured = known and configuration(name)
    parameters = configured or {section: {} for section in SECTIONS}
    simulator = parameters['simulator']
    if not locked:
        locked = dict(zip(simulator.get('locked_joints', []),
                          simulator.get('locked_positions', [])))
    model = load_urdf(path, root=root, tip=tip, locked=locked, massless=massless)
    if not len(pose) and len(simulator.get('initial_position', [])) == model.nv:
        pose = simulator['initial_position']
    chosen = roomy_position(model) if roomy and not len(pose) else initial_position(model, pose)
    for section in SECTIONS:
        if locked:
            parameters[section] |= {'locked_joints': list(locked),
                                    'locked_positions': [float(v) for v in locked.values()]}
    if accepted_links is not None:
        parameters['controller']['accepted_links'] = list(accepted_links)
    simulator |= {'urdf': str(path), 'initial_position': chosen.tolist()}
    return Robot(name, path, f'{path}, config/{name}.yaml' if configured else str(path), model,
                 chosen, parameters)
