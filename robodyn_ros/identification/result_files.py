# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of an identification: the URDF, friction, all numbers, pictures and the report."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy import ndarray

from ..errors import ArgumentError
from .friction_file import friction_parameters, write_friction
from .pictures import draw_all
from .pipeline import Identification
from .report import report

URDF, FRICTION, NUMBERS, REPORT = ('corrected.urdf', 'friction.yaml', 'parameters.yaml',
                                   'report.html')


def write_all(folder: Path, found: Identification, urdf: str, source: str,
              commands: Sequence[str]) -> tuple[Path, ...]:
    """
    Write everything into a folder, which is made if there is none; return what was written.

    :param urdf: the text of the URDF that the model was read from.
    :param source: of the recording, for a person; ``commands`` repeat all this.
    :raises ArgumentError: the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        if found.estimate.is_consistent:
            written.append(folder / URDF)
            written[-1].write_text(corrected_text(urdf, found), encoding='utf-8')
        written.append(folder / FRICTION)
        tilted = found.estimate.model.gravity_vector if found.mounting.tilt.any() else None
        write_friction(written[-1], friction_parameters(found.controlled),
                       found.shipped.joint_names, tilted)
        written.append(folder / NUMBERS)
        written[-1].write_text(yaml.safe_dump(numbers(found), sort_keys=False,
                                              allow_unicode=True, width=99), encoding='utf-8')
        pictures = draw_all(found)
        for name, data in pictures.items():
            written.append(folder / f'{name}.png')
            written[-1].write_bytes(data)
        written.append(folder / REPORT)
        written[-1].write_text(report(found, pictures, source, commands), encoding='utf-8')
    except OSError as why:
        raise ArgumentError(f'{folder} cannot be written to ({why})', name='--output',
                            value=str(folder), remedy='give a folder that can be made') from why
    return tuple(written)


def corrected_text(urdf: str, found: Identification) -> str:
    """Return the URDF with the inertias that were found, and nothing else changed."""
    from .urdf_update import corrected_urdf

    model = found.shipped
    return corrected_urdf(urdf, model, found.estimate.parameters[:10 * model.nb].reshape(-1, 10))


def numbers(found: Identification) -> dict[str, Any]:
    """Return all numbers, for programs."""
    estimate = found.estimate
    base = estimate.base
    return {
        'robot': found.shipped.name, 'method': estimate.method,
        'joints': list(found.shipped.joint_names), 'cutoff': float(found.unseen.cutoff),
        'delay': float(found.mounting.delay), 'tilt': _plain(found.mounting.tilt),
        'gravity': _plain(estimate.model.gravity_vector),
        'presliding': list(estimate.choice.presliding),
        'weight': estimate.weight, 'condition': float(estimate.condition),
        'base_parameters': [
            {'name': name, 'combination': text, 'value': float(value),
             'standard_error': float(error), 'relative_deviation_percent': _number(relative)}
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
        'notes': list(found.notes), 'warnings': list(found.warnings)}


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _plain(values: ndarray) -> list[float | None]:
    return [_number(value) for value in values]
