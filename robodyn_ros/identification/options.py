# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Options of an identification, and issues of its data, which options accept by their kind."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import (
    Argument, ArgumentError, IdentificationError, RecordingError, Remedy, remedy_parts,
    remedy_text)

MAX_DETAILED = 3    # issues of one kind with a message; for the others the names are listed


@dataclass(frozen=True)
class DataIssue:
    """
    Finding that a correct recording would not show.

    :param kind: one or two words, which ``accept`` of the preparation takes.
    :param joint: the joint, or the quantity ('position', 'time', ...) where it concerns all
        joints.
    :param message: the finding, with the numbers that show it.
    :param remedy: correction; arguments that it proposes are data.
    :param value: the decisive number.
    :param fatal: whether it stops the identification, unless its kind is accepted.
    """

    kind: str
    joint: str
    message: str
    remedy: Remedy
    value: float
    fatal: bool = True

    def stops(self, accept: Sequence[str]) -> bool:
        """Return whether it stops an identification that accepts these kinds."""
        return self.fatal and self.kind not in accept

    def render(self, write: Callable[[Argument], str] = str) -> str:
        """Return the issue in one line; ``write`` returns a proposed argument as text."""
        return f'{self.kind}: {self.message}: {remedy_text(self.remedy, write)}'


def in_units(quantity: str, unit: str, names: Sequence[str], of: Sequence[str]) -> Argument:
    """
    Return the argument that gives these joints a unit: all joints, where they are most of them.

    :param of: joints that could have been among ``names``.
    """
    if len(names) > len(of) / 2:
        return Argument('units', {quantity: unit})
    return Argument('units', {quantity: dict.fromkeys(names, unit)})


def raise_errors(issues: Iterable[DataIssue], accept: Sequence[str]) -> tuple[DataIssue, ...]:
    """
    Return the issues if none of them is an error that is not accepted.

    :param accept: kinds of issue whose errors are ignored.
    :raises RecordingError: for the first of the others: its joint, value and remedy, and the
        messages of all errors of its kind.
    """
    issues = tuple(issues)
    errors = [issue for issue in issues if issue.stops(accept)]
    if errors:
        first, *_ = by_kind([issue for issue in errors if issue.kind == errors[0].kind])
        raise RecordingError(
            first.message, name=first.joint, value=first.value,
            remedy=(*remedy_parts(first.remedy), '; if the data are correct, ',
                    Argument('accept', (first.kind,))))
    return issues


def by_kind(issues: Iterable[DataIssue]) -> tuple[DataIssue, ...]:
    """Return one issue for each kind: the first of it, with the messages of all."""
    kinds: dict[str, list[DataIssue]] = {}
    for issue in issues:
        kinds.setdefault(issue.kind, []).append(issue)
    return tuple(replace(same[0], message=_messages(same)) for same in kinds.values())


def _messages(same: list[DataIssue]) -> str:
    """Return the first messages of issues of one kind, and the names of the other joints."""
    text = '; '.join(issue.message for issue in same[:MAX_DETAILED])
    rest = [issue.joint for issue in same[MAX_DETAILED:]]
    return f'{text}; also {", ".join(rest)}' if rest else text


@dataclass(frozen=True)
class PreparationOptions:
    """
    Options of the preparation of a recording; None applies a rule, whose result the notes state.

    :param rate: samples a second that everything is brought to [Hz]; None: as it was recorded.
    :param cutoff: of the low-pass filter [Hz], infinite for none; None:
        :func:`~.filtering.choose_cutoff`.
    :param why: reason of the cut-off, for the notes.
    :param accept: kinds of :class:`DataIssue` that do not stop the identification.
    """

    rate: float | None = None
    cutoff: float | None = None
    accept: tuple[str, ...] = ()
    why: str = 'as asked'

    def __post_init__(self) -> None:
        for name in ('rate', 'cutoff'):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ArgumentError(f'{name} is {value!r}', name=name, value=value,
                                    remedy='use a positive number, or None for the rule')


