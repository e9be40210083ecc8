# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Collision and visual shapes of the links of a URDF, with the files of their meshes."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn
from urllib.parse import unquote, urlparse

import numpy as np
from lxml import etree
from numpy import ndarray

from ...errors import IdentificationError
from ...model.rigid_body import rpy_rotation

KINDS = ('collision', 'visual')
READABLE = ('.stl', '.obj', '.msh')             # by MuJoCo
# Attributes that tell the size of each primitive: as how many numbers, and if across the whole
PRIMITIVES = {'box': {'size': (3, True)}, 'sphere': {'radius': (1, False)},
              'cylinder': {'radius': (1, False), 'length': (1, True)},
              'capsule': {'radius': (1, False), 'length': (1, True)}}


class Shape(NamedTuple):
    """
    One shape of a link.

    :param kind: 'box', 'sphere', 'cylinder', 'capsule' (both along z) or 'mesh'.
    :param size: [m] half the edges (3,), the radius (1,), or radius and half the length (2,); of
        a mesh, its scale (3,).
    :param rotation: (3, 3), and ``origin`` (3,) [m], in the frame of the link.
    :param mesh: file of a mesh.
    """

    link: str
    kind: str
    size: ndarray
    rotation: ndarray
    origin: ndarray
    mesh: Path | None


def shapes(urdf: Path, kind: str = 'collision', packages: Sequence[Path] = ()) -> list[Shape]:
    """
    Return the shapes of all links of a URDF file; an empty list where it has none.

    :param kind: one of :data:`KINDS`.
    :param packages: folders of ROS packages, or folders that contain such folders, for meshes at
        package:// addresses; those of the environment come after them.
    :raises IdentificationError: a shape cannot be read, or the file of a mesh is missing or in a
        format that MuJoCo does not read; the error names the link.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True)
    root = etree.parse(str(urdf), parser).getroot()
    found = [shape(link.get('name', ''), element, urdf, packages)
             for link in root.iterfind('link') for element in link.iterfind(kind)]
    for one in found:
        if one.mesh is not None and one.mesh.suffix.lower() not in READABLE:
            _refuse(one.link, f'has the mesh {str(one.mesh)!r}',
                    f'MuJoCo reads {", ".join(READABLE)} only')
    return found


def shape(link: str, element: etree._Element, urdf: Path, packages: Sequence[Path] = ()) -> Shape:
    """
    Return the shape of a <collision> or <visual> of a link, with a mesh in any format.

    :raises IdentificationError: it cannot be read, or the file of a mesh is missing.
    """
    origin = element.find('origin')
    xyz, rpy = (np.zeros(3) if origin is None or origin.get(key) is None
                else _numbers(link, origin, key, 3) for key in ('xyz', 'rpy'))
    form = next(iter(element.find('geometry') if element.find('geometry') is not None else ()),
                None)
    if form is not None and form.tag == 'mesh':
        scale = np.ones(3) if form.get('scale') is None else _numbers(link, form, 'scale', 3)
        return Shape(link, 'mesh', scale, rpy_rotation(rpy), xyz,
                     _mesh(link, form.get('filename', ''), urdf, packages))
    if form is None or form.tag not in PRIMITIVES:
        _refuse(link, f'has the shape {None if form is None else form.tag!r}',
                f'use mesh, {", ".join(PRIMITIVES)}')
    size = np.concatenate([_numbers(link, form, key, count) / (2 if whole else 1)
                           for key, (count, whole) in PRIMITIVES[form.tag].items()])
    return Shape(link, form.tag, size, rpy_rotation(rpy), xyz, None)


def _numbers(link: str, element: etree._Element, key: str, count: int) -> ndarray:
    text = element.get(key, '')
    try:
        values = np.array([float(word) for word in text.split()])
    except ValueError:
        values = np.empty(0)
    if len(values) != count or not np.isfinite(values).all():
        _refuse(link, f'has {key}={text!r} in a <{element.tag}>',
                f'give {count} finite number{"s" * (count > 1)}')
    return values


def _mesh(link: str, name: str, urdf: Path, packages: Sequence[Path]) -> Path:
    """Return the file of a mesh: of a package:// or file:// address, or beside the URDF."""
    address = urlparse(name)
    tail = unquote(address.path).lstrip('/')
    if address.scheme == 'package':
        folders = [folder if folder.name == address.netloc else folder / address.netloc
                   for folder in packages] + _package(address.netloc, urdf)
    else:
        folders = [Path('/') if address.scheme == 'file' else urdf.parent]
        tail = name if not address.scheme else tail
    found = next((path for folder in folders if (path := folder / tail).is_file()), None)
    if found is None:
        _refuse(link, f'has the mesh {name!r}, which is not there',
                'install the package that has it, give its folder (--package-dir), or put it '
                'where the URDF says')
    return found


def _package(name: str, urdf: Path) -> list[Path]:
    """Return folders that may be the one of a ROS package, those around the URDF last."""
    folders = [Path(path) / 'share' / name
               for path in os.environ.get('AMENT_PREFIX_PATH', '').split(':') if path]
    return folders + [parent if parent.name == name else parent / name
                      for parent in urdf.resolve().parents]


def _refuse(link: str, problem: str, remedy: str) -> NoReturn:
    raise IdentificationError(f'link {link!r} {problem}', name=link,
                              remedy=f'{remedy}; or go without a check for collisions')
