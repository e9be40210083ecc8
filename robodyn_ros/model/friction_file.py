# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Reader of the file in which an identification leaves friction, armature and gravity."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray
import yaml

from .robot import RobotModel
from ..errors import IdentificationError, reading

NODE = '/**/controller'
FORWARD = ('viscous_friction', 'coulomb_friction', 'static_friction')
BACKWARD = tuple(f'backward_{name}' for name in FORWARD)
SPEEDS = ('friction_velocity', 'stribeck_velocity')
EFFECTS = 'presliding_distance', 'load_friction'
COUPLED = 'coupling_ratio', 'coupled_viscous_friction', 'coupled_coulomb_friction'
# Of the parameters in SI units: of an identification, of a file, of settings and of nodes
RANGES = {
    **dict.fromkeys((FORWARD[0], BACKWARD[0], COUPLED[1]), (0.0, 1e5)),
    **dict.fromkeys((*FORWARD[1:], *BACKWARD[1:], COUPLED[2]), (0.0, 1e6)),
    **dict.fromkeys(SPEEDS, (1e-6, 1e3)), 'presliding_distance': (0.0, 1.0),
    'load_friction': (0.0, 0.5), 'coupling_ratio': (-10.0, 10.0), 'armature': (0.0, 1e3),
    'friction_offset': (-1e6, 1e6)}
KNOWN = tuple(RANGES)
# First words of a file, before the names of its joints
HEADER = '# Friction as it was identified, of the joints '


def with_friction_file(model: RobotModel, path: Path, keep_gravity: bool) -> RobotModel:
    """
    Return the model with friction, armature and gravity of a file.

    Effort offsets are not part of a model and raise a warning.

    :param keep_gravity: whether the gravity of the model stays.
    :raises IdentificationError: see :func:`read_friction`.
    """
    found, offset = read_friction(path, model)
    warnings = model.warnings
    if offset.any():
        warnings = (*warnings, f'friction_offset {offset.tolist()} in {path} is not part of the '
                    'model: give it to the settings of the controller')
    return replace(found, warnings=warnings,
                   gravity_vector=model.gravity_vector if keep_gravity else found.gravity_vector)


def read_friction(path: Path, model: RobotModel) -> tuple[RobotModel, ndarray]:
    """
    Return the model with friction and gravity of a parameter file, and offsets (nv,) [N·m | N].

    Parameters that are not given keep the values of the model, or follow from others, as in the
    controller.

    :raises IdentificationError: the file cannot be read, has no friction, or is for other joints.
    """
    with reading(path, IdentificationError, str(path), 'pass the friction.yaml of '
                 '`robodyn identify`'):
        text = path.read_text(encoding='utf-8-sig')
        given: Any = yaml.safe_load(text)
        given = given[NODE]['ros__parameters']
        values = {name: np.array(given[name], float) for name in KNOWN if name in given}
        gravity = np.array(given.get('gravity', model.gravity_vector), float).reshape(3)
        if not np.isfinite(gravity).all():
            raise ValueError(f'gravity is {gravity.tolist()}')
    if not values:
        raise IdentificationError(
            f'{path} has none of {", ".join(KNOWN)}', name=str(path), value=[*given],
            remedy='pass the friction.yaml of `robodyn identify`')
    for line in text.splitlines():
        joints = line.removeprefix(HEADER).rstrip('.').split(', ')
        if line.startswith(HEADER) and joints != [*model.joint_names]:
            raise IdentificationError(
                f'{path} is for the joints {", ".join(joints)}, not '
                f'{", ".join(model.joint_names)}', name=str(path), value=joints,
                remedy='pass the file of this robot, with the same joints locked; where joints '
                'were renamed, correct that line')
    for name, array in values.items():
        if array.shape != (model.nv,) or not np.isfinite(array).all():
            raise IdentificationError(
                f'{name} in {path} is not {model.nv} numbers', name=name, value=array.tolist(),
                remedy=f'pass one for each of {", ".join(model.joint_names)}; lock the joints '
                       f'that were locked')
    for name, array in values.items():
        low, high = RANGES[name]
        if not ((low <= array) & (array <= high)).all():
            raise IdentificationError(f'{name} in {path} is {array.tolist()}', name=name,
                                      value=array.tolist(),
                                      remedy=f'use numbers from {low:g} to {high:g}')
    found = replace(with_given_friction(model, values), gravity_vector=gravity,
                    armature=values.get('armature', model.armature))
    return found, values.get('friction_offset', np.zeros(model.nv))


def with_given_friction(model: RobotModel, given: Mapping[str, ndarray]) -> RobotModel:
    """
    Return the model with other friction parameters.

    Parameters that are not given keep their values, except that static friction equals a given
    Coulomb friction, and backward motion has the given parameters of forward motion, as in the
    element ``<robodyn>`` of a URDF.

    :param given: arrays (nv,) by the names of settings, in the units of :class:`RobotModel`.
    """
    def known(otherwise: ndarray, *names: str) -> ndarray:
        return next((given[name] for name in names if name in given), otherwise)

    fields: dict[str, Any] = {
        name: known(getattr(model, name), name) for name in (*FORWARD, *SPEEDS, *EFFECTS)}
    fields['static_friction'] = known(model.static_friction, *FORWARD[:0:-1])
    return replace(
        model, **fields,
        backward_friction=np.array([known(kept, *names) for names, kept in zip(
            ((BACKWARD[0], FORWARD[0]), (BACKWARD[1], FORWARD[1]),
             (BACKWARD[2], BACKWARD[1], *FORWARD[:0:-1])), model.backward_friction)]),
        coupled_friction=np.array([known(kept, name) for name, kept in zip(
            COUPLED, model.coupled_friction)]))
