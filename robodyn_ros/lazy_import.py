# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Lazy imports of package members (PEP 562)."""

from collections.abc import Callable, Mapping
from importlib import import_module


def from_modules(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """
    Return the ``__getattr__`` of a package whose names are those of its modules.

    :param package: ``__name__`` of the package.
    :param modules: for each name the module that has it, relative to the package.
    :return: function that raises ImportError, with the cause, if a module cannot be imported.
    """
    def load(name: str) -> object:
        if name not in modules:
            raise AttributeError(f'module {package!r} has no attribute {name!r}')
        try:
            module = import_module(modules[name], package)
        except AttributeError as error:     # would read as if the package had no such name
            raise ImportError(f'{package}.{name} cannot be loaded, because its module raises '
                              f'AttributeError: {error}', name=f'{package}.{name}') from error
        return getattr(module, name)
    return load
