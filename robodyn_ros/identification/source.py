# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings that an identification reads: those that are fitted, and one that verifies."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .data_checks.data_issue import by_kind, DataIssue, raise_errors
from .estimation.conditions import better_cutoff, mounting_issue
from .options import PipelineOptions
from .preparation.filtering import MAX_CUTOFF
from .recorded_motion import (
    checked_motion_like,
    checked_motions,
    CheckedMotion,
    Parts,
    parts_of,
    require_torques,
)
from .recordings.read import read
from .recordings.recording import Recording
from ..errors import ArgumentError, UrdfError
from ..model.robot import RobotModel
from ..model.urdf_xml import root_element

TRIED_CUTOFF_FACTORS = 2.0, 4.0    # of the cut-off that the spectrum gives

Notify = Callable[[str | DataIssue], None]
Stage = Callable[[str], None]


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
                                    remedy='give each recording once; one that is fitted cannot '
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
    """Return what is fitted and what is predicted of the recordings, read and checked."""
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
    verification = None if source.verification is None else checked_motion_like(
        recordings[-1], source.model, options.preparation, checked[0].motion)
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
