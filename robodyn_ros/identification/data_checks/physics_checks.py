# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of a motion against rigid-body dynamics: units, signs, orders and gravity."""

from collections.abc import Iterator

import numpy as np
from numpy import ndarray

from .column_hypotheses import hypothesis_issues
from .data_issue import DataIssue, in_units, Severity
from .fit import Fit, thin
from .model_confidence import (
    CONFIRMED_SLOPES,
    MIN_CONFIRMED_SHARE,
    model_confidence,
    ModelConfidence,
)
from ..motion import Motion
from ...dynamics.api import Batch
from ...errors import Argument, Remedy
from ...model.robot import RobotModel

SIGNIFICANT_SHARE = 0.4  # of the effort that other terms leave unexplained
MAX_MASS_FACTOR = 10.0   # by which masses of a URDF may be wrong
USUAL_FACTOR = 2.2       # by which they usually are, at most
MAX_MISFIT = -0.3        # mean log of the unexplained share
MIN_GRAVITY_SHARE = 0.3  # of the effort: where gravity varies less it is not checked
MISSING_GRAVITY = 0.25   # coefficient of gravity below which it is missing
MAX_GRAVITY_ERROR = 0.1  # standard error of that coefficient for a decision


def motion_issues(motion: Motion, model: RobotModel, cutoff: float, effort_unit: str,
                  accept: tuple[str, ...] = ()) -> Iterator[DataIssue]:
    """
    Yield contradictions between a motion and a model whose masses may be wrong.

    Measured efforts are compared with those of inverse dynamics at joints where the model is
    reliable although its masses are uncertain (:mod:`~.model_confidence`): first positions and the
    order of the columns, then gravity, signs and units, each only if the previous group has no
    errors, since a wrong position unit makes all others look wrong.

    :param cutoff: of the filter [Hz]; determines which samples are independent.
    :param effort_unit: 'A' for currents, whose magnitude is not checked.
    :param accept: kinds of issue after which the checks go on.
    """
    if model.massless_joints:
        yield DataIssue(
            'model', 'effort', 'the model has no inertias that resist '
            f'{", ".join(model.massless_joints)}: whether columns, signs and mounting are those '
            'of the robot is not checked', 'look at them yourself', 0.0, Severity.WARNING)
        return
    states, effort = thin(motion, cutoff)
    batch = Batch(model, threads=1)         # starting threads takes longer than these few samples
    fit = Fit(batch, model, states, effort)
    known = model_confidence(batch, model, fit)
    for group in (hypothesis_issues(batch, model, fit, known), _gravity(fit, model, known),
                  _signs(fit, model, known),
                  _sizes(fit, model, known) if effort_unit != 'A' else ()):
        issues = list(group)
        yield from issues
        if any(issue.severity is Severity.ERROR and issue.kind not in accept for issue in issues):
            return
    factor = _unit(fit, known)
    if effort_unit != 'A' and not 1 / USUAL_FACTOR < factor < USUAL_FACTOR:
        yield DataIssue(
            'effort scale', 'effort', f'the efforts are {factor:.3g} times those of the model '
            '(median of the joints)', (
                'masses of the URDF that are as far off explain it, and so does the URDF of '
                'another robot, or a wrong unit or torque constant: ',
                Argument('units', {'effort': float(f'{1 / factor:.2g}')})), factor,
            Severity.WARNING)
    mean = float(np.mean(np.diag(fit.unexplained)))
    if mean > MAX_MISFIT:
        yield DataIssue(
            'model', 'effort', f'the model and friction leave {100 * np.exp(mean):.0f} % '
            f'of the efforts unexplained', 'see whether model and mounting (gravity) are '
            'those of this robot, and whether effort and position are of one clock', mean,
            Severity.WARNING)


