# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Nodes of a robot in a scene of viser: bodies, nested as the joints are, and what is fixed to them.

A picture of another pose is one message for each joint that has moved: frames, shapes, rods and
ellipsoids are children of the body that carries them, and stay where they are in it.
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lxml import etree
import numpy as np
from numpy import ndarray
import trimesh

from .quantities import along, ellipsoid, homogeneous, quaternion
from ..errors import ArgumentError, UrdfError
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


GREY, ORANGE, BLUE = (122, 130, 140), (224, 123, 26), (31, 111, 180)
MIN_ELLIPSOID_AXIS = 2e-3    # [m]
FIXED_NODE = '/base'    # of bodies that do not move


class RobotNodes:
    """
    The nodes of one robot.

    :param scene: of a server of viser; ``shapes``: of links; ``size``: of the robot [m].
    :ivar solids: links, and handles of what is drawn of them.
    :ivar notes: about meshes that cannot be read.
    """

    def __init__(self, scene: Any, model: RobotModel, shapes: Iterable[Shape], size: float):
        self._scene, self._model, self._size = scene, model, size
        self._slides = model.body_slides.tolist()
        self.solids: list[tuple[str, Any]] = []
        self.notes: list[str] = []
        #: Handle of each body; a body hangs from the one that carries its joint.
        self.bodies: list[Any] = []
        for i, parent in enumerate(model.parent):
            above = self.bodies[parent].name if parent >= 0 else FIXED_NODE
            self.bodies.append(scene.add_frame(
                f'{above}/{i}', show_axes=False, position=model.joint_origin[i],
                wxyz=quaternion(model.joint_rotation[i])))
        # From the frame of a body to that of its link, which is where a model says that it is
        self._from_link = np.linalg.inv([homogeneous(model.frames[name].rotation,
                                                     model.frames[name].origin)
                                         for name in model.link_names])
        # Names of nodes must not nest or coincide, as names of links with a slash would
        self.frames = {name: self._fixed(name, f'frame {k}', axes_length=0.12 * size,
                                         axes_radius=0.004 * size, visible=False)
                       for k, name in enumerate(model.frame_names)}
        self.links = {name: self._fixed(name, f'link {k}', show_axes=False)
                      for k, name in enumerate(model.frame_names)}
        #: Names of the links that have a shape.
        self.shown = self._add_shapes(shapes)
        self._add_rods()
        self.ellipsoids = [self._add_ellipsoid(i) for i in range(model.nb) if model.mass[i] > 0]

    def place(self, poses: Mapping[str, ndarray]) -> None:
        """Draw the robot where its links are: poses (4, 4) in the base frame by name."""
        T = np.stack([poses[name] for name in self._model.link_names]) @ self._from_link
        above = np.stack([T[parent] if parent >= 0 else np.eye(4)
                          for parent in self._model.parent])
        relative = np.linalg.inv(above) @ T
        for body, slides, wxyz, position in zip(self.bodies, self._slides, quaternion(
                relative[:, :3, :3]), relative[:, :3, 3]):
            if slides:
                body.position = position
            else:
                body.wxyz = wxyz

    def _name(self, body: int) -> str:
        return self.bodies[body].name if body >= 0 else FIXED_NODE

    def _fixed(self, name: str, node: str, **look: Any) -> Any:
        """Add a node at a frame of the model."""
        frame = self._model.frames[name]
        return self._scene.add_frame(f'{self._name(frame.body)}/{node}', position=frame.origin,
                                     wxyz=quaternion(frame.rotation), **look)

    def _add_shapes(self, shapes: Iterable[Shape]) -> list[str]:
        """Add the shapes; return the names of the links that have one."""
        shown = []
        for k, one in enumerate(shapes):
            try:
                mesh = solid(one)
            except Exception as error:      # of a reader of meshes, of any type
                self.notes.append(f'link {one.link!r}: {one.mesh} is not read ({error})')
                continue
            self.solids.append((one.link, self._scene.add_mesh_trimesh(
                f'{self.links[one.link].name}/{k}', mesh, wxyz=quaternion(one.rotation),
                position=one.origin)))
            shown.append(one.link)
        return shown

    def _add_rods(self) -> None:
        radius = ROD_RADIUS_SHARE * self._size
        for k, (body, begin, end) in enumerate(rods(self._model, self.shown)):
            parent = self._name(body)
            rod = self._scene.add_cylinder(
                f'{parent}/rod{k}', radius, float(np.linalg.norm(end - begin)), GREY,
                wxyz=along(end - begin), position=(begin + end) / 2)
            if body >= 0:
                self.solids.append((self._model.link_names[body], rod))
            self._scene.add_icosphere(f'{parent}/knob{k}', 1.5 * radius, ORANGE)

    def _add_ellipsoid(self, i: int) -> Any:
        axes, rotation = ellipsoid(self._model.mass[i], self._model.inertia[i])
        return self._scene.add_icosphere(
            f'{self.bodies[i].name}/inertia', 1.0, BLUE, opacity=0.45,
            scale=tuple(np.maximum(axes, MIN_ELLIPSOID_AXIS).tolist()), wxyz=quaternion(rotation),
            position=self._model.com[i], visible=False)


def solid(one: Shape) -> trimesh.Trimesh:
    """
    Return the surface of a shape [m], in its own axes.

    :raises ArgumentError: a mesh has no faces, or vertices that are not finite.
    :raises Exception: an error of the mesh reader.
    """
    if one.mesh is not None:
        mesh = trimesh.load(one.mesh, force='mesh')
        if not len(mesh.faces) or not np.isfinite(mesh.bounds).all():
            raise ArgumentError('it has no surface', name=one.mesh.name, value=len(mesh.faces),
                                remedy='export the mesh again')
        return mesh.apply_scale(one.size)
    if one.kind == 'box':
        mesh = trimesh.creation.box(2.0 * np.array(one.size))
    elif one.kind == 'sphere':
        mesh = trimesh.creation.icosphere(3, one.size[0])
    else:
        make = trimesh.creation.cylinder if one.kind == 'cylinder' else trimesh.creation.capsule
        mesh = make(radius=one.size[0], height=2 * one.size[1])
    mesh.visual.face_colors = [*GREY, 255]
    return mesh
