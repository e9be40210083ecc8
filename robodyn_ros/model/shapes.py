# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Collision and visual shapes of the links of a URDF, with the files of their meshes."""

from collections.abc import Iterable, Sequence
import os
from pathlib import Path
from typing import NamedTuple, NoReturn
from urllib.parse import unquote, urlparse

from lxml import etree
from numpy import ndarray

from .rigid_body import rpy_rotation
from .urdf_xml import MAX_NUMBER, numbers
from ..errors import UrdfError

# Size attributes of each primitive: how many numbers, and whether across the whole
PRIMITIVES = {'box': {'size': (3, True)}, 'sphere': {'radius': (1, False)},
              'cylinder': {'radius': (1, False), 'length': (1, True)},
              'capsule': {'radius': (1, False), 'length': (1, True)}}


class Shape(NamedTuple):
    """
    One shape of a link.

    :param kind: 'box', 'sphere', 'cylinder', 'capsule' (both along z) or 'mesh'.
    :param size: [m] half the edges (3,), the radius (1,), or radius and half the length (2,); of
        a mesh, its scale (3,).
    :param rpy: roll, pitch and yaw [rad], and ``origin`` (3,) [m], in the frame of the link.
    :param mesh: file of a mesh.
    """

    link: str
    kind: str
    size: tuple[float, ...]
    rpy: tuple[float, ...]
    origin: tuple[float, ...]
    mesh: Path | None = None

    @property
    def rotation(self) -> ndarray:
        """Axes of the shape in the frame of the link, (3, 3)."""
        return rpy_rotation(self.rpy)


def readable_shapes(elements: Iterable[etree._Element], urdf: Path | None
                    ) -> tuple[tuple[Shape, ...], tuple[str, ...]]:
    """
    Return the shapes of <collision> elements, and a sentence for each that cannot be read.

    :param elements: in their links.
    :param urdf: file next to which meshes are looked for, None for a text without a place.
    """
    found, problems = [], []
    for element in elements:
        try:
            found.append(shape(element.getparent().get('name', ''), element, urdf))
        except UrdfError as error:
            problems.append(str(error))
    return tuple(found), tuple(problems)


def shape(link: str, element: etree._Element, urdf: Path | None,
          packages: Sequence[Path] = ()) -> Shape:
    """
    Return the shape of a <collision> or <visual> of a link, with a mesh in any format.

    :param urdf: file next to which meshes are looked for, None for a text without a place.
    :param packages: folders of ROS packages, or folders that contain such folders, for meshes at
        package:// addresses; those of the environment come after them.
    :raises UrdfError: it cannot be read, or the file of a mesh is missing; names the link.
    """
    origin = element.find('origin')
    xyz, rpy = ((0.0, 0.0, 0.0) if origin is None or origin.get(key) is None
                else _numbers(link, origin, key, 3) for key in ('xyz', 'rpy'))
    form = next(iter(element.find('geometry') if element.find('geometry') is not None else ()),
                None)
    if form is not None and form.tag == 'mesh':
        scale = (1.0, 1.0, 1.0) if form.get('scale') is None else _numbers(link, form, 'scale', 3)
        return Shape(link, 'mesh', scale, rpy, xyz,
                     _mesh(link, form.get('filename', ''), urdf, packages))
    if form is None or form.tag not in PRIMITIVES:
        _refuse(link, f'has the shape {None if form is None else form.tag!r}',
                f'use mesh, {", ".join(PRIMITIVES)}')
    size = tuple(x / (2 if whole else 1) for key, (count, whole) in PRIMITIVES[form.tag].items()
                 for x in _numbers(link, form, key, count))
    if not min(size) >= 0.0:
        _refuse(link, f'has a {form.tag} of negative size', 'use lengths that are not negative')
    return Shape(link, form.tag, size, rpy, xyz)


def written(one: Shape) -> etree._Element:
    """Return a shape as <collision>, from which :func:`shape` reads the same numbers."""
    def words(values: Iterable[float]) -> str:
        return ' '.join(repr(float(x)) for x in values)

    element = etree.Element('collision')
    etree.SubElement(element, 'origin', xyz=words(one.origin), rpy=words(one.rpy))
    form = etree.SubElement(etree.SubElement(element, 'geometry'), one.kind)
    if one.mesh is not None:
        form.set('filename', str(one.mesh))
        form.set('scale', words(one.size))
        return element
    left = list(one.size)
    for key, (count, whole) in PRIMITIVES[one.kind].items():
        form.set(key, words(x * (2 if whole else 1) for x in left[:count]))
        del left[:count]
    return element


def _numbers(link: str, element: etree._Element, key: str, count: int) -> tuple[float, ...]:
    text = element.get(key, '')
    if (values := numbers(text, count, MAX_NUMBER)) is None:
        _refuse(link, f'has {key}={text!r} in a <{element.tag}>',
                f'use {count} finite number{"s" * (count > 1)}')
    return tuple(values)


def _mesh(link: str, name: str, urdf: Path | None, packages: Sequence[Path]) -> Path:
    """Return the file of a mesh: of a package:// or file:// address, or beside the URDF."""
    address = urlparse(name)
    tail = unquote(address.path).lstrip('/')
    if address.scheme == 'package':
        folders = [folder if folder.name == address.netloc else folder / address.netloc
                   for folder in packages] + _package(address.netloc, urdf)
    elif address.scheme == 'file':
        folders = [Path('/')]
    else:
        folders = [urdf.parent] if urdf else [Path('/')] * name.startswith('/')
        tail = name if not address.scheme else tail
    found = next((path for folder in folders if (path := folder / tail).is_file()), None)
    if found is None:
        _refuse(link, f'has the mesh {name!r}, which is not there',
                'install the package that has it, give its folder (--package-dir), or put it '
                'where the URDF says')
    return found


def _package(name: str, urdf: Path | None) -> list[Path]:
    """Return folders that may be the one of a ROS package, those around the URDF last."""
    folders = [Path(path) / 'share' / name
               for path in os.environ.get('AMENT_PREFIX_PATH', '').split(':') if path]
    return folders + [parent if parent.name == name else parent / name
                      for parent in (urdf.resolve().parents if urdf else ())]


def _refuse(link: str, problem: str, remedy: str) -> NoReturn:
    raise UrdfError(f'link {link!r} {problem}', name=link, remedy=remedy)