def _gravity(fit: Fit, model: RobotModel, known: ModelConfidence) -> Iterator[DataIssue]:
    """Yield joints whose efforts lack gravity."""
    lacking, loaded = [], []
    for j in np.flatnonzero(known.gravity).tolist():
        gravity = fit.gravity[:, j]
        if np.std(gravity) < MIN_GRAVITY_SHARE * max(float(np.std(fit.model_effort[:, j])), 1e-9):
            continue
        rest = fit.columns(j)
        rest[:, 0] -= gravity
        found, error = _with_errors(np.column_stack([gravity, rest]), fit.effort[:, j])
        inertial = found[1] if found[1] > 10 * error[1] else 0.0
        if error[0] > MAX_GRAVITY_ERROR * max(1.0, inertial):
            continue
        loaded.append(j)
        no_more_than_chance = abs(found[0]) < MISSING_GRAVITY and abs(found[0]) < 5 * error[0]
        less_than_inertia = abs(found[0]) < MISSING_GRAVITY * inertial
        if no_more_than_chance or less_than_inertia:
            lacking.append((j, float(found[0]), float(inertial)))
    # One joint alone may be balanced by a spring
    weight = fit.gravity.std(0)
    fatal = bool(sum(weight[j] for j, *_ in lacking) > 0.5 * sum(weight[j] for j in loaded))
    for j, share, inertial in lacking:
        name = model.joint_names[j]
        # Gravity is there, and inertia seems far too large
        if CONFIRMED_SLOPES[0] < share < CONFIRMED_SLOPES[1]:
            yield DataIssue(
                'time', name, f'the effort of {name} follows gravity by {share:.2f} as it '
                f'should, but inertia by {inertial:.3g}', f'either the URDF lacks the '
                f'inertia of the rotors, or time runs too slowly, by a factor of about '
                f'{np.sqrt(inertial / share):.2g}: check its unit, or the rate', inertial,
                Severity.WARNING)
            continue
        yield DataIssue(
            'gravity', name, f'the effort of {name} follows gravity by {share:.2f} where '
            f'it should be about 1, though gravity varies by '
            f'{np.ptp(fit.gravity[:, j]):.3g}',
            'the robot compensates gravity itself: record the torque that is measured, '
            'with gravity in it' if fatal else 'is it balanced by a spring?',
            share, Severity.of(fatal))


def _signs(fit: Fit, model: RobotModel, known: ModelConfidence) -> Iterator[DataIssue]:
    """Yield joints whose efforts, or friction, have the wrong sign."""
    unit = _unit(fit, known)
    for j, name in enumerate(model.joint_names):
        found, (of_model, of_friction) = fit.coefficients(j), fit.contributions(j)
        power = fit.dissipated(j, found)
        against_model = (known.model[j] and found[0] < -unit / MAX_MASS_FACTOR
                         and of_model > SIGNIFICANT_SHARE)
        against_friction = (power < -2 * unit * known.power[j]
                            and of_friction > SIGNIFICANT_SHARE)
        if against_model:
            yield DataIssue(
                'effort sign', name, f'the effort of {name} is {found[0]:.3g} times what '
                f'the model needs', _turn(name), float(found[0]))
        elif against_friction:
            yield DataIssue(
                'effort sign', name, f'friction of {name} would give it {-power:.3g} W',
                _turn(name), power)


def _turn(name: str) -> Remedy:
    return ('turn its sign: ', Argument('units', {'effort': {name: '-N·m'}}),
            ", or '-N·m' for all; or that of the position, if this is the one that is turned")


def _sizes(fit: Fit, model: RobotModel, known: ModelConfidence) -> Iterator[DataIssue]:
    """
    Yield joints whose efforts have another order of magnitude than the model's.

    A single joint may carry another load than the model says, so more evidence is required of it.
    """
    unit = _unit(fit, known)
    wrong: dict[str, float] = {}
    for j, name in enumerate(model.joint_names):
        factor = float(fit.coefficients(j)[0])
        least = MIN_CONFIRMED_SHARE if _plausible(unit) else SIGNIFICANT_SHARE
        if known.model[j] and fit.contributions(j)[0] >= least \
                and not _plausible(abs(factor)):
            wrong[name] = factor
    thousandths = [name for name, size in wrong.items() if 250 < abs(size) < 4000]
    told = [name for name, known_one in zip(model.joint_names, known.model) if known_one]
    for name, size in wrong.items():
        remedy: Remedy = (
            'it is in thousandths: ', in_units('effort', 'mN·m', thousandths, told)
        ) if name in thousandths else (
            'give its unit or factor to SI, for all joints or each: ',
            Argument('units', {'effort': 0.12}),
            "; for currents ('A') the torque constant in N·m/A")
        yield DataIssue(
            'effort unit', name, f'the effort of {name} is {size:.4g} times what the '
            f'model needs', remedy, size)


def _plausible(ratio: float) -> bool:
    """Return whether wrong masses alone explain this ratio of efforts to the model's."""
    return 1 / MAX_MASS_FACTOR < ratio < MAX_MASS_FACTOR


def _unit(fit: Fit, known: ModelConfidence) -> float:
    """Return the median ratio of measured efforts to the model's, without sign."""
    sizes = [abs(fit.coefficients(j)[0]) for j in np.flatnonzero(known.model).tolist()]
    return float(np.median(sizes)) if sizes else 1.0


def _with_errors(X: ndarray, y: ndarray) -> tuple[ndarray, ndarray]:
    """Return the coefficients of y = X b by least squares, and their standard errors."""
    size = np.sqrt(np.mean(X**2, axis=0))
    size = np.where(size > 0, size, 1.0)
    found, *_ = np.linalg.lstsq(X / size, y, rcond=1e-10)
    rest = y - X / size @ found
    inverse = np.linalg.pinv((X / size).T @ (X / size), rcond=1e-12)
    error = np.sqrt(rest @ rest / max(1, len(y) - X.shape[1]) * np.diag(inverse))
    return found / size, error / size
