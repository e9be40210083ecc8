# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameter files: search by name, and check that a file has a section for a node."""

from collections.abc import Iterator, Sequence
from pathlib import Path
import re
from typing import Any

import yaml

from ..errors import ParameterError, UnknownNameError
from ..model.resources import share_path

OPTION = '--params-file'
SECTION = 'ros__parameters'
# A key of a file as rcl matches it with the full name of a node
WILDCARDS = {'**': r'(/\w+)*', '*': r'/\w+'}


def config_path(name_or_path: str) -> Path:
    """
    Return the parameter file of a path, or of a name among those of this package's config folder.

    launch_ros only warns of a file that is not there, and the node would start with defaults.

    :raises ParameterError: neither is a file.
    """
    if (path := Path(name_or_path).expanduser()).is_file():
        return path.absolute()
    folder = share_path('config')
    try:
        if not path.is_absolute() and (ours := share_path('config', name_or_path)).is_file():
            return ours
    except UnknownNameError:
        pass
    known = ', '.join(sorted(file.name for file in folder.glob('*.yaml')))
    raise ParameterError(
        f'no parameter file {name_or_path!r}: {path.absolute()} is no file, and {folder} has none '
        'of that name', name='config', value=name_or_path,
        remedy=f'give the path of a file, or one of {known}')


def check_sections(arguments: Sequence[str], node: str) -> None:
    """
    Refuse parameter files without a section for a node, which would run with defaults.

    :param arguments: of the process, as in sys.argv.
    :param node: full name of the node, e.g. ``/left/controller``.
    :raises ParameterError: naming the file and the nodes that are in it.
    """
    for file in _files(arguments):
        with open(file, encoding='utf-8') as text:
            names = list(_names(yaml.safe_load(text)))
        if not any(_matches(name, node) for name in names):
            raise ParameterError(
                f'parameter file {file} has no section for node {node}, only for '
                f'{", ".join(names) or "none"}', name=node, value=names,
                remedy=f'name the section /**/{node.rpartition("/")[2]}, or the node as the file '
                       'does')


def _files(arguments: Sequence[str]) -> Iterator[str]:
    """Files given between ``--ros-args`` and ``--``, as rcl reads the arguments."""
    for_ros = False
    for word, following in zip(arguments, [*arguments[1:], '']):
        if for_ros and word == OPTION and following:
            yield following
        for_ros = word == '--ros-args' or for_ros and word != '--'


def _names(content: Any, above: str = '') -> Iterator[str]:
    """Full names of the nodes, with wildcards, that have a section."""
    for key, value in content.items() if isinstance(content, dict) else ():
        if key == SECTION:
            yield above
        else:
            yield from _names(value, f'{above}/{str(key).strip("/")}')


def _matches(name: str, node: str) -> bool:
    tokens = [WILDCARDS.get(token, '/' + re.escape(token)) for token in name.split('/')[1:]]
    return re.fullmatch(''.join(tokens), node) is not None