@dataclass(frozen=True)
class ParameterSelection:
    """
    Parameters that are estimated besides the inertial ones; the others are those of the model.

    :param viscous: viscous friction.
    :param coulomb: Coulomb friction, with the smooth sign of :mod:`~robodyn_ros.dynamics.friction`
        and ``friction_velocity`` of the model.
    :param static: static friction apart from Coulomb friction, with ``stribeck_velocity`` of the
        model. Without it both are equal, as in a URDF.
    :param directions: separate friction for each direction of motion.
    :param offset: constant offsets of the effort sensors; without it they are zero.
    :param armature: inertia of the rotors.
    :param moving: speed [rad/s | m/s] below which samples of a joint are left out, with the
        neighbours that the low-pass filters mix with them (also at the ends of segments, where the
        neighbours are unknown). A joint that sticks at a reversal bears any effort up to its
        static friction, which no function of the velocity describes. Rows of other joints are
        used. None: all samples are used.
    :param presliding: distance [rad] after a reversal over which dry friction of rotary joints
        changes its sign (:mod:`~robodyn_ros.dynamics.friction`), in place of that of the model.
        None: as in the model.
    :param load: inertial parameters (10 nb,) of an earlier estimate, with whose gravity Coulomb
        and static friction grow; how much is estimated. Empty: not estimated.
    :param coupling: index of a joint, and ratio: viscous and Coulomb friction on its velocity plus
        the ratio times that of the next joint, which acts on both.
    :param still: indices of joints that hardly move: their friction and armature are those of the
        model, their efforts count.
    :param unexplained: indices of joints whose efforts no parameters explain: they determine an
        offset and nothing else.
    :param decimate: use one in so many samples. Motions are filtered, so neighbours carry much the
        same information; a tenth of the samples needs a tenth of the time and memory.
    :raises IdentificationError: a value is outside its range, or static friction is selected
        without Coulomb friction.
    """

    viscous: bool = True
    coulomb: bool = True
    static: bool = False
    directions: bool = False
    offset: bool = True
    armature: bool = True
    moving: float | None = None
    presliding: float | None = None
    load: tuple[float, ...] = ()
    coupling: tuple[tuple[int, float], ...] = ()
    still: tuple[int, ...] = ()
    unexplained: tuple[int, ...] = ()
    decimate: int = 1

    def __post_init__(self):
        if self.decimate < 1:
            raise IdentificationError(f'decimate is {self.decimate!r}', name='decimate',
                                      value=self.decimate, remedy='use 1, or more to leave '
                                      'samples out')
        if self.moving is not None and not self.moving > 0.0:
            raise IdentificationError(f'moving is {self.moving!r}', name='moving',
                                      value=self.moving, remedy='use a speed above 0, or None '
                                      'to count all samples')
        if self.presliding is not None and not 0.0 <= self.presliding < np.inf:
            raise IdentificationError(f'presliding is {self.presliding!r}', name='presliding',
                                      value=self.presliding, remedy='use a distance, or 0 for '
                                      'the smooth sign of the velocity')
        for name in ('static', 'load'):
            if getattr(self, name) and not self.coulomb:
                raise IdentificationError(f'{name} friction cannot be found without Coulomb '
                                          'friction', name=name, value=True,
                                          remedy='choose both, or neither')


USUAL_PARAMETERS = ParameterSelection()
# Friction and armature are those of the model
INERTIAL_ONLY = ParameterSelection(viscous=False, coulomb=False, offset=False, armature=False)


@dataclass(frozen=True)
class PipelineOptions:
    """
    Options of the identification pipeline; None applies a rule, which uses the training part only.

    :param selection: parameters that are estimated besides the inertial ones. ``armature`` and
        ``presliding`` of it are replaced by the options below; its ``decimate`` of 1 stands for
        the rule, see :func:`~.estimation.filtered_columns.decimated`.
    :param armature: whether rotor inertias are estimated; None: where they are significantly
        positive at some joint.
    :param split: share of the samples, from the first, that is used for training; the others are
        predicted.
    :param delay: of the efforts after the positions [s]; None: estimated.
    :param tilt: whether a tilt of the base is estimated.
    :param presliding: distance after a reversal over which friction changes its sign [rad], 0 for
        none; None: estimated.
    :param coupled: pairs of names of joints that share a motor; empty: neighbours are tried.
    :param preparation: filter, rate, and kinds of issues that are accepted.
    :param force: whether files are written where the estimate predicts worse than a constant.
    :raises ArgumentError: the split leaves too little to fit or to predict.
    """

    selection: ParameterSelection = field(default_factory=ParameterSelection)
    armature: bool | None = None
    split: float = 0.7
    delay: float | None = None
    tilt: bool = True
    presliding: float | None = None
    preparation: PreparationOptions = field(default_factory=PreparationOptions)
    force: bool = False
    coupled: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if not 0.1 <= self.split <= 0.9:
            raise ArgumentError(f'the split is {self.split!r}', name='split', value=self.split,
                                remedy='use a share from 0.1 to 0.9: the rest is not fitted, '
                                       'but predicted')
