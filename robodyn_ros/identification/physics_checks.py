# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of a motion against rigid-body dynamics: units, signs, orders and gravity."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from scipy.optimize import linear_sum_assignment

from .effort_fit import (
    CONFIRMED_SLOPES, Fit, fitted_gravity, found_gravity, MIN_CONFIRMED_SHARE, model_confidence,
    ModelConfidence, States, thin)
from .motion import Motion
from .options import DataIssue, in_units
from ..dynamics.api import Batch
from ..errors import Argument, Placeholder, Remedy
from ..model.robot import RobotModel

UNRELIABLE_WEIGHT = 0.01  # weight of joints without reliable predictions
MAX_GOOD_FIT = -2.0    # log of the unexplained share, up to which no other hypothesis is needed
MIN_IMPROVEMENT = 2.0     # of the log, summed over the joints, for another hypothesis
MAX_SAMPLES = 300         # for the test of hypotheses
SIGNIFICANT_SHARE = 0.4  # of the effort that other terms leave unexplained
MAX_MASS_FACTOR = 10.0   # by which masses of a URDF may be wrong
USUAL_FACTOR = 2.2       # by which they usually are, at most
MAX_MISFIT = -0.3        # mean log of the unexplained share
MIN_GRAVITY_SHARE = 0.3  # of the effort: where gravity varies less it is not checked
PRESENT_GRAVITY = 0.5    # of the size of gravity or inertia, above which it is not missing
MISSING_GRAVITY = 0.25   # coefficient of gravity below which it is missing
MAX_GRAVITY_ERROR = 0.1  # standard error of that coefficient for a decision


class ColumnHypothesis(NamedTuple):
    """
    Assignment of columns to joints, and directions of positions.

    :param position: (nv,) column of the positions of joint j.
    :param effort: (nv,) column of the efforts of joint j.
    :param direction: (nv,) 1, or -1 where the sign of joint j's position is inverted.
    """

    position: ndarray
    effort: ndarray
    direction: ndarray


