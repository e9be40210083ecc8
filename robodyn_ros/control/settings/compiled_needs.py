# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Availability of the compiled code that settings need besides the control cycle."""

from collections.abc import Callable, Mapping
from functools import partial

from numpy import ndarray

from .settings import Settings
from ..cycle.compile import needed_parts, needs_generic_dynamics, OPTIONAL
from ..cycle.compile_ahead import COMPILING
from ..cycle.compile_laws import law_is_cached
from ..laws.registry import BUILT_IN
from ..steps import robot_dynamics
from ...compiler import second_process
from ...dynamics.model_data import ModelData
from ...errors import ParameterError


def needs(settings: Settings, record: ndarray, robot: ModelData, before: Settings
          ) -> dict[str, Callable[[], bool]]:
    """
    Return the names of code that settings need, with functions that return whether it is compiled.

    :param record: the settings as (1,) ``SETTINGS``, and the ``robot`` with their payload.
    :param before: the settings that are replaced.
    """
    law = settings.law_in_force
    found: dict[str, Callable[[], bool]] = {
        f'mode {settings.mode}': partial(law_is_cached, law) if law in BUILT_IN else lambda: True}
    found |= {part.setting: part.is_cached for part in needed_parts(record)}
    if needs_generic_dynamics(record, robot) or settings.loading != before.loading:
        found['payload'] = robot_dynamics.are_cached
    return found


def check_compiled(new: Mapping[str, Callable[[], bool]]) -> None:
    """
    Check that the needed code can be loaded, without compiling it or waiting for it.

    :param new: items of :func:`needs` that this process has not loaded yet.
    :raises ParameterError: code is missing, and the process that compiles it still runs or has
        failed.
    """
    if not (what := ', '.join(name for name, is_cached in new.items() if not is_cached())):
        return
    if second_process.running(OPTIONAL):
        raise ParameterError(f'the code of {what} is {COMPILING} in the background, once on '
                             'this machine', name='mode', value=what,
                             remedy='try again in a few seconds; nothing has changed')
    if second_process.failed(OPTIONAL):
        raise ParameterError(f'the code of {what} could not be compiled in the background',
                             name='mode', value=what, remedy='run `robodyn warmup ROBOT`, which '
                             'compiles it or reports the error; nothing has changed')
