# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Settings of a control loop, each declared once.

The parameters of the controller node and docs/parameters.md come from the declarations; with
``record=LOOP`` a loop finds the value in ``LOOP_STATE`` of :mod:`~.loop`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from .scheduling import Scheduling
from ..control.declare import choice, number
from ..control.settings.parameters import LoopParameters
from ..errors import ParameterError

LOOP = 'loop'       # name of the record
#: Events that start a cycle, in the order of their numbers.
TRIGGERS = 'timer', 'state'
TIMER, STATE = range(len(TRIGGERS))
#: Data paths in the order in which they are tried.
FALLBACK_ORDER = NATIVE, PYTHON, EXECUTOR = 'native', 'python', 'executor'


@dataclass(frozen=True)
class LoopSettings(Scheduling, LoopParameters):
    """
    Settings of the loop and of its thread.

    :raises ParameterError: the final spin would be longer than a period.
    """

    trigger: str = choice(TRIGGERS, 'Event that starts a cycle: clock or joint state.',
                          live=False, record=LOOP, after='rate')
    data_path: str = choice(('auto', *FALLBACK_ORDER), 'Native code, Python with a wait set, or '
                            'an rclpy executor; auto: the first available.', live=False,
                            after='trigger')
    spin: float = number(0.0, 's', 0.0, 0.001, 'Busy-waiting before each deadline: less latency, '
                         'more CPU load.', live=False, record=LOOP, after='lock_memory')

    def __post_init__(self) -> None:
        if self.trigger == TRIGGERS[TIMER] and self.spin * self.rate >= 1.0:
            raise ParameterError(f'parameter spin = {self.spin:g} s is refused', name='spin',
                                 value=self.spin,
                                 remedy=f'it must be a part of the period, {1 / self.rate:g} s; '
                                        '0.00005 is much')

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> 'LoopSettings':
        """Return the settings among the values of parameters."""
        given: dict[str, Any] = {
            f.name: tuple(value) if isinstance(value := values[f.name], list) else value
            for f in fields(cls)}
        return cls(**given)

    @property
    def period_ns(self) -> int:
        """Period [ns]."""
        return round(1e9 / self.rate)
