# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Expansion of .xacro files by the package `xacro`."""

from pathlib import Path

from ..errors import UrdfError
from ..extras import pip_install

SUFFIXES = '.xacro', '.xacro.urdf'


def is_xacro(path: str | Path) -> bool:
    """Return whether a path has a suffix of a xacro file."""
    return str(path).lower().endswith(SUFFIXES)


def expanded(path: str | Path) -> str:
    """
    Return the URDF text of a xacro file with the default values of its arguments.

    :raises UrdfError: `xacro` is not installed, or cannot expand the file.
    """
    try:
        import xacro
    except ImportError:
        raise UrdfError(f'{path} is xacro, which is not installed', name=str(path),
                        remedy=f'run `{pip_install("xacro")}`, or give a URDF: `xacro FILE > '
                               'robot.urdf`') from None
    try:
        return xacro.process_file(str(path)).toxml()
    except Exception as error:      # of many kinds: XML, YAML, Python expressions, packages
        why = ' '.join(str(error).split()) or type(error).__name__
        raise UrdfError(f'{path} cannot be expanded by xacro ({why})', name=str(path),
                        remedy='source the workspace of the packages it refers to, or run '
                               '`xacro FILE argument:=value > robot.urdf` and give that '
                               'file') from error
