# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Shapes of links to be drawn: those of the URDF where they can be read, else rods."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from lxml import etree
import numpy as np
from numpy import ndarray

from ..errors import UrdfError
from ..extras import pip_install
from ..identification.excitation.collision_geometry import GEOMETRY_KINDS
from ..model.robot import RobotModel
from ..model.shapes import Shape, shape
from ..model.urdf_xml import regular

MESH_FORMATS = ('.glb', '.obj', '.ply', '.stl')    # that trimesh reads
MIN_ROD_LENGTH = 1e-3    # [m]
ROD_RADIUS_SHARE = 0.025    # of the size of the robot
MIN_ROBOT_SIZE = 0.02    # [m], if all frames coincide


def link_shapes(urdf: Path, model: RobotModel) -> tuple[list[Shape], list[str]]:
    """
    Return the shapes of the links of a model, and notes about those that cannot be read.

    Of each link the visual shapes are taken; where one of them cannot be read, its collision
    shapes; where they cannot be read either, none.

    :param urdf: file of the robot, next to which relative names of meshes are looked up.
    :raises UrdfError: the file cannot be read.
    """
    found: list[Shape] = []
    notes: list[str] = []
    for link in regular(urdf)[0].iterfind('link'):
        if link.get('name') in model.frames:
            found += _of_link(link, urdf, notes)
    return found, notes


def _of_link(link: etree._Element, urdf: Path, notes: list[str]) -> list[Shape]:
    name = link.get('name', '')
    for kind in reversed(GEOMETRY_KINDS):
        try:
            shapes = [shape(name, element, urdf) for element in link.iterfind(kind)]
        except UrdfError as error:
            notes.append(f'{kind}: {str(error).removesuffix(f": {error.remedy}")}')
            continue
        if unread := [one.mesh.name for one in shapes
                      if one.mesh is not None and not is_readable(one.mesh)]:
            notes.append(f'{kind}: link {name!r} has the mesh {unread[0]!r}, which is not read'
                         + f': run `{pip_install("pycollada")}`' * unread[0].endswith('.dae'))
        elif shapes:
            return shapes
    return []


def is_readable(mesh: Path) -> bool:
    """Return whether trimesh has a reader for a file; that of .dae files is pycollada."""
    suffix = mesh.suffix.lower()
    return suffix in MESH_FORMATS or suffix == '.dae' and find_spec('collada') is not None


def extent(model: RobotModel) -> float:
    """Return a length [m] of the robot: the longest path of joint origins from the base."""
    reach = np.zeros(model.nb)
    for i, parent in enumerate(model.parent):
        before = reach[parent] if parent >= 0 else 0.0
        reach[i] = before + np.linalg.norm(model.joint_origin[i])
    tips = [reach[frame.body] + np.linalg.norm(frame.origin)
            for frame in model.frames.values() if frame.body >= 0]
    return max(*tips, MIN_ROBOT_SIZE) if tips else MIN_ROBOT_SIZE


def rods(model: RobotModel, drawn: Sequence[str]) -> list[tuple[int, ndarray, ndarray]]:
    """
    Return rods that stand for the bodies of which no shape is drawn.

    A rod goes from the origin of its body to each joint that the body carries, or, of a last
    body, to its frames and its center of mass.

    :param drawn: names of the links that have shapes.
    :return: index of the body, -1 for the base, and both ends (3,) [m] in the frame of the body.
    """
    shown = {model.frames[name].body for name in drawn}
    found = []
    for body in range(-1, model.nb):
        if body not in shown:
            ends = [model.joint_origin[i] for i in range(model.nb) if model.parent[i] == body]
            if not ends and body >= 0:
                ends = [frame.origin for frame in model.frames.values() if frame.body == body]
                ends.append(model.com[body])
            found += [(body, np.zeros(3), np.asarray(end)) for end in ends
                      if np.linalg.norm(end) > MIN_ROD_LENGTH]
    return found
