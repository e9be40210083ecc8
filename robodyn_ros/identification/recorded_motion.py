# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Checked motions of recordings, and their division into a fitted and a predicted part."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .data_checks.data_issue import DataIssue, raise_errors
from .data_checks.physics_checks import motion_issues
from .data_checks.signal_checks import recording_issues, velocity_issues
from .motion import Motion
from .preparation.filtering import MAX_CUTOFF
from .preparation.options import PreparationOptions
from .preparation.prepare import prepare
from .recordings.recording import Recording
from ..errors import Argument, IdentificationError, RecordingError
from ..model.robot import RobotModel

PICTURE_PAUSE = 1.0    # [s] between joined recordings in pictures


class CheckedMotion(NamedTuple):
    """Motion that passed the checks, all notes so far, and the issues that stopped nothing."""

    motion: Motion
    notes: tuple[str, ...]
    issues: tuple[DataIssue, ...]


class Parts(NamedTuple):
    """Motion that is fitted, the one that is predicted, notes and issues of both."""

    train: Motion
    test: Motion
    notes: tuple[str, ...]
    issues: tuple[DataIssue, ...]


def require_torques(recording: Recording) -> None:
    """Raise :class:`IdentificationError` where the efforts of a recording are currents."""
    if recording.effort_unit == 'A':
        raise IdentificationError(
            'the efforts are currents', name='effort', value='A',
            remedy=('give the torque constants in N·m/A, from a data sheet or from '
                    'drive_gains(): ', Argument('units', {'effort': 0.12})))


def checked_motion(recording: Recording, model: RobotModel,
                   options: PreparationOptions | None = None) -> CheckedMotion:
    """
    Return the prepared motion of a recording after checks of its samples and of its physics.

    :raises RecordingError: a joint or the efforts are missing, too little is left, or an issue
        means that no result could be trusted; ``options.accept`` lets its kind pass.
    """
    options = options or PreparationOptions()
    recording = recording.of(model.joint_names)
    issues = raise_errors(recording_issues(recording, model), options.accept)
    prepared = prepare(recording, options)
    if prepared.measured_velocity is not None:
        issues += raise_errors(velocity_issues(
            prepared.derived_velocity, prepared.measured_velocity, model), options.accept)
    issues += raise_errors(motion_issues(prepared.motion, model, prepared.motion.cutoff,
                                         recording.effort_unit, options.accept), options.accept)
    return CheckedMotion(prepared.motion, (*recording.notes, *prepared.notes), issues)


def checked_motions(recordings: Sequence[Recording], model: RobotModel,
                    options: PreparationOptions, named: bool) -> list[CheckedMotion]:
    """
    Return checked motions with the same sample rate and filter.

    Unless the options say otherwise these are the lowest of the rates and the highest of the
    cutoffs that :func:`checked_motion` chooses: where one motion is slower, the noise that passes
    is no more than in the fastest.

    :param named: whether errors, notes and issues begin with the source.
    :raises RecordingError: see :func:`checked_motion`.
    """
    found = [_checked(recording, model, options, named) for recording in recordings]
    rate = min(of.motion.rate for of in found)
    cutoff = max(of.motion.cutoff for of in found)
    alike = replace(options, rate=rate)
    if options.cutoff is None:
        alike = replace(alike, cutoff=min(cutoff, MAX_CUTOFF * rate))
    return [of if (of.motion.rate, of.motion.cutoff) == (rate, alike.cutoff or cutoff)
            else _checked(recording, model, alike, named)
            for recording, of in zip(recordings, found)]


def checked_motion_like(recording: Recording, model: RobotModel, options: PreparationOptions,
                        other: Motion) -> CheckedMotion:
    """Return the checked motion with rate and filter of another one, see checked_motions."""
    return _checked(recording, model, replace(options, rate=other.rate, cutoff=other.cutoff),
                    True)


def _checked(recording: Recording, model: RobotModel, options: PreparationOptions, named: bool
             ) -> CheckedMotion:
    """Return the checked motion; ``named``: errors, notes and issues begin with the source."""
    if not named:
        return checked_motion(recording, model, options)
    try:
        found = checked_motion(recording, model, options)
    except RecordingError as error:
        error.begin_with(recording.source)
        raise
    return found._replace(
        notes=tuple(f'{recording.source}: {note}' for note in found.notes),
        issues=tuple(replace(issue, message=f'{recording.source}: {issue.message}')
                     for issue in found.issues))


def joined(motions: Sequence[Motion], begin: float | None = None) -> Motion:
    """
    Return motions one after the other, in segments of their own.

    :param begin: time of the first sample [s]; None: as it is.
    :raises IdentificationError: joints, sample rates, filters or units differ.
    """
    first = motions[0]
    for name in ('joint_names', 'rate', 'cutoff', 'effort_unit'):
        for other in motions[1:]:
            if getattr(other, name) != getattr(first, name):
                raise IdentificationError(
                    f'the motions differ in {name}', name=name, value=getattr(other, name),
                    remedy=f'prepare all of them alike, with {getattr(first, name)}')
    times, at = [], first.time[0] if begin is None else begin
    for motion in motions:
        times.append(motion.time - motion.time[0] + at)
        at = times[-1][-1] + PICTURE_PAUSE
    starts = np.cumsum([0, *map(len, motions)]).tolist()
    segments = tuple((start + a, start + b) for motion, start in zip(motions, starts)
                     for a, b in motion.segments)
    arrays: dict[str, Any] = {name: np.concatenate([getattr(motion, name) for motion in motions])
                              for name in ('position', 'velocity', 'acceleration', 'effort')}
    return replace(first, time=np.concatenate(times), segments=segments, **arrays)


def parts_of(checked: Sequence[CheckedMotion], share: float,
             verification: CheckedMotion | None = None) -> Parts:
    """
    Return what is fitted and what is predicted of motions.

    :param share: of the samples of each motion, from the first, that is fitted.
    :param verification: is predicted instead, and the motions are fitted as a whole.
    """
    notes = tuple(note for of in checked for note in of.notes)
    issues = tuple(issue for of in checked for issue in of.issues)
    motions = [of.motion for of in checked]
    if verification is not None:
        train = joined(motions)
        test = joined([verification.motion], train.time[-1] + PICTURE_PAUSE)
        text = f'fitted: all {len(train)} samples; {len(test)} of the verification are predicted'
        return Parts(train, test, (*notes, *verification.notes, text),
                     (*issues, *verification.issues))
    if len(motions) == 1:
        train, test = motions[0].split(share)
    else:
        pieces = [motion.split(share) for motion in motions]
        train = joined([fitted for fitted, _ in pieces])
        test = joined([other for _, other in pieces], train.time[-1] + PICTURE_PAUSE)
    of_each = '' if len(motions) == 1 else ' of each recording'
    return Parts(train, test, (*notes, f'fitted: the first {share:.0%}{of_each}, {len(train)} '
                               f'samples; the other {len(test)} are predicted'), issues)
