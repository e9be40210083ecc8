# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of an identification for programs: URDF, friction parameters, all numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from numpy import ndarray
import yaml

from .estimation.payload import ModelErrors
from .result import Identification
from .urdf_update import corrected_urdf, urdf_with_friction
from ..errors import IdentificationError, reading, writing
from ..model.friction_file import BACKWARD, COUPLED, EFFECTS, FORWARD, HEADER, NODE, SPEEDS

if TYPE_CHECKING:
    from .estimation.estimate import Estimate
    from ..model.robot import RobotModel

SIGNIFICANT_DIGITS, MAX_DECIMALS = 6, 9
URDF, FRICTION, NUMBERS = 'corrected.urdf', 'friction.yaml', 'parameters.yaml'


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
                   gravity: ndarray | None = None, remark: str = '') -> None:
    """
    Write a ROS parameter file whose first lines name the joints in their order.

    :param gravity: (3,) [m/s²] in the base frame, where the base is tilted; None: not written.
    :param remark: line that follows the names; empty: none.
    """
    if gravity is not None:
        parameters = {**parameters, 'gravity': [
            round(float(value), SIGNIFICANT_DIGITS) for value in gravity]}
    text = yaml.safe_dump({NODE: {'ros__parameters': parameters}}, sort_keys=False,
                          default_flow_style=None, width=95)
    path.write_text(f'{HEADER}{", ".join(joint_names)}.\n' + (f'# {remark}\n' if remark else '')
                    + '# It is compensated once friction_compensation, a share for each joint, is '
                    'above 0.\n' + text, encoding='utf-8')


@contextmanager
def writable_folder(folder: Path) -> Iterator[None]:
    """
    Make the folder in which the body of the ``with`` statement writes.

    :raises ArgumentError: it cannot be made or written to.
    """
    with writing(folder, '--output', 'choose another folder'):
        folder.mkdir(parents=True, exist_ok=True)
        yield


def write_urdf(folder: Path, urdf: str, model: RobotModel, estimate: Estimate,
               friction: RobotModel) -> Path:
    """
    Write the URDF with other inertias, friction and armature; return its path.

    :param urdf: text that ``model`` was read from.
    :param estimate: of the inertias; ``friction``: model with friction and armature.
    """
    path = folder / URDF
    text = corrected_urdf(urdf, model, estimate.parameters[:10 * model.nb].reshape(-1, 10))
    path.write_text(urdf_with_friction(text, model, friction), encoding='utf-8')
    return path


def write_friction_file(folder: Path, found: Identification, mounted: bool = False) -> Path:
    """
    Write friction, and gravity unless it is that of the URDF, as parameters of the controller.

    :param mounted: whether the gravity of the nominal model is another one than the URDF's.
    """
    path = folder / FRICTION
    turned = mounted or found.mounting.tilt.any()
    write_friction(path, friction_parameters(found.estimate), found.nominal.joint_names,
                   found.estimate.model.gravity_vector if turned else None,
                   found.unidentified_line)
    return path


def write_numbers(folder: Path, found: Identification) -> Path:
    """Write all numbers; return their path."""
    path = folder / NUMBERS
    path.write_text(yaml.safe_dump(numbers(found), sort_keys=False, allow_unicode=True, width=99),
                    encoding='utf-8')
    return path


def numbers(found: Identification) -> dict[str, Any]:
    """Return all numbers as they are written to parameters.yaml."""
    estimate = found.estimate
    base = estimate.base
    errors = ModelErrors.of(estimate)
    return {
        'robot': found.nominal.name, 'method': estimate.method,
        'joints': list(found.nominal.joint_names), 'unidentified': list(found.unidentified),
        'cutoff': float(found.test.cutoff),
        'delay': float(found.mounting.delay), 'tilt': _plain(found.mounting.tilt),
        'gravity': _plain(estimate.model.gravity_vector),
        'presliding': estimate.selection.presliding or 0.0,
        'weight': estimate.weight, 'condition': float(estimate.condition),
        'base_parameters': [
            {'name': name, 'combination': text, 'value': float(value),
             'standard_error': _number(error), 'relative_deviation_percent': _number(relative)}
            for name, text, value, error, relative in zip(
                base.base_names, base.texts, estimate.values, estimate.standard_errors,
                estimate.relative_deviations)],
        'parameters': [{'name': name, 'unit': unit, 'value': float(value), 'before': float(before)}
                       for name, unit, value, before in zip(
                           estimate.names, estimate.units, estimate.parameters, estimate.prior)],
        'validation': {name: {
            'rms': _plain(of.rms), 'relative_rms': _plain(of.relative),
            'determination': _plain(of.determination),
            'autocorrelations_outside_95_percent_band': _plain(of.whiteness)}
            for name, of in found.validations.items()},
        'friction': friction_parameters(estimate),
        'prediction_band_95_percent': found.band.plain(),
        'model_errors': {'names': list(errors.names), 'covariance': [
            [float(f'{value:.{SIGNIFICANT_DIGITS}g}') for value in row[:k + 1]]
            for k, row in enumerate(errors.covariance)]},
        'terms': list(found.terms), 'notes': list(found.notes), 'warnings': list(found.warnings)}


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _plain(values: ndarray) -> list[float | None]:
    return [_number(value) for value in values]


class Conditions(NamedTuple):
    """
    Conditions of an identification, under which its files predict efforts.

    :param cutoff: of the low-pass filter [Hz]; ``delay``: of the efforts [s].
    :param errors: of the model.
    """

    cutoff: float
    delay: float
    errors: ModelErrors


def conditions_of(friction: Path) -> Conditions | None:
    """
    Return the conditions in the parameters.yaml next to a friction.yaml, or None.

    :raises IdentificationError: a file cannot be read, or they are of two identifications.
    """
    path = friction.with_name(NUMBERS)
    if friction.name != FRICTION or not path.is_file():
        return None
    with reading(path, IdentificationError, str(path), 'run `robodyn identify` again, or move the '
                 'friction.yaml elsewhere'):
        given = yaml.load(path.read_text(encoding='utf-8'), getattr(
            yaml, 'CSafeLoader', yaml.SafeLoader))
        beside = yaml.safe_load(friction.read_text(encoding='utf-8-sig'))
        changed = [name for name, values in given['friction'].items()
                   if beside[NODE]['ros__parameters'].get(name) != values]
        rows = given['model_errors']['covariance']
        names = tuple(str(name) for name in given['model_errors']['names'])
        lower = np.zeros((len(names), len(names)))
        lower[np.tril_indices(len(names))] = np.concatenate([[], *rows])
        found = Conditions(float(given['cutoff']), float(given['delay']), ModelErrors(
            names, lower + np.tril(lower, -1).T))
    if changed:
        raise IdentificationError(
            f'{path} is not of this {FRICTION}: {", ".join(changed)} differ', name=str(path),
            value=changed, remedy=f'move the {FRICTION} elsewhere, and give delay and cut-off')
    return found
