# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Loader of a URDF, with links at fixed joints lumped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray
from urdf_parser_py.urdf import Joint, URDF

from .friction_file import with_friction_file
from .kinematic_tree import (
    base_gravity, check_tree, child_joints, joints_between, LIMIT_TOLERANCE, lookalike_warnings,
    mimic_relation, MimicRelation, with_followers)
from .resources import is_robot_name, robot_path
from .rigid_body import Inertial, joined
from .robot import finite, Frame, RobotModel
from .shapes import readable_shapes, Shape
from .unit_checks import angle_warnings
from .urdf_elements import inertial, JOINT_COLUMNS, joint_data, joint_placement, JointData
from .urdf_extension import Extension, extension
from .urdf_xml import MAX_NAME, read
from .validate import validated
from ..errors import Argument, Placeholder, RobodynError, UnknownNameError, UrdfError

MAX_JOINTS = 200        # moving ones, twice as many as in the largest known robot


def load_urdf(path_or_xml: str | bytes | Path, root: str | None = None,
              tip: str | Sequence[str] | None = None, locked: Mapping[str, float] = {},
              gravity: Sequence[float] | None = None, massless: str = 'refuse',
              meshes: str | Path | None = None, friction: str | Path | None = None
              ) -> RobotModel:
    """
    Load a tree of revolute, continuous, prismatic and fixed joints from URDF.

    Joints are ordered depth first, in document order. Links at fixed joints are lumped into the
    link that carries them, or into the base. The friction of URDF is taken as Coulomb and as
    static friction, unless the element <robodyn> gives more
    (:mod:`~robodyn_ros.model.urdf_extension`).

    A mimic joint, possibly of another mimic joint, is no degree of freedom; its limits and
    friction are added to those of the joint that drives it (:func:`.with_followers`). It is fixed
    if that joint is fixed or locked.

    :param path_or_xml: path of a file, XML text, or the name of a robot: ``'panda'``, any of
        example-robot-data and robot_descriptions where these are installed
        (:func:`~robodyn_ros.model.resources.robot_names`). A .xacro file is expanded by the
        package `xacro`, with its default arguments.
    :param root: link that becomes the base; only the part of the tree below it is loaded. Joints
        above it determine the direction of gravity (:mod:`~robodyn_ros.model.kinematic_tree`).
    :param tip: end of the only chain that moves, or the ends of several: two arms of one torso.
        Other branches of the base are omitted, except for links fixed to it; joints that branch
        off the chains have to be locked.
    :param locked: positions [rad | m] of joints that are treated as fixed, by name.
    :param gravity: (3,) [m/s²] in the base frame. None for that of <robodyn> or, without,
        (0, 0, -9.81), both in the frame of the root of the document; fixed and locked joints
        between that and ``root`` rotate it.
    :param massless: whether to 'refuse' joints that no inertia resists or to 'warn' of them;
        then kinematics, gravity and inverse dynamics are available, but nothing that needs M⁻¹.
    :param meshes: file of the URDF, where it is given as a text: meshes of the collision shapes
        are looked for next to it, or in the package around it, and read by what needs them.
    :param friction: the friction.yaml of `robodyn identify`, whose friction, armature and, unless
        ``gravity`` is given, gravity replace those of the URDF.
    :return: the model, with read-only arrays.
    :raises IdentificationError: ``friction`` cannot be read, or is for other joints.
    :raises UrdfError: the text is not a URDF, or describes a robot that is not supported; or
        ``gravity`` is not given, and a joint above ``root`` that moves changes its direction.
    :raises InertiaError: masses and inertias are not those of a robot, see
        :func:`~robodyn_ros.model.validate.validated`.
    :raises UnknownNameError: there is no such ``root``, ``tip`` or joint to lock.
    :raises ArgumentError: ``gravity``, ``massless`` or a locked position is invalid.

    >>> from robodyn_ros import load_urdf
    >>> model = load_urdf('two_link', locked={'joint2': 0.5})
    >>> model.joint_names, model.gravity_vector.tolist()
    (('joint1',), [0.0, 0.0, -9.81])
    """
    given = None if gravity is None else finite('gravity', gravity, (3,),
                                                '[m/s²] in the base frame')
    if is_robot_name(path_or_xml):
        path_or_xml = robot_path(str(path_or_xml))
    robot, elements, warnings, collisions = read(path_or_xml)
    source_root = check_tree(robot)
    extra = extension(elements, {joint.name: joint.type for joint in robot.joints})
    links = [link.name for link in robot.links]
    tips = [tip] if isinstance(tip, str) else list(tip or ())
    for name in filter(None, (root, *tips)):
        if name not in links:
            raise UnknownNameError('link', name, links)
    for name in locked:
        if name not in (names := [j.name for j in robot.joints if j.type != 'fixed']):
            raise UnknownNameError('joint that can be locked', name, names)
    builder = _ModelBuilder(robot, extra, locked,
                            warnings + lookalike_warnings(robot) + angle_warnings(robot))
    builder.run(root or source_root, tips)
    text = isinstance(path_or_xml, bytes) or isinstance(path_or_xml, str) and '<' in path_or_xml
    place = None if text else Path(str(path_or_xml))
    shapes = readable_shapes((e for e in collisions if e.getparent().get('name')
                              in builder.frames), place if meshes is None else Path(meshes))
    if given is None:
        given = base_gravity(robot, extra, builder.base, locked)
    model = builder.model(given, *shapes)
    if friction is not None:
        model = with_friction_file(model, Path(friction), gravity is not None)
    return validated(model, massless)


