# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A doubt about a recording: what looks wrong, with which joint, by which numbers, what to do."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...errors import RecordingError

TOLD = 3            # doubts of a kind that are told with their numbers


@dataclass(frozen=True)
class Doubt:
    """
    Something that a right recording would not show.

    :param kind: one word or two, which ``Options.accept`` takes.
    :param name: the joint, or the quantity where all joints are meant.
    :param problem: what it looks like, with the numbers that say so.
    :param remedy: what to do, or which option to set.
    :param value: the number that decided.
    :param fatal: whether no result could mean anything.
    """

    kind: str
    name: str
    problem: str
    remedy: str
    value: float
    fatal: bool = True


def in_units(quantity: str, unit: str, names: Sequence[str], of: Sequence[str]) -> str:
    """Return how to say that these joints, or all if they are most of them, have a unit."""
    if len(names) > len(of) / 2:
        return f"units={{'{quantity}': '{unit}'}}"
    each = ', '.join(f"'{name}': '{unit}'" for name in names)
    return f"units={{'{quantity}': {{{each}}}}}"


def settle(doubts: Iterable[Doubt], accept: tuple[str, ...]) -> list[str]:
    """
    Return doubts that need not stop anything, as notes.

    :param accept: kinds of doubt that do not, though they are fatal.
    :raises RecordingError: for the fatal ones, of which the first gives its name, value and
        remedy, and those of the same kind are told too.
    """
    doubts = list(doubts)
    fatal = [doubt for doubt in doubts if doubt.fatal and doubt.kind not in accept]
    if fatal:
        first = fatal[0]
        same = [doubt for doubt in fatal if doubt.kind == first.kind]
        raise RecordingError(
            _told(same), name=first.name, value=first.value,
            remedy=f"{first.remedy}; if it is right as it is, accept=('{first.kind}',)")
    kinds = dict.fromkeys(doubt.kind for doubt in doubts)
    groups = [[doubt for doubt in doubts if doubt.kind == kind] for kind in kinds]
    return [f'doubt ({same[0].kind}): {_told(same)}: {same[0].remedy}' for same in groups]


def _told(same: list[Doubt]) -> str:
    """Return doubts of one kind in a sentence; of many the first, and who else."""
    told = '; '.join(doubt.problem for doubt in same[:TOLD])
    rest = [doubt.name for doubt in same[TOLD:]]
    return f'{told}; likewise {", ".join(rest)}' if rest else told
