# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Selection of the effects and terms of the exported model, by likelihood and cross-validation."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from .cross_validation import Candidate, choose_weight, scores_of, Trial
from .estimate import Estimate, inertial_of
from .least_squares import least_squares, METHODS
from .least_squares import METHODS as UNCONSTRAINED
from .physical_consistency import consistent, PRIOR_WEIGHTS
from .regression import regression, VALIDATION_BLOCKS
from .search import AS_RECORDED, EFFECTS, find_effects, most_likely_coupling, Mounting
from .stribeck import friction_speeds
from ..motion import Motion
from ..options import ParameterSelection, PipelineOptions, USUAL_PARAMETERS
from ...errors import IdentificationError
from ...model.robot import RobotModel

ARMATURE_SIGNIFICANCE = 3.0     # standard errors above zero
SELECTION_ROUNDS = 4            # of effects and armature at most
COARSE_WEIGHTS = PRIOR_WEIGHTS[::2]   # of the prior, among which one is chosen for the comparisons
# In descending order of importance, since later terms may explain a part of earlier ones
TERMS = ('coupled transmission', 'presliding', 'load-dependent friction', 'delay', 'tilt',
         'rotor inertia', 'static friction', 'velocity scales of friction',
         'friction of each direction')
ALL_METHODS = ('consistent', *UNCONSTRAINED)


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


def select_model(model: RobotModel, motion: Motion, selection: ParameterSelection,
                 options: PipelineOptions) -> Selected:
    """
    Return the terms and the weight of the prior of the model that predicts best as exported.

    Every candidate is fitted under physical consistency to all blocks of the motion but one, and
    scored by the mean relative RMS of the block that was left out (Stone 1974). All of its terms
    are exported, and known to the controller and the simulator. The effects that the likelihood
    selects come first; then terms without a gain are dropped, and others added that gain more than
    a standard error. Terms forced by an option are excluded. Delay, tilt, presliding distance and
    velocity scales are estimated once, with all blocks.
    """
    found = select_effects(model, motion, selection, options)
    best = Trial(Candidate(found.model, found.mounting, found.selection), motion)
    scores = scores_of(best, COARSE_WEIGHTS)
    weight = min(scores, key=lambda weight: scores[weight].error)
    score, terms = scores[weight], list[str]()
    for name in TERMS:
        try:
            if (other := alternative(name, best.candidate, model, motion, options)) is None:
                continue
            trial = Trial(other, motion)
            new = trial.exported(weight)
        except IdentificationError as error:
            terms.append(f'{name}: rejected, {error}')
            continue
        gain, deviation = new.gain(score)
        adds = name not in EFFECTS and (name != 'rotor inertia' or other.selection.armature)
        wins = bool(gain > (deviation if adds else 0.0))
        with_it, without = (new.error, score.error) if adds else (score.error, new.error)
        why = f'the gain is within its standard error of {100 * deviation:.2g} %' \
            if adds and 0.0 < gain <= deviation else 'the lower error'
        terms.append(f'{name}: {"taken" if adds == wins else "rejected"}, {100 * with_it:.2f} % '
                     f'with it, {100 * without:.2f} % without: {why}')
        if wins:
            best, score = trial, new
    plain = Trial(Candidate(model, replace(AS_RECORDED, delay=options.delay or 0.0), replace(
        selection, armature=options.armature is not False,
        presliding=options.presliding or 0.0)), motion)
    weight, notes = _weight(best, [plain.least_squares(method).error for method in METHODS])
    return Selected(*best.candidate, (*found.notes, *notes), weight, tuple(terms),
                    best.exported(weight).errors)


def alternative(term: str, given: Candidate, model: RobotModel, motion: Motion,
                options: PipelineOptions) -> Candidate | None:
    """
    Return a candidate without a term, or with it; None where the term is forced or meaningless.

    :param model: as it is in the URDF.
    :raises IdentificationError: the motion does not determine the term.
    """
    selection, mounting = given.selection, given.mounting
    moved, fitted = mounting.motion(motion), dict[str, Any]()
    if term == 'delay' and mounting.delay and options.delay is None:
        return given._replace(mounting=replace(mounting, delay=0.0))
    if term == 'tilt' and mounting.tilt.any():
        return Candidate(replace(given.model, gravity_vector=model.gravity_vector),
                         replace(mounting, tilt=np.zeros(3)), selection)
    if term == 'velocity scales of friction' and selection.coulomb and selection.moving is None \
            and (selection.static or not selection.presliding):     # else it has no such scales
        return given._replace(model=friction_speeds(given.model, moved, selection).model)
    if term == 'presliding' and selection.presliding and options.presliding is None:
        fitted['presliding'] = 0.0
    elif term == 'rotor inertia' and options.armature is None:
        fitted['armature'] = not selection.armature
    elif term == 'friction of each direction' and not selection.directions:
        fitted['directions'] = True
    elif term == 'static friction' and selection.coulomb and not selection.static:
        fitted['static'] = True
    elif term == 'load-dependent friction' and selection.coulomb and not selection.load:
        fitted['load'] = inertial_of(least_squares(
            regression(given.model, moved, selection), 'weighted', full_rank=False))
    elif term == 'coupled transmission' and selection.coulomb and not selection.coupling and (
            pair := most_likely_coupling(given.model, moved, selection, options.coupled)):
        fitted['coupling'] = (pair,)
    return given._replace(selection=replace(selection, **fitted)) if fitted else None


