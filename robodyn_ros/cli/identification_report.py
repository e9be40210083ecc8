# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""HTML report of `robodyn identify`."""

import sys

import numpy as np
from numpy import ndarray

from .identification_tables import (
    band_table,
    comparison,
    friction_table,
    measures,
    parameter_table,
)
from ..identification.motion import Motion
from ..identification.result import Identification, NOMINAL, TERMS_TITLE
from ..model.robot import RobotModel
from ..report.document import Report
from ..report.run_figure import units

PLOT_LIMIT = 3.2    # larger deviations of the URDF are drawn here
TIME_LABEL = 'time [s]'


def report(found: Identification, source: str, scene: str = '') -> Report:
    """
    Return the report of an identification.

    :param source: names of the recordings.
    :param scene: page with the moving robot, '' for none.
    """
    estimate, valid, model = found.estimate, found.validation, found.nominal
    weight = f', weight of the prior {estimate.weight:.4g}' if estimate.weight else ''
    page = Report(
        f'Identification of {model.name}',
        f'{model.nv} joints; {estimate.base.rank} base parameters of {len(estimate.names)}, from '
        f'{source}. Method: {estimate.method}{weight}; condition number {estimate.condition:.4g}. '
        'On motion that was not fitted, the mean relative RMS of the joints, of the model that is '
        f'exported, is {100 * valid.relative.mean():.2f} %.')
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
    page.text('Autocorrelations of the errors outside the band in which 95 % of those of white '
              'noise are: 5 % is white.')
    joints = valid.joint_names
    at, (measured, predicted, error) = _broken(
        valid.motion, valid.motion.effort, valid.predicted, valid.error)
    for j, joint in enumerate(joints):
        # Its samples are others where efforts are late
        before = np.interp(at, nominal.motion.time, nominal.predicted[:, j])
        page.plot(f'{joint}: relative RMS {100 * valid.relative[j]:.2f} %, as the URDF is '
                  f'{100 * nominal.relative[j]:.1f} %', at,
                  {'measured': measured[:, j], 'predicted': predicted[:, j],
                   NOMINAL: np.where(np.isfinite(measured[:, j]), before, np.nan)}, TIME_LABEL,
                  f'effort [{_unit(found.nominal, j)}]')
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
    if found.band is not None:
        page.rich('', band_table(found.band, estimate.sigma))


def _add_motion(page: Report, found: Identification) -> None:
    """Add positions and velocities of both parts."""
    unit, _ = units(found.nominal)
    for quantity, label in (('position', unit), ('velocity', f'({unit})/s')):
        (train_at, (train,)), (test_at, (test,)) = (
            _broken(motion, getattr(motion, quantity)) for motion in (found.train, found.test))
        columns = found.nominal.joint_names
        fitted = np.vstack((train, np.full_like(test, np.nan)))
        other = np.vstack((np.full_like(train, np.nan), test))
        page.plot(f'{quantity}; dashed: not fitted', np.concatenate((train_at, test_at)),
                  dict(zip(columns, fitted.T)), TIME_LABEL, f'{quantity} [{label}]',
                  dashed=dict(zip(columns, other.T)))


def _broken(motion: Motion, *values: ndarray) -> tuple[ndarray, list[ndarray]]:
    """Return times and each of the values (N, nv) with a break after each segment."""
    ends = [b for _, b in motion.segments]
    return (np.insert(motion.time, ends, motion.time[np.array(ends) - 1]),
            [np.insert(each, ends, np.nan, axis=0) for each in values])


def _unit(model: RobotModel, joint: int) -> str:
    return 'N' if model.slides[joint] else 'N·m'
