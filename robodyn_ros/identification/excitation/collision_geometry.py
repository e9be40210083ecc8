# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Shapes of the links of a URDF that MuJoCo reads."""

from collections.abc import Sequence
from pathlib import Path

from ...errors import IdentificationError, UrdfError
from ...model.shapes import Shape, shape
from ...model.urdf_xml import root_element

GEOMETRY_KINDS = ('collision', 'visual')
MESH_SUFFIXES = ('.stl', '.obj', '.msh')    # that MuJoCo reads
UNCHECKED_REMEDY = 'or go without a check for collisions (--shapes none)'


def shapes(urdf: Path, kind: str = 'collision', packages: Sequence[Path] = ()) -> list[Shape]:
    """
    Return the shapes of all links of a URDF file; an empty list where it has none.

    :param kind: one of :data:`GEOMETRY_KINDS`.
    :param packages: as in :func:`~robodyn_ros.model.shapes.shape`.
    :raises IdentificationError: a shape cannot be read, or the file of a mesh is missing or in a
        format that MuJoCo does not read; the error names the link.
    """
    root, _ = root_element(urdf)
    try:
        found = [shape(link.get('name', ''), element, urdf, packages)
                 for link in root.iterfind('link') for element in link.iterfind(kind)]
    except UrdfError as error:
        raise IdentificationError(str(error).removesuffix(f': {error.remedy}'), name=error.name,
                                  remedy=f'{error.remedy}; {UNCHECKED_REMEDY}') from error
    for one in found:
        if one.mesh is not None and one.mesh.suffix.lower() not in MESH_SUFFIXES:
            raise IdentificationError(
                f'link {one.link!r} has the mesh {str(one.mesh)!r}', name=one.link,
                remedy=f'MuJoCo reads {", ".join(MESH_SUFFIXES)} only; {UNCHECKED_REMEDY}')
    return found
