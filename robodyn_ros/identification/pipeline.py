# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Identification pipeline: from a recording to a corrected URDF and friction parameters.

    read -> check -> prepare -> check motion -> estimate -> validate -> check result -> write
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from .estimation.base_parameters import base_parameters
from .estimation.cross_validation import Candidate
from .estimation.estimate import Estimate, inertial_of
from .estimation.filtered_columns import decimated
from .estimation.least_squares import least_squares, undetermined
from .estimation.model_selection import select_model
from .estimation.physical_consistency import consistent, require_clarabel
from .estimation.regression import regression, without
from .motion import Motion
from .options import ParameterSelection, PipelineOptions
from .recorded_motion import Notify, notify_all, Parts, read_parts, Source, Stage
from .result import (
    Identification, NOMINAL, of_estimate, of_model, ORDINARY, prediction_band, result_issues,
    UNCONSTRAINED_TERMS, Validation, WEIGHTED)
from .result_files import writable_folder, write_friction_file, write_numbers, write_urdf
from .signal_checks import still_joints
from ..errors import Argument, IdentificationError, Placeholder
from ..model.robot import RobotModel

MAX_PREDICTING_RMS = 0.95    # relative; a constant has 1
OFFSET_SIGNIFICANCE = 3.0    # standard errors


class Estimates(NamedTuple):
    """
    Estimates of one motion.

    :param others: plain least squares with friction, offset and armature, for comparison, by name;
        empty if the motion does not determine all its parameters.
    :param absent: reasons why one of these is missing, by name.
    :param weighted: weighted least squares with all selected effects.
    :param delivered: the consistent one, with the same effects, which is exported.
    """

    others: dict[str, Estimate]
    absent: dict[str, str]
    weighted: Estimate
    delivered: Estimate


def run(source: Source, options: PipelineOptions, folder: Path,
        notify: Notify = lambda line: None, stage: Stage = lambda name: None,
        on_motion: Callable[[Parts], None] = lambda parts: None
        ) -> tuple[Identification, tuple[Path, ...]]:
    """
    Read recordings, identify the robot and write the files; return the result and their paths.

    :param notify: called with every note and issue at once, also of recordings that are refused
        later.
    :param stage: called with the name of each stage at its start.
    :param on_motion: called with the motion as soon as it is read and checked.
    :raises RecordingError: the recording cannot be read or has errors, see
        :func:`~.recorded_motion.checked_motion`.
    :raises IdentificationError: clarabel is not installed, efforts are currents, the motion
        determines too little, or the estimate predicts worse than a constant: no file is written.
    :raises ArgumentError: the folder cannot be written to.
    """
    require_clarabel()      # before a user waits for the rest
    parts = read_parts(source, options, notify, stage)
    on_motion(parts)
    if not options.coupled:
        options = replace(options, coupled=source.coupled)
    result = identify_parts(parts, source.model, options, stage)
    notify_all(notify, result.notes[len(parts.notes):])
    if not options.force:
        require_prediction(result)
    stage('writing the files')
    with writable_folder(folder):
        written = (write_urdf(folder, source.urdf, result.nominal, result.estimate,
                              result.estimate.with_friction()),
                   write_friction_file(folder, result, source.mounted),
                   write_numbers(folder, result))
    return result, written


def require_prediction(found: Identification) -> None:
    """
    Check that the model predicts better than a constant.

    :raises IdentificationError: it does not, most joints are not identified, or nothing moves.
    """
    if still_joints(found.test.position, found.nominal).all():
        raise IdentificationError(
            'the arm rests in the part that was not fitted: nothing is written', name='split',
            value=len(found.test), remedy=(
                'leave the rest out of the recording, fit less of it, or predict another one: ',
                Argument('split', 0.4), ' or ', Argument('validate', Placeholder('recording'))))
    validation, lost = found.validation, found.estimate.selection.unexplained
    if 2 * len(lost) > len(validation.relative) \
            or validation.relative.mean() > MAX_PREDICTING_RMS:
        worst = validation.joint_names[int(validation.relative.argmax())]
        error = float(validation.relative.mean())
        raise IdentificationError(
            f'the estimate leaves {100 * error:.0f} % of the efforts unexplained on the part that '
            f'was not fitted, most at {worst}: nothing is written', name=worst, value=error,
            remedy=('check whether model, columns and mounting match this recording; to write the '
                    'files anyway, ', Argument('force', True)))


