# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Selection of the estimated effects: delay, tilt, presliding, armature and friction scales."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from .delay_and_tilt import criterion, find_mounting, Mounting
from .least_squares import least_squares
from .parameter_selection import ParameterSelection
from .presliding_search import find_presliding
from .regression import regression
from ..motion import Motion
from ..options import PipelineOptions
from ...model.robot import RobotModel

SAMPLES_PER_CUTOFF_PERIOD = 5   # that are kept: samples between them are redundant
ARMATURE_SIGNIFICANCE = 3.0     # standard errors above zero
SELECTION_ROUNDS = 4            # of mounting, presliding and armature at most
SAME_DELAY = 1e-4               # [s]


class Selected(NamedTuple):
    """
    Effects that are estimated, and the results of their selection.

    :param model: nominal, with the tilt and the velocity scales of friction that were chosen.
    :param mounting: delay and tilt.
    :param selection: with presliding and armature decided.
    :param notes: decisions with reasons, one line each.
    :param weight: of the prior; 0 where it is not chosen yet.
    :param terms: decisions of the cross-validation on terms of the model, one line each.
    :param errors: (nv,) relative RMS of each joint in the cross-validation; empty without one.
    """

    model: RobotModel
    mounting: Mounting
    selection: ParameterSelection
    notes: tuple[str, ...]
    weight: float = 0.0
    terms: tuple[str, ...] = ()
    errors: ndarray = np.zeros(0)


def decimated(selection: ParameterSelection, motion: Motion
              ) -> tuple[ParameterSelection, list[str]]:
    """
    Return the selection with its rule of decimation applied, and a note.

    Where ``decimate`` is 1 and the motion is filtered, SAMPLES_PER_CUTOFF_PERIOD samples or more
    are kept in a period of the cutoff.
    """
    if selection.decimate != 1 or not np.isfinite(motion.cutoff):
        return selection, []
    step = max(1, int(motion.rate / (SAMPLES_PER_CUTOFF_PERIOD * motion.cutoff)))
    step -= step % 2 if step > 2 else 0     # columns are computed at half the step
    return replace(selection, decimate=step), [
        f'decimated by {step} (>= {SAMPLES_PER_CUTOFF_PERIOD} samples per cut-off period)']


def select_effects(model: RobotModel, motion: Motion, selection: ParameterSelection,
                   options: PipelineOptions) -> Selected:
    """
    Select the effects besides inertia and friction that the motion shows.

    Late efforts, friction that reverses late and rotor inertias look alike, so they are estimated
    in turn, each with the present values of the others, until none changes. That ends in a local
    optimum: the search starts both from the delay that explains most without presliding and from
    the presliding that explains most without a delay, and the result of greater likelihood is
    used (:func:`~.delay_and_tilt.criterion`).
    """
    found = _from_both_starts(model, motion, selection, options)
    return Selected(found.mounting.model(model), found.mounting, found.selection,
                    (*found.notes, *found.mounting.notes, *found.of_armature))


class Effects(NamedTuple):
    """Selection, mounting, notes on presliding and on armature."""

    selection: ParameterSelection
    mounting: Mounting
    notes: list[str]
    of_armature: list[str]


def _from_both_starts(model: RobotModel, motion: Motion, selection: ParameterSelection,
                      options: PipelineOptions) -> Effects:
    """Return the effects of the more likely of the two optima, and notes."""
    selection = replace(selection, presliding=options.presliding or 0.0)
    first = _mounting(model, motion, selection, options)
    found = _iterated(model, motion, selection, options, first)
    searched = options.presliding is None and not _why_no_search(selection, None)
    if not searched or options.delay is not None or first.delay == 0.0:
        return found
    other = _iterated(model, motion, selection, options, replace(first, delay=0.0))
    delay = found.mounting.delay
    if other.selection == found.selection and abs(other.mounting.delay - delay) < SAME_DELAY:
        return found
    first_score, score = (criterion(model, motion, each.selection, each.mounting, found.selection)
                          for each in (found, other))
    if score >= first_score:
        return found
    return other._replace(notes=[
        *other.notes, f'the search from a delay of {1e3 * first.delay:.3g} ms ends at '
        f'{1e3 * delay:.3g} ms, which is less likely'])


def _iterated(model: RobotModel, motion: Motion, selection: ParameterSelection,
              options: PipelineOptions, mounting: Mounting) -> Effects:
    """Return effects that are found in turn from a mounting on, until none changes."""
    notes, why = _why_no_search(selection, options.presliding), list[str]()
    for turn in range(SELECTION_ROUNDS):
        if turn:
            mounting = _mounting(model, motion, selection, options)
        before, placed, moved = selection, mounting.model(model), mounting.motion(motion)
        if options.presliding is None and not _why_no_search(selection, None):
            found = find_presliding(placed, moved, selection, selection.presliding or 0.0)
            selection, notes = replace(selection, presliding=found.distance), [found.note]
        selection, why = _with_armature(placed, moved, selection, options.armature)
        if selection == before:
            break
    return Effects(selection, mounting, notes, why)


def _why_no_search(selection: ParameterSelection, asked: float | None) -> list[str]:
    """Return why presliding is not estimated, [] if it is."""
    if asked is not None:
        return [f'presliding: {f"{1e3 * asked:.4g} mrad" if asked else "none"}, as given']
    if not selection.coulomb or selection.moving is not None:
        return ['presliding: not estimated, ' + (
            'reversals are left out' if selection.coulomb else 'no dry friction')]
    return []


def _mounting(model: RobotModel, motion: Motion, selection: ParameterSelection,
              options: PipelineOptions) -> Mounting:
    found = find_mounting(model, motion, selection, options.delay is None, options.tilt)
    if options.delay is None:
        return found
    note = f'delay of the efforts: {1e3 * options.delay:.4g} ms, as given'
    return replace(found, delay=options.delay, notes=(note, *found.notes))


def _with_armature(model: RobotModel, motion: Motion, selection: ParameterSelection,
                   asked: bool | None) -> tuple[ParameterSelection, list[str]]:
    """Return the selection with or without armature, and why."""
    if asked is not None:
        return replace(selection, armature=asked), [
            'armature: ' + ('estimated' if asked else 'as in the URDF') + ', as given']
    with_armature = replace(selection, armature=True)
    found = least_squares(regression(model, motion, with_armature), 'weighted', full_rank=False)
    each = [(value, error) for name, value, error in zip(
        found.base.base_names, found.values, found.standard_errors)
        if name.startswith('armature ') and np.isfinite(error)]
    if not each:
        return with_armature, ['armature: estimated; not distinguishable from the inertia of the '
                               'links']
    positive = sum(value > ARMATURE_SIGNIFICANCE * error for value, error in each)
    if positive:
        return with_armature, [f'armature: estimated (significant at {positive} of {len(each)} '
                               'observable joints)']
    negative = sum(value < -ARMATURE_SIGNIFICANCE * error for value, error in each)
    return replace(selection, armature=False), [
        'armature: as in the URDF (significant at no joint' + (
            f', negative at {negative} of {len(each)}: the torque sensors are behind the gears, '
            'or the model lacks another effect)' if negative else ')')]
