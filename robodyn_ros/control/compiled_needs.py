# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled code that settings need besides the control cycle, and whether it is there."""

from numpy import ndarray

from .compile import needed_parts, needs_generic_dynamics, OPTIONAL, others_are_cached
from .compile_ahead import COMPILING
from .settings import Settings
from .. import second_process
from ..dynamics.model_data import ModelData
from ..errors import ParameterError


def needs(settings: Settings, record: ndarray, robot: ModelData, before: Settings) -> set[str]:
    """
    Return in words what settings need.

    :param record: the settings as (1,) ``SETTINGS``, and the ``robot`` with their payload.
    :param before: settings that they replace.
    """
    found = {f'mode {settings.mode}', *(part.setting for part in needed_parts(record))}
    if needs_generic_dynamics(record, robot) or settings.loading != before.loading:
        found.add('payload')
    return found


def check_compiled(new: set[str]) -> None:
    """
    Check that what settings need can be loaded, without compiling it or waiting for it.

    :param new: of :func:`needs`, what this process has not loaded yet.
    :raises ParameterError: something is new, and the process that compiles it still runs or has
        failed.
    """
    what = ', '.join(sorted(new))
    if new and second_process.running(OPTIONAL):
        raise ParameterError(f'what {what} needs is {COMPILING} in the background, once on this '
                             'machine', name='mode', value=what,
                             remedy='try again in some seconds; nothing has changed')
    if new and second_process.failed(OPTIONAL) and not others_are_cached():
        raise ParameterError(f'what {what} needs could not be compiled in the background',
                             name='mode', value=what, remedy='run `robodyn warmup ROBOT`, which '
                             'compiles it or says why not, and try again; nothing has changed')