def select_effects(model: RobotModel, motion: Motion, selection: ParameterSelection,
                   options: PipelineOptions) -> Selected:
    """
    Select the effects besides inertia and friction that the motion shows.

    Delay, tilt and presliding are searched for together (:func:`~.search.find_effects`), at first
    with rotor inertias, and again without these where they turn out to be insignificant.
    """
    wanted, notes = set(EFFECTS), list[str]()
    if options.delay is not None:
        notes.append(f'delay of the efforts: {1e3 * options.delay:.4g} ms, as given')
        wanted.remove('delay')
    if not options.tilt:
        wanted.remove('tilt')
    if (way := options.presliding) is not None:
        notes.append(f'presliding: {f"{1e3 * way:.4g} mrad" if way else "none"}, as given')
        wanted.remove('presliding')
    elif not selection.coulomb or selection.moving is not None:
        notes.append('presliding: not estimated, ' + (
            'reversals are left out' if selection.coulomb else 'no dry friction'))
        wanted.remove('presliding')
    late = replace(AS_RECORDED, delay=options.delay or 0.0)
    selection = replace(selection, presliding=way or 0.0, armature=options.armature is not False)
    for _ in range(SELECTION_ROUNDS):
        mounting, distance = find_effects(model, late.motion(motion), selection, wanted)
        mounting = replace(mounting, delay=mounting.delay + late.delay)
        chosen, why = _with_armature(mounting.model(model), mounting.motion(motion), replace(
            selection, presliding=distance), options.armature)
        again, selection = chosen.armature != selection.armature, replace(
            selection, armature=chosen.armature)
        if not again:
            break
    return Selected(mounting.model(model), mounting, chosen, (*notes, *mounting.notes, *why))


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


def _weight(best: Trial, plain: Sequence[float]) -> tuple[float, list[str]]:
    """Return the weight of the prior, and why; ``plain``: errors of plain least squares."""
    least = min(plain)
    weight, error = choose_weight(best, least)
    notes = [f'cross-validation over {VALIDATION_BLOCKS} blocks of the fitted part, mean relative '
             f'RMS: {100 * error:.2f} % as exported, {100 * plain[0]:.2f} % ordinary and '
             f'{100 * plain[1]:.2f} % weighted least squares; weight of the prior {weight:g}']
    if error > least:
        notes.append('least squares without constraints predicts the blocks better: physically '
                     'consistent parameters with nonnegative friction are less accurate')
    return weight, notes


def identify(model: RobotModel, motion: Motion, selection: ParameterSelection = USUAL_PARAMETERS,
             method: str = 'consistent', weight: float | None = None) -> Estimate:
    """
    Estimate the parameters of a robot from its motion.

    :param selection: parameters that are estimated besides the inertial ones, and samples that are
        used.
    :param method: 'consistent': physically consistent (:func:`~.physical_consistency.consistent`);
        'weighted', 'ordinary': see :func:`~.least_squares.least_squares`.
    :param weight: of the nominal model as a prior, for 'consistent'; None: by cross-validation
        (:func:`~.cross_validation.choose_weight`).
    :raises IdentificationError: the motion does not determine the parameters; the error names a
        joint or parameter and the remedy.
    """
    if method not in ALL_METHODS:
        raise IdentificationError(f'no method {method!r}', name='method', value=method,
                                  remedy=f'choose one of {", ".join(ALL_METHODS)}')
    if weight is not None and method != 'consistent':
        raise IdentificationError(f'method {method!r} has no prior to weigh', name='weight',
                                  value=weight, remedy='leave the weight out, or choose '
                                                       'consistent')
    given = regression(model, motion, selection)
    if method != 'consistent':
        return least_squares(given, method)
    if weight is None:
        weight, _ = choose_weight(Trial(Candidate(model, AS_RECORDED, selection), motion))
    return consistent(given, weight)
