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
    :param order: of the Butterworth filter, which runs forwards and backwards.
    :param velocity: 'position', its derivative; or 'measured', filtered.
    :param gap: intervals without a sample up to this long are bridged by a spline [s]; None: up
        to a quarter of a period of the cutoff, at most 10 samples, and always one lost sample.
    :param settling: cut away at both ends of every segment [s]; None: until 1 % of a transient
        of the filter is left.
    :param rest: samples at which no joint moves faster are left out [rad/s | m/s]; None: none.
    :param every: one in so many samples is kept.
    :param accept: kinds of :class:`~.data_issue.DataIssue` that do not stop the identification.
    """

    rate: float | None = None
    cutoff: float | None = None
    order: int = 4
    velocity: str = 'position'
    gap: float | None = None
    settling: float | None = None
    rest: float | None = None
    every: int = 1
    accept: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ('rate', 'cutoff', 'gap', 'settling', 'rest'):
            value = getattr(self, name)
            if value is not None and not (value > 0 or value == 0 and name in ('settling', 'gap')):
                raise ArgumentError(f'{name} is {value!r}', name=name, value=value,
                                    remedy='give a positive number, or None for the rule')
        for name in ('order', 'every'):
            if not isinstance(value := getattr(self, name), int) or value < 1:
                raise ArgumentError(f'{name} is {value!r}', name=name, value=value,
                                    remedy='give a whole number from 1')
        if self.velocity not in ('position', 'measured'):
            raise ArgumentError(f'velocity is {self.velocity!r}', name='velocity',
                                value=self.velocity, remedy="give 'position' or 'measured'")
