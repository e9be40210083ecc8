# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables of identified parameters and of errors of prediction."""

from collections.abc import Sequence
from math import isfinite

from numpy import ndarray
from rich.table import Table

from .options import table
from ..identification.estimation.payload import Payload
from ..identification.result import Identification, NOMINAL, PredictionBand, Validation
from ..identification.result_files import friction_parameters

MAX_SUMMARY_JOINTS = 8
MAX_COMBINATION_LETTERS = 60    # in a terminal; the report shows all


def comparison(validations: dict[str, Validation]) -> Table:
    """Return relative RMS of each model: the mean, then each joint."""
    joints = next(iter(validations.values())).joint_names
    found = table('Relative RMS on the part that was not fitted [%]', 'model', 'mean', *joints)
    for name, of in validations.items():
        found.add_row(name, *(f'{100 * v:.2f}' for v in (of.relative.mean(), *of.relative)))
    return found


def measures(valid: Validation, name: str) -> Table:
    """Return all measures of one model."""
    found = table(f'Prediction: {name}', 'joint', 'RMS [N·m | N]', 'relative [%]', 'R²',
                  'autocorrelations outside the 95 % band')
    for j, joint in enumerate(valid.joint_names):
        found.add_row(joint, f'{valid.rms[j]:.4g}', f'{100 * valid.relative[j]:.2f}',
                      f'{valid.determination[j]:.5f}', f'{valid.whiteness[j]:.0%}')
    return found


def parameter_table(found: Identification, most: int = MAX_COMBINATION_LETTERS) -> Table:
    """Return the base parameters with their standard errors; combinations of so many letters."""
    estimate = found.estimate
    base = estimate.base
    out = table(f'{base.rank} base parameters ({estimate.method})', 'combination', 'unit', 'URDF',
                'found', 'standard error', '%')
    for text, index, before, value, error, relative in zip(
            base.texts, base.independent, base.values(estimate.prior), estimate.values,
            estimate.standard_errors, estimate.relative_deviations):
        out.add_row(text if len(text) <= most else f'{text[:most]}…', estimate.units[index],
                    *(f'{v:.4g}' for v in (before, value, error)),
                    f'{relative:.3g}' if relative < 1000 else '> 999')
    return out


def friction_table(found: Identification) -> Table:
    """Return friction, offsets and armature as they are exported."""
    out = table('Friction', 'parameter', *found.nominal.joint_names)
    for name, values in friction_parameters(found.estimate).items():
        out.add_row(name.replace('_', ' '), *(f'{value:.4g}' for value in values))
    return out


def summary_table(found: Identification) -> Table:
    """Return errors, friction and armature of the joints, of the worst ones where many are."""
    model, valid = found.estimate.with_friction(), found.validation
    before = found.validations[NOMINAL]
    shown = sorted(valid.relative.argsort()[::-1][:MAX_SUMMARY_JOINTS])
    left_out = len(valid.relative) - len(shown)
    out = table(f'{left_out} joints with smaller errors are left out' if left_out else '', 'joint',
                'RMS [N·m | N]', 'effort limit', 'relative RMS [%]', 'as the URDF is [%]',
                'viscous', 'Coulomb', 'armature')
    for j in shown:
        lost = ', unidentified' if valid.joint_names[j] in found.unidentified else ''
        out.add_row(valid.joint_names[j], f'{valid.rms[j]:.3g}',
                    f'{found.nominal.effort_limit[j]:g}', f'{100 * valid.relative[j]:.2f}{lost}',
                    f'{100 * before.relative[j]:.1f}', *(f'{values[j]:.4g}' for values in (
                        model.viscous_friction, model.coulomb_friction, model.armature)))
    return out


def load_table(found: Payload, joints: Sequence[str]) -> Table:
    """Return mass, center of mass and inertia of a load, with standard errors."""
    out = table(f'Load at {found.frame}', 'quantity', 'value', 'standard error')
    out.add_row('mass [kg]', f'{found.mass:.4f}', f'{found.mass_error:.2g}')
    for axis, value, error in zip('xyz', found.com, found.com_error):
        out.add_row(f'centre {axis} [m]', f'{value:.4f}', f'{error:.2g}')
    if found.inertia is not None and found.inertia_error is not None:
        for a, b in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)):
            out.add_row(f'I{"xyz"[a]}{"xyz"[b]} about the centre [kg·m²]',
                        f'{found.inertia[a, b]:.4g}', f'{found.inertia_error[a, b]:.2g}')
    for name, before, after in zip(joints, found.without, found.sigma):
        out.add_row(f'{name}: RMS left without, with it', f'{before:.4g}', f'{after:.4g}')
    return out


def band_table(band: PredictionBand, sigma: ndarray) -> Table:
    """Return the confidence band of each joint."""
    out = table('95 % band of the predictions over the workspace, by the uncertainty of the '
                'parameters [N·m | N]', 'joint', 'median', 'largest', 'residual σ', 'due most to')
    for j, joint in enumerate(band.joint_names):
        told = isfinite(band.median[j])
        out.add_row(joint, *(f'± {width[j]:.3g}' if told else '-'
                             for width in (band.median, band.largest)),
                    f'{sigma[j]:.3g}', band.parameters[j] if told else 'not identified')
    return out