class _ModelBuilder:
    """Builder of a model by a depth-first walk of the tree from the base."""

    def __init__(self, robot: URDF, extra: Extension, locked: Mapping[str, float],
                 warnings: list[str]):
        self.robot, self.extra, self.locked, self.warnings = robot, extra, locked, warnings
        self.links = {link.name: link for link in robot.links}
        self.below = child_joints(robot)
        self.by_name = {joint.name: joint for joint in robot.joints}
        self.frames: dict[str, Frame] = {}
        self.joints: list[Joint] = []
        self.relations: list[MimicRelation] = []        # of the joints to those that drive them
        self.data: list[JointData] = []
        self.placements: list[Frame] = []               # of the joints, in the parent body
        self.parts: list[list[Inertial]] = []           # of each body, to be lumped

    def run(self, base: str, tips: Sequence[str]) -> None:
        """Visit all links below ``base``, or those of the chains to ``tips`` and fixed to it."""
        path = (set().union(*(joints_between(self.robot, base, tip) for tip in tips)) if tips
                else None)
        self.base = base
        beside: list[str] = []
        todo = self._enter(base, Frame(-1, np.eye(3), np.zeros(3)))
        while todo:
            joint, at = todo.pop()
            rotation, origin = joint_placement(joint, self.extra.joint(joint.name))
            here = Frame(at.body, at.rotation @ rotation, at.origin + at.rotation @ origin)
            if joint.type != 'fixed':
                apart = path is not None and joint.name not in path
                if apart and at.body < 0 and joint.name not in self.locked:
                    continue            # another arm on the same base has no effect
                relation = mimic_relation(joint, self.by_name, self.extra, self.locked)
                if relation.driver is None:
                    here = self._rest(joint, relation.shift, here)
                elif apart:
                    if joint.mimic is None or joint.mimic.joint not in beside:
                        beside.append(joint.name)
                else:
                    here = self._move(joint, relation, here)
            todo += self._enter(joint.child, here)
        if beside:
            many = len(beside) > 1
            raise UrdfError(
                f'joint{"s" * many} {", ".join(map(repr, beside))} move{"s" * (not many)}, but '
                f'{"are" if many else "is"} not between the base and tip '
                f'{" or ".join(map(repr, tips))}',
                name=beside[0], remedy=(f'lock {"them" if many else "it"}: ', Argument(
                    'locked', dict.fromkeys(beside, Placeholder('position')))))
        if not self.joints:
            raise UrdfError(f'robot {self.robot.name!r}: no joint moves below link {base!r}',
                            name=self.robot.name,
                            remedy='leave one unlocked, or choose another root or tip')
        loaded = {joint.name for joint in self.joints}
        for joint, relation in zip(self.joints, self.relations):
            if relation.driver not in loaded:
                raise UrdfError(f'joint {joint.name!r} mimics {relation.driver!r}, which is not '
                                'loaded', name=joint.name,
                                remedy='choose root and tip so that both are in '
                                f'between, or lock {relation.driver!r} or {joint.name!r}')
        self._miss(loaded)

    def _miss(self, loaded: set[str]) -> None:
        """Warn of mimic joints that are omitted although their driver is loaded."""
        for joint in self.robot.joints:
            if joint.mimic is None or joint.child in self.frames:
                continue
            try:
                relation = mimic_relation(joint, self.by_name, self.extra, self.locked)
            except RobodynError:        # omitted parts may be faulty
                continue
            if relation.driver in loaded:
                self.warnings.append(f'joint {joint.name!r} mimics {relation.driver!r}, but is '
                                     'left out: it has no effect there')

    def _enter(self, name: str, frame: Frame) -> list[tuple[Joint, Frame]]:
        """Add a link; return the joints on it with its frame, in reverse document order."""
        self.frames[name] = frame
        part = inertial(self.links[name], moving=frame.body >= 0)
        if part and frame.body >= 0:
            self.parts[frame.body].append(part.placed(frame.rotation, frame.origin))
        return [(joint, frame) for joint in reversed(self.below[name])]

    def _rest(self, joint: Joint, q: float, here: Frame) -> Frame:
        """Return the frame of the child of a movable joint that is fixed at ``q``."""
        data = joint_data(joint, self.extra.joint(joint.name), [])
        low, high = data.position_lower, data.position_upper
        inside = low - LIMIT_TOLERANCE <= q <= high + LIMIT_TOLERANCE
        if joint.name not in self.locked and not inside:
            self.warnings.append(f'joint {joint.name!r} is fixed at {q:.6g} by the joint it '
                                 f'mimics, outside its limits [{low:g}, {high:g}]')
        rotation, origin = data.motion(joint.type, q)
        return Frame(here.body, here.rotation @ rotation, here.origin + here.rotation @ origin)

    def _move(self, joint: Joint, relation: MimicRelation, here: Frame) -> Frame:
        """Add a moving joint; return the frame of its child, that of a new body."""
        if len(self.joints) == MAX_JOINTS:
            raise UrdfError(f'more than {MAX_JOINTS} joints move', name=joint.name,
                            remedy='load a part, with root, tip or locked')
        self.data.append(joint_data(joint, self.extra.joint(joint.name), self.warnings,
                                    driven=relation.driver == joint.name))
        self.joints.append(joint)
        self.relations.append(relation)
        self.placements.append(here)
        self.parts.append([])
        return Frame(len(self.parts) - 1, np.eye(3), np.zeros(3))

    def model(self, gravity: ndarray, shapes: tuple[Shape, ...], problems: tuple[str, ...]
              ) -> RobotModel:
        """Return the model of the visited links and joints."""
        bodies = [joined(parts) for parts in self.parts]
        moving = list(zip(self.joints, self.relations, self.data))
        own = {joint.name: data for joint, relation, data in moving
               if relation.driver == joint.name}
        names = tuple(own)
        driven = [with_followers(name, own[name], [
            (joint.name, relation, data) for joint, relation, data in moving
            if relation.driver == name != joint.name]) for name in names]
        links = tuple(self._body_name(i) for i in range(len(bodies)))
        columns: dict[str, Any] = {
            name: np.array([getattr(data, name) for data in driven], float).T.copy()
            for name in JOINT_COLUMNS}
        return RobotModel(
            name=self.robot.name, base_link=self.base, joint_names=names, link_names=links,
            body_joint_names=tuple(joint.name for joint in self.joints),
            body_joint_types=tuple(data.kind for data in self.data),
            driver=np.array([names.index(relation.driver) for relation in self.relations]),
            ratio=np.array([relation.ratio for relation in self.relations]),
            shift=np.array([relation.shift for relation in self.relations]),
            parent=np.array([at.body for at in self.placements]),
            joint_rotation=np.array([at.rotation for at in self.placements]),
            joint_origin=np.array([at.origin for at in self.placements]),
            joint_axis=np.array([data.axis for data in self.data]),
            mass=np.array([body.mass for body in bodies], float),
            com=np.array([body.com for body in bodies]),
            inertia=np.array([body.inertia for body in bodies]),
            gravity_vector=gravity, frames=self.frames, **columns,
            shapes=tuple(one for one in shapes if one.link in self.frames),
            shape_problems=problems,
            warnings=tuple(dict.fromkeys(self.extra.warnings + self.warnings)))

    def _body_name(self, i: int) -> str:
        """Return the name of body i, that of the child of its joint or the one in <robodyn>."""
        joint = self.joints[i]
        name = self.extra.joint(joint.name).body
        if name is None:
            return joint.child
        if name == joint.child or name not in self.frames or self.frames[name].body != i:
            raise UrdfError(f'joint {joint.name!r}: <robodyn> calls its body {name[:MAX_NAME]!r}, '
                            f'which is not a link fixed to {joint.child!r}', name=joint.name,
                            value=name, remedy='remove the attribute body')
        del self.frames[joint.child]
        return name
