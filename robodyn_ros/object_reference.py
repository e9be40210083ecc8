# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Objects of the user's own modules, by references ``package.module:NAME``."""

from importlib import import_module
from types import ModuleType
from typing import Any

from .errors import ParameterError


def refused(parameter: str, reference: str, problem: str, remedy: str) -> ParameterError:
    """Return the error of a parameter whose reference cannot be used."""
    return ParameterError(f'parameter {parameter} = {reference!r} is refused: {problem}',
                          name=parameter, value=reference, remedy=remedy)


def load_object(parameter: str, reference: str, kind: str) -> tuple[ModuleType, Any]:
    """
    Return the module of a reference ``package.module:NAME``, and its object, None without one.

    :param parameter: that has the reference, and ``kind`` of object, e.g. 'class': for errors.
    :raises ParameterError: it is no reference, or the module cannot be imported.
    """
    place, _, name = reference.partition(':')
    if not place or not name.isidentifier():
        raise refused(parameter, reference, f'it names no {kind}', 'write package.module:NAME')
    try:
        module = import_module(place)
    # Any error of the user's module on import, which may call sys.exit
    except (Exception, SystemExit) as error:
        raise refused(parameter, reference, f'module {place} cannot be imported '
                      f'({type(error).__name__}: {error})', 'correct it; install its package, or '
                      'add its folder to PYTHONPATH') from error
    return module, getattr(module, name, None)
