# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Test of other units, column orders and directions that would explain the efforts better."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from scipy.optimize import linear_sum_assignment

from ...dynamics.api import Batch
from ...errors import Argument, Placeholder
from ...model.robot import RobotModel
from .data_issue import DataIssue
from .fit import Fit, States
from .model_confidence import ModelConfidence

DISTRUSTED = 0.01   # weight of a joint of which the model says nothing sure
SOUND = -2.0        # log of the share unexplained: what is below needs no other explanation
BETTER = 2.0        # by which another hypothesis must be, summed over the joints
FEW = 300           # samples on which hypotheses are tried


class ColumnHypothesis(NamedTuple):
    """
    Columns as they may have been meant.

    :param position: (nv,) column of the positions that is joint j's.
    :param effort: (nv,) column of the efforts that is joint j's.
    :param direction: (nv,) 1, or -1 where joint j's position has the other sign.
    """

    position: ndarray
    effort: ndarray
    direction: ndarray


def hypothesis_issues(batch: Batch, model: RobotModel, fit: Fit,
                       known: ModelConfidence) -> Iterator[DataIssue]:
    """Yield units of positions, orders and directions under which the motion fits far better."""
    nv = model.nv
    weight = np.where(known.model, 1.0, DISTRUSTED)
    if (np.diag(fit.unexplained) < SOUND)[known.model].all():
        return
    step = -(-len(fit.effort) // FEW) if nv > 8 else 1
    here_states = States(*(a[::step] for a in (fit.states.position, fit.states.velocity,
                                               fit.states.acceleration)))

    def tried(states: States, weightless: bool = False) -> Fit:
        return Fit(batch, model, states, fit.effort[::step], weightless, weight)

    here = float(np.trace(tried(here_states).unexplained))
    # Who lacks gravity has efforts that go with no gravity at all, in degrees too
    without = float(np.trace(tried(here_states, weightless=True).unexplained))
    hypothesis, searched = _search(tried, model, here_states)
    rotary = np.array([kind != 'prismatic' for kind in model.joint_types])
    for factor, unit, text in ((np.pi / 180, 'deg', 'degrees'),
                               (180 / np.pi, 'rad', 'radians already'),
                               (2 * np.pi, 'rev', 'revolutions')):
        if not rotary.any():
            break
        there = _best(tried(here_states.scaled(np.where(rotary, factor, 1.0))))[0]
        least = max(BETTER, known.model.sum())
        if there < min(here - least, without - BETTER, searched - BETTER):
            yield DataIssue(
                'position unit', 'position', f'with positions times {factor:.4g} the '
                f'model leaves {_share(there, weight)} of the efforts unexplained, as '
                f'they are {_share(here, weight)}', (
                    f'they are in {text}: ', Argument('units', {'position': unit})),
                there - here)
            return
    if searched < min(here, without) - BETTER:
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
    """Return what is unexplained with efforts in their best order, this order, the worst joint."""
    row, column = linear_sum_assignment(fit.unexplained)
    straight = np.arange(len(row))
    value = float(fit.unexplained[row, column].sum())
    if value >= np.trace(fit.unexplained) - BETTER / 2:
        column = straight       # without a clear gain they are where they belong
    each = fit.unexplained[row, column]
    return float(each.sum()), np.argsort(column), float(each.max())


def _usual(model: RobotModel) -> list[ndarray]:
    """Return orders in which positions often come: by the alphabet, backwards, begun elsewhere."""
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
    for start in _usual(model) if worst >= SOUND else ():
        there = rate(start, direction)
        if there[0] < value - BETTER:
            order, (value, effort, worst) = start, there
    for _ in range(2 * nv):
        if worst < SOUND:
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
        if values[k][0] > value - BETTER / 2:
            break
        (order, direction), (value, effort, worst) = steps[k], values[k]
    return ColumnHypothesis(order, effort, direction), value
