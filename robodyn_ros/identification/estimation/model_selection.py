# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Selection of the terms of the exported model by cross-validation."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .candidate_comparison import choose_weight, Race
from .compressed import VALIDATION_BLOCKS
from .coupling import most_likely_coupling
from .cross_validation import Candidate, Trial
from .delay_and_tilt import Mounting
from .estimate import inertial_of
from .least_squares import least_squares, METHODS
from .parameter_selection import ParameterSelection
from .regression import regression
from .selection import select_effects, Selected
from .stribeck import friction_speeds
from ..motion import Motion
from ..options import PipelineOptions
from ...errors import IdentificationError
from ...model.robot import RobotModel


def select_model(model: RobotModel, motion: Motion, selection: ParameterSelection,
                 options: PipelineOptions) -> Selected:
    """
    Return the terms and the weight of the prior of the model that predicts best as exported.

    Every candidate is fitted under physical consistency to all blocks of the motion but one and
    judged by the mean relative RMS of the block that was left out (Stone 1974). Everything that it
    has is exported, and known to the controller and the simulator. The effects that the likelihood
    finds come first; then the terms of plain least squares; then terms are
    dropped that gain nothing, and others added that gain more than a standard error. What the
    options ask for is not tried. Delay, tilt, presliding distance and velocity scales are found
    once, with all blocks.
    """
    found = select_effects(model, motion, selection, options)
    race = Race(motion, Candidate(found.model, found.mounting, found.selection))
    plain = plain_candidate(model, selection, options)
    race.enter('structure of least squares', plain, True)
    for name, change in CHANGES.items():
        before = race.best.candidate
        try:
            other = change(before, model, motion, options)
        except IdentificationError as error:
            race.refuse(name, str(error))
            continue
        if other is not None:
            adds = not (name in LIKELY_CHANGES and _has(before, name))
            race.enter(name, other, adds, adds)
    plain_trial = Trial(plain, motion)
    weight, notes_of_weight = _weight(race, [plain_trial.least_squares(method).error
                                             for method in METHODS])
    chosen = race.best.candidate
    return Selected(chosen.model, chosen.mounting, chosen.selection,
                    (*found.notes, *notes_of_weight), weight, tuple(map(str, race.terms)),
                    race.best.exported(weight).errors)


def plain_candidate(model: RobotModel, selection: ParameterSelection, options: PipelineOptions
                    ) -> Candidate:
    """Return the structure of plain least squares: no delay, tilt or presliding, but armature."""
    return Candidate(model, Mounting(options.delay or 0.0, np.zeros(3), ()), replace(
        selection, armature=options.armature is not False,
        presliding=options.presliding or 0.0))


Change = Callable[[Candidate, RobotModel, Motion, PipelineOptions], Candidate | None]


def _delay(given: Candidate, model: RobotModel, motion: Motion, options: PipelineOptions
           ) -> Candidate | None:
    if options.delay is not None or given.mounting.delay == 0.0:
        return None
    return replace(given, mounting=replace(given.mounting, delay=0.0))


def _tilt(given: Candidate, model: RobotModel, motion: Motion, options: PipelineOptions
          ) -> Candidate | None:
    if not given.mounting.tilt.any():
        return None
    return replace(given, mounting=replace(given.mounting, tilt=np.zeros(3)), model=replace(
        given.model, gravity_vector=model.gravity_vector))


def _armature(given: Candidate, model: RobotModel, motion: Motion, options: PipelineOptions
              ) -> Candidate | None:
    if options.armature is not None:
        return None
    return _selecting(given, armature=not given.selection.armature)


def _static(given: Candidate, model: RobotModel, motion: Motion, options: PipelineOptions
            ) -> Candidate | None:
    if given.selection.static or not given.selection.coulomb:
        return None
    return _selecting(given, static=True)


def _directions(given: Candidate, model: RobotModel, motion: Motion, options: PipelineOptions
                ) -> Candidate | None:
    return None if given.selection.directions else _selecting(given, directions=True)


def _speeds(given: Candidate, model: RobotModel, motion: Motion, options: PipelineOptions
            ) -> Candidate | None:
    chosen = given.selection
    if not chosen.coulomb or chosen.moving is not None:
        return None
    if chosen.presliding and not chosen.static:     # friction has neither of these scales then
        return None
    moved = given.mounting.motion(motion)
    return replace(given, model=friction_speeds(given.model, moved, given.selection).model)


def _presliding(given: Candidate, model: RobotModel, motion: Motion, options: PipelineOptions
                ) -> Candidate | None:
    if options.presliding is not None or not given.selection.presliding:
        return None
    return _selecting(given, presliding=0.0)


def _load(given: Candidate, model: RobotModel, motion: Motion, options: PipelineOptions
          ) -> Candidate | None:
    if given.selection.load or not given.selection.coulomb:
        return None
    first = least_squares(regression(given.model, given.mounting.motion(motion), given.selection),
                          'weighted', full_rank=False)
    return _selecting(given, load=inertial_of(first))


def _coupling(given: Candidate, model: RobotModel, motion: Motion, options: PipelineOptions
              ) -> Candidate | None:
    if given.selection.coupling or not given.selection.coulomb or model.nv < 2:
        return None
    pair = most_likely_coupling(given.model, given.mounting.motion(motion), given.selection,
                                options.coupled)
    return None if pair is None else _selecting(given, coupling=(pair,))


# In this order: what explains most first, since later terms may explain a part of it
CHANGES: dict[str, Change] = {
    'coupled transmission': _coupling, 'presliding': _presliding,
    'load-dependent friction': _load, 'delay': _delay, 'tilt': _tilt, 'rotor inertia': _armature,
    'static friction': _static, 'velocity scales of friction': _speeds,
    'friction of each direction': _directions}

# Terms that the likelihood may have found
LIKELY_CHANGES = ('presliding', 'delay', 'tilt', 'rotor inertia')


def _has(given: Candidate, name: str) -> bool:
    """Return whether a candidate has one of the terms of LIKELY_CHANGES."""
    return bool({'presliding': given.selection.presliding, 'delay': given.mounting.delay,
                 'tilt': given.mounting.tilt.any(), 'rotor inertia': given.selection.armature
                 }[name])


def _selecting(given: Candidate, **terms: Any) -> Candidate:
    return replace(given, selection=replace(given.selection, **terms))


def _weight(race: Race, plain: list[float]) -> tuple[float, list[str]]:
    """Return the weight of the prior, and why; ``plain``: errors of plain least squares."""
    least = min(plain)
    weight, error = choose_weight(race.best, least)
    notes = [f'cross-validation over {VALIDATION_BLOCKS} blocks of the fitted part, mean relative '
             f'RMS: {100 * error:.2f} % as exported, {100 * plain[0]:.2f} % ordinary and '
             f'{100 * plain[1]:.2f} % weighted least squares; weight of the prior {weight:g}']
    if error > least:
        notes.append('least squares without constraints predicts the blocks better: physically '
                     'consistent parameters with nonnegative friction do not reach it')
    return weight, notes
