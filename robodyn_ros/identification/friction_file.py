# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Friction parameters as a parameter file of the controller."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from numpy import ndarray
import yaml

from ..model.friction_file import BACKWARD, COUPLED, EFFECTS, FORWARD, HEADER, NODE, SPEEDS

if TYPE_CHECKING:
    from .estimation.estimate import Estimate

SIGNIFICANT_DIGITS, MAX_DECIMALS = 6, 9


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
    return {name: [round(float(f'{value:.{SIGNIFICANT_DIGITS}g}'), MAX_DECIMALS)
                   for value in values] for name, values in found.items()}


def write_friction(path: Path, parameters: dict[str, list[float]], joint_names: Sequence[str],
                   gravity: ndarray | None = None) -> None:
    """
    Write a ROS parameter file whose first lines name the joints in their order.

    :param gravity: (3,) [m/s²] in the base frame, where the base is tilted; None: not written.
    """
    if gravity is not None:
        parameters = {**parameters, 'gravity': [
            round(float(value), SIGNIFICANT_DIGITS) for value in gravity]}
    text = yaml.safe_dump({NODE: {'ros__parameters': parameters}}, sort_keys=False,
                          default_flow_style=None, width=95)
    path.write_text(f'{HEADER}{", ".join(joint_names)}.\n'
                    '# It is compensated once friction_compensation, a share for each joint, is '
                    'above 0.\n' + text, encoding='utf-8')
