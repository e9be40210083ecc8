# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""HTML report of `robodyn identify`."""

from collections.abc import Sequence
from math import isfinite
import sys

import numpy as np
from numpy import ndarray
from rich.console import Console
from rich.table import Table

from .options import table
from ..identification.estimation.payload import Payload
from ..identification.motion import Motion
from ..identification.result import (
    Identification, NOMINAL, PredictionBand, TERMS_TITLE, Validation)
from ..identification.result_files import friction_parameters
from ..model.robot import units
from ..report.document import Report
from ..report.run_figure import COLORS

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
                  'autocorrelations outside the white-noise band')
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


def print_load(found: Payload, joints: Sequence[str], console: Console) -> None:
    """Print a load with standard errors, and what its motion does not determine."""
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
    console.print(out)
    for line in found.unseen:
        console.print(f'! not determined: {line}', style='yellow')


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


PLOT_LIMIT = 3.2    # larger deviations of the URDF are drawn here
TIME_LABEL = 'time [s]'


def report(found: Identification, source: str, scene: str = '',
           files: Sequence[tuple[str, str]] = ()) -> Report:
    """
    Return the report of an identification.

    :param source: names of the recordings; ``files``: path and hash of each.
    :param scene: page with the moving robot, '' for none.
    """
    estimate, valid, model = found.estimate, found.validation, found.nominal
    weight = f', weight of the prior {estimate.weight:.4g}' if estimate.weight else ''
    worst = int(valid.relative.argmax())
    page = Report(
        f'Identification of {model.name}',
        f'{model.nv} joints; {estimate.base.rank} base parameters of {len(estimate.names)}, from '
        f'{source}. Method: {estimate.method}{weight}; condition number '
        f'{estimate.condition:.4g}.', files=files, bad=bool(found.unidentified), verdict=(
            (f'U{found.unidentified_line[1:]}. ' if found.unidentified else '') +
            'The exported model predicts motion that was not fitted with a relative RMS of '
            f'{100 * valid.relative.mean():.2f} %, the URDF as it is with '
            f'{100 * found.validations[NOMINAL].relative.mean():.1f} %; the worst joint is '
            f'{valid.joint_names[worst]} with {100 * valid.relative[worst]:.2f} %.'))
    for line in (*model.warnings, *found.warnings):
        page.warning(line)
    _add_prediction(page, found)
    if scene:
        page.page('The motion that was predicted', scene)
    if found.terms:
        page.lines(TERMS_TITLE, found.terms)
    page.lines('Processing', found.notes)
    _add_parameters(page, found)
    _add_motion(page, found)
    page.parameters('All parameters: unit, in the URDF, found', {
        name: (unit, f'{before:.4g}', f'{value:.4g}') for name, unit, before, value in zip(
            estimate.names, estimate.units, estimate.prior, estimate.parameters)})
    page.text('Among all that predict the same efforts, these parameters are those nearest to the '
              'URDF. Moments of inertia are about the origin of the link frame.')
    return page


def _add_prediction(page: Report, found: Identification) -> None:
    """Add errors of the models, and efforts of each joint on the part that was not fitted."""
    valid, nominal = found.validation, found.validations[NOMINAL]
    page.rich('', comparison(found.validations))
    for name, why in found.absent.items():
        page.text(f'{name}: {why}')
    page.text('Relative RMS: the root mean square of the error over that of the effort about its '
              'mean. All rows predict the same part of the recording, through the same filter '
              f'({valid.motion.cutoff:.4g} Hz). Ordinary and weighted least squares estimate '
              'friction, offset and armature, but model neither delay, tilt nor presliding; the '
              'unconstrained estimate has neither the constraints nor the prior of the exported '
              'one.')
    page.rich('', measures(valid, f'{found.estimate.method}, as exported'))
    page.text('Share of autocorrelations of the error outside the 95 % white-noise band: 5 % of '
              'those of white noise are.')
    joints = valid.joint_names
    page.heading('Efforts of the motion that was not fitted')
    page.legend(dict(zip(('measured', 'predicted', NOMINAL), COLORS)))
    at, (measured, predicted, error) = _broken(
        valid.motion, valid.motion.effort, valid.predicted, valid.error)
    for j, joint in enumerate(joints):
        # Its samples are others where efforts are late
        before = np.interp(at, nominal.motion.time, nominal.predicted[:, j])
        page.plot(f'{joint}: relative RMS {100 * valid.relative[j]:.2f} %, as the URDF is '
                  f'{100 * nominal.relative[j]:.1f} %', at,
                  {'measured': measured[:, j], 'predicted': predicted[:, j],
                   NOMINAL: np.where(np.isfinite(measured[:, j]), before, np.nan)}, TIME_LABEL,
                  'N' if found.nominal.slides[j] else 'N·m', small=True)
    page.plot('Measured less predicted efforts', at, dict(zip(joints, error.T)), TIME_LABEL,
              '[N·m | N]')


def _add_parameters(page: Report, found: Identification) -> None:
    """Add the base parameters, friction, and what their uncertainty does to predictions."""
    estimate = found.estimate
    base = estimate.base
    page.rich('', parameter_table(found, sys.maxsize))
    page.text('These are all combinations that efforts determine; standard errors account for the '
              'correlation of neighbouring errors.'
              + (' They are those of the weighted estimate without constraints.'
                 if estimate.method == 'consistent' else '')
              + (f' No effort depends on {", ".join(base.unseen)}.' if base.unseen else ''))
    errors = np.where(np.isfinite(estimate.standard_errors), estimate.standard_errors, 0.0)
    size = np.maximum(np.abs(estimate.values), errors)
    size = np.where(size > 0, size, 1.0)
    before = np.clip(base.values(estimate.prior) / size, -PLOT_LIMIT, PLOT_LIMIT)
    page.intervals('Base parameters over the size of what was found, ± one standard error',
                   base.base_names, {'found': estimate.values / size, 'URDF': before},
                   errors / size, f'URDF beyond ± {PLOT_LIMIT}: at the edge')
    page.rich('', friction_table(found))
    page.rich('', band_table(found.band, estimate.sigma))


def _add_motion(page: Report, found: Identification) -> None:
    """Add positions and velocities of both parts."""
    unit, _ = units(found.nominal)
    page.heading('Motion')
    page.legend(dict(zip(found.nominal.joint_names, COLORS)))
    for quantity, label in (('position', unit), ('velocity', f'({unit})/s')):
        (train_at, (train,)), (test_at, (test,)) = (
            _broken(motion, getattr(motion, quantity)) for motion in (found.train, found.test))
        columns = found.nominal.joint_names
        fitted = np.vstack((train, np.full_like(test, np.nan)))
        other = np.vstack((np.full_like(train, np.nan), test))
        page.plot(f'{quantity} [{label}]; dashed: not fitted',
                  np.concatenate((train_at, test_at)), dict(zip(columns, fitted.T)), TIME_LABEL,
                  '', dashed=dict(zip(columns, other.T)), small=True)


def _broken(motion: Motion, *values: ndarray) -> tuple[ndarray, list[ndarray]]:
    """Return times and each of the values (N, nv) with a break after each segment."""
    ends = [b for _, b in motion.segments]
    return (np.insert(motion.time, ends, motion.time[np.array(ends) - 1]),
            [np.insert(each, ends, np.nan, axis=0) for each in values])