def identify_parts(parts: Parts, model: RobotModel, options: PipelineOptions,
                   stage: Stage = lambda name: None) -> Identification:
    """
    Estimate the parameters of the fitted motion, and validate them on the other one.

    :param stage: as of :func:`run`.
    :raises IdentificationError: the motion determines too little.
    """
    train, test = parts.train, parts.test
    nominal, model = model, without_contradiction(model, train, options.selection)
    selection, decimation = decimated(options.selection, train)
    at_rest = np.flatnonzero(still_joints(train.position, model)).tolist()
    stage('searching for delay, tilt, presliding, rotor inertia and friction')
    selected = select_model(model, train, replace(selection, still=tuple(at_rest)), options)
    stage('estimating the parameters')
    estimates = estimate(model, train, selection, selected, options)
    stage('predicting the other part of the motion')
    validations = validate(nominal, test, selected, estimates)
    fewer = without_unexplained(selected, validations[estimates.delivered.method].relative)
    if fewer.selection != selected.selection:
        selected = fewer
        estimates = estimate(model, train, selection, selected, options)
        validations = validate(nominal, test, selected, estimates)
    train, test = map(selected.mounting.motion, (train, test))
    issues = result_issues(estimates.delivered, validations[estimates.delivered.method],
                           validations[NOMINAL], train, test,
                           {name: validations[name] for name in estimates.others},
                           selected.mounting.delay)
    return Identification(
        nominal, train, test, selected.mounting, estimates.delivered, validations,
        (*parts.notes, *decimation, *selected.notes), (*parts.issues, *issues),
        estimates.absent, selected.terms, prediction_band(estimates.delivered, train))


def without_contradiction(model: RobotModel, motion: Motion, selection: ParameterSelection
                          ) -> RobotModel:
    """
    Return the model without friction that is estimated, and with armature that efforts permit.

    Friction follows from the recording alone, whatever the URDF says: where the motion does not
    determine it, it is zero. No rotor needs more than the largest effort of its joint.
    """
    with np.errstate(divide='ignore'):
        most = abs(motion.effort).max(0) / abs(motion.acceleration).max(0)
    found = replace(without(model, selection), armature=np.fmin(model.armature, most))
    return found if not selection.coulomb else replace(
        found, load_friction=np.zeros(model.nv), coupled_friction=np.zeros((3, model.nv)))


def without_unexplained(selected: Candidate, errors: ndarray) -> Candidate:
    """
    Return the selection without the joints whose efforts are not explained.

    :param errors: (nv,) relative RMS of each joint on motion that was not fitted.
    """
    worse = {*selected.selection.unexplained,
             *np.flatnonzero(errors > MAX_PREDICTING_RMS).tolist()}
    return selected._replace(selection=replace(selected.selection,
                                               unexplained=tuple(sorted(worse))))


def estimate(model: RobotModel, train: Motion, selection: ParameterSelection, selected: Candidate,
             options: PipelineOptions) -> Estimates:
    """
    Return the estimates of a motion.

    :param selection: of plain least squares, which has armature unless the options exclude it, and
        neither delay, tilt nor presliding.
    """
    plain = regression(model, train, replace(
        selection, armature=options.armature is not False))
    base = base_parameters(model, plain.selection)
    lost = np.array(base.base_names)[undetermined(plain, base)].tolist()
    rows = {ORDINARY: 'ordinary', WEIGHTED: 'weighted'}
    others = {} if lost else {name: least_squares(plain, method, base)
                              for name, method in rows.items()}
    absent = dict.fromkeys(rows, f'not determined by this motion: {", ".join(lost)}'
                           ) if lost else {}
    placed = selected.mounting.motion(train)
    given = regression(selected.model, placed, selected.selection)
    if selected.selection.load:     # with the gravity of the model that is exported
        first = consistent(given, selected.weight)
        given = regression(selected.model, placed, replace(
            selected.selection, load=inertial_of(first)))
    weighted = least_squares(given, 'weighted', full_rank=False)
    delivered = with_significant_offsets(consistent(given, selected.weight, weighted))
    return Estimates(others, absent, weighted, delivered)


def with_significant_offsets(found: Estimate) -> Estimate:
    """Return the estimate without insignificant offsets of joints that are not identified."""
    parameters = found.parameters.copy()
    errors = dict(zip(found.base.base_names, found.standard_errors))
    for j in found.selection.unexplained:
        name = f'offset {found.model.joint_names[j]}'
        if name in errors and abs(found[name]) < OFFSET_SIGNIFICANCE * errors[name]:
            parameters[found.names.index(name)] = 0.0
    return replace(found, parameters=parameters, values=found.base.values(parameters))


def validate(model: RobotModel, test: Motion, selected: Candidate, estimates: Estimates
             ) -> dict[str, Validation]:
    """Return the validations on the test part by name: URDF, estimates."""
    placed = selected.mounting.motion(test)
    found = {NOMINAL: of_model(model, test)}
    found |= {name: of_estimate(each, test) for name, each in estimates.others.items()}
    found[UNCONSTRAINED_TERMS] = of_estimate(estimates.weighted, placed)
    found[estimates.delivered.method] = of_estimate(estimates.delivered, placed)
    return found
