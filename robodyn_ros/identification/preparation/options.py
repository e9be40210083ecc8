# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Options of the preparation of a recording."""

from dataclasses import dataclass

from ...errors import ArgumentError


@dataclass(frozen=True)
class PreparationOptions:
    """
    Options of the preparation of a recording; None applies a rule, whose result the notes state.

    :param rate: samples a second that everything is brought to [Hz]; None: as it was recorded.
    :param cutoff: of the low-pass filter [Hz], infinite for none; None:
        :func:`~.filtering.choose_cutoff`.
    :param why: reason of the cut-off, for the notes.
    :param accept: kinds of :class:`~.data_issue.DataIssue` that do not stop the identification.
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
                                    remedy='give a positive number, or None for the rule')
