# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether columns were read as what they are: other units, orders and directions are tried."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from scipy.optimize import linear_sum_assignment

from ...dynamics.api import Batch
from ...model.robot import RobotModel
from .data_issue import Doubt
from .fit import Fit, States
from .model_confidence import Trust

DISTRUSTED = 0.01   # weight of a joint of which the model says nothing sure
SOUND = -2.0        # log of the share unexplained: what is below needs no other explanation
BETTER = 2.0        # by which another reading must be, summed over the joints
FEW = 300           # samples on which readings are tried


class Reading(NamedTuple):
    """
    Columns as they may have been meant.

    :param position: (nv,) column of the positions that is joint j's.
    :param effort: (nv,) column of the efforts that is joint j's.
    :param direction: (nv,) 1, or -1 where joint j's position has the other sign.
    """

    position: ndarray
    effort: ndarray
    direction: ndarray


def doubts_of_readings(batch: Batch, model: RobotModel, fit: Fit,
                       known: Trust) -> Iterator[Doubt]:
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
    reading, searched = _search(tried, model, here_states)
    rotary = np.array([kind != 'prismatic' for kind in model.joint_types])
    for factor, said in ((np.pi / 180, "in degrees: units={'position': 'deg'}"),
                         (180 / np.pi, "in radians already: units={'position': 'rad'}"),
                         (2 * np.pi, "in revolutions: units={'position': 'rev'}")):
        if not rotary.any():
            break
        there = _best(tried(here_states.scaled(np.where(rotary, factor, 1.0))))[0]
        least = max(BETTER, known.model.sum())
        if there < min(here - least, without - BETTER, searched - BETTER):
            yield Doubt('position unit', 'position', f'with positions times {factor:.4g} the '
                        f'model leaves {_share(there, weight)} of the efforts unexplained, as '
                        f'they are {_share(here, weight)}', f'they are {said}', there - here)
            return
    if searched < min(here, without) - BETTER:
        yield from _told(reading, f'then the model leaves {_share(searched, weight)} of the '
                         f'efforts unexplained, as they are {_share(here, weight)}',
                         searched - here, model)


def _told(reading: Reading, better: str, by: float, model: RobotModel) -> Iterator[Doubt]:
    names, straight = model.joint_names, np.arange(model.nv)
    for j in np.flatnonzero(reading.direction < 0):
        yield Doubt('direction', names[j], f'{names[j]} seems to turn the other way: {better}',
                    f"turn the sign of its position: units={{'position': {{'{names[j]}': "
                    f"'-rad'}}}}", by)
    moved = {'positions': reading.position, 'efforts': reading.effort}
    moved = {what: order for what, order in moved.items() if (order != straight).any()}
    if len(moved) == 2 and (reading.position == reading.effort).all():
        moved = {'columns': reading.position}
    for what, order in moved.items():
        wrong = np.flatnonzero(order != straight)
        pairs = ', '.join(f'{names[order[j]]} → {names[j]}' for j in wrong)
        # Column k of the file is of the joint whose reading takes it from there
        right = tuple(names[j] for j in np.argsort(order))
        remedy = (f'give the joints in the order of the columns: joint_names={right}'
                  if what == 'columns' else
                  f"name the columns of the {what} in the order of the joints: "
                  f"columns={{'{what[:-1]}': (...)}}")
        yield Doubt('order', names[wrong[0]], f'{what} of joints are interchanged ({pairs}): '
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
            states: States) -> tuple[Reading, float]:
    """
    Return the best reading that interchanging two joints, or turning one, again and again finds.

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
    return Reading(order, effort, direction), value
