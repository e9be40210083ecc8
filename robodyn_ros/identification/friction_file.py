# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Friction parameters as a parameter file of the controller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TYPE_CHECKING

import numpy as np
from numpy import ndarray
import yaml

from ..errors import IdentificationError
from ..model.robot import RobotModel

if TYPE_CHECKING:
    from .estimation.estimate import Estimate

NODE = '/**/controller'
FORWARD = ('viscous_friction', 'coulomb_friction', 'static_friction')
BACKWARD = tuple(f'backward_{name}' for name in FORWARD)
SPEEDS = ('friction_velocity', 'stribeck_velocity')
EFFECTS = 'presliding_distance', 'load_friction'
COUPLED = 'coupling_ratio', 'coupled_viscous_friction', 'coupled_coulomb_friction'
KNOWN = (*FORWARD, *BACKWARD, *SPEEDS, *EFFECTS, *COUPLED, 'armature', 'friction_offset')
SIGNED = 'friction_offset', 'coupling_ratio'
DIGITS, SMALLEST = 6, 9        # that count, and decimals after which nothing does


def friction_parameters(estimate: Estimate) -> dict[str, list[float]]:
    """
    Return friction, offsets and armature by the names of the controller's parameters.

    ``friction_compensation``, which switches compensation on, is left to the user.
    """
    model, selection = estimate.with_friction(), estimate.selection
    found = {name: getattr(model, name) for name in (*FORWARD, *SPEEDS)}
    found |= {name: values for name in EFFECTS if (values := getattr(model, name)).any()}
    if model.coupled_friction.any():
        found |= dict(zip(COUPLED, model.coupled_friction))
    if selection.directions:
        found |= dict(zip(BACKWARD, model.backward_friction))
    if selection.armature:
        found['armature'] = model.armature
    if selection.offset:
        found['friction_offset'] = estimate.of_joints('offset')
    return {name: [round(float(f'{value:.{DIGITS}g}'), SMALLEST) for value in values]
            for name, values in found.items()}


def write_friction(path: Path, parameters: dict[str, list[float]], joint_names: Sequence[str],
                   gravity: ndarray | None = None) -> None:
    """
    Write a ROS parameter file whose first lines name the joints in their order.

    :param gravity: (3,) [m/s²] in the base frame, where the base is tilted; None: not written.
    """
    if gravity is not None:
        parameters = {**parameters, 'gravity': [round(float(value), DIGITS) for value in gravity]}
    text = yaml.safe_dump({NODE: {'ros__parameters': parameters}}, sort_keys=False,
                          default_flow_style=None, width=95)
    path.write_text(f'# Friction as it was identified, of the joints {", ".join(joint_names)}.\n'
                    '# It is compensated once friction_compensation, a share for each joint, is '
                    'above 0.\n' + text, encoding='utf-8')


def read_friction(path: Path, model: RobotModel) -> tuple[RobotModel, ndarray]:
    """
    Return the model with friction and gravity of a parameter file, and offsets (nv,) [N·m | N].

    :raises IdentificationError: the file cannot be read, or is for other joints.
    """
    try:
        given: Any = yaml.safe_load(path.read_text(encoding='utf-8'))
        given = given[NODE]['ros__parameters']
        values = {name: np.array(given[name], float) for name in KNOWN if name in given}
        gravity = np.array(given.get('gravity', model.gravity_vector), float).reshape(3)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, KeyError, TypeError, ValueError) as why:
        raise IdentificationError(f'{path} cannot be read ({why})', name=str(path),
                                  remedy='give the friction.yaml of `robodyn identify`') from None
    for name, array in values.items():
        if array.shape != (model.nv,) or not np.isfinite(array).all():
            raise IdentificationError(
                f'{name} in {path} is not {model.nv} numbers', name=name, value=array.tolist(),
                remedy=f'give one for each of {", ".join(model.joint_names)}; lock the joints '
                       f'that were locked')
    for name, array in values.items():
        if name not in SIGNED and (array < 0.0).any() or name in SPEEDS and (array == 0.0).any():
            raise IdentificationError(f'{name} in {path} is {array.tolist()}', name=name,
                                      value=array.tolist(), remedy='give numbers above 0')
    forward = [values.get(name, getattr(model, name)) for name in FORWARD]
    if 'coulomb_friction' in values and 'static_friction' not in values:
        forward[2] = forward[1]
    backward = [values.get(back, values.get(name, kept)) for name, back, kept in zip(
        FORWARD, BACKWARD, model.backward_friction)]
    fields: dict[str, Any] = dict(zip(FORWARD, forward), backward_friction=np.array(backward),
                                  gravity_vector=gravity)
    fields |= {name: values[name] for name in (*SPEEDS, *EFFECTS, 'armature') if name in values}
    if COUPLED[0] in values:
        fields['coupled_friction'] = np.array([values.get(name, np.zeros(model.nv))
                                               for name in COUPLED])
    return replace(model, **fields), values.get('friction_offset', np.zeros(model.nv))
