# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Issues of recorded data: kind, joint, message, remedy and severity."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from ..errors import Argument, RecordingError, Remedy, remedy_parts, remedy_text

MAX_DETAILED = 3    # issues of one kind with a message; for the others the names are listed


class Severity(Enum):
    """Whether an issue stops the identification."""

    ERROR = 'error'
    WARNING = 'warning'

    @classmethod
    def of(cls, is_error: bool) -> 'Severity':
        """Return ERROR or WARNING."""
        return cls.ERROR if is_error else cls.WARNING


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
    :param severity: whether it stops the identification.
    """

    kind: str
    joint: str
    message: str
    remedy: Remedy
    value: float
    severity: Severity = Severity.ERROR

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
    errors = [issue for issue in issues
              if issue.severity is Severity.ERROR and issue.kind not in accept]
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
