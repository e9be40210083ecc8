# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Test of other units, mountings, column orders and directions that explain efforts better."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from scipy.optimize import linear_sum_assignment

from .data_issue import DataIssue
from .fit import Fit, States
from .model_confidence import ModelConfidence
from .mounting import found_gravity
from ...dynamics.api import Batch
from ...errors import Argument, Placeholder
from ...model.robot import RobotModel

UNRELIABLE_WEIGHT = 0.01  # weight of joints without reliable predictions
MAX_GOOD_FIT = -2.0    # log of the unexplained share, up to which no other hypothesis is needed
MIN_IMPROVEMENT = 2.0     # of the log, summed over the joints, for another hypothesis
MAX_SAMPLES = 300         # for the test of hypotheses


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
    here_states = States(*(a[::step] for a in (fit.states.position, fit.states.velocity,
                                               fit.states.acceleration)))

    def tried(states: States, weightless: bool = False) -> Fit:
        return Fit(batch, model, states, fit.effort[::step], weightless, weight)

    here = float(np.trace(tried(here_states).unexplained))
    # Who lacks gravity has efforts that go with no gravity at all, in degrees too
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
        remedy = (('give the joints in the order of the columns: ', Argument('joint_names', right))
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


def _usual(model: RobotModel) -> list[ndarray]:
    """Return orders in which joints are often recorded: alphabetical, reversed, rotated."""
    forward = np.arange(model.nv)
    return [np.argsort(np.argsort(model.joint_names)), forward[::-1],
            *(np.roll(forward, by) for by in range(1, model.nv))]


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
    for start in _usual(model) if worst >= MAX_GOOD_FIT else ():
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