def hypothesis_issues(batch: Batch, model: RobotModel, fit: Fit,
                      known: ModelConfidence) -> Iterator[DataIssue]:
    """
    Yield position units, mountings, column orders and directions that fit far better.

    :param known: joints whose efforts the model predicts reliably; others have little weight.
    """
    nv = model.nv
    weight = np.where(known.model, 1.0, UNRELIABLE_WEIGHT)
    if (np.diag(fit.unexplained) < MAX_GOOD_FIT)[known.model].all():
        return
    step = -(-len(fit.effort) // MAX_SAMPLES) if nv > 8 else 1
    here_states = fit.states.every(step)

    def tried(states: States, weightless: bool = False) -> Fit:
        return Fit(batch, model, states, fit.effort[::step], weightless, weight)

    here = float(np.trace(tried(here_states).unexplained))
    # Without gravity, the efforts fit a model without gravity in degrees, too
    without = float(np.trace(tried(here_states, weightless=True).unexplained))
    # Rotors that the model does not have may need more effort than the links
    rotors = float(np.trace(tried(here_states).unexplained_with_rotors))
    hypothesis, searched = _search(tried, model, here_states)
    rotary = ~model.slides
    for factor, unit, text in ((np.pi / 180, 'deg', 'degrees'),
                               (180 / np.pi, 'rad', 'radians already'),
                               (2 * np.pi, 'rev', 'revolutions')):
        if not rotary.any():
            break
        scaled = tried(here_states.scaled(np.where(rotary, factor, 1.0)))
        there = _best(scaled)[0]
        least = max(MIN_IMPROVEMENT, known.model.sum())
        both = scaled.unexplained_with_rotors
        if both[linear_sum_assignment(both)].sum() > rotors - MIN_IMPROVEMENT:
            continue
        if there < min(here - least, without - MIN_IMPROVEMENT, searched - MIN_IMPROVEMENT):
            yield DataIssue(
                'position unit', 'position', f'with positions times {factor:.4g} the '
                f'model leaves {_share(there, weight)} of the efforts unexplained, as '
                f'they are {_share(here, weight)}', (
                    f'they are in {text}: ', Argument('units', {'position': unit})),
                there - here)
            return
    gravity = found_gravity(model, fit)
    turned = replace(model, gravity_vector=gravity)
    there = float(np.trace(Fit(Batch(turned, threads=1), turned, here_states, fit.effort[::step],
                               weight=weight).unexplained))
    if there < min(here, without, searched) - MIN_IMPROVEMENT:
        yield DataIssue(
            'mounting', 'gravity', f'with gravity along {tuple(gravity.tolist())} in the frame of '
            f'the base the model leaves {_share(there, weight)} of the efforts unexplained, as it '
            f'is {_share(here, weight)}', (
                'the base is mounted like this: ', Argument('gravity', tuple(gravity.tolist()))),
            there - here)
        return
    if searched < min(here, without, rotors) - MIN_IMPROVEMENT:
        better = (f'then the model leaves {_share(searched, weight)} of the efforts unexplained, '
                  f'as they are {_share(here, weight)}')
        yield from _assignment_issues(hypothesis, better, searched - here, model)


def _assignment_issues(hypothesis: ColumnHypothesis, better: str, by: float,
                       model: RobotModel) -> Iterator[DataIssue]:
    names, straight = model.joint_names, np.arange(model.nv)
    for j in np.flatnonzero(hypothesis.direction < 0):
        yield DataIssue(
            'direction', names[j], f'{names[j]} seems to turn the other way: {better}',
            ('turn the sign of its position: ',
             Argument('units', {'position': {names[j]: '-rad'}})), by)
    moved = {'positions': hypothesis.position, 'efforts': hypothesis.effort}
    moved = {what: order for what, order in moved.items() if (order != straight).any()}
    if len(moved) == 2 and (hypothesis.position == hypothesis.effort).all():
        moved = {'columns': hypothesis.position}
    for what, order in moved.items():
        wrong = np.flatnonzero(order != straight)
        pairs = ', '.join(f'{names[order[j]]} → {names[j]}' for j in wrong)
        # Column k of the file is of the joint whose hypothesis takes it from there
        right = tuple(names[j] for j in np.argsort(order))
        remedy = (('list the joints in the order of the columns: ', Argument('joint_names', right))
                  if what == 'columns' else
                  (f'name the columns of the {what} in the order of the joints: ',
                   Argument('columns', {what[:-1]: Placeholder('...')})))
        yield DataIssue(
            'order', names[wrong[0]], f'{what} of joints are interchanged ({pairs}): '
            f'{better}', remedy, by)


def _share(total: float, weight: ndarray) -> str:
    return f'{100 * np.exp(total / weight.sum()):.2g} %'


def _best(fit: Fit) -> tuple[float, ndarray, float]:
    """Return the misfit with efforts in their best order, this order, and the worst joint's."""
    row, column = linear_sum_assignment(fit.unexplained)
    straight = np.arange(len(row))
    value = float(fit.unexplained[row, column].sum())
    if value >= np.trace(fit.unexplained) - MIN_IMPROVEMENT / 2:
        column = straight       # without a clear gain they are where they belong
    each = fit.unexplained[row, column]
    return float(each.sum()), np.argsort(column), float(each.max())


def _search(tried: Callable[[States], Fit], model: RobotModel,
            states: States) -> tuple[ColumnHypothesis, float]:
    """
    Return the best hypothesis found by interchanging two joints, or turning one, repeatedly.

    It stops where each joint is explained well enough, or no step is a clear gain.
    """
    nv = model.nv

    def rate(order: ndarray, direction: ndarray) -> tuple[float, ndarray, float]:
        return _best(tried(states.ordered(order).scaled(direction)))

    order, direction = np.arange(nv), np.ones(nv)
    value, effort, worst = rate(order, direction)
    # Orders in which joints are often recorded: alphabetical, reversed, rotated
    usual = (np.argsort(np.argsort(model.joint_names)), order[::-1],
             *(np.roll(order, by) for by in range(1, nv)))
    for start in usual if worst >= MAX_GOOD_FIT else ():
        there = rate(start, direction)
        if there[0] < value - MIN_IMPROVEMENT:
            order, (value, effort, worst) = start, there
    for _ in range(2 * nv):
        if worst < MAX_GOOD_FIT:
            break
        steps = []
        for i in range(nv):
            turned = direction.copy()
            turned[i] *= -1
            steps.append((order, turned))
            for j in range(i):
                swapped = order.copy()
                swapped[[i, j]] = swapped[[j, i]]
                steps.append((swapped, direction))
        values = [rate(*one) for one in steps]
        k = min(range(len(steps)), key=lambda k: values[k][0])
        if values[k][0] > value - MIN_IMPROVEMENT / 2:
            break
        (order, direction), (value, effort, worst) = steps[k], values[k]
    return ColumnHypothesis(order, effort, direction), value


def motion_issues(motion: Motion, model: RobotModel, accept: tuple[str, ...] = ()
                  ) -> Iterator[DataIssue]:
    """
    Yield contradictions between a motion and a model whose masses may be wrong.

    Measured efforts are compared with those of inverse dynamics at joints where the model is
    reliable although its masses are uncertain (:mod:`~.effort_fit`): first positions and the
    order of the columns, then gravity, signs and units, each only if the previous group has no
    errors, since a wrong position unit makes all others look wrong. The magnitude of currents is
    not checked.

    :param accept: kinds of issue after which the checks go on.
    """
    if model.massless_joints:
        yield DataIssue(
            'model', 'effort', 'the model has no inertias that resist '
            f'{", ".join(model.massless_joints)}: columns, signs and mounting are not checked',
            'check them yourself', 0.0, fatal=False)
        return
    states, effort = thin(motion)
    torques = motion.effort_unit != 'A'
    batch = Batch(model, threads=1)         # starting threads takes longer than these few samples
    fit = Fit(batch, model, states, effort)
    known = model_confidence(batch, model, fit)
    for group in (hypothesis_issues(batch, model, fit, known), _gravity(fit, model, known),
                  _signs(fit, model, known),
                  _sizes(fit, model, known) if torques else ()):
        issues = list(group)
        yield from issues
        if any(issue.stops(accept) for issue in issues):
            return
    factor = _unit(fit, known)
    if torques and not 1 / USUAL_FACTOR < factor < USUAL_FACTOR:
        yield DataIssue(
            'effort scale', 'effort', f'the efforts are {factor:.3g} times those of the model '
            '(median of the joints)', (
                'wrong masses of the URDF, the URDF of another robot, or a wrong unit or torque '
                'constant explain it: ',
                Argument('units', {'effort': float(f'{1 / factor:.2g}')})), factor,
            fatal=False)
    mean = float(np.mean(np.diag(fit.unexplained)))
    if mean > MAX_MISFIT:
        yield DataIssue(
            'model', 'effort', f'the model and friction leave {100 * np.exp(mean):.0f} % '
            f'of the efforts unexplained', 'check whether model and mounting (gravity) are '
            'those of this robot, and whether effort and position share a clock', mean,
            fatal=False)


def _gravity(fit: Fit, model: RobotModel, known: ModelConfidence) -> Iterator[DataIssue]:
    """
    Yield joints whose efforts lack gravity.

    They do not lack it where gravity in another direction explains them, nor where inertia seems
    to be missing likewise: noise of the accelerations shrinks both of an arm that swings.
    """
    vector, deviation = fitted_gravity(model, fit)
    turned = bool(np.linalg.norm(vector) > max(PRESENT_GRAVITY, 5 * deviation))
    lacking, loaded = [], []
    for j in np.flatnonzero(known.gravity).tolist():
        gravity = fit.gravity[:, j]
        if np.std(gravity) < MIN_GRAVITY_SHARE * max(float(np.std(fit.model_effort[:, j])), 1e-9):
            continue
        rest = fit.columns(j)
        rest[:, 0] -= gravity
        found, error = _with_errors(np.column_stack([gravity, rest]), fit.effort[:, j])
        inertial = found[1] if found[1] > 10 * error[1] else 0.0
        if error[0] > MAX_GRAVITY_ERROR * max(1.0, inertial) or (
                error[1] < MAX_GRAVITY_ERROR and found[1] < PRESENT_GRAVITY):
            continue
        loaded.append(j)
        no_more_than_chance = abs(found[0]) < MISSING_GRAVITY and abs(found[0]) < 5 * error[0]
        less_than_inertia = abs(found[0]) < MISSING_GRAVITY * inertial
        if no_more_than_chance or less_than_inertia:
            lacking.append((j, float(found[0]), float(inertial)))
    # One joint alone may be balanced by a spring
    weight = fit.gravity.std(0)
    fatal = not turned and bool(
        sum(weight[j] for j, *_ in lacking) > 0.5 * sum(weight[j] for j in loaded))
    for j, share, inertial in lacking:
        name = model.joint_names[j]
        # Gravity is there, and inertia seems far too large
        if CONFIRMED_SLOPES[0] < share < CONFIRMED_SLOPES[1]:
            yield DataIssue(
                'time', name, f'the effort of {name} follows gravity by {share:.2f} as it '
                f'should, but inertia by {inertial:.3g}', f'either the URDF lacks the '
                f'inertia of the rotors, or time runs too slowly, by a factor of about '
                f'{np.sqrt(inertial / share):.2g}: check its unit, or the rate', inertial,
                fatal=False)
            continue
        yield DataIssue(
            'gravity', name, f'the effort of {name} follows gravity by {share:.2f} where '
            f'it should be about 1, though gravity varies by '
            f'{np.ptp(fit.gravity[:, j]):.3g}',
            'the robot compensates gravity itself: record the measured torque, including '
            'gravity' if fatal else 'is it balanced by a spring?',
            share, fatal)


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
    return ('reverse its sign: ', Argument('units', {'effort': {name: '-N·m'}}),
            ", or '-N·m' for all; or that of the position, if that one is wrong")


def _sizes(fit: Fit, model: RobotModel, known: ModelConfidence) -> Iterator[DataIssue]:
    """
    Yield joints whose efforts have another order of magnitude than the model's.

    A single joint may carry a load that the model lacks, so more evidence is required of it.
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
    checkable = [name for name, known_one in zip(model.joint_names, known.model) if known_one]
    for name, size in wrong.items():
        remedy: Remedy = (
            'it is in thousandths: ', in_units('effort', 'mN·m', thousandths, checkable)
        ) if name in thousandths else (
            'state its unit or its factor to SI, for all joints or each: ',
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
