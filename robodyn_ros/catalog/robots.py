# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots by known name or path: model, initial pose and parameters of their nodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from numpy import ndarray
import yaml

from ..errors import RobodynError, UnknownNameError
from ..model.resources import robot_path, share_path
from ..model.robot import initial_position, RobotModel, roomy_position
from ..model.urdf import load_urdf

# Nodes of a parameter file, where `/**/` lets them match in any namespace
NODES = ('controller', 'simulator')


@dataclass(frozen=True, eq=False)
class CatalogRobot:
    """
    A robot with its initial pose and the parameters of its nodes.

    :param name: for file names: the known name, or that of the file.
    :param path: of the URDF file.
    :param source: files that it was read from, for messages.
    :param pose: (nv,) initial position [rad | m].
    :param parameters: of each node by name: those of config/NAME.yaml, with the locked joints and
        the pose of this robot.
    """

    name: str
    path: Path
    source: str
    model: RobotModel
    pose: ndarray
    parameters: Mapping[str, Mapping[str, Any]]

    def urdf_parameters(self) -> dict[str, Any]:
        """Return the parameters by which a node finds this robot: urdf and locked joints."""
        try:
            known = robot_path(self.name) == self.path
        except RobodynError:
            known = False
        locked = {name: value for name, value in self.parameters['controller'].items()
                  if name.startswith('locked_')}
        return {'urdf': self.name if known else str(self.path.resolve()), **locked}


def read_configuration(name: str) -> dict[str, dict[str, Any]] | None:
    """Return the parameters of each node in config/NAME.yaml, None where there is no such file."""
    try:
        nodes = yaml.safe_load(share_path('config', f'{name}.yaml').read_text('utf-8'))
    except UnknownNameError:
        return None
    return {node: nodes[f'/**/{node}']['ros__parameters'] for node in NODES}


def write_parameters(path: Path, parameters: Mapping[str, Mapping[str, Any]]) -> None:
    """Write a ROS parameter file; ``parameters`` are by node and name."""
    path.write_text(yaml.safe_dump({f'/**/{node}': {'ros__parameters': dict(values)}
                                    for node, values in parameters.items()}, allow_unicode=True))


def one_line(value: Any) -> str:
    """Return a value as YAML on one line."""
    plain = list(value) if isinstance(value, tuple) else value
    return yaml.safe_dump(plain, default_flow_style=True, width=inf,
                          allow_unicode=True).removesuffix('\n').removesuffix('\n...')


def load_robot(name_or_path: str, locked: Mapping[str, float], pose: Sequence[float], *,
               root: str | None = None, tip: str | None = None, massless: str = 'refuse',
               accepted_links: Sequence[str] | None = None, roomy: bool = False,
               gravity: Sequence[float] | None = None) -> CatalogRobot:
    """
    Return a robot by its known name, with config/NAME.yaml, or from the path of a URDF file.

    :param locked: positions [rad | m] of locked joints by name; where there are any, they replace
        those of the configuration.
    :param pose: (nv,) initial position [rad | m]. Empty: that of the configuration, if it has as
        many joints, else :func:`~robodyn_ros.model.robot.initial_position`.
    :param root: link that is the fixed base; ``tip``: last link of the chain. As in
        :func:`~robodyn_ros.model.urdf.load_urdf`; so is ``massless``.
    :param accepted_links: bodies whose inertia is not checked, '*' for all; None: those of the
        configuration.
    :param roomy: initial position away from the limits where neither ``pose`` nor the
        configuration gives one: :func:`~robodyn_ros.model.robot.roomy_position`.
    :param gravity: (3,) [m/s²] in the base frame; None: that of the URDF.
    :raises UrdfError: there is no such robot or file, or the URDF is not supported.
    :raises ParameterError: the pose has another number of joints, or is outside the limits.
    """
    path = robot_path(name_or_path)
    known = path != Path(name_or_path).expanduser()
    name = name_or_path if known else path.stem
    configured = known and read_configuration(name)
    parameters = configured or {node: {} for node in NODES}
    simulator = parameters['simulator']
    if not locked:
        locked = dict(zip(simulator.get('locked_joints', []),
                          simulator.get('locked_positions', [])))
    model = load_urdf(path, root=root, tip=tip, locked=locked, massless=massless,
                      gravity=gravity)
    if not len(pose) and len(simulator.get('initial_position', [])) == model.nv:
        pose = simulator['initial_position']
    start = roomy_position(model) if roomy and not len(pose) else initial_position(model, pose)
    for node in NODES:
        if locked:
            parameters[node] |= {'locked_joints': list(locked),
                                 'locked_positions': [float(v) for v in locked.values()]}
    if accepted_links is not None:
        parameters['controller']['accepted_links'] = list(accepted_links)
    simulator |= {'urdf': str(path), 'initial_position': start.tolist()}
    source = f'{path}, config/{name}.yaml' if configured else str(path)
    return CatalogRobot(name, path, source, model, start, parameters)
