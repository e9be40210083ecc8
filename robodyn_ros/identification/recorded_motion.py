# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings that an identification reads, their checked motions, and what is fitted of them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .estimation.cross_validation import better_cutoff, mounting_issue
from .filtering import MAX_CUTOFF
from .motion import Motion, MOTION_ARRAYS, prepare
from .options import by_kind, DataIssue, PipelineOptions, PreparationOptions, raise_errors
from .physics_checks import motion_issues
from .recordings.read import read
from .recordings.recording import Recording
from .signal_checks import (
    false_effort_issues, LIMITS, recording_issues, velocity_issues, without_false_efforts)
from ..errors import Argument, ArgumentError, IdentificationError, RecordingError, UrdfError
from ..model.robot import RobotModel
from ..model.urdf_xml import root_element

PICTURE_PAUSE = 1.0    # [s] between joined recordings in pictures
TRIED_CUTOFF_FACTORS = 2.0, 4.0    # of the cut-off that the spectrum gives

Notify = Callable[[str | DataIssue], None]
Stage = Callable[[str], None]


class CheckedMotion(NamedTuple):
    """Motion that passed the checks, all notes so far, and the remaining issues."""

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
            remedy=('pass the torque constants in N·m/A, from a data sheet or from '
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
    issues += raise_errors(false_effort_issues(recording), options.accept)
    recording = without_false_efforts(recording, options.accept)
    prepared = prepare(recording, options)
    if prepared.measured_velocity is not None:
        issues += raise_errors(velocity_issues(
            prepared.motion.velocity, prepared.measured_velocity, model), options.accept)
    issues += raise_errors(motion_issues(prepared.motion, model, options.accept), options.accept)
    # Of which no unit, sign or order was the reason
    raise_errors([replace(one, fatal=True) for one in issues if one.kind == LIMITS],
                 options.accept)
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
                              for name in MOTION_ARRAYS}
    return replace(first, segments=segments, **arrays | {'time': np.concatenate(times)})


def parts_of(checked: Sequence[CheckedMotion], share: float,
             verification: CheckedMotion | None = None) -> Parts:
    """
    Return the fitted and the predicted parts of motions.

    :param share: of the samples of each motion, from the first, that is fitted.
    :param verification: is predicted instead, and the motions are fitted as a whole.
    """
    notes = tuple(note for of in checked for note in of.notes)
    issues = tuple(issue for of in checked for issue in of.issues)
    motions = [of.motion for of in checked]
    if verification is not None:
        train = joined(motions)
        test = joined([verification.motion], train.time[-1] + PICTURE_PAUSE)
        text = f'fitted: all {len(train)} samples; predicted: {len(test)} of the verification'
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


@dataclass(frozen=True)
class Source:
    """
    Recordings and robot that the pipeline reads.

    :param paths: of the recordings that are fitted.
    :param model: of the robot, in whose joint order the recordings are read.
    :param urdf: text of the URDF that the model was loaded from.
    :param reading: keyword arguments of :func:`~.recordings.read.read`.
    :param mounted: whether the model has another gravity than its URDF says.
    :param verification: recording that is predicted, and not fitted; None: the last part of each.
    :raises ArgumentError: a recording is given twice.
    """

    paths: tuple[Path, ...]
    model: RobotModel
    urdf: str
    reading: dict[str, Any] = field(default_factory=dict)
    mounted: bool = False
    verification: Path | None = None

    def __post_init__(self) -> None:
        found = [path.resolve() for path in self.all]
        for path, other in zip(self.all, found):
            if found.count(other) > 1:
                raise ArgumentError(f'{path} is given twice', name='RECORDING', value=str(path),
                                    remedy='pass each recording once; one that is fitted cannot '
                                           'verify')

    @property
    def all(self) -> tuple[Path, ...]:  # noqa: A003
        """Return the recordings that are fitted, then the one that is predicted, if any."""
        return (*self.paths, *(() if self.verification is None else (self.verification,)))

    @property
    def text(self) -> str:
        """Names of the recordings, for the report."""
        return ', '.join(path.name for path in self.paths) + (
            '' if self.verification is None else f'; verified with {self.verification.name}')

    @property
    def coupled(self) -> tuple[tuple[str, str], ...]:
        """Pairs of joints of a <transmission> with two joints in the URDF."""
        try:
            root, _ = root_element(self.urdf)
        except UrdfError:       # the model was loaded from another text
            return ()
        found = ([joint.get('name', '') for joint in each.iterfind('joint')]
                 for each in root.iterfind('transmission'))
        return tuple((names[0], names[1]) for names in found if len(names) == 2)

    def read(self) -> Iterator[Recording]:
        """Yield the recordings, those that are fitted first; of several each has its own name."""
        names = [path.name for path in self.all]
        for path, name in zip(self.all, names):
            found = read(path, self.model, **self.reading)
            yield found if len(names) == 1 else replace(
                found, source=name if names.count(name) == 1 else str(path))


def notify_all(notify: Notify, notes: Iterable[str], issues: Iterable[DataIssue] = ()) -> None:
    """Notify of notes, and of issues, one for each kind."""
    lines: list[str | DataIssue] = [*notes, *by_kind(issues)]
    for line in lines:
        notify(line)


def read_parts(source: Source, options: PipelineOptions, notify: Notify, stage: Stage) -> Parts:
    """Return the fitted and the predicted parts of the recordings, read and checked."""
    stage('reading')
    recordings, several = [], len(source.all) > 1
    for recording in source.read():
        notify_all(notify, [f'{recording.source}: {note}' if several else note
                            for note in recording.notes])
        require_torques(recording)
        recordings.append(recording)
    stage('checking and filtering the motion')
    count = len(source.paths)
    checked = filtered_best(recordings[:count], source.model, options, several)
    like = checked[0].motion
    verification = None if source.verification is None else _checked(
        recordings[-1], source.model, replace(
            options.preparation, rate=like.rate, cutoff=like.cutoff), True)
    for recording, of in zip(recordings, [*checked, *([verification] if verification else [])]):
        notify_all(notify, of.notes[len(recording.notes):], of.issues)
    parts = parts_of(checked, options.split, verification)
    notify_all(notify, parts.notes[-1:])
    return parts


def filtered_best(recordings: Sequence[Recording], model: RobotModel, options: PipelineOptions,
                  several: bool) -> list[CheckedMotion]:
    """
    Return checked motions with the cut-off whose parameters predict best.

    Unless the options give one, multiples of the one by the spectrum compete with it. The mounting
    of a model without inertias is checked, too.

    :raises RecordingError: see :func:`~.recorded_motion.checked_motions`; or gravity has another
        direction.
    """
    found = checked_motions(recordings, model, options.preparation, several)
    own = found[0].motion.cutoff
    tried = {own: found}
    if options.preparation.cutoff is None:
        for factor in TRIED_CUTOFF_FACTORS:
            if (cutoff := factor * own) < MAX_CUTOFF * found[0].motion.rate:
                with suppress(RecordingError):      # by more noise, no fault of the data
                    tried[cutoff] = checked_motions(recordings, model, replace(
                        options.preparation, cutoff=cutoff), several)
    share = options.split
    fitted = {cutoff: parts_of(each, share).train for cutoff, each in tried.items()}
    if len(tried) > 1 and (better := better_cutoff(model, fitted)) is not None:
        own, why = better
        found = checked_motions(recordings, model, replace(
            options.preparation, cutoff=own, why=why), several)
    if model.massless_joints and (issue := mounting_issue(model, fitted[own])) is not None:
        raise_errors([issue], options.preparation.accept)
    return found
